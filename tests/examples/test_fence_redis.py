#!/usr/bin/env python3
"""The example of a fenced write to Redis in C, with the lock on the masters of a sandbox and the data
in a server of their own. $REDLOCK: the command. $EXAMPLE: the example."""
import os
import subprocess

import lib
import place
from lib import LOST, wrong
from test_redis import CLIENT, COMPARE, SERVER, Server

EXAMPLE = os.environ['EXAMPLE']
PROCESSES = 6
LATER = (1 << 53) - 1


def start(it):
    return subprocess.Popen([EXAMPLE, f'{it.examples}/fence.lua', it.socket, '0', 'n'],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process):
    out, err = process.communicate(timeout=place.BOUND_S)
    return process.returncode, out.strip(), err.strip()


def counts(it):
    """Six at once count one after the other."""
    ended = sorted(end(process) for process in [start(it) for _ in range(PROCESSES)])
    return (wrong('how they ended', ended, [(0, str(n + 1), '') for n in range(PROCESSES)]) +
            wrong('the number', it.number_later(), str(PROCESSES)))


def is_refused(it):
    """A holder with a larger fence was there: nothing is written."""
    it.run('n=8; {write}', LATER)
    status, out, err = end(start(it))
    return (wrong('the status', (status, out), (LOST, '')) +
            wrong(f'it says why: {err}', err.startswith('STALE'), True) +
            wrong('the number', it.number_later(), '9'))


def no_data(it):
    """A server that is away is no refusal."""
    os.rename(it.socket, it.socket + '.away')
    return wrong('the status', end(start(it))[0], 1)


class Data(Server):
    def number_later(self):
        return self.run('{read}', LATER)[1]


def run():
    if not SERVER or not CLIENT:
        lib.skip_all('there is no redis-server or no redis-cli')
    tap = lib.Tap()
    lib.good(tap, Data, [counts, is_refused, no_data])
    lib.broken(tap, Data, is_refused, 'no comparison', 'fence.lua', COMPARE, 'if false then')
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
