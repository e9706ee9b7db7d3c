#!/usr/bin/env python3
"""Branch coverage of reconciler/model from the JSON of llvm-cov export, for coverage.sh.

    coverage_report.py EXPORT LIST [--write]

Prints the branches of each file and each side of a branch that never ran. LIST holds those that
are known, with the reason; exits with 1 when one is missing there, or listed though it ran. Not
counted: what stands in a BINDER_CHECK, and the side of a switch that no case takes (the compiler
sees to it that all enumerators have one). --write prints missing entries in the form of LIST.
"""

import json
import re
import sys

FOLDER = 'reconciler/model/'
CHECK = re.compile(r'\bBINDER_CHECK\(')


class Source:
    """A source file: what stands at a place, and what stands in checks."""

    def __init__(self, text):
        self._text = text
        self._starts = [0]
        for line in text.split('\n'):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._checks = [(m.start(), self._closing(m.end())) for m in CHECK.finditer(text)]

    def _closing(self, at):
        depth = 1
        while depth and at < len(self._text):
            depth += {'(': 1, ')': -1}.get(self._text[at], 0)
            at += 1
        return at

    def offset(self, line, column):
        return self._starts[line - 1] + column - 1

    def between(self, place):
        """The text of a region, blanks made one."""
        return ' '.join(self._text[self.offset(*place[:2]):self.offset(*place[2:])].split())

    def line(self, number):
        return ' '.join(self._text[self._starts[number - 1]:self._starts[number]].split())

    def is_switch(self, place):
        """Whether it is what a switch asks: the case that no label names."""
        return self._text[:self.offset(*place[:2])].endswith('switch (')

    def in_check(self, place):
        at = self.offset(*place[:2])
        return any(start <= at < end for start, end in self._checks)


def is_measured(name):
    return (name.startswith(FOLDER) and '/' not in name[len(FOLDER):] and
            not name.endswith('_test.cc'))


def branches(export):
    """{file: {place: [times true, times false]}}; instances of a template are one."""
    found = {}
    for data in export['data']:
        for function in data['functions']:
            for branch in function['branches']:
                name = function['filenames'][branch[6]]
                name = name[name.rfind(FOLDER):] if FOLDER in name else name
                if not is_measured(name):
                    continue
                counts = found.setdefault(name, {}).setdefault(tuple(branch[:4]), [0, 0])
                counts[0] += branch[4]
                counts[1] += branch[5]
    return found


def counted(source, places):
    """Without checks and the sides of switches that no case takes."""
    for place, counts in sorted(places.items()):
        if not source.in_check(place) and not source.is_switch(place):
            yield place, counts


def label(source, place):
    """Names a branch by its text, so that an edit elsewhere does not move it."""
    text = source.between(place)
    # A range's condition is its colon.
    return source.line(place[0]) if text in (':', '') else text


def read_list(text):
    """[(file, side, text of the branch)]; lines that begin with # are reasons."""
    rows = [line for line in text.split('\n') if line and not line.startswith('#')]
    return [tuple(part.strip() for part in row.split('|', 2)) for row in rows]


def report(found, read_source, listed):
    """Returns the lines to print, what is missing in the list, and whether all is well."""
    lines, uncovered, total, ran = [], [], 0, 0
    for name in sorted(found):
        source = Source(read_source(name))
        sides, taken = 0, 0
        for place, counts in counted(source, found[name]):
            for side, count in zip(('true', 'false'), counts):
                sides += 1
                taken += count > 0
                if not count:
                    uncovered.append((place[0], (name[len(FOLDER):], side, label(source, place))))
        total, ran = total + sides, ran + taken
        lines.append(f'{taken:6}/{sides:<6} {name}')
    left = list(listed)
    missing = []
    for line, entry in uncovered:
        known = entry in left
        if known:
            left.remove(entry)
        else:
            missing.append(entry)
        note = 'listed' if known else 'NOT LISTED'
        lines.append(f'{FOLDER}{entry[0]}:{line}: never {entry[1]}: {entry[2]} ({note})')
    lines += [f'listed, but it ran or is gone: {" | ".join(entry)}' for entry in left]
    lines.append(f'{ran} of {total} branches ran, {len(uncovered) - len(missing)} did not and are '
                 f'listed, {len(missing)} are not listed, {len(left)} are listed for nothing')
    return lines, missing, not missing and not left


def main(arguments):
    with open(arguments[0], encoding='utf-8') as file:
        found = branches(json.load(file))
    with open(arguments[1], encoding='utf-8') as file:
        listed = read_list(file.read())

    def read_source(name):
        with open(name, encoding='utf-8') as file:
            return file.read()

    lines, missing, good = report(found, read_source, listed)
    if '--write' in arguments:
        lines = [' | '.join(entry) for entry in missing]
    print('\n'.join(lines))
    return 0 if good and found else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
