"""Rules about every text file."""

import os
import re
import subprocess

from tree import Finding

_CODE_COLUMNS, _SCRIPT_COLUMNS = 80, 100
# Not ours to wrap or to indent.
_WRITTEN_BY_TOOLS = ("go.mod", "go.sum", "LICENSE")
# Lines that C++ has no way to break.
_UNBREAKABLE = re.compile(r"\s*#\s*(include|ifndef|define|endif)\b")

_ISSUELESS = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b(?!\(#\d+\))")
# Taken apart, so that this file does not name what it looks for.
_MACHINE = re.compile(
    r"(?<![\w.-])/wo" r"rk/|(?<![\w.$}-])/ro" r"ot\b|\.\./sha" r"red\b"
    r"|\b(?:pypi\.o" r"rg|files\.pythonhosted\.o" r"rg|registry\.npmjs\.o" r"rg"
    r"|proxy\.golang\.o" r"rg|sum\.golang\.o" r"rg|crates\.i" r"o|rubygems\.o" r"rg"
    r"|repo1?\.maven\.o" r"rg|deb\.debian\.o" r"rg|security\.debian\.o" r"rg"
    r"|hub\.docker\.c" r"om|registry-1\.docker\.i" r"o)\b"
)


def _name(path):
    return os.path.basename(path)


def _column_limit(path):
    if path.endswith((".h", ".cc", ".proto")):
        return _CODE_COLUMNS
    if path.endswith((".py", ".sh", ".bzl")) or _name(path) in ("BUILD", "BUILD.bazel"):
        return _SCRIPT_COLUMNS
    return None


def columns(tree):
    for path in tree.texts():
        limit = _column_limit(path)
        for number, line in tree.lines(path) if limit else []:
            if len(line) > limit and not _UNBREAKABLE.match(line):
                yield Finding(path, number, f"{len(line)} columns, at most {limit} are allowed")


def _laid_out_by_us(tree):
    for path in tree.texts():
        is_data = "/testdata/" in path and not path.endswith(".scenario")
        if not is_data and _name(path) not in _WRITTEN_BY_TOOLS:
            yield path


def white_space(tree):
    for path in _laid_out_by_us(tree):
        for number, line in tree.lines(path):
            if "\t" in line:
                yield Finding(path, number, "a tab")
            if line != line.rstrip():
                yield Finding(path, number, "white space at the end")


def final_newline(tree):
    for path in _laid_out_by_us(tree):
        text = tree.text(path)
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Finding(path, text.count("\n") + 1, "the file must end with one newline")


def work_without_issue(tree):
    for path in tree.texts():
        for number, line in tree.lines(path):
            for word in _ISSUELESS.findall(line):
                yield Finding(path, number, f"{word} names no issue: {word}(#12)")


def machine_names(tree):
    for path in tree.texts():
        if path.startswith(".ci/"):  # runs on this machine alone
            continue
        for number, line in tree.lines(path):
            for found in _MACHINE.findall(line):
                yield Finding(path, number, f"only this machine knows '{found}'")


def _shell_scripts(tree):
    for path in tree.texts():
        shebang = tree.text(path).partition("\n")[0]
        if path.endswith(".sh") or re.match(r"#!.*\b(ba)?sh$", shebang):
            yield path


def shell_scripts(tree):
    for path in _shell_scripts(tree):
        if not re.search(r"^set -euo pipefail$", tree.text(path), re.M):
            yield Finding(path, 1, "a shell script begins with: set -euo pipefail")
        run = subprocess.run(["bash", "-n", tree.full(path)], capture_output=True, text=True)
        if run.returncode != 0:
            line = re.search(r"line (\d+)", run.stderr)
            yield Finding(path, int(line.group(1)) if line else 1, run.stderr.split("\n")[0])


def executable_scripts(tree):
    for path in tree.texts():
        if tree.text(path).startswith("#!") and not os.access(tree.full(path), os.X_OK):
            yield Finding(path, 1, "has a #! line but may not be executed")


RULES = [
    columns,
    white_space,
    final_newline,
    work_without_issue,
    machine_names,
    shell_scripts,
    executable_scripts,
]
