#!/usr/bin/env python3
"""The examples under `redlock lock --fence`, on the masters of a sandbox. $REDLOCK: the command."""
import os
import subprocess
import sys

import lib
from lib import LOST, run_in_sandbox, wrong
from test_http import Service
from test_redis import CLIENT, SERVER, Server
from test_sql import Database

REDLOCK = os.environ['REDLOCK']


def under_lock(kind):
    """The same resource; a holder's fence comes from the lock `n`, or from the lock that it names."""

    class UnderLock(kind):
        def holder(self, script, *keys):
            script = script.format(read=self.read, write=self.write)
            environment = self.environment('')
            del environment['REDLOCK_FENCING_TOKEN']
            return subprocess.Popen([REDLOCK, 'lock', '--fence', *(keys or ['n']), '--', 'sh', '-c',
                                     script], env=environment, stdout=subprocess.PIPE, text=True)

        def lock(self, script, *keys):
            """The exit status of redlock lock, and its output."""
            with self.holder(script, *keys) as process:
                out = process.communicate()[0]
            return process.returncode, out.strip()

    return UnderLock


def counts_and_refuses(it):
    """Six holders count one after the other; an earlier holder is refused."""
    status, late = it.lock('echo $REDLOCK_FENCING_TOKEN; exec >/dev/null; {read}')
    holders = [it.holder(lib.COUNTER) for _ in range(6)]
    ended = [(holder.communicate(), holder.returncode)[1] for holder in holders]
    return (wrong('the first', status, 0) + wrong('the others', ended, [0] * 6) +
            wrong('late', it.run('n=9; {write}', late)[0], LOST) +
            wrong('late, in a lock', it.lock(f'n=9; REDLOCK_FENCING_TOKEN={late}; {{write}}')[0], LOST) +
            wrong('the number', it.lock('{read}'), (0, '6')))


def fences_grow(it):
    """Fences grow from holder to holder, also across locks of several keys."""
    keys = [['n'], ['n'], ['n', 'm'], ['m'], ['m', 'n'], ['n']]
    fences = [int(it.lock('echo $REDLOCK_FENCING_TOKEN', *each)[1]) for each in keys]
    return (wrong('in order', fences, sorted(set(fences))) +
            wrong('below 2^53', all(0 < fence < 1 << 53 for fence in fences), True))


def main():
    if subprocess.run([REDLOCK, 'lock', '--fence', 'n', '--', 'true'], stderr=subprocess.PIPE,
                      check=False).returncode == 64:
        lib.skip_all('this redlock lock has no --fence')
    tap = lib.Tap()
    kinds = [('SQL', Database), ('HTTP', Service)]
    if SERVER and CLIENT:
        kinds.append(('Redis', Server))
    for name, kind in kinds:
        tap.claim(f'{name}: counts and refuses', lib.tell(under_lock(kind), counts_and_refuses))
    tap.claim('fences grow', lib.tell(under_lock(Database), fences_grow))
    found = lib.tell(under_lock(Service), counts_and_refuses, 'fence_http.py', 'if fence < seen:',
                     'if 0:')
    tap.claim('fires (counts and refuses): no comparison', [] if found else ['nothing was noticed'])
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox()
    sys.exit(main())
