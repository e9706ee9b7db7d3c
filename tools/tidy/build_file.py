"""BUILD files, read as the Python that they nearly are."""

import ast
import fnmatch
import os
from typing import NamedTuple

_FILE_NAMES = ("BUILD", "BUILD.bazel")


class Target(NamedTuple):
    rule: str
    label: str  # "folder:name"
    line: int
    strings: dict  # of each argument, the string constants in it
    flags: set  # the arguments that are True


class BuildFile(NamedTuple):
    path: str
    folder: str
    targets: list
    strings: list  # every string constant
    globs: list  # every pattern in a glob()
    default_visibility: bool


def _folder(path):
    return os.path.dirname(path)


def _strings(node, variables):
    found = []
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.append(part.value)
        elif isinstance(part, ast.Name):
            found += variables.get(part.id, [])
    return found


def _called(node):
    return getattr(node.func, "id", None) or getattr(node.func, "attr", "")


def _target(call, folder, variables):
    strings = {a.arg: _strings(a.value, variables) for a in call.keywords if a.arg}
    if len(strings.get("name", [])) != 1:
        return None
    flags = {a.arg for a in call.keywords if getattr(a.value, "value", None) is True}
    return Target(_called(call), f"{folder}:{strings['name'][0]}", call.lineno, strings, flags)


def parse(path, text):
    """Raises SyntaxError where the text is no BUILD file."""
    module, folder = ast.parse(text), _folder(path)
    variables = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            variables[statement.targets[0].id] = _strings(statement.value, variables)
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    targets = [_target(call, folder, variables) for call in calls]
    globs = [s for c in calls if _called(c) == "glob" for s in _strings(c, variables)]
    default = any(
        _called(c) == "package" and any(a.arg == "default_visibility" for a in c.keywords)
        for c in calls
    )
    strings = _strings(module, {})
    return BuildFile(path, folder, [t for t in targets if t], strings, globs, default)


def build_files(tree):
    """The BUILD files of our own repository that parse."""
    found = []
    for path in tree.own(*_FILE_NAMES):
        if os.path.basename(path) in _FILE_NAMES:
            try:
                found.append(parse(path, tree.text(path)))
            except SyntaxError:
                pass  # Bazel says so
    return found


def owner_of(path, files_by_folder):
    """The BUILD file of the package that holds this path, or None."""
    folder = _folder(path)
    while folder not in files_by_folder and folder:
        folder = _folder(folder)
    return files_by_folder.get(folder)


def names_file(build, path):
    """Whether this BUILD file names the path of its package, itself or in a glob."""
    name = os.path.relpath(path, build.folder or ".")
    return name in build.strings or any(fnmatch.fnmatch(name, g) for g in build.globs)


def test_files(tree):
    """The files of tests and of testonly targets."""
    found = set()
    for build in build_files(tree):
        for target in build.targets:
            if target.rule.endswith("_test") or "testonly" in target.flags:
                for name in target.strings.get("srcs", []) + target.strings.get("hdrs", []):
                    found.add(os.path.join(build.folder, name))
    return found
