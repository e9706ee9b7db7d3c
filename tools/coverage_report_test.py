#!/usr/bin/env python3
"""Tests of coverage_report.py: an export as llvm-cov writes it, and its source."""

import unittest

import coverage_report

NAME = 'reconciler/model/a.cc'
SOURCE = '''int F(int x) {
  BINDER_CHECK(x > 0 && (x < 9));
  if (x == 1) return 2;
  switch (x) {
  }
  for (int y : z) ++x;
}
'''


def export(*rows, name='/elsewhere/' + NAME):
    """Each row: line, column, end column, times true, times false."""
    branches = [[line, start, line, end, yes, no, 0, 0, 4] for line, start, end, yes, no in rows]
    return {'data': [{'functions': [{'filenames': [name], 'branches': branches}]}]}


def report(document, listed=()):
    return coverage_report.report(coverage_report.branches(document), lambda name: SOURCE, listed)


class CoverageReportTest(unittest.TestCase):

    def test_side_that_never_ran_is_named_and_fails(self):
        lines, missing, good = report(export((3, 7, 13, 0, 5)))
        self.assertFalse(good)
        self.assertEqual(missing, [('a.cc', 'true', 'x == 1')])
        self.assertIn(f'{NAME}:3: never true: x == 1 (NOT LISTED)', lines)

    def test_listed_side_passes_and_fails_once_it_ran(self):
        listed = coverage_report.read_list('# why\na.cc | true | x == 1\n')
        self.assertTrue(report(export((3, 7, 13, 0, 5)), listed)[2])
        self.assertFalse(report(export((3, 7, 13, 1, 5)), listed)[2])

    def test_instances_of_one_branch_are_added(self):
        self.assertTrue(report(export((3, 7, 13, 0, 5), (3, 7, 13, 1, 0)))[2])

    def test_checks_and_switches_that_name_all_are_not_counted(self):
        document = export((2, 16, 21, 1, 0), (2, 25, 32, 1, 0), (4, 11, 12, 0, 1), (3, 7, 13, 1, 1))
        lines, _, good = report(document)
        self.assertTrue(good)
        self.assertEqual(lines[-1], '2 of 2 branches ran, 0 did not and are listed, '
                         '0 are not listed, 0 are listed for nothing')

    def test_range_is_named_by_its_line(self):
        _, missing, _ = report(export((6, 14, 15, 0, 1)))
        self.assertEqual(missing, [('a.cc', 'true', 'for (int y : z) ++x;')])

    def test_tests_and_folders_below_are_not_measured(self):
        for name in ('reconciler/model/a_test.cc', 'reconciler/model/testing/a.cc', 'proto/a.h'):
            self.assertEqual(coverage_report.branches(export((3, 7, 13, 0, 0), name=name)), {})


if __name__ == '__main__':
    unittest.main()
