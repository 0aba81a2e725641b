#!/usr/bin/env python3
"""The example of a companion: when one is killed, the next one works; and without a companion it goes on, too.
$REDLOCK: the command. $EXAMPLE: the example."""
import os
import subprocess
import sys

from lib import Tap, run_in_sandbox, wrong

REDLOCK = os.environ['REDLOCK']
EXAMPLE = os.environ['EXAMPLE']
FOLDER = os.path.dirname(REDLOCK)


def start(path):
    return subprocess.Popen([EXAMPLE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, PATH=path))


def works(example):
    return wrong('what it prints', example.stdout.readline(), f'process {example.pid} works\n')


def end(example):
    example.kill()
    return example.communicate()


def the_next_one_works():
    """The TTL is a minute: longer than this test may take."""
    with start(FOLDER) as first:
        found = works(first)
        with start(FOLDER) as second:
            end(first)
            found += works(second)
            end(second)
    return found


def it_goes_on_without():
    with start('/nowhere') as example:
        found = works(example)
        _, err = end(example)
    return found + wrong('what it says', err.partition(';')[0],
                         'no companion: the command redlock was not found in PATH')


def main():
    tap = Tap()
    tap.claim('when one is killed the next one works', the_next_one_works())
    tap.claim('it goes on without a companion', it_goes_on_without())
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main())
