#!/usr/bin/env python3
"""The examples of other event loops, run on the masters of a sandbox: `test_loops.py EXAMPLE...`.
$REDLOCK: the command."""
import os
import resource
import socket
import subprocess
import sys

from lib import Tap, run_in_sandbox, wrong

REDLOCK = os.environ['REDLOCK']
NODES = os.environ.get('REDLOCK_NODES', '').split()
STEPS = 20
WORK_S = STEPS * 0.05
HELD_S = 1
LINES = ['acquired: done', f'{STEPS} steps; released: done']


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return wrong('what it says', done.stdout.splitlines(), LINES) + wrong('its exit status', done.returncode, 0)


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def works_without_spinning(example):
    """A loop that asks again and again whether there is something to do uses all of the time."""
    before = cpu_s()
    found = run(example)
    return found + wrong(f'little CPU ({cpu_s() - before:.2f} s)', cpu_s() - before < WORK_S / 2, True)


def waits_for_another(example):
    """The lock is held by somebody else, and the release wakes the program."""
    name = os.path.basename(example)
    other = subprocess.Popen([REDLOCK, 'lock', name, '--', 'sh', '-c',
                              f'echo held; sleep {HELD_S}'], stdout=subprocess.PIPE, text=True)
    with other:
        held = other.stdout.readline()
        found = run(example)
    return wrong('the other one', [held, other.returncode], ['held\n', 0]) + found


def delete(node, key):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(node[len('unix://'):])
        client.sendall(f'DEL {key}\r\n'.encode())
        client.recv(100)


def lost(example):
    """The lock is taken away: the notice comes from the loop, and the program ends."""
    name = os.path.basename(example)
    with subprocess.Popen([example], stdout=subprocess.PIPE, text=True) as program:
        first = program.stdout.readline()
        for node in NODES:
            delete(node, name)
        lines = program.stdout.read().splitlines()
    return (wrong('acquired', first, 'acquired: done\n') +
            wrong(f'lost, and released: {lines}', [line.split(':')[0].split()[-1] for line in lines],
                  ['lost', 'released']) + wrong('its exit status', program.returncode, 1))


def main(examples):
    tap = Tap()
    for example in examples:
        name = os.path.basename(example)
        tap.claim(f'{name}: it works, and sleeps between its steps', works_without_spinning(example))
        tap.claim(f'{name}: it waits for a lock that somebody else holds', waits_for_another(example))
        tap.claim(f'{name}: it ends when the lock is lost', lost(example))
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main(sys.argv[1:]))
