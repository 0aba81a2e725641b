#!/usr/bin/env python3
"""The example of a cache that one process refreshes, on the masters of a sandbox: one of them is the
cache, too. $REDLOCK: the command."""
import os

import place
from lib import Tap, skip_all, wrong
from place import Place, until
from test_redis import CLIENT

READERS = 10
# It notes that it runs, and prints how often it has run.
QUICK = 'echo >>runs; wc -l <runs'
SLOW = QUICK + '; until test -e go; do sleep 0.05; done'
FAILS_ONCE = QUICK + '; test -e failed || { : >failed; exit 1; }'


class Cache(Place):
    def __enter__(self):
        super().__enter__()
        self.key = os.path.basename(self.path)
        self.lock = f'refresh:{self.key}'
        socket = place.nodes()[0][len('unix://'):]
        self.environment['CACHE'] = f'{CLIENT} -s {socket}'
        return self

    def reader(self, command, **variables):
        return self.start(f'{self.examples}/cached.sh', self.key, '600', command, **variables)

    def readers(self, command):
        return [self.reader(command) for _ in range(READERS)]

    def ends(self, readers):
        return sorted(set(map(self.end, readers)))

    def go(self):
        self.write('', 'go')

    def outdate(self):
        self.end(self.start(*self.environment['CACHE'].split(), 'DEL', f'{self.key}:fresh'))

    def runs(self):
        return len(self.lines('runs'))


def empty(*changes):
    """Ten read at once where there is nothing: nine wait for the one that makes the value."""
    with Cache('cache', *changes) as it:
        readers = it.readers(it.script(SLOW))
        it.until_waiting(it.lock, READERS - 1)
        ended = [reader for reader in readers if reader.poll() is not None]
        it.go()
        return (wrong('those that did not wait', ended, []) +
                wrong('what they get', it.ends(readers), [(0, '1\n')]) +
                wrong('what the next ten get', it.ends(it.readers(it.file('cmd'))), [(0, '1\n')]) +
                wrong('refreshes', it.runs(), 1))


def outdated(*changes):
    """While one makes the new value, nine get the old one, and do not wait."""
    with Cache('cache', *changes) as it:
        it.end(it.reader(it.script(QUICK)))
        it.outdate()
        slow = it.reader(it.script(SLOW, 'slow'))
        until(lambda: it.runs() == 2, 'the refresh has begun')
        others = it.ends([it.reader(it.file('slow')) for _ in range(READERS - 1)])
        it.go()
        return (wrong('what the others get', others, [(0, '1\n')]) +
                wrong('what the first gets', it.end(slow), (0, '2\n')) +
                wrong('what the next get', it.ends(it.readers(it.file('slow'))), [(0, '2\n')]) +
                wrong('refreshes', it.runs(), 2))


def free_for_all():
    """Ten at once read an old value: each gets that or the new one, of which there is at most one. If their
    votes are split nobody makes it, which redlock says."""
    with Cache('cache') as it:
        it.end(it.reader(it.script(QUICK)))
        it.outdate()
        got = it.ends(it.readers(it.file('cmd')))
        values = {(status, said.split('\n')[0]) for status, said in got}
        return (wrong(f'what they get: {got}', values <= {(0, '1'), (0, '2')}, True) +
                wrong(f'refreshes: {it.runs()}', it.runs() in (1, 2), True))


def the_first_fails():
    """Those that wait try it next: one gets an error, nobody else does."""
    with Cache('cache') as it:
        readers = it.readers(it.script(FAILS_ONCE))
        got = [it.end(reader) for reader in readers]
        failed = [status for status, _ in got if status]
        return (wrong('those that failed', failed, [1]) +
                wrong('the others', sorted(set(got) - {one for one in got if one[0]}), [(0, '2\n')]) +
                wrong('refreshes', it.runs(), 2))


def no_masters():
    """Without the masters nobody refreshes, and the old value is served."""
    with Cache('cache') as it:
        it.end(it.reader(it.script(QUICK)))
        it.outdate()
        status, said = it.end(it.reader(it.file('cmd'), REDLOCK_NODES=f'unix://{it.path}/nobody'))
        return (wrong('the old value', (status, said.splitlines()[0]), (0, '1')) +
                wrong('refreshes', it.runs(), 1))


def run():
    if not CLIENT:
        skip_all('there is no redis-cli')
    tap = Tap()
    place.tell_all(tap, [
        ('nothing is there: one refresh, and all get its value', empty),
        ('an old value: one refresh, and the others get the old value at once', outdated),
        ('an old value, all at the same time', free_for_all),
        ('a refresh fails: the next one in turn refreshes', the_first_fails),
        ('no masters: the old value', no_masters)])
    place.fires(tap, 'nobody looks again under the lock',
                empty(('cached.sh', '    [ -z "$fresh" ] || return 0\n', '')))
    place.fires(tap, 'whoever finds the lock held says so',
                outdated(('cached.sh', '--no-wait -qE 0', '--no-wait')))
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
