#!/usr/bin/env python3
"""The example in Python that works under a lock by `redlock hold`. $REDLOCK: the command."""
import os
import signal
import sys

import place
from lib import Tap, wrong
from place import Place, until

WORK = "            print(f'step"
PAUSE = ('hold.py', WORK, "            while not os.path.exists('go'):\n                time.sleep(0.01)\n" + WORK)
OS = ('hold.py', 'import json\n', 'import json\nimport os\n')


class Program(Place):
    """A copy of the example whose steps wait for a file."""

    def __init__(self, *changes):
        super().__init__('python', OS, PAUSE, *changes)

    def work(self, steps):
        path = self.file('example', 'hold.py')
        return self.start('sh', '-c', f'cd {self.path} && exec {sys.executable} -B {path} k {steps} 0')

    def holds(self):
        until(lambda: self.status('k')['held'], 'the program has the lock')

    def is_free(self):
        until(lambda: not self.status('k')['held'], 'the lock is free')

    def go(self):
        self.write('', 'go')

    def signal_holder(self, sign):
        os.kill(int(self.status('k')['owner'].split(':')[-1]), sign)


def works():
    with Program() as it:
        program = it.work(2)
        it.holds()
        other = it.end(it.work(1))
        token = it.status('k')['fencing_token']
        it.go()
        steps = ''.join(f'step {n} with the fencing token {token}\n' for n in range(2))
        return (wrong('another one', (other[0], 'exited with 75' in other[1]), (1, True)) +
                wrong('the first', it.end(program), (0, steps)) +
                wrong('the lock', it.status('k')['held'], False))


def dies():
    with Program() as it:
        program = it.work(1)
        it.holds()
        program.kill()
        it.is_free()
        return []


def steps_after(sign, *changes):
    """How a program ends when redlock hold gets a signal after its first step."""
    with Program(*changes) as it:
        program = it.work(1000000)
        it.holds()
        it.signal_holder(sign)
        it.is_free()
        it.go()
        if changes:
            third = [program.stdout.readline() for _ in range(3)][-1]
            return [f'it goes on: {third}'] if third.startswith('step 2') else []
        status, text = it.end(program)
        return wrong('the end', (status, 'the lock was lost' in text, 'step 1' in text), (1, True, False))


BLIND = ('hold.py', 'if now_us + seconds * 1e6 >= self.deadline_us:', 'if False:')


def run():
    tap = Tap()
    place.tell_all(tap, [
        ('it works under the lock, and nobody else gets it', works),
        ('when it is killed, the lock is free', dies),
        ('when redlock is killed, it stops', lambda: steps_after(signal.SIGKILL)),
        ('when redlock is stopped, it stops at the deadline', lambda: steps_after(signal.SIGSTOP))])
    place.fires(tap, 'it ignores the deadline', steps_after(signal.SIGKILL, BLIND))
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
