#!/usr/bin/env python3
"""Count the single tests of one or more runs of `meson test`.

    tally.py [--broken N] BUILD...

reads BUILD/meson-logs/testlog.json, one program on each line. A program that speaks TAP
counts as many tests as it reported, and as one more failure if it crashed, was killed, printed
no plan, or reported more or fewer tests than planned, without a "not ok" of its own. Any other
program is one test. A build without a log is a failure, and so is each build that broke.

The last line of the output is "N passed, N failed[, N skipped]"; the exit status is 1 if
anything failed or nothing passed.
"""
import json
import os
import re
import sys

TEST = re.compile(r'(not )?ok\b([^#]*)(#\s*skip\b)?', re.IGNORECASE)
PLAN = re.compile(r'1\.\.(\d+)\s*(#\s*skip\b)?', re.IGNORECASE)
SKIPPED_BY_STATUS = 77

# How much of what a failed program printed on stderr is shown.
LAST_LINES = 60

# How many of its failed tests.
MOST_TESTS = 3


class Count:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def count_tap(text):
    """The count of what the lines say, the plan (None without one), and if all was skipped."""
    count, plan, all_skipped = Count(), None, False
    for line in text.splitlines():
        test, planned = TEST.match(line), PLAN.match(line)
        if test and test.group(1):
            count.failed += 1
        elif test and test.group(3):
            count.skipped += 1
        elif test:
            count.passed += 1
        elif planned:
            plan, all_skipped = int(planned.group(1)), bool(planned.group(2))
    return count, plan, all_skipped


def count_program(run):
    count, plan, all_skipped = count_tap(run.get('stdout') or '')
    told = count.passed + count.failed + count.skipped
    good = run['result'] in ('OK', 'SKIP', 'EXPECTEDFAIL')
    if plan is None and told == 0:
        if run['result'] == 'SKIP' and run.get('returncode') == SKIPPED_BY_STATUS:
            count.skipped = 1
        elif run['result'] == 'OK':
            count.passed = 1
        else:
            count.failed = 1
    elif all_skipped and plan == 0 and good:
        count.skipped += 1
    elif (not good or plan != told or told == 0) and count.failed == 0:
        count.failed = 1
    return count


def explain(build, run):
    """What a person needs of a failed program: its failed tests and what they said."""
    print(f'failed in {build}: {run["name"]} ({run["result"]}, exit status {run["returncode"]})')
    lines = (run.get('stdout') or '').splitlines()
    told, telling = 0, False
    for line in lines:
        if TEST.match(line) or PLAN.match(line):
            telling = line.startswith('not')
            told += telling
        if telling and told <= MOST_TESTS:
            print(f'    {line}')
    if told > MOST_TESTS:
        print(f'    and {told - MOST_TESTS} more')
    if not any(TEST.match(line) for line in lines):
        print('\n'.join(f'    {line}' for line in lines[-LAST_LINES:]))
    for line in (run.get('stderr') or '').splitlines()[-LAST_LINES:]:
        print(f'    {line}')
    if 'repeat: ' not in (run.get('stdout') or ''):
        print(f'    repeat: meson test -C {build} -v {run["name"].split(" / ")[-1]}')


def count_build(build):
    total = Count()
    path = os.path.join(build, 'meson-logs', 'testlog.json')
    try:
        with open(path, encoding='utf-8') as log:
            for line in log:
                run = json.loads(line)
                count = count_program(run)
                if count.failed:
                    explain(build, run)
                total.add(count)
    except (OSError, ValueError) as problem:
        print(f'failed: {path}: {problem}')
        total.failed += 1
    return total


def sum_up(total):
    """Print the last line, and return the exit status."""
    skipped = f', {total.skipped} skipped' if total.skipped else ''
    print(f'{total.passed} passed, {total.failed} failed{skipped}')
    return 1 if total.failed or not total.passed else 0


def main(args):
    total = Count()
    if args[:1] == ['--broken']:
        total.failed = int(args[1])
        args = args[2:]
    for build in args:
        total.add(count_build(build))
    return sum_up(total)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
