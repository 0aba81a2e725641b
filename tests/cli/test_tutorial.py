#!/usr/bin/env python3
"""What docs/tutorial.md types in the sandbox prints what the tutorial says.

    test_tutorial.py TUTORIAL

A line "$ COMMAND" of a block of the kind "console" is run by one shell, in the order of the document, and what it prints is compared
with the lines below it. There "..." stands for any lines; numbers, and the folder of the sandbox, may be others. $REDLOCK is the
command under test; the output is TAP.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lint'))
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
BLOCK = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MARK = '@@@ '

# A step that hangs ends the test, and is named.
PATIENCE_S = 300


def steps_of(text):
    """Pairs of a command and the lines that it prints."""
    steps = []
    for line in '\n'.join(BLOCK.findall(text)).splitlines():
        if line.startswith('$ '):
            steps.append((line[2:], []))
        elif line:
            steps[-1][1].append(line)
    return steps


def alike(line):
    """A pattern for what differs from run to run."""
    pattern = re.sub(r'/tmp/redlock-[0-9a-f]+/', '@', line)
    return ''.join({'@': r'/\S+/', '#': '[0-9.]+'}.get(part, re.escape(part))
                   for part in re.split(r'([@#])', re.sub(r'[0-9.]*[0-9]', '#', pattern)))


def pattern_of(lines):
    return re.compile(''.join('(?:.*\n)*' if line == '...' else alike(line) + '.*\n' for line in lines))


def script_of(steps):
    """A line of the sandbox's shell for each step; a mark comes before what it prints."""
    return ''.join(f'echo "{MARK}{i}"\n{command}\n' for i, (command, _) in enumerate(steps))


def run(steps):
    env = dict(os.environ, PATH=os.path.dirname(REDLOCK) + os.pathsep + os.environ['PATH'])
    process = subprocess.Popen([REDLOCK, 'sandbox', '--', 'bash', '-c', script_of(steps)], env=env, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        out, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, _ = process.communicate()
    printed = re.split(rf'^{MARK}\d+\n', out, flags=re.MULTILINE)[1:]
    return printed + ['(not reached)\n'] * (len(steps) - len(printed))


def main(path):
    with open(path, encoding='utf-8') as file:
        steps = steps_of(file.read())
    tap = Tap()
    tap.claim('the tutorial has commands to type', [] if len(steps) > 8 else [f'{len(steps)}'])
    for (command, lines), printed in zip(steps, run(steps)):
        as_told = pattern_of(lines).fullmatch(printed)
        tap.claim(command.replace('#', ''), [] if as_told else [f'printed: {line}' for line in printed.splitlines() or ['nothing']])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
