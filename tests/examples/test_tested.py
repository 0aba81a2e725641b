#!/usr/bin/env python3
"""The example that has unit tests: they pass, without a redis-server, and fail for a copy of the program that does not stop
when its lock is lost; the program itself runs on real masters. $REDLOCK: the command. `test_tested.py REPORT TEST BROKEN
[TEST_IN_CPP]`."""
import os
import subprocess
import sys
import tempfile

from lib import Tap, run_in_sandbox, wrong

REDLOCK = os.environ['REDLOCK']


def run(*command, **env):
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})


def passes(test, last):
    """It leaves nothing of its masters behind, and needs no redis-server."""
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        done = run(test, TMPDIR=folder, PATH='')
        left = os.listdir(folder)
    return (wrong('the exit status', done.returncode, 0) + wrong('what it prints', done.stdout, last) +
            wrong('its complaints', done.stderr, '') + wrong('what is left', left, []))


def runs_on_real_masters(report):
    nodes = os.environ['REDLOCK_NODES'].replace(',', ' ').split()
    done = run(report, *(f'{node}?quarantine=off' for node in nodes))
    return wrong('the exit status', done.returncode, 0) + wrong('the steps', done.stdout.splitlines()[:3], [
        f'step {number}' for number in range(1, 4)])


def main(report, test, broken, *tests_in_cpp):
    tap = Tap()
    tap.claim('the unit tests pass', passes(test, '4 tests passed\n'))
    failed = run(broken)
    tap.claim('they fail for a program that does not stop',
              wrong('the exit status', failed.returncode, 1) + wrong('why', failed.stderr, 'steps: 3, not 2\n'))
    for other in tests_in_cpp:
        tap.claim('those in C++ pass', passes(other, '2 tests passed\n'))
    tap.claim('the program runs on real masters', runs_on_real_masters(report))
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main(*sys.argv[1:]))
