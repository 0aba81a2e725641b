#!/usr/bin/env python3
"""The figures of elections are right, and two leaders at once are noticed."""
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tests/lint')]

import document
from figures import RECORD, Act, acts_in, figures, spread, together
from tap import Tap

MS = 1000000


def reign(candidate, first_ms, last_ms, term=0):
    """One that acts each millisecond, the last one included."""
    return [Act(ms * MS, term, 100 + candidate, candidate) for ms in range(first_ms, last_ms + 1)]


OLD = reign(1, 10, 50, term=7)
NEW = reign(2, 60, 80, term=8)


def differs(got, wanted):
    return [] if got == wanted else [f'wanted {wanted}, got {got}']


def part(found, *names):
    return tuple(found[name] for name in names)


def claim_times(tap):
    found = figures(OLD + NEW, 1, 40 * MS)
    tap.claim('the next leader is counted from the event', differs(found['next_ms'], 20.0))
    tap.claim('nobody acts from the last act of the former to the first of the next', differs(found['idle_ms'], 10.0))
    tap.claim('one leader after the other', differs(part(found, 'together', 'together_ms'), (0, 0.0)))
    tap.claim('who led before the event is not the next leader',
              differs(figures(reign(2, 1, 5) + OLD + NEW, 1, 40 * MS)['next_ms'], 20.0))
    tap.claim('no next leader: no figure', differs(part(figures(OLD, 1, 40 * MS), 'next_ms', 'idle_ms'), (None, None)))
    tap.claim('no record at all: no figure, and no error', differs(figures([], 1, 0)['next_ms'], None))


def claim_two(tap):
    goes_on = figures(sorted(reign(1, 10, 75) + NEW), 1, 40 * MS)
    tap.claim('two leaders at once, and for how long', differs(part(goes_on, 'together', 'together_ms'), (1, 15.0)))
    tap.claim('the former leader did not stop in time', differs(goes_on['idle_ms'], -15.0))
    tap.claim('two at once, also when a third one came between',
              differs(together(sorted(reign(1, 1, 90) + reign(2, 20, 30) + reign(3, 40, 45)))[0], 2))
    again = reign(1, 1, 5) + reign(2, 10, 15) + [Act(20 * MS, 0, 999, 1)]
    tap.claim('who is elected again is another instance', differs(together(again)[0], 0))


def claim_waking(tap):
    late = reign(1, 70, 72, term=7)
    found = figures(sorted(OLD + NEW + late), 1, 40 * MS, 70 * MS)
    tap.claim('what was done after it was woken is late', differs(found['late_ms'], 2.0))
    tap.claim('and does not count as two at once', differs(part(found, 'together', 'idle_ms'), (0, 10.0)))
    tap.claim('nothing was done after it was woken', differs(figures(OLD + NEW, 1, 40 * MS, 70 * MS)['late_ms'], 0))


def claim_rest(tap):
    tap.claim('terms grow', differs(figures(OLD + NEW, 1, 40 * MS)['bad_terms'], 0))
    tap.claim('a term that does not grow is noticed',
              differs(figures(OLD + reign(2, 60, 80, term=7), 1, 40 * MS)['bad_terms'], 1))
    data = b''.join(RECORD.pack(*act) for act in NEW[::-1])
    tap.claim('records are put in order, and the last half of one is left out',
              differs(acts_in(data + data[:5]), NEW))
    tap.claim('trials without the figure do not count',
              differs(spread([{'x': 3}, {'x': None}, {}, {'x': 1}], 'x'), (2, 1, 3)))


def claim_tables(tap):
    trial = {'system': 'redlock elect', 'trouble': None, 'trial': 'term', 'next_ms': 4.0, 'together': 0, 'vanished': 0}
    written = document.tables({'trials': [trial, trial | {'next_ms': 8.0}, trial | {'system': 'x', 'failed': 'it hung'}],
                               'left_out': ['y: no package'], 'machine': {
        'masters': 5, 'server': 'a server', 'transport': 'tcp', 'cores': 2, 'cpu': 'x', 'versions': ['etcd 3'], 'ttl_s': 3,
        'rounds': 2}})
    for line in ('| redlock elect | - | 6.0 (4.0–8.0) | - | - | - | - | - | 0 of 2 |', '- x: it hung', '- Left out: y: no package',
                 'etcd 3; TTL 3 s; 2 rounds.'):
        tap.claim(f'the tables have {line}', [] if line in written else [written])


def main():
    tap = Tap()
    for claims in (claim_times, claim_two, claim_waking, claim_rest, claim_tables):
        claims(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
