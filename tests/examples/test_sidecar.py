#!/usr/bin/env python3
"""sidecar.py works while the redlock beside it leads, and not a moment longer. $REDLOCK: the command.

Runs itself in a sandbox."""
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))

from inside import run_in_sandbox  # noqa: E402
from tap import Tap  # noqa: E402
from until import until  # noqa: E402

REDLOCK = os.environ['REDLOCK']
SIDECAR = os.path.join(HERE, '..', '..', 'docs', 'examples', 'sidecar.py')


class Beside:
    """A candidate without a CMD, and the program that asks it."""

    def __init__(self, folder, name, sidecar=SIDECAR, step='echo step >>"$0"', longest='0.5'):
        self.steps = os.path.join(folder, name + '.steps')
        self.redlock = subprocess.Popen(
            [REDLOCK, 'elect', 'beside', '--id', name, '--ttl', '4s', '--node-timeout', '20s', '-v',
             '--metrics', '127.0.0.1:0'], text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        url = next(found[1] for found in (re.search(r'serves (\S+)/metrics', text) for text in self.redlock.stderr)
                   if found)
        self.program = subprocess.Popen(
            [sys.executable, '-B', sidecar, url + '/leader', longest, 'sh', '-c', step, self.steps],
            text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, 'http_proxy': 'http://127.0.0.1:1'})

    def count(self):
        """The steps so far."""
        return os.path.getsize(self.steps) // len('step\n') if os.path.exists(self.steps) else 0

    def end(self):
        """What the program says until its end."""
        said = self.program.stderr.read()
        self.program.wait()
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.program, self.redlock:
            process.kill()
            process.communicate()


def works_alone(folder, sidecar=SIDECAR):
    """When the leader's redlock is killed, its program stops by itself before another one leads."""
    with Beside(folder, 'first', sidecar) as first:
        until(first.count, 'the first one works')
        with Beside(folder, 'second') as second:
            first.redlock.kill()
            until(second.count, 'the second one works')
            seen, others = first.count(), second.count()
            until(lambda: second.count() > others + 50, 'it goes on')
            if first.count() != seen:
                yield f'the first one went on: {seen}, {first.count()}'
            if first.program.poll() is not None:
                yield f'the first one ended: {first.program.returncode}: {first.program.stderr.read()}'


def ends_a_long_step(folder):
    with Beside(folder, 'long', step='echo step >>"$0"; exec sleep 600') as it:
        until(it.count, 'it works')
        said = it.program.stderr.readline()
        if 'took too long' not in said:
            yield said


def ends_at_sigterm(folder):
    """The exit status shows that the program handles SIGTERM. PID 1 of a container has to."""
    step = 'trap \'echo ended >"$0.ended"; exit\' TERM; echo step >>"$0"; while :; do sleep 0.05; done'
    with Beside(folder, 'ended', step=step, longest='2') as it:
        until(it.count, 'it works')
        it.program.terminate()
        said = it.end()
        if it.program.returncode != 128 + signal.SIGTERM or said:
            yield f'{it.program.returncode}: {said}'
        if not os.path.exists(it.steps + '.ended'):
            yield 'the step has got no SIGTERM'


def tells_of_a_failure(folder):
    for name, step, status in ('failed', 'exit 3', 3), ('killed', 'kill -KILL $$', 137):
        with Beside(folder, name, step=step) as it:
            said = it.end()
            if it.program.returncode != status or said != f'sh: failed with status {status}\n':
                yield f'{it.program.returncode}: {said}'


def without_deadline(folder):
    with open(SIDECAR, encoding='utf-8') as text:
        broken = text.read().replace('if until < end:', 'if until == 0:')
    path = os.path.join(folder, 'broken.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(broken)
    return path


def main():
    run_in_sandbox('-n', '3')
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        tap.claim('only one works at a time, even if redlock is killed', works_alone(folder))
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        tap.claim('a step that takes too long is killed', ends_a_long_step(folder))
        tap.claim('SIGTERM ends the step and the program', ends_at_sigterm(folder))
        tap.claim('a step that fails ends the program', tells_of_a_failure(folder))
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        tap.fires('a program that ignores the deadline', works_alone(folder, without_deadline(folder)), 'went on')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
