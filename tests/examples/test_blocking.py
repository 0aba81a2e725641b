#!/usr/bin/env python3
"""The examples of the README: in a sandbox they hold the lock while they work, release it, and wait for it.
They say why they do not get it.
$REDLOCK: the command. $EXAMPLE: the example."""
import os
import subprocess
import sys

from lib import Tap, run_in_sandbox, wrong

REDLOCK = os.environ['REDLOCK']
BLOCKING = os.environ['EXAMPLE']
HELD = 75
STEPS = [f'step {number}' for number in range(1, 6)]


def start():
    return subprocess.Popen([BLOCKING], stdout=subprocess.PIPE, text=True)


def is_held():
    return subprocess.run([REDLOCK, 'lock', 'nightly-report', '--no-wait', '-q', '--', 'true'], check=False).returncode


def holds_while_it_works():
    with start() as example:
        first = example.stdout.readline()
        held = is_held()
        lines = example.stdout.read().splitlines()
    return (wrong('the first step', first, 'step 1\n') +
            wrong('while it works', held, HELD) +
            wrong('the rest', lines[:4], STEPS[1:]) + wrong('the end', len(lines), 5) +
            wrong('the exit status', example.returncode, 0) +
            wrong('afterwards', is_held(), 0))


def waits_for_the_other():
    with start() as one, start() as other:
        outputs = [one.stdout.read().splitlines(), other.stdout.read().splitlines()]
    return (wrong('what both do', [lines[:5] for lines in outputs], [STEPS, STEPS]) +
            wrong('the exit statuses', [one.returncode, other.returncode], [0, 0]))


def run(**variables):
    """The exit status of the example, and its whole output."""
    done = subprocess.run([BLOCKING], env=dict(os.environ, **variables), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def says_why_not(said, **variables):
    status, printed = run(**variables)
    return wrong('the exit status', status, 1) + ([] if said in printed else [f'it says: {printed}'])


def main():
    tap = Tap()
    tap.claim('it says which setting is wrong',
              says_why_not("REDLOCK_MAX_TTL '5 apples' is not a time", REDLOCK_MAX_TTL='5 apples'))
    tap.claim('it says that no masters are named',
              says_why_not('cannot read the masters from /nonexistent', REDLOCK_NODES='', REDLOCK_CONFIG='/nonexistent'))
    tap.claim('it says why it does not get the lock',
              says_why_not('/nonexistent/socket', REDLOCK_NODES='unix:///nonexistent/socket'))
    tap.claim('it holds the lock while it works, and releases it', holds_while_it_works())
    tap.claim('two of them work one after the other', waits_for_the_other())
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main())
