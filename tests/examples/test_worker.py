#!/usr/bin/env python3
"""The example of a thread that checks the deadline itself, run on the masters of a sandbox.
$REDLOCK: the command. $EXAMPLE: the example."""
import os
import signal
import subprocess
import sys
import time

from lib import LOST, Tap, run_in_sandbox, wrong

REDLOCK = os.environ['REDLOCK']
WORKER = os.environ['EXAMPLE']
TTL_S = 4
STEPS = 90


def start():
    return subprocess.Popen([WORKER], stdout=subprocess.PIPE, text=True)


def works_to_the_end():
    """The worker works for longer than the ttl, because each renewal moves the deadline."""
    with start() as worker:
        lines = worker.stdout.read().splitlines()
    return (wrong('acquired', lines[:1], ['acquired: done']) +
            wrong('the end', lines[-1:], [f'{STEPS} steps; released: done']) +
            wrong('the exit status', worker.returncode, 0))


def stops_when_the_time_is_over():
    """A worker that was stopped until after the deadline does no step when it goes on."""
    with start() as worker:
        first = worker.stdout.readline()
        worker.send_signal(signal.SIGSTOP)
        time.sleep(TTL_S + 1)
        worker.send_signal(signal.SIGCONT)
        lines = worker.stdout.read().splitlines()
    steps = int(lines[-1].split()[0]) if lines and ' steps; ' in lines[-1] else -1
    return (wrong('acquired', first, 'acquired: done\n') +
            wrong(f'fewer steps: {lines}', 0 <= steps < STEPS, True) +
            wrong('the exit status', worker.returncode, LOST))


def main():
    tap = Tap()
    tap.claim('a worker works to the end', works_to_the_end())
    tap.claim('a worker that was stopped until after the deadline stops', stops_when_the_time_is_over())
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main())
