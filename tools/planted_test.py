#!/usr/bin/env python3
"""What planted.py reads from planted.h and from a test's output."""

import unittest

import planted


class BugsOfTest(unittest.TestCase):
    def test_names_rule_and_text(self):
        header = '#define GPUBINDER_PLANTED_BUGS(X) \\\n  X(kOne, "S2, G3", "does this") \\\n'
        header += '  X(kTwo, "inv:F4",   \\\n    "does that")\n'
        self.assertEqual(
            planted.bugs_of(header),
            [("One", "S2, G3", "does this"), ("Two", "inv:F4", "does that")],
        )


class FailedTestsTest(unittest.TestCase):
    def test_each_once_and_scenarios_by_their_name(self):
        output = (
            "[ RUN      ] A.Holds\n[       OK ] A.Holds (0 ms)\n"
            "[ RUN      ] A.Fails\n[  FAILED  ] A.Fails (1 ms)\n"
            "[  FAILED  ] Scenarios/ScenarioTest.PrintsWhatItSays/a_vm_waits, where x\n"
            "[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.Fails\n"
            " 2 FAILED TESTS\n"
        )
        self.assertEqual(planted.failed_tests(output), ["A.Fails", "a_vm_waits"])

    def test_the_last_that_began_when_it_aborts(self):
        output = "[ RUN      ] A.Holds\n[       OK ] A.Holds (0 ms)\n[ RUN      ] A.Dies\n"
        self.assertEqual(planted.failed_tests(output), ["A.Dies (aborted)"])

    def test_none(self):
        self.assertEqual(planted.failed_tests("[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n"), [])


if __name__ == "__main__":
    unittest.main()
