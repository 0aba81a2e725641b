#!/usr/bin/env python3
"""The example of a sale that never sells more than there is, on the masters of a sandbox.
$REDLOCK: the command. $EXAMPLE: the example; $BROKEN: the same without the fence in the last write."""
import os
import re
import sqlite3

import place
from lib import Tap, ended_or_stopped, go_on, wrong
from place import Place

EXAMPLE, BROKEN = os.environ['EXAMPLE'], os.environ['BROKEN']
STOCK = 24
BUYERS = ['anna', 'berta', 'carla', 'dora', 'emma', 'frieda']


class Shop(Place):
    def __init__(self, program=EXAMPLE):
        super().__init__('sale')
        self.program = program

    def __enter__(self):
        super().__enter__()
        self.database = self.file('shop.db')
        self.end(self.start(self.program, 'open', self.database, str(STOCK)))
        return self

    def buyer(self, name, payment='true'):
        return self.start(self.program, 'buy', self.database, name, payment)

    def select(self, what):
        database = sqlite3.connect(self.database, timeout=60)
        rows = database.execute(what).fetchall()
        database.close()
        return rows

    def books(self):
        """Each item was sold once, with fences that grow, and nothing is left."""
        items = [row[0] for row in self.select('SELECT item FROM orders ORDER BY rowid')]
        fences = [row[0] for row in self.select('SELECT fence FROM orders ORDER BY rowid')]
        return (wrong('the items in the order of sale', items, list(range(STOCK, 0, -1))) +
                wrong('fences that do not grow', fences == sorted(set(fences)), True) +
                wrong('what is left', self.select('SELECT left FROM stock'), [(0,)]))


def bought(output):
    return len(re.findall(r'^\w+ has bought \d+$', output, re.M))


def all_at_once():
    with Shop() as it:
        ended = [it.end(buyer) for buyer in [it.buyer(name) for name in BUYERS]]
        counts = [bought(output) for _, output in ended]
        return (wrong('exit statuses', [status for status, _ in ended], [0] * len(BUYERS)) +
                wrong('what they say they bought', sum(counts), STOCK) +
                wrong(f'several bought: {counts}', sum(map(bool, counts)) > 1, True) + it.books())


def one_is_stopped(program=EXAMPLE):
    """It stops itself while it pays for the first item, until the others have bought everything."""
    with Shop(program) as it:
        late = it.buyer('late', f'test -e {it.path}/once || {{ : >{it.path}/once; kill -STOP $PPID; }}')
        if not ended_or_stopped(late):
            return ['the late one did not even pay: ' + late.communicate()[1]]
        others = [it.end(it.buyer(name)) for name in BUYERS[:2]]
        status, out, _ = go_on(late)
        return (wrong('the others', [status for status, _ in others], [0, 0]) +
                wrong('what they say they bought', sum(bought(output) for _, output in others), STOCK) +
                wrong('the late one', (status, out),
                      (0, f'late is too late for {STOCK}: give the money back')) + it.books())


def one_is_killed():
    """It is killed while it pays: the item is sold to another one."""
    with Shop() as it:
        killed = it.end(it.buyer('killed', 'kill -KILL $PPID'))
        others = [it.end(buyer) for buyer in [it.buyer(name) for name in BUYERS]]
        return (wrong('the killed one', killed, (-9, '')) +
                wrong('the others', {status for status, _ in others}, {0}) + it.books())


def broken():
    return [] if one_is_stopped(BROKEN) else ['nothing was noticed']


def run():
    tap = Tap()
    place.tell_all(tap, [
        ('six buyers at once: each item is sold once', all_at_once),
        ('a buyer that is stopped beyond its ttl: its write is refused', one_is_stopped),
        ('a buyer that is killed: its item is sold once', one_is_killed),
        ('fires: the last write does not compare the fence', broken)])
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
