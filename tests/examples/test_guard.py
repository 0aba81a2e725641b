#!/usr/bin/env python3
"""The examples of long work that ends with its lock, on the masters of a sandbox:
`test_guard.py ACQUIRE HOLD GUARD`. $REDLOCK: the command."""
import os
import re
import signal
import subprocess
import sys

import place
from lib import LOST, Tap, wrong
from place import Place, until

REDLOCK = os.environ['REDLOCK']
ACQUIRE, HOLD, GUARD = sys.argv[1:4]

# They note their process and how they end.
PASSES = 'echo $$ >>began; sleep 5; echo ended >>ran; exit 7'
STAYS = 'trap "echo TERM >>ran; exit 3" TERM; echo $$ >>began; while :; do sleep 0.1; done'
TTL = ('--ttl', '4s', '--grace', '2s')  # as in guard.c
BARE = 'echo $$ >>began; exec sleep 60'


class Work(Place):
    """Work under a lock: by guard.c, or by redlock lock."""

    def __init__(self, *changes):
        super().__init__('guard', *changes)

    def guard(self, work):
        return self.start(GUARD, 'k', self.script(work))

    def lock(self, work):
        return self.start(REDLOCK, 'lock', *TTL, 'k', '--',
                          self.script(work))

    def backup(self, tar):
        """backup.sh with our tar, which writes to the file after -cf."""
        os.mkdir(self.file('bin'))
        self.script(f'echo part >"$4"; cd ..; {tar}', 'bin/tar')
        return self.start(REDLOCK, 'lock', *TTL, 'k', '--',
                          f'{self.examples}/backup.sh', self.path, self.file('archive'),
                          PATH=self.file('bin') + os.pathsep + self.environment['PATH'])

    def begun(self):
        return until(lambda: self.lines('began'), 'the work has begun')[0]

    def take_away(self, program):
        """Until it has ended: a renewal in between restores the keys of a minority."""
        until(lambda: place.delete(self.prefixed('k')) or program.poll() is not None, 'the lock is lost')

    def is_free(self):
        return wrong('the lock is held', self.status('k')['held'], False)

    def archives(self):
        return sorted(name for name in os.listdir(self.path) if name.startswith('archive'))


def works_to_the_end(way):
    """The lock is renewed beyond its ttl, and released when the work has ended."""
    with Work() as it:
        program = way(it, PASSES)
        status, said = it.end(program)
        return (wrong('the status', (status, said), (7, '')) +
                wrong('what ran', it.lines('ran'), ['ended']) + it.is_free())


def lost(way):
    """The lock is deleted: the work is killed at once, without a SIGTERM. It gets one if its program did not
    run until the grace began, which is why there are a few tries."""
    for _ in range(4):
        complaints = lost_once(way)
        if not complaints:
            break
    return complaints


def lost_once(way):
    with Work() as it:
        program = way(it, STAYS)
        work = it.begun()
        it.take_away(program)
        status, said = it.end(program)
        return (wrong('the status', status, LOST) + wrong('what ran', it.lines('ran'), []) +
                wrong('the work is dead', place.is_dead(work), True) +
                wrong(f'it says so: {said}', 'lost' in said, True))


def guard_is_killed():
    with Work() as it:
        program = it.guard(BARE)
        work = it.begun()
        program.kill()
        until(lambda: place.is_dead(work), 'the work is dead')
        return []


def guard_gets_sigterm():
    """At work: the work gets it. While it waits: it gives up. The lock is released in both cases."""
    with Work() as it:
        first = it.guard(STAYS)
        it.begun()
        second = it.guard(STAYS)
        it.until_waiting('k', 1)
        second.terminate()
        gave_up = it.end(second)[0]
        first.terminate()
        return (wrong('the one that waited', gave_up, 128 + signal.SIGTERM) +
                wrong('the other', it.end(first)[0], 3) +
                wrong('what ran', it.lines('ran'), ['TERM']) +
                wrong('began', len(it.lines('began')), 1) + it.is_free())


def backup_is_whole():
    with Work() as it:
        ended = it.end(it.backup('sleep 5'))
        return wrong('the status', ended, (0, '')) + wrong('the archive', it.archives(), ['archive'])


def backup_is_stopped(*changes):
    """SIGTERM, as when renewals fail: it leaves no draft."""
    with Work(*changes) as it:
        program = it.backup('echo $$ >>began; exec sleep 60')
        it.begun()
        drafts = it.archives()
        program.terminate()
        return (wrong('drafts meanwhile', len(drafts), 1) +
                wrong('the status', it.end(program)[0], 128 + signal.SIGTERM) +
                wrong('what is left', it.archives(), []))


def backup_is_lost(*changes):
    """SIGKILL: the draft stays, and is no archive."""
    with Work(*changes) as it:
        program = it.backup('echo $$ >>began; exec sleep 60')
        it.begun()
        it.take_away(program)
        return (wrong('the status', it.end(program)[0], LOST) +
                wrong('an archive', 'archive' in it.archives(), False))


def without_masters():
    """guard.c and redlock lock with backup.sh, each with a lock of its own: then the masters stop."""
    with Work() as it, Work() as other:
        for work in it, other:
            del work.environment['REDLOCK_NODE_TIMEOUT']  # they notice it in time
        guard = it.guard(STAYS)
        backup = other.backup('echo $$ >>began; exec sleep 60')
        it.begun()
        other.begun()
        masters = [int(re.search(r'process_id:(\d+)', place.command(node, 'INFO server'))[1])
                   for node in place.nodes()]
        for master in masters:
            os.kill(master, signal.SIGSTOP)
        try:
            status, said = it.end(guard)
            ended = other.end(backup)[0]
        finally:
            for master in masters:
                os.kill(master, signal.SIGCONT)
        return (wrong('the status', status, LOST) + wrong('what ran', it.lines('ran'), ['TERM']) +
                wrong(f'notices: {said}', [line.split(',')[0].split(':')[0] for line in
                                           said.splitlines()][:2],
                      ['not renewed yet', 'the lock ends soon']) +
                wrong('the status of the backup', ended, LOST) +
                wrong('what it leaves', other.archives(), []))


def hold_is_lost():
    """hold.c says that the lock is lost, and releases what is left of it."""
    with Work() as it:
        del it.environment['REDLOCK_KEY_PREFIX']
        program = it.start(HOLD)
        until(lambda: it.status('half-a-minute')['held'], 'it is held')
        until(lambda: place.delete('half-a-minute') or program.poll() is not None, 'the lock is lost')
        status, said = it.end(program)
        words = [line.split(',')[0].split(':')[0] for line in said.splitlines()]
        return (wrong('the status', status, 0) +
                wrong(f'what it says: {said}', words, ['acquired', 'lost', 'released']))


def acquires():
    said = subprocess.run([ACQUIRE], stdout=subprocess.PIPE, text=True, check=True).stdout
    return wrong('what it says', re.sub(r'\d+ ms', 'N ms', said),
                 'acquired: done, valid for N ms\nreleased nightly-report: done\n')


def run():
    tap = Tap()
    place.tell_all(tap, [
        ('guard.c: work for longer than the ttl', lambda: works_to_the_end(Work.guard)),
        ('redlock lock: work for longer than the ttl', lambda: works_to_the_end(Work.lock)),
        ('guard.c: the lock is lost', lambda: lost(Work.guard)),
        ('redlock lock: the lock is lost', lambda: lost(Work.lock)),
        ('guard.c is killed: the work ends with it', guard_is_killed),
        ('guard.c gets SIGTERM', guard_gets_sigterm),
        ('backup.sh: the archive appears', backup_is_whole),
        ('backup.sh: stopped, it leaves nothing', backup_is_stopped),
        ('backup.sh: killed, it leaves no archive', backup_is_lost),
        ('hold.c: the lock is lost', hold_is_lost),
        ('acquire.c', acquires)])
    tap.claim('the masters stop: SIGTERM comes before the end', without_masters())
    place.fires(tap, 'no trap', backup_is_stopped(
        ('backup.sh', "trap 'rm -f \"$draft\"' EXIT", '')))
    place.fires(tap, 'no draft', backup_is_lost(('backup.sh', '=$2.draft.$$', '=$2')))
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
