"""Rules about C++ files: their size, and who may include whom."""

import re

import build_file
from cpp_code import code_of, functions_of, includes_of
from tree import Finding

MAX_HEADER_LINES = 200
MAX_SOURCE_LINES = 400
MAX_FUNCTION_LINES = 60

# A file belongs to the longest of these that its path begins with. Files below
# tools/ may include anything.
_LAYERS = {
    "proto": ["proto"],
    "journal": ["journal", "proto"],
    "reconciler/model": ["reconciler/model", "proto"],
    "reconciler/naive": ["reconciler/naive", "reconciler/model", "proto"],
    "reconciler": ["reconciler", "reconciler/model", "journal", "k8s", "proto"],
    "k8s": ["k8s", "reconciler/model", "proto"],
    "webhook": ["webhook", "reconciler/model", "k8s", "proto"],
    "tools": None,
}
# Of the model, k8s/ may see the structs, not how decisions are made.
_MODEL_DECIDES = (
    "snapshot fold claim_set capacity budget filter rejection explanation plan pass steps "
    "invariants"
).split()

# The scenario runner and the audit have each pass judged by the naive model.
_JUDGE_PASSES = ("reconciler/model/testing/", "reconciler/audit.")

# The model is pure: same input, same output, on every machine. Tests of it may
# read files and draw random cases.
_IMPURE_HEADERS = (
    "thread chrono random fstream iostream mutex shared_mutex atomic future condition_variable "
    "filesystem ctime time.h unistd.h unordered_map unordered_set absl/container/flat_hash_map.h "
    "absl/container/flat_hash_set.h absl/container/node_hash_map.h "
    "absl/container/node_hash_set.h absl/time/clock.h"
).split()
_IMPURE_FOLDERS = ("absl/random/", "absl/synchronization/", "sys/", "boost/")
_FOREIGN_TO_MODEL = (
    "rocksdb/ grpc/ grpcpp/ curl/ openssl/ nlohmann/ yaml-cpp/ spdlog/ simdjson".split()
)
_IMPURE_WORDS = re.compile(
    r"\b(double|float|std::unordered_\w+|absl::(?:flat|node)_hash_\w+|absl::Now)\b"
)


# Empty but in the test-only build that has a bug planted.
_TEST_BUILD = ("reconciler/model/planted.cc",)


def _layer_of(path):
    layers = [layer for layer in _LAYERS if path.startswith(layer + "/")]
    return max(layers, key=len, default=None)


def file_length(tree):
    for path in tree.cpp():
        limit = MAX_HEADER_LINES if path.endswith(".h") else MAX_SOURCE_LINES
        length = tree.text(path).count("\n")
        if length > limit:
            yield Finding(path, limit + 1, f"{length} lines, at most {limit} are allowed")


def function_length(tree):
    for path in tree.cpp():
        for function in functions_of(tree.text(path)):
            length = function.last_line - function.first_line + 1
            if length > MAX_FUNCTION_LINES:
                text = f"a function of {length} lines, at most {MAX_FUNCTION_LINES} are allowed"
                yield Finding(path, function.first_line, text)


def include_layering(tree):
    for path in tree.cpp():
        layer = _layer_of(path)
        if layer is None:
            yield Finding(path, 1, "C++ outside the folders of the design")
            continue
        for number, included in includes_of(tree.lines(path)):
            target = _layer_of(included)
            allowed = _LAYERS[layer]
            if path.startswith(_JUDGE_PASSES) and target == "reconciler/naive":
                continue
            if target is not None and allowed is not None and target not in allowed:
                yield Finding(path, number, f"{layer}/ may not include {included}")
            stem = included.rpartition("/")[2].removesuffix(".h")
            if layer == "k8s" and target == "reconciler/model" and stem in _MODEL_DECIDES:
                yield Finding(path, number, f"k8s/ may see the model's structs, not {included}")


def _model_include_fault(included, is_test):
    if included.startswith(tuple(_FOREIGN_TO_MODEL)) or included.endswith(".grpc.pb.h"):
        return "the model knows only proto/ and Abseil"
    impure = included in _IMPURE_HEADERS or included.startswith(_IMPURE_FOLDERS)
    return "the model is pure" if impure and not is_test else None


def pure_model(tree):
    test_files = build_file.test_files(tree)
    for path in tree.cpp():
        if _layer_of(path) != "reconciler/model":
            continue
        is_test = path in test_files or path in _TEST_BUILD
        for number, included in includes_of(tree.lines(path)):
            fault = _model_include_fault(included, is_test)
            if fault:
                yield Finding(path, number, f"{fault}: {included}")
        if is_test:
            continue
        for number, line in enumerate(code_of(tree.text(path)).split("\n"), 1):
            for word in _IMPURE_WORDS.findall(line):
                yield Finding(path, number, f"the model is pure: {word}")


RULES = [file_length, function_length, include_layering, pure_model]
