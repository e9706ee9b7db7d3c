"""Rules about BUILD files: who sees a target, and that everything is in use."""

import build_file
from tree import Finding

# Rules of Bazel's own; our macros in bazel/rules.bzl are private unless told.
_BARE_RULES = ("cc_library", "cc_binary", "cc_test", "genrule", "filegroup", "py_library")
_LIBRARIES = ("gb_library", "gb_proto", "cc_library")


def target_visibility(tree):
    for build in build_file.build_files(tree):
        for target in build.targets:
            said = build.default_visibility or "visibility" in target.strings
            if target.rule in _BARE_RULES and not said:
                yield Finding(build.path, target.line, f"{target.label} says no visibility")


def file_in_no_target(tree):
    by_folder = {build.folder: build for build in build_file.build_files(tree)}
    for path in tree.own(".h", ".cc", ".proto"):
        build = build_file.owner_of(path, by_folder)
        if build is None or not build_file.names_file(build, path):
            where = build.path if build else "a BUILD file"
            yield Finding(path, 1, f"no target of {where} names it")


def _as_label(text, folder):
    """The label that a string in a BUILD file of this folder stands for."""
    if text.startswith("//"):
        package, _, name = text[2:].partition(":")
        return f"{package}:{name or package.rpartition('/')[2]}"
    return f"{folder}:{text[1:]}" if text.startswith(":") else None


def library_in_no_use(tree):
    builds = [b for b in build_file.build_files(tree) if b.folder != "bazel"]
    used = {_as_label(text, build.folder) for build in builds for text in build.strings}
    for build in builds:
        for target in build.targets:
            if target.rule in _LIBRARIES and target.label not in used:
                yield Finding(build.path, target.line, f"nothing depends on {target.label}")


RULES = [target_visibility, file_in_no_target, library_in_no_use]
