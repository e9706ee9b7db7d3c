#!/usr/bin/env python3
"""Counts the test cases of one `bazel test`.

Usage: count_tests.py EVENTS EXIT_CODE, where EVENTS is what
--build_event_json_file wrote. Names on stderr what failed; prints
"PASSED FAILED SKIPPED". A target that did not build or that left no report is
one failed case, and so is a Bazel that failed for another reason.
"""

import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree


class Counts:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0

    def fail(self, what):
        self.failed += 1
        print(f"FAILED: {what}", file=sys.stderr)


def _count_case(counts, label, case):
    name = f"{label} {case.get('classname', '')}.{case.get('name', '')}"
    if case.find("failure") is not None or case.find("error") is not None:
        counts.fail(name)
    elif case.find("skipped") is not None or case.get("status") == "notrun":
        counts.skipped += 1
    else:
        counts.passed += 1


def _report_of(result):
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.xml":
            return urllib.request.url2pathname(urllib.parse.urlparse(output["uri"]).path)
    return None


def _count_test(counts, label, result):
    status, before = result["status"], counts.failed
    try:
        cases = list(xml.etree.ElementTree.parse(_report_of(result)).iter("testcase"))
    except (OSError, TypeError, xml.etree.ElementTree.ParseError):
        cases = []
    for case in cases:
        _count_case(counts, label, case)
    if status != "PASSED" and counts.failed == before:
        counts.fail(f"{label}: {status}")
    elif not cases:
        counts.passed += 1


def count(lines, exit_code):
    """The counts of a run from the lines of its events."""
    counts, results = Counts(), {}
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        if "testResult" in event:
            key = identity["testResult"]
            # Of several attempts the last one counts.
            results[(key["label"], key.get("run"), key.get("shard"))] = event["testResult"]
        elif "targetCompleted" in identity and not event.get("completed", {}).get("success"):
            counts.fail(f"{identity['targetCompleted']['label']} was not built")
    for (label, _, _), result in sorted(results.items(), key=lambda item: item[0][0]):
        _count_test(counts, label, result)
    if exit_code != 0 and counts.failed == 0:
        counts.fail(f"bazel ended with {exit_code}")
    return counts


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            lines = file.readlines()
    except OSError:
        lines = []
    counts = count(lines, int(sys.argv[2]))
    print(counts.passed, counts.failed, counts.skipped)


if __name__ == "__main__":
    main()
