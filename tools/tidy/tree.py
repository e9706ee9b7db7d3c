"""The files that the rules look at, and what a rule says about one of them."""

import functools
import os
import subprocess
from typing import NamedTuple


class Finding(NamedTuple):
    path: str
    line: int
    text: str


def _git_files(root):
    """Tracked files and new ones that are not ignored; None without git."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        run = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in run.stdout.decode().split("\0") if name]


def _walked_files(root):
    """Every file below root, for a tree that is not a git checkout."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != ".git" and not f.startswith("bazel-")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


class Tree:
    """The files of one checkout, by path from its root."""

    def __init__(self, root):
        self.root = root
        names = _git_files(root)
        if names is None:
            names = _walked_files(root)
        self.paths = sorted(n for n in set(names) if os.path.isfile(os.path.join(root, n)))
        # A folder with a WORKSPACE of its own is another Bazel repository.
        self._foreign = [
            os.path.dirname(p) + "/"
            for p in self.paths
            if os.path.basename(p) == "WORKSPACE" and os.path.dirname(p)
        ]

    def full(self, path):
        return os.path.join(self.root, path)

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        """The file's text; None when it is not text."""
        with open(self.full(path), "rb") as file:
            data = file.read()
        try:
            return None if b"\0" in data else data.decode()
        except UnicodeDecodeError:
            return None

    def lines(self, path):
        """(number, line) for each line of a text file."""
        return list(enumerate((self.text(path) or "").split("\n"), 1))

    def texts(self):
        return [p for p in self.paths if self.text(p) is not None]

    def own(self, *endings):
        """Files of this Bazel repository that end so."""
        return [
            p
            for p in self.paths
            if p.endswith(endings) and not any(p.startswith(f) for f in self._foreign)
        ]

    def cpp(self):
        return self.own(".h", ".cc")
