#!/usr/bin/env python3
"""Shows that the tests of the binder notice each planted bug.

Builds the tests of reconciler/model and reconciler/naive with --config=planted,
and runs them with each bug of reconciler/model/planted.h in turn until a test
binary fails. Prints which tests failed; exits with 1 when no test notices a bug.

  tools/planted.py [BUG...]   these, e.g. WallClock; none: all
  tools/planted.py --write    all, and writes the table to reconciler/model/PLANTED.md
"""

import os
import re
import subprocess
import sys
from typing import NamedTuple

_CONFIG = "--config=planted"
_HEADER = "reconciler/model/planted.h"
_TABLE = "reconciler/model/PLANTED.md"
_TARGETS = "kind(cc_test, //reconciler/model/... + //reconciler/naive/...)"
# Generated clusters come last, and few of them: most bugs are noticed before.
_SCOPES = {"SMALL_SCOPE_STATES": "4000", "LARGE_SCOPE_HISTORIES": "4"}
_SECONDS = 300
_SHOWN = 3
_INTRODUCTION = """# Planted bugs

What the tests notice when one rule of the pass is broken on purpose. Written by
`tools/planted.py --write`: it builds with `--config=planted` and stops at the first test binary
that fails, scenarios first; the first tests of that binary that failed are named (a name without a
dot is a scenario of `testdata/`). The first nine are those of the invariants' list that concern the
pass; its tenth, a sync after the send, is the loop's.

| bug | rule | what it does | noticed by |
| --- | --- | --- | --- |
"""


class Bug(NamedTuple):
    name: str  # as the environment variable says it
    rule: str
    text: str


def bugs_of(header):
    """The bugs that the text of planted.h lists."""
    found = re.findall(r'X\(k(\w+), "([^"]*)",\s*(?:\\\s*)?"([^"]*)"\)', header)
    return [Bug(*each) for each in found]


def failed_tests(output):
    """The names of the tests that a GoogleTest binary says have failed."""
    failed = []
    for name in re.findall(r"^\[  FAILED  \] (\w+[./][\w./]+)", output, re.MULTILINE):
        name = name.replace("Scenarios/ScenarioTest.PrintsWhatItSays/", "")
        if name not in failed:
            failed.append(name)
    if not failed:  # it ended within a test
        started = re.findall(r"\[ RUN      \] (\S+)", output)
        failed = [f"{name} (aborted)" for name in started if f"OK ] {name} " not in output]
    return failed


def _bazel(*arguments):
    done = subprocess.run(
        ["bazel", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        sys.exit(f"planted.py: bazel {arguments[0]} failed")
    return done.stdout.split()


def _turn(label):
    """Scenarios first: they can be read. Generated clusters last: they take the longest."""
    return "scenario_test" not in label, "scope_test" in label, label


def _binaries():
    labels = sorted(_bazel("query", _TARGETS), key=_turn)
    _bazel("build", _CONFIG, *labels)
    (folder,) = _bazel("info", _CONFIG, "bazel-bin")
    return [os.path.join(folder, label[2:].replace(":", "/")) for label in labels]


def _run(binary, bug):
    """What failed, or nothing."""
    chosen = {"GPUBINDER_PLANTED_BUG": bug.name} if bug else {}
    try:
        done = subprocess.run(
            [binary],
            env={**os.environ, **_SCOPES, **chosen},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return [f"{os.path.basename(binary)} (no end)"]
    if done.returncode == 0:
        return []
    return failed_tests(done.stdout) or [os.path.basename(binary)]


def _noticed(binaries, bug):
    for binary in binaries:
        failed = _run(binary, bug)
        if failed:
            more = len(failed) - _SHOWN
            shown = ", ".join(f"`{name}`" for name in failed[:_SHOWN])
            return shown + (f" and {more} more" if more > 0 else "")
    return None


def main(arguments):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open(_HEADER) as header:
        bugs = bugs_of(header.read())
    write = arguments == ["--write"]
    wanted = [] if write else arguments
    unknown = set(wanted) - {bug.name for bug in bugs}
    if unknown:
        sys.exit(f"planted.py: no bug of {_HEADER}: {', '.join(sorted(unknown))}")
    binaries = _binaries()
    failed = _noticed(binaries, None)
    if failed:
        sys.exit(f"planted.py: without a bug fails {failed}")
    rows, missed = [], 0
    for bug in bugs:
        if wanted and bug.name not in wanted:
            continue
        noticed = _noticed(binaries, bug)
        missed += noticed is None
        rows.append(f"| {bug.name} | {bug.rule} | {bug.text} | {noticed or 'NOTHING'} |")
        print(rows[-1], flush=True)
    print(f"{len(rows) - missed} of {len(rows)} planted bugs are noticed")
    if write and not missed:
        with open(_TABLE, "w") as table:
            table.write(_INTRODUCTION + "\n".join(rows) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
