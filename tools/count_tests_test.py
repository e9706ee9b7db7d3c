#!/usr/bin/env python3
"""What count_tests.py makes of Bazel's events."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import count_tests

_REPORT = """<testsuites><testsuite>
<testcase name="A" status="run" classname="S"/>
<testcase name="B" status="run" classname="S"><skipped message=""/></testcase>
<testcase name="C" status="notrun" classname="S"/>
{}
</testsuite></testsuites>"""
_FAILURE = '<testcase name="D" classname="S"><failure message="no"/></testcase>'


def _result(status, report=None, label="//a:t"):
    outputs = [{"name": "test.xml", "uri": f"file://{report}"}] if report else []
    return json.dumps(
        {
            "id": {"testResult": {"label": label, "run": 1, "shard": 1}},
            "testResult": {"status": status, "testActionOutput": outputs},
        }
    )


def _completed(label, success):
    return json.dumps(
        {"id": {"targetCompleted": {"label": label}}, "completed": {"success": success}}
    )


class CountTestsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = os.path.join(folder.name, "test.xml")

    def _count(self, lines, exit_code=0):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            counts = count_tests.count(lines, exit_code)
        return (counts.passed, counts.failed, counts.skipped), errors.getvalue()

    def _write_report(self, more):
        with open(self.report, "w", encoding="utf-8") as file:
            file.write(_REPORT.format(more))

    def test_cases_of_a_report_are_counted_one_by_one(self):
        self._write_report("")
        counts, _ = self._count([_completed("//a:t", True), _result("PASSED", self.report)])
        self.assertEqual(counts, (1, 0, 2))

    def test_failed_case_is_named(self):
        self._write_report(_FAILURE)
        counts, errors = self._count([_result("FAILED", self.report)], 3)
        self.assertEqual(counts, (1, 1, 2))
        self.assertIn("//a:t S.D", errors)

    def test_failed_test_whose_report_shows_no_failure_still_fails(self):
        self._write_report("")
        counts, errors = self._count([_result("TIMEOUT", self.report)], 3)
        self.assertEqual(counts, (1, 1, 2))
        self.assertIn("TIMEOUT", errors)

    def test_test_without_report_is_one_case(self):
        self.assertEqual(self._count([_result("PASSED")])[0], (1, 0, 0))
        self.assertEqual(self._count([_result("FAILED", "/no/such/file")], 3)[0], (0, 1, 0))

    def test_target_that_does_not_build_fails(self):
        counts, errors = self._count([_completed("//a:lib", False)], 1)
        self.assertEqual(counts, (0, 1, 0))
        self.assertIn("//a:lib", errors)

    def test_last_attempt_counts(self):
        self.assertEqual(self._count([_result("FAILED"), _result("PASSED")])[0], (1, 0, 0))

    def test_bazel_that_fails_without_events_fails(self):
        self.assertEqual(self._count([], 1)[0], (0, 1, 0))
        self.assertEqual(self._count([])[0], (0, 0, 0))


if __name__ == "__main__":
    unittest.main()
