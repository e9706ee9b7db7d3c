#!/usr/bin/env python3
"""Holds the tree to the house style. See README.md.

Usage: tidy_test.py [ROOT]. Prints file:line: rule: text for each fault, then
how many rules passed and failed; exits with 1 when one failed.
"""

import os
import sys

import build_rules
import cpp_rules
import document_rules
import format_rule
import text_rules
from tree import Tree

RULES = (
    cpp_rules.RULES
    + build_rules.RULES
    + text_rules.RULES
    + document_rules.RULES
    + format_rule.RULES
)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    tree = Tree(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", ".."))
    failed = 0
    for rule in RULES:
        findings = sorted(set(rule(tree)))
        failed += bool(findings)
        for finding in findings:
            print(f"{finding.path}:{finding.line}: {rule.__name__}: {finding.text}")
    print(f"tidy: {len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
