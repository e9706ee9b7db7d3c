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
    for run in runs:
        for path, line in _FAULT.findall(run.communicate()[1]):
            yield Finding(path, int(line), "not as clang-format writes it")


RULES = [clang_format]
