"""Rules about what is there for readers: READMEs, and scenarios for every word."""

import os
import re

from tree import Finding

_MAX_README_LINES, _MAX_ROOT_README_LINES = 80, 200
_TOP_FOLDERS = ("bazel", "journal", "k8s", "proto", "reconciler", "tools", "webhook")
_CODE = (".h", ".cc", ".proto", ".py", ".sh", ".bzl")

_DECISIONS = "proto/decision.proto"
_SCENARIOS = "reconciler/model/testdata/"
_NOT_YET = "tools/tidy/not_yet.txt"


def readme_in_folder(tree):
    folders = {os.path.dirname(path) for path in tree.own(*_CODE)}
    folders |= {f for f in _TOP_FOLDERS if any(p.startswith(f + "/") for p in tree.paths)}
    for folder in sorted(folders):
        if not folder.startswith(".") and os.path.join(folder, "README.md") not in tree.paths:
            yield Finding(folder or ".", 1, "a folder with code has a README.md")


def readme_length(tree):
    for path in tree.paths:
        if os.path.basename(path) == "README.md":
            limit = _MAX_README_LINES if os.path.dirname(path) else _MAX_ROOT_README_LINES
            length = tree.text(path).count("\n")
            if length > limit:
                yield Finding(path, limit + 1, f"{length} lines, at most {limit} are allowed")


def scenario_purpose(tree):
    for path in tree.paths:
        if path.endswith(".scenario"):
            first = tree.text(path).partition("\n")[0]
            if not re.match(r"# \S+( \S+){2,}", first):
                yield Finding(path, 1, "the first line says the purpose: # A sentence.")


def _plain(word):
    """BIND_CLAIM, bind_claim, bind-claim and BindClaim are one word."""
    return re.sub(r"[_-]", "", word).lower()


def _words(tree):
    """(kind, name as in the proto, line) of each Reason and each write."""
    if _DECISIONS not in tree.paths:
        return
    block = None
    for number, line in tree.lines(_DECISIONS):
        if re.match(r"\s*(enum Reason|oneof write) \{", line):
            block = "reason" if "enum" in line else "effect"
        elif block and re.match(r"\s*\}", line):
            block = None
        elif block == "reason" and (match := re.match(r"\s*([A-Z_]+) = [1-9]", line)):
            yield block, match.group(1), number
        elif block == "effect" and (match := re.match(r"\s*(\w+) \w+ = \d", line)):
            yield block, match.group(1), number


def _expected_output(tree, path):
    """The lines of a scenario from each ---- to the empty line after it."""
    inside = False
    for _, line in tree.lines(path):
        inside = line == "----" or (inside and line.strip() != "")
        if inside and line != "----":
            yield line


def _shown(tree):
    """What the scenarios show: any word as a reason, a line's first as an effect."""
    shown = set()
    for path in tree.paths:
        if path.startswith(_SCENARIOS) and path.endswith(".scenario"):
            for line in _expected_output(tree, path):
                words = re.findall(r"[\w-]+(?!\w*=)", line)
                shown |= {("reason", _plain(word)) for word in words}
                shown |= {("effect", _plain(word)) for word in line.split()[:1]}
    return shown


def _not_yet(tree):
    """The lines of the list of words that wait for an issue: (kind, name) to line."""
    listed = {}
    for number, line in tree.lines(_NOT_YET) if _NOT_YET in tree.paths else []:
        if line and not line.startswith("#"):
            listed[tuple(line.split()[:2])] = (number, line)
    return listed


def words_with_scenario(tree):
    shown, listed = _shown(tree), _not_yet(tree)
    for kind, name, number in _words(tree):
        has_one = (kind, _plain(name)) in shown
        if not has_one and (kind, name) not in listed:
            yield Finding(_DECISIONS, number, f"no scenario shows {kind} {name}")
        if has_one and (kind, name) in listed:
            text = f"delete this line: a scenario shows {kind} {name}"
            yield Finding(_NOT_YET, listed[(kind, name)][0], text)


def not_yet_list(tree):
    known = {(kind, name) for kind, name, _ in _words(tree)}
    for word, (number, line) in _not_yet(tree).items():
        if not re.fullmatch(r"(reason|effect) \w+ #\d+", line):
            yield Finding(_NOT_YET, number, "a line is: reason|effect NAME #ISSUE")
        elif word not in known:
            yield Finding(_NOT_YET, number, f"{_DECISIONS} has no {' '.join(word)}")


RULES = [readme_in_folder, readme_length, scenario_purpose, words_with_scenario, not_yet_list]
