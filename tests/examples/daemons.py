"""Instances of a daemon that is elected, and what they say: for test_elected.py.

A daemon's lines are `ID elected, term N`, `ID demoted: WHY` and, for each step of work,
`ID term N from US to US`.
"""
import os
import re
import signal
import subprocess
import threading
import time

STEP = re.compile(r'(\w+) term (\d+) from (\d+) to (\d+)')
BOUND_S = 30
TTL_S = 3


class Lines:
    """What all daemons print, in the order in which it comes."""

    def __init__(self):
        self.all = []
        self.changed = threading.Condition()

    def read(self, pipe):
        for line in pipe:
            with self.changed:
                self.all.append(line.rstrip('\n'))
                self.changed.notify_all()

    def count(self):
        with self.changed:
            return len(self.all)

    def wait_for(self, pattern, start=0):
        """The first line from `start` on that matches; None: there was none in time."""
        end = time.monotonic() + BOUND_S
        with self.changed:
            while True:
                for line in self.all[start:]:
                    found = re.fullmatch(pattern, line)
                    if found:
                        return found
                if not self.changed.wait(end - time.monotonic()):
                    return None

    def steps(self):
        """(id, term, from, to) of each step."""
        with self.changed:
            found = filter(None, map(STEP.fullmatch, self.all))
            return [(one[1], *map(int, one.groups()[1:])) for one in found]


class Daemons:
    def __init__(self, program):
        self.program = program
        self.lines = Lines()
        self.running = {}
        self.readers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.running.values():
            process.kill()
            process.send_signal(signal.SIGCONT)
            process.wait()
        for reader in self.readers:
            reader.join()

    def start(self, name):
        process = subprocess.Popen([self.program, name], stdout=subprocess.PIPE, text=True)
        reader = threading.Thread(target=self.lines.read, args=(process.stdout,))
        self.running[name] = process
        self.readers.append(reader)
        reader.start()

    def wait_for_step(self, names, start=0):
        """Who of these does a step next; None: nobody in time."""
        found = self.lines.wait_for(rf'({"|".join(names)}) term .*', start)
        return found and found[1]

    def send(self, name, number):
        self.running[name].send_signal(number)

    def end(self, name, number):
        """The exit status after that signal."""
        self.send(name, number)
        try:
            return self.running.pop(name).wait(BOUND_S)
        except subprocess.TimeoutExpired:
            return 'it runs on'


def was_stopped(step):
    """It began in time, and SIGSTOP came before its end: only the term helps against that."""
    return step[3] - step[2] > 1000000


def overlaps(steps):
    """Steps of two daemons at the same time, and terms that are not larger than those before."""
    ordered = sorted(steps, key=lambda step: step[2])
    for one, other in zip(ordered, ordered[1:]):
        if one[0] != other[0] and other[2] < one[3] and not was_stopped(one):
            yield f'at the same time: {one}, {other}'
        if other[1] < one[1] or (one[0] != other[0] and other[1] == one[1]):
            yield f'the term does not grow: {one}, {other}'


# ---- stories: each begins and ends with a leader that works ----

def after(daemons, change, others):
    """How long after `change` somebody of `others` works, and who."""
    start = daemons.lines.count()
    change()
    begin = time.monotonic()
    return daemons.wait_for_step(others, start), time.monotonic() - begin


def story(daemons, say):
    """Three are started; the leader gets SIGTERM, the next kill -9, the third SIGSTOP."""
    names = ['anna', 'berta', 'carla']
    for name in names:
        daemons.start(name)
    leader = daemons.wait_for_step(names)
    yield 'one of three is elected, and works', leader in names

    others = [name for name in names if name != leader]
    status = []
    second, took = after(daemons, lambda: status.append(daemons.end(leader, signal.SIGTERM)), others)
    say(f'SIGTERM: {took * 1000:.0f} ms')
    yield 'after SIGTERM the leader ends with 0', status == [0]
    yield 'and another one works, before the ttl is over', second is not None and took < TTL_S - 1

    third_names = [name for name in others if name != second]
    third, took = after(daemons, lambda: daemons.end(second, signal.SIGKILL), third_names)
    say(f'SIGKILL: {took * 1000:.0f} ms')
    yield 'after kill -9 another one works', third is not None

    daemons.start('dora')
    fourth, _ = after(daemons, lambda: daemons.send(third, signal.SIGSTOP), ['dora'])
    yield 'while the leader is stopped another one works', fourth == 'dora'
    start = daemons.lines.count()
    daemons.send(third, signal.SIGCONT)
    yield ('the one that was stopped is demoted when it goes on',
           daemons.lines.wait_for(rf'{third} demoted: .*', start) is not None)
    yield 'and the new one works on', daemons.wait_for_step(['dora'], daemons.lines.count()) == 'dora'


def tell(tap, program):
    with Daemons(program) as daemons:
        for text, holds in story(daemons, lambda line: print(f'# {line}')):
            tap.claim(text, [] if holds else daemons.lines.all[-5:] or ['it said nothing'])
        steps = daemons.lines.steps()
    tap.claim('never two at once, and the terms grow', overlaps(steps))
    tap.fires('two at once', overlaps([('a', 1, 10, 20), ('b', 2, 19, 29)]), 'same time')
    tap.fires('a term twice', overlaps([('a', 1, 10, 20), ('b', 1, 20, 29)]), 'does not grow')
