"""The rule that C++ is as clang-format leaves it."""

import os
import re
import subprocess

from tree import Finding

_FAULT = re.compile(r"^(.*?):(\d+):\d+: error: code should be clang-formatted", re.M)


def _check(tree, paths):
    return subprocess.Popen(
        ["clang-format", "--dry-run", "-Werror", *paths],
        cwd=tree.root,
        stderr=subprocess.PIPE,
        text=True,
    )


def clang_format(tree):
    paths = tree.cpp()
    workers = min(os.cpu_count() or 1, len(paths))
    runs = [_check(tree, paths[worker::workers]) for worker in range(workers)]
    first = {}  # fault of each file
    for run in runs:
        for path, line in _FAULT.findall(run.communicate()[1]):
            first.setdefault(path, int(line))
    for path, line in first.items():
        yield Finding(path, line, "not as `clang-format -i` writes it")


RULES = [clang_format]
