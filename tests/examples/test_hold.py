#!/usr/bin/env python3
"""The example in Python that works under a lock by `redlock hold`. $REDLOCK: the command."""
import os
import signal
import sys
import time

import place
from lib import Tap, wrong
from place import REDLOCK, Place, is_dead, until

WORK = "            print(f'step"
PAUSE = ('hold.py', WORK, "            while not os.path.exists('go'):\n                time.sleep(0.01)\n" + WORK)


class Program(Place):
    """A copy of the example whose steps wait for a file."""

    def __init__(self, *changes):
        super().__init__('python', PAUSE, *changes)

    def work(self, steps, key='k'):
        path = self.file('example', 'hold.py')
        return self.start('sh', '-c', f'cd {self.path} && exec {sys.executable} -B {path} {key} {steps} 0')

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


def takes_any_key(*changes):
    with Program(*changes) as it:
        program = it.work(1, '--help')
        it.go()
        return wrong('the end', it.end(program)[0], 0)


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


def ends_after(sign, *changes):
    """How a block without a check ends when redlock hold gets a signal."""
    with Program(UNCHECKED, *changes) as it:
        program = it.work(1)
        it.holds()
        it.signal_holder(sign)
        it.is_free()
        it.go()
        status, text = it.end(program)
        return wrong('the end', (status, 'the lock was lost' in text), (1, True))


def stops_waiting(*changes):
    """A program that stops waiting, and goes on with something else, gets no lock later."""
    with Program(WAITING, IMPATIENT, *changes) as it:
        holder = it.start(REDLOCK, 'lock', 'k', '--', 'sleep', '600')
        it.holds()
        program = it.work(1)
        it.until_waiting('k', 1)
        program.send_signal(signal.SIGALRM)
        first = program.stdout.readline()
        found = wrong('the program', first, 'gave up\n')
        if not changes:
            it.until_waiting('k', 0)
        holder.terminate()
        holder.communicate()
        until(lambda: it.status('k')['held'] == bool(changes), 'the lock is free, or the fault is seen')
        found += ['it got the lock later'] if it.status('k')['held'] else []
        it.go()
        return found


def forks(*changes):
    """A child that was forked does not keep its parent's lock."""
    with Program(FORK, *changes) as it:
        program = it.work(1)
        it.holds()
        child = int(program.stdout.readline())
        program.kill()
        program.wait()
        if changes:
            time.sleep(0.5)
        else:
            it.is_free()
        found = wrong('the child lives, and the lock is held', (is_dead(child), it.status('k')['held']), (False, False))
        it.go()
        return found


UNCHECKED = ('hold.py', '            lock.check(float(seconds))\n', '')
WAITING = ('hold.py', "options=['--no-wait', '--fence']", "options=['--fence']")
IMPATIENT = ('hold.py', "if __name__ == '__main__':\n    try:\n", """
class Impatient(Exception):
    pass


def give_up(*_):
    raise Impatient


if __name__ == '__main__':
    import signal
    signal.signal(signal.SIGALRM, give_up)
    try:
        main(*sys.argv[1:])
    except Impatient as error:
        print('gave up', flush=True)
        while not os.path.exists('go'):
            time.sleep(0.01)
        sys.exit(str(error))
    try:
""")
FORK = ('hold.py', '        for step in range(int(steps)):\n', """\
        child = os.fork()
        while child == 0:
            time.sleep(0.01)
            if os.path.exists('go'):
                os._exit(0)
        print(child, flush=True)
        for step in range(int(steps)):
""")
FORGIVING = ('hold.py', 'if self.process.wait() != 0 and', 'if self.process.wait() == 76 and')
PATIENT = ('hold.py', '        except BaseException:', '        except NotAcquired:')
KEEPING = ('hold.py', 'os.register_at_fork(after_in_child=leave_locks)\n', '')
CONFUSED = ('hold.py', "'--json', *options, '--', *keys]", "*keys, '--json', *options]")
BLIND = ('hold.py', 'if now_us + seconds * 1e6 >= self.deadline_us:', 'if False:')


def run():
    tap = Tap()
    place.tell_all(tap, [
        ('it works under the lock, and nobody else gets it', works),
        ('a key that begins with a dash is no option', takes_any_key),
        ('when it is killed, the lock is free', dies),
        ('when redlock is killed, it stops', lambda: steps_after(signal.SIGKILL)),
        ('when redlock is stopped, it stops at the deadline', lambda: steps_after(signal.SIGSTOP)),
        ('a block does not end well when redlock was killed', lambda: ends_after(signal.SIGKILL)),
        ('a block does not end well when redlock was ended', lambda: ends_after(signal.SIGTERM)),
        ('a program that stops waiting gets no lock later', stops_waiting),
        ('a child that it has forked does not keep the lock', forks)])
    place.fires(tap, 'it takes a key for an option', takes_any_key(CONFUSED))
    place.fires(tap, 'it ignores the deadline', steps_after(signal.SIGKILL, BLIND))
    place.fires(tap, 'it ignores the exit status', ends_after(signal.SIGTERM, FORGIVING))
    place.fires(tap, 'it leaves a redlock behind that waits', stops_waiting(PATIENT))
    place.fires(tap, 'its child keeps the pipe', forks(KEEPING))
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
