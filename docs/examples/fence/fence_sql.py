#!/usr/bin/env python3
"""fence_sql.py - work in a database (here: SQLite) under a lock with a fencing token.

    fence_sql.py DB create document NAME           | create account NAME BALANCE
    fence_sql.py DB read NAME                      announces the token, and prints the body
    fence_sql.py DB write NAME BODY
    fence_sql.py DB transfer FROM TO AMOUNT        several rows, all or nothing

    redlock lock --fence alice bob -- fence_sql.py bank.db transfer alice bob 10

The fencing token comes from $REDLOCK_FENCING_TOKEN, the statements from fence.sql. When the database has seen a
later holder nothing is changed, and the exit status is 76, that of redlock for a lost lock.
"""
import os
import re
import sqlite3
import sys

SQL_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fence.sql')
LOST = 76


class Stale(Exception):
    """A later holder has been here."""


def statements():
    with open(SQL_FILE, encoding='utf-8') as file:
        return dict(re.findall(r'^-- name: (\w+)\n(.*?);$', file.read(), re.S | re.M))


SQL = statements()


def connect(path):
    """Each statement is a transaction of its own where none was begun."""
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def one_row(cursor, what, fence):
    """The row count is the database's answer. Without a check of it, nothing is fenced."""
    if cursor.rowcount != 1:
        raise Stale(f'{what} refuses the token {fence}: a later holder was there, or it is missing')


def create(db, kind, name, balance=0):
    for table in ('document', 'account', 'fences'):
        if not db.execute('SELECT 1 FROM sqlite_master WHERE name = ?', (table,)).fetchone():
            db.execute(SQL[f'create_{table}'])
    if kind == 'document':
        db.execute("INSERT INTO document (name, body) VALUES (?, '')", (name,))
    else:
        db.execute('BEGIN IMMEDIATE')
        db.execute('INSERT INTO account VALUES (?, ?)', (name, int(balance)))
        db.execute('INSERT INTO fences VALUES (?, 0)', (name,))
        db.execute('COMMIT')


def read(db, fence, name):
    one_row(db.execute(SQL['announce'], {'fence': fence, 'name': name}), name, fence)
    return db.execute(SQL['read'], {'name': name}).fetchone()[0]


def write(db, fence, name, body):
    one_row(db.execute(SQL['write'], {'fence': fence, 'name': name, 'body': body}), name, fence)


def transfer(db, fence, source, target, amount):
    """Two rows, guarded by two tokens: the lock has both keys. Always the same order."""
    db.execute('BEGIN IMMEDIATE')
    try:
        for name in sorted((source, target)):
            one_row(db.execute(SQL['guard'], {'fence': fence, 'resource': name}), name, fence)
        if db.execute(SQL['withdraw'], {'name': source, 'amount': amount}).rowcount != 1:
            raise ValueError(f'{source} has less than {amount}')
        if db.execute(SQL['deposit'], {'name': target, 'amount': amount}).rowcount != 1:
            raise ValueError(f'there is no account {target}')
        db.execute('COMMIT')
    except BaseException:
        db.execute('ROLLBACK')
        raise


def own_fence():
    fence = os.environ.get('REDLOCK_FENCING_TOKEN', '')
    if not re.fullmatch('[0-9]{1,16}', fence):
        sys.exit('REDLOCK_FENCING_TOKEN is not set: use redlock lock --fence')
    return int(fence)


def main(path, command, *words):
    db = connect(path)
    if command == 'create':
        create(db, *words)
    elif command == 'read':
        print(read(db, own_fence(), *words))
    elif command == 'write':
        write(db, own_fence(), *words)
    elif command == 'transfer':
        transfer(db, own_fence(), words[0], words[1], int(words[2]))
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Stale as why:
        print(why, file=sys.stderr)
        sys.exit(LOST)
