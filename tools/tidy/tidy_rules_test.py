#!/usr/bin/env python3
"""Shows of each rule that it fails when it is broken, and only then."""

import os
import subprocess
import tempfile
import textwrap
import unittest

import cpp_code
import tidy_test
from tree import Tree

# A tree that no rule finds fault with. A test changes one file of it.
_GOOD = {
    "README.md": "# Root\n",
    "LICENSE": "As\tpublished\n",
    "journal/README.md": "# journal\n",
    "journal/BUILD": """\
        load("//bazel:rules.bzl", "gb_library", "gb_test")

        gb_library(
            name = "journal",
            hdrs = ["journal.h"],
        )

        gb_test(
            name = "journal_test",
            srcs = ["journal_test.cc"],
            deps = [":journal"],
        )
        """,
    "journal/journal.h": '#include <thread>\n\n#include "proto/decision.pb.h"\n\nint Open();\n',
    "journal/journal_test.cc": '#include "journal/journal.h"\n',
    "k8s/README.md": "# k8s\n",
    "k8s/BUILD": """\
        gb_library(
            name = "k8s",
            hdrs = glob(["*.h"]),
            deps = ["//k8s"],
        )
        """,
    "k8s/codec.h": '#include "reconciler/model/objects.h"\n',
    "proto/README.md": "# proto\n",
    "proto/BUILD": """\
        gb_proto(
            name = "decision_proto",
            src = "decision.proto",
        )

        gb_library(
            name = "use",
            deps = [
                "//proto:decision_proto",
                "//proto:use",
            ],
        )
        """,
    "proto/decision.proto": """\
        enum Reason {
          REASON_UNSPECIFIED = 0;
          NODE_GONE = 60;
          PLACED = 100;
        }
        message Effect {
          oneof write {
            BindClaim bind_claim = 1;
            PinPod pin_pod = 2;
          }
        }
        """,
    "reconciler/README.md": "# reconciler\n",
    "reconciler/model/README.md": "# model\n",
    "reconciler/model/BUILD": """\
        gb_library(
            name = "objects",
            hdrs = ["objects.h"],
        )

        gb_library(
            name = "draw",
            testonly = True,
            srcs = ["draw.cc"],
            deps = [":objects"],
        )

        gb_test(
            name = "draw_test",
            deps = [":draw"],
        )
        """,
    "reconciler/model/objects.h": '// No double here.\nconst char kWord[] = "float";\n',
    "reconciler/model/draw.cc": "#include <random>\n\ndouble Draw();\n",
    "reconciler/model/testdata/a.scenario": """\
        # A claim finds its node.
        claim a

        pass
        ----
        BindClaim a -> node-1
        condition a Placed=True NodeGone
        """,
    "tools/README.md": "# tools\n",
    "tools/run.sh": "#!/usr/bin/env bash\nset -euo pipefail\n# TO" "DO(#3): more\n",
    "tools/tidy/not_yet.txt": "# Not yet.\nreason PLACED #4\neffect PinPod #4\n",
}


def _write(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        os.chmod(full, 0o755 if text.startswith("#!") else 0o644)


def _findings(changes):
    """(rule, path:line) of each finding in the good tree with these changes.

    A change of None takes the file away.
    """
    files = {p: t for p, t in {**_GOOD, **changes}.items() if t is not None}
    with tempfile.TemporaryDirectory() as root:
        _write(root, files)
        tree = Tree(root)
        return {
            (rule.__name__, f"{finding.path}:{finding.line}")
            for rule in tidy_test.RULES
            for finding in rule(tree)
        }


def _good(path):
    return textwrap.dedent(_GOOD[path])


# (rule, where it finds the fault, changes to the good tree)
_BROKEN = [
    ("file_length", "journal/journal.h:201", {"journal/journal.h": "int a;\n" * 201}),
    ("file_length", "journal/journal_test.cc:401", {"journal/journal_test.cc": "int a;\n" * 401}),
    (
        "function_length",
        "journal/journal.h:2",
        {"journal/journal.h": "\nint F() {\n" + "  G();\n" * 59 + "}\n"},
    ),
    (
        "include_layering",
        "journal/journal.h:1",
        {"journal/journal.h": '#include "k8s/codec.h"\n'},
    ),
    ("include_layering", "k8s/codec.h:1", {"k8s/codec.h": '#include "reconciler/loop.h"\n'}),
    ("include_layering", "k8s/codec.h:1", {"k8s/codec.h": '#include "reconciler/model/plan.h"\n'}),
    ("include_layering", "other/a.h:1", {"other/a.h": "int a;\n"}),
    (
        "pure_model",
        "reconciler/model/objects.h:1",
        {"reconciler/model/objects.h": "#include <chrono>\n"},
    ),
    (
        "pure_model",
        "reconciler/model/objects.h:1",
        {"reconciler/model/objects.h": '#include "absl/container/flat_hash_map.h"\n'},
    ),
    (
        "pure_model",
        "reconciler/model/draw.cc:1",
        {"reconciler/model/draw.cc": "#include <nlohmann/json.hpp>\n"},
    ),
    (
        "pure_model",
        "reconciler/model/objects.h:2",
        {"reconciler/model/objects.h": "int a;\nfloat b;\n"},
    ),
    (
        "pure_model",
        "reconciler/model/objects.h:1",
        {"reconciler/model/objects.h": "std::unordered_map<int, int> a;\n"},
    ),
    (
        "target_visibility",
        "k8s/BUILD:1",
        {"k8s/BUILD": _good("k8s/BUILD").replace("gb_library", "cc_library")},
    ),
    ("file_in_no_target", "journal/new.cc:1", {"journal/new.cc": "int a;\n"}),
    ("file_in_no_target", "webhook/new.h:1", {"webhook/new.h": "int a;\n"}),
    (
        "library_in_no_use",
        "journal/BUILD:3",
        {"journal/BUILD": _good("journal/BUILD").replace('deps = [":journal"]', "deps = []")},
    ),
    ("columns", "journal/journal.h:1", {"journal/journal.h": "// " + "x" * 78 + "\n"}),
    (
        "columns",
        "tools/run.sh:3",
        {"tools/run.sh": "#!/bin/bash\nset -euo pipefail\n#" + "x" * 100 + "\n"},
    ),
    ("white_space", "journal/README.md:2", {"journal/README.md": "# journal\n\tx\n"}),
    ("white_space", "journal/README.md:1", {"journal/README.md": "# journal \n"}),
    ("final_newline", "journal/README.md:1", {"journal/README.md": "# journal"}),
    ("final_newline", "journal/README.md:3", {"journal/README.md": "# journal\n\n"}),
    ("work_without_issue", "README.md:1", {"README.md": "TO" "DO: write\n"}),
    ("work_without_issue", "README.md:1", {"README.md": "FIX" "ME(me): write\n"}),
    ("machine_names", "README.md:1", {"README.md": "see /wo" "rk/main\n"}),
    ("machine_names", "README.md:1", {"README.md": "cd /ro" "ot/x\n"}),
    ("machine_names", "README.md:1", {"README.md": "see ../sha" "red\n"}),
    ("machine_names", "README.md:1", {"README.md": "https://pypi.o" "rg/simple\n"}),
    ("shell_scripts", "tools/run.sh:1", {"tools/run.sh": "#!/usr/bin/env bash\ntrue\n"}),
    ("shell_scripts", "tools/run:1", {"tools/run": "#!/bin/sh\ntrue\n"}),
    (
        "shell_scripts",
        "tools/run.sh:4",
        {"tools/run.sh": "#!/bin/bash\nset -euo pipefail\nif true\n"},
    ),
    ("readme_in_folder", "tools:1", {"tools/README.md": None}),
    ("readme_in_folder", "k8s/embedded:1", {"k8s/embedded/serve.sh": _good("tools/run.sh")}),
    ("readme_length", "journal/README.md:81", {"journal/README.md": "x\n" * 81}),
    ("readme_length", "README.md:201", {"README.md": "x\n" * 201}),
    (
        "scenario_purpose",
        "reconciler/model/testdata/b.scenario:1",
        {"reconciler/model/testdata/b.scenario": "claim a\n"},
    ),
    (
        "words_with_scenario",
        "proto/decision.proto:4",
        {"tools/tidy/not_yet.txt": "effect PinPod #4\n"},
    ),
    (
        "words_with_scenario",
        "proto/decision.proto:9",
        {"tools/tidy/not_yet.txt": "reason PLACED #4\n"},
    ),
    (
        "words_with_scenario",
        "tools/tidy/not_yet.txt:3",
        {"tools/tidy/not_yet.txt": _GOOD["tools/tidy/not_yet.txt"].replace("PinPod", "BindClaim")},
    ),
    (
        "not_yet_list",
        "tools/tidy/not_yet.txt:4",
        {"tools/tidy/not_yet.txt": _GOOD["tools/tidy/not_yet.txt"] + "reason NO_SUCH #4\n"},
    ),
    (
        "not_yet_list",
        "tools/tidy/not_yet.txt:2",
        {"tools/tidy/not_yet.txt": "effect PinPod #4\nreason PLACED\n"},
    ),
    ("clang_format", "journal/journal.h:1", {"journal/journal.h": "int  Open( );\n"}),
]


class TidyRulesTest(unittest.TestCase):
    def test_nothing_is_wrong_with_the_good_tree(self):
        self.assertEqual(_findings({}), set())

    def test_each_broken_rule_is_found_where_it_is_broken(self):
        for rule, place, changes in _BROKEN:
            with self.subTest(rule=rule, place=place, changes=changes):
                self.assertIn((rule, place), _findings(changes))

    def test_each_rule_has_a_broken_example(self):
        without = {rule.__name__ for rule in tidy_test.RULES} - {rule for rule, _, _ in _BROKEN}
        self.assertEqual(without, {"executable_scripts"})

    def test_script_that_may_not_be_executed_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            _write(root, _GOOD)
            os.chmod(os.path.join(root, "tools/run.sh"), 0o644)
            rule = next(r for r in tidy_test.RULES if r.__name__ == "executable_scripts")
            self.assertEqual([f.path for f in rule(Tree(root))], ["tools/run.sh"])

    def test_ignored_and_foreign_files_are_not_looked_at(self):
        with tempfile.TemporaryDirectory() as root:
            _write(root, {"a.h": "", "b.h": "", ".gitignore": "/b.h\n"})
            _write(root, {"other/WORKSPACE": "", "other/c.h": ""})
            subprocess.run(["git", "init", "-q", root], check=True)
            tree = Tree(root)
            self.assertIn("a.h", tree.paths)
            self.assertNotIn("b.h", tree.paths)
            self.assertEqual(tree.cpp(), ["a.h"])


class FunctionsTest(unittest.TestCase):
    def _spans(self, text):
        return [tuple(f) for f in cpp_code.functions_of(textwrap.dedent(text))]

    def test_members_tests_and_free_functions_are_found(self):
        text = """\
            namespace a {
            struct B : C<int()> {
              int x = 1;
            };
            class D {
             public:
              D() : e_{1}, f_(G{2}) {
                H();
              }
              bool operator==(const D& o) const {
                return true;
              }
            };
            template <typename T = int>
            T Get(std::function<void()> f = {}) {
              auto g = [] { return 1; };
              return {};
            }
            }  // namespace a
            TEST(A, B) {
            }
            """
        self.assertEqual(self._spans(text), [(7, 9), (10, 12), (14, 18), (20, 21)])

    def test_tables_and_enums_are_no_functions(self):
        text = """\
            enum class A { kB, kC };
            const Row kRows[] = {
                {F(1), 2},
            };
            const auto& kMap = *new std::map<int, int>({
                {1, 2},
            });
            extern "C" {
            void F(int) {
            }
            }
            """
        self.assertEqual(self._spans(text), [(9, 10)])

    def test_braces_in_text_do_not_count(self):
        text = """\
            void F() {
              a = "{";
              b = '{';
              c = R"x({ "{ )x";
              d = 1'000'000;  // {
              /* { */
            #define G {
            }
            int h;
            """
        self.assertEqual(self._spans(text), [(1, 8)])


if __name__ == "__main__":
    unittest.main()
