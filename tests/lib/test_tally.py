#!/usr/bin/env python3
"""The last line of scripts/test must be true: tally.py on runs of every kind. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))
from tap import Tap  # noqa: E402

TALLY = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tally.py')

# What a program printed, meson's result, its exit status, and the line that must come out.
CASES = [
    ('passes are counted', '1..2\nok 1 a\nok 2 b\n', 'OK', 0, '2 passed, 0 failed'),
    ('failures are counted', 'ok 1 a\nnot ok 2 b\n1..2\n', 'FAIL', 1, '1 passed, 1 failed'),
    ('skips are counted', '1..2\nok 1 a # SKIP why\nok 2\n', 'OK', 0,
     '1 passed, 0 failed, 1 skipped'),
    ('a plan of nothing is a skip', '1..0 # SKIP why\n', 'SKIP', 0, '0 passed, 0 failed, 1 skipped'),
    ('a crash is a failure', 'ok 1 a\n', 'ERROR', -11, '1 passed, 1 failed'),
    ('a timeout is a failure', 'ok 1 a\n', 'TIMEOUT', -9, '1 passed, 1 failed'),
    ('a missing plan is a failure', 'ok 1 a\n', 'OK', 0, '1 passed, 1 failed'),
    ('fewer than planned is a failure', '1..2\nok 1 a\n', 'ERROR', 0, '1 passed, 1 failed'),
    ('silence of a TAP program is a failure', '', 'SKIP', 0, '0 passed, 1 failed'),
    ('an exit status of 0 is a pass', 'hello\n', 'OK', 0, '1 passed, 0 failed'),
    ('an exit status of 1 is a failure', '', 'FAIL', 1, '0 passed, 1 failed'),
    ('an exit status of 77 is a skip', '', 'SKIP', 77, '0 passed, 0 failed, 1 skipped'),
]


def printed(*args):
    done = subprocess.run([sys.executable, TALLY, *args], stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines(), done.returncode


def tally(*args):
    lines, status = printed(*args)
    return lines[-1], status


def repeats(folder, *told):
    """The commands that are printed when a test has failed and said so."""
    build = os.path.join(folder, f'failed-{len(told)}')
    write_log(build, '\n'.join(['not ok 1 a', *told, '1..1']), 'FAIL', 1)
    return [line.strip().replace(build, 'B') for line in printed(build)[0] if 'repeat: ' in line]


def write_log(build, out, result, status):
    os.makedirs(os.path.join(build, 'meson-logs'))
    run = {'name': 'project:suite / x', 'stdout': out, 'result': result, 'returncode': status}
    with open(os.path.join(build, 'meson-logs', 'testlog.json'), 'w', encoding='utf-8') as log:
        log.write(json.dumps(run) + '\n')


def main():
    results = []
    with tempfile.TemporaryDirectory() as folder:
        builds = []
        for i, (claim, out, result, status, summary) in enumerate(CASES):
            build = os.path.join(folder, str(i))
            write_log(build, out, result, status)
            builds.append(build)
            good = not summary.startswith('0 passed') and ' 0 failed' in summary
            results.append((claim, tally(build) == (summary, 0 if good else 1)))
        results.append(('builds are summed', tally(*builds[:2]) == ('3 passed, 1 failed', 1)))
        results.append(('a build without a log is a failure',
                        tally(builds[0], os.path.join(folder, 'none')) == ('2 passed, 1 failed', 1)))
        results.append(('a build that broke is a failure',
                        tally('--broken', '1', builds[0]) == ('2 passed, 1 failed', 1)))
        results.append(('a failed program is to be repeated by meson',
                        repeats(folder) == ['repeat: meson test -C B -v x']))
        results.append(('or as it says itself',
                        repeats(folder, '# repeat: x 1') == ['# repeat: x 1']))
    tap = Tap()
    for claim, good in results:
        tap.claim(claim, [] if good else ['it does not'])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
