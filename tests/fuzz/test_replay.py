#!/usr/bin/env python3
"""A replay tells of each file, and of all that can go wrong with one: `test_replay.py REPLAY`.

REPLAY is replay.c with the target fuzz_selftest.c, which does what its input says.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))
from tap import Tap  # noqa: E402

INPUTS = {'a-good': 'good', 'b-break': 'break', 'c-crash': 'crash', 'd-empty': '',
          'e-hang': 'hang', 'f-leave': 'leave', 'g-good': 'good'}
# Runs a program of another architecture: meson sets it.
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()
BAD = {'b-break', 'c-crash', 'e-hang', 'f-leave'}


def replay(program, path):
    return subprocess.run([*WRAPPER, program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)


def write(folder, inputs):
    for name, text in inputs.items():
        with open(os.path.join(folder, name), 'w', encoding='ascii') as file:
            file.write(text)


def lines(done):
    return [line for line in done.stdout.splitlines() if not line.startswith('#')]


def claims(program):
    with tempfile.TemporaryDirectory() as folder:
        done = replay(program, folder)
        yield 'an empty corpus is a failure', done.returncode == 2 and not done.stdout
        write(folder, INPUTS)
        done = replay(program, folder)
        wanted = [f'1..{len(INPUTS)}'] + [
            f'{"not ok" if name in BAD else "ok"} {number} - {name}'
            for number, name in enumerate(sorted(INPUTS), 1)]
        yield 'each file is a line, and the bad ones are not ok', lines(done) == wanted
        yield 'a bad file is a failure of the program', done.returncode == 1
        yield 'a broken rule is told', 'broken: this input breaks a rule' in done.stderr
        for name in BAD:
            os.unlink(os.path.join(folder, name))
        yield 'good files alone are none', replay(program, folder).returncode == 0
        write(folder, {'b-break': 'break'})
        done = replay(program, os.path.join(folder, 'b-break'))
        yield 'a single file can be replayed', done.returncode == 1 and 'not ok 1' in done.stdout
        yield 'and the command is printed', re.search(
            rf'^# repeat: \S*{os.path.basename(program)} {folder}/b-break$', done.stdout, re.MULTILINE)
        done = replay(program, os.path.join(folder, 'nowhere'))
        yield 'no such file is a failure', done.returncode == 2


def main(program):
    tap = Tap()
    for text, holds in claims(program):
        tap.claim(text, [] if holds else ['it does not'])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
