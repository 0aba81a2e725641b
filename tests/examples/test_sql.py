#!/usr/bin/env python3
"""The SQL example: fence.sql, run by fence_sql.py on SQLite."""
import importlib.util
import os
import sqlite3
import subprocess
import sys
import threading

import lib
from lib import LOST, MIDDLE, NEW, OLD, wrong


class Database(lib.Folder):
    def start(self):
        self.file = os.path.join(self.path, 'db')
        self.command = f'{sys.executable} -BS {self.examples}/fence_sql.py {self.file}'
        self.read = self.command + ' read n'
        self.write = self.command + ' write n $((n + 1))'
        for what in ('document n', 'account alice 100', 'account bob 100'):
            subprocess.run(f'{self.command} create {what}', shell=True, check=True)

    def module(self):
        spec = importlib.util.spec_from_file_location('fence_sql', self.examples + '/fence_sql.py')
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def transfer(self, words, fence):
        return self.run(f'{self.command} transfer {words}', fence)[0]

    def balances(self):
        db = sqlite3.connect(self.file, timeout=60)
        found = [row[0] for row in db.execute('SELECT balance FROM account ORDER BY name')]
        db.close()
        return found


class Pausing:
    """A connection that calls `pause` before the first statement that contains a text."""

    def __init__(self, db, text, pause):
        self.db, self.text, self.pause = db, text, pause

    def execute(self, statement, *rest):
        if self.text in statement and self.pause:
            pause, self.pause = self.pause, None
            pause()
        return self.db.execute(statement, *rest)


def stale_transfer_is_refused(it):
    """A holder is refused if one of the two resources has seen a later one; nothing is written."""
    it.run(f'{it.command} create account carol 100', NEW)
    return (wrong('the newer one', it.transfer('bob carol 10', NEW), 0) +
            wrong('the older one', it.transfer('alice bob 10', OLD), LOST) +
            wrong('the balances', it.balances(), [100, 90, 110]) +
            wrong('an older one elsewhere', it.transfer('alice alice 0', OLD), 0))


def failed_transfer_changes_nothing(it):
    """A rollback changes neither the balances nor the fences."""
    return (wrong('too much', it.transfer('alice bob 101', NEW), 1) +
            wrong('an older one', it.transfer('alice bob 1', OLD), 0) +
            wrong('nobody', it.transfer('alice nobody 1', NEW) in (1, LOST), True) +
            wrong('the balances', it.balances(), [99, 101]))


def transaction_is_waited_for(it):
    """A has passed its guards when B comes: B waits, and then sees the changes of A.

    B begins while A is before its first UPDATE of a balance. It cannot end before A when the
    guards lock the database; if they do not, the test lets B end first."""
    module = it.module()
    results = {}
    b_begins = threading.Event()

    def moves(holder, db, fence, amount):
        try:
            module.transfer(db, fence, 'alice', 'bob', amount)
            results[holder] = 'done'
        except Exception as error:  # pylint: disable=broad-except
            results[holder] = str(error)
        db.db.close()

    def newer():
        moves('B', Pausing(module.connect(it.file), 'BEGIN', b_begins.set), NEW, 100)

    thread = threading.Thread(target=newer)

    def meanwhile():
        thread.start()
        if db.db.in_transaction:
            b_begins.wait()
        else:
            thread.join()

    db = Pausing(module.connect(it.file), 'UPDATE account', meanwhile)
    moves('A', db, OLD, 10)
    thread.join()
    return (wrong('their results', results, {'A': 'done', 'B': 'alice has less than 100'}) +
            wrong('the balances', it.balances(), [90, 110]))


def transfers_at_once(it):
    """Each transfer counts or is refused; none is lost, and none counts half."""
    fences = [OLD + 7 * n % 8 for n in range(8)]
    shells = [it.shell(f'{it.command} transfer alice bob 1', fence) for fence in fences]
    ended = [(shell.communicate(), shell.returncode)[1] for shell in shells]
    done = ended.count(0)
    return (wrong('their exit statuses', sorted(set(ended) | {0, LOST}), [0, LOST]) +
            wrong('the greatest', ended[fences.index(max(fences))], 0) +
            wrong('the balances', it.balances(), [100 - done, 100 + done]) +
            wrong('an older one afterwards', it.transfer('alice bob 1', MIDDLE), LOST))


def needs_a_fence(it):
    """Without a valid $REDLOCK_FENCING_TOKEN nothing is changed."""
    return (wrong('none', it.run(it.write, '')[0], 1) +
            wrong('a word', it.run('n=1; ' + it.write, 'new')[0], 1) +
            wrong('the number', it.number(), ''))


OWN = [stale_transfer_is_refused, failed_transfer_changes_nothing, transaction_is_waited_for,
       transfers_at_once, needs_a_fence]

SET_FENCE = 'UPDATE document SET body = :body, fence = :fence'
WRITE = SET_FENCE + ' WHERE name = :name AND fence <= :fence'
ANNOUNCE = 'UPDATE document SET fence = :fence WHERE name = :name AND fence <= :fence'
GUARD = 'UPDATE fences SET fence = :fence WHERE resource = :resource AND fence <= :fence'
COUNT = 'if cursor.rowcount != 1:'


def main():
    tap = lib.Tap()
    lib.good(tap, Database, lib.STORIES + OWN)

    def breaks(story, name, *change):
        lib.broken(tap, Database, story, name, *change)

    breaks(lib.sleeper_is_refused, 'no comparison', 'fence.sql', WRITE, WRITE[:-18])
    breaks(lib.all_at_once, 'no comparison', 'fence.sql', WRITE, WRITE[:-18])
    breaks(lib.sleeper_is_refused, 'the row count is not looked at', 'fence_sql.py', COUNT, 'if 0:')
    breaks(lib.writing_announces, 'a reader is not compared', 'fence.sql', ANNOUNCE, ANNOUNCE[:-18])
    breaks(lib.reading_announces, 'reading does not announce', 'fence.sql', ANNOUNCE,
           'UPDATE document SET name = :name WHERE name = :name AND fence <= :fence')
    breaks(lib.writing_announces, 'writing does not store the fence', 'fence.sql', WRITE,
           'UPDATE document SET body = :body WHERE name = :name AND fence <= :fence')
    breaks(lib.equal_is_allowed, 'equal is refused', 'fence.sql', WRITE,
           WRITE.replace('<=', '<'))
    breaks(stale_transfer_is_refused, 'no comparison', 'fence.sql', GUARD, GUARD[:-18])
    breaks(stale_transfer_is_refused, 'only one of two resources is asked', 'fence_sql.py',
           'sorted((source, target))', '(source,)')
    breaks(transfers_at_once, 'the guard does not store the fence', 'fence.sql', GUARD,
           GUARD.replace('SET fence = :fence', 'SET fence = fence'))
    breaks(failed_transfer_changes_nothing, 'what has failed is committed', 'fence_sql.py',
           "db.execute('ROLLBACK')", "db.execute('COMMIT')")
    breaks(transaction_is_waited_for, 'no transaction', 'fence_sql.py',
           "    db.execute('BEGIN IMMEDIATE')\n    try:", "    pass\n    try:")
    breaks(needs_a_fence, 'a fence that is missing is 0', 'fence_sql.py',
           "sys.exit('REDLOCK_FENCING_TOKEN is not set: use redlock lock --fence')", 'return 0')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
