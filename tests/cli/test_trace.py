"""redlock --trace and REDLOCK_TRACE=1: lines as in the simulator, without any secret.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from inside import run_in_sandbox  # noqa: E402
from sentences import LINE, strangers  # noqa: E402
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
PATIENT = ['--node-timeout', '20s']


class Run:
    def __init__(self, *words, **variables):
        env = {name: value for name, value in os.environ.items() if name != 'REDLOCK_TRACE'}
        process = subprocess.Popen([REDLOCK, *words], env={**env, **variables}, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.out, self.err = process.communicate(timeout=120)
        self.pid, self.status = process.pid, process.returncode
        self.lines = [line for line in self.err.splitlines() if LINE.fullmatch(line)]
        self.rest = [line for line in self.err.splitlines() if not LINE.fullmatch(line)]

    def has(self, *parts):
        """Lines with these parts, in this order."""
        lines = iter(self.lines)
        return [f'no line with {part!r} in its turn: {self.err}' for part in parts
                if not any(part in text for text in lines)]


def traced(run, status=0):
    if run.status != status:
        yield f'it ends with {run.status}: {run.err}'
    yield from strangers(run.lines)
    yield from (f'{line} is of another process' for line in run.lines
                if not re.search(rf' c{run.pid}\b', line))
    if sum(' connected: ' in text for text in run.lines) < 3:
        yield f'the masters are not all there: {run.err}'


def a_lock(tap):
    run = Run('lock', 'k', '--trace', *PATIENT, '--', 'true')
    tap.claim('lock --trace says what happens', traced(run))
    tap.claim('the trace goes from the request to the release',
              run.has('asks for k, ttl 10000 ms, renewed', 'round 1: t', 'has a majority', 'HOLDS k',
                      'begins to release k', 'releases t', 'ended with OK', 'is closed'))
    tap.claim('lock --trace prints nothing else on stderr', run.rest)
    tap.claim('REDLOCK_TRACE=1 does the same',
              traced(Run('lock', 'k', *PATIENT, '--', 'true', REDLOCK_TRACE='1')))


def commands(tap):
    token = Run('acquire', 'k', '--ttl', '2m', '--owner', 'somebody', *PATIENT).out.strip()
    for words in [['extend', 'k', '--token', token], ['status', 'k'], ['nodes'], ['doctor'],
                  ['release', 'k', '--token', token]]:
        run = Run(*words, '--trace', *PATIENT)
        tap.claim(f'{words[0]} --trace says what happens', traced(run, run.status))
        tap.claim(f'{words[0]} --trace shows no whole token',
                  [line for line in run.lines if token[:9] in line or 'somebody' in line])


def nothing(tap):
    for value in ['', '0']:
        run = Run('nodes', *PATIENT, REDLOCK_TRACE=value)
        tap.claim(f"REDLOCK_TRACE='{value}' traces nothing", run.lines)
    run = Run('nodes', REDLOCK_TRACE='yes')
    tap.claim('another value of REDLOCK_TRACE is refused',
              [] if run.status == 64 and "REDLOCK_TRACE 'yes'" in run.err else [run.err])


def secrets(tap):
    run = Run('nodes', '--trace', *PATIENT, REDLOCK_PASSWORD='hunter2')
    tap.claim('a refused password is reported', run.has('trouble: rejected our user'))
    tap.claim('a refused password is not shown', [line for line in run.lines if 'hunter2' in line])


def main():
    run_in_sandbox()
    tap = Tap()
    for test in [a_lock, commands, nothing, secrets]:
        test(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
