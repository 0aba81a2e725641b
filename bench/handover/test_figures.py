#!/usr/bin/env python3
"""The figures of hand-over are right, and two holders at once are noticed."""
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tests/lint')]

import document
from figures import figures, overlaps
from tap import Tap

MS = 1000000
# (held, released, contender, tries): 0, 0, 1, and 0 again, which holds when 1 is still holding in the second story.
GOOD = [(10 * MS, 11 * MS, 0, 1), (12 * MS, 13 * MS, 0, 2), (15 * MS, 16 * MS, 1, 3), (17 * MS, 18 * MS, 0, 2)]
BAD = GOOD[:3] + [(15 * MS + 1, 18 * MS, 0, 2)]


def differs(got, wanted):
    return [] if got == wanted else [f'wanted {wanted}, got {got}']


def run_of(kind, changes_per_s):
    run = {field: 1.0 for field, _, _ in document.FIGURES}
    return run | {'kind': kind, 'contenders': 8, 'trouble': None, 'processes': 8, 'changes_per_s': changes_per_s}


def claim_tables(tap):
    runs = [run_of('libredlock', 100), run_of('floor', 50), run_of('libredlock', 60), run_of('floor', 60)]
    tap.claim('how much faster is a ratio of one round each', differs(document.times_as_many(runs[::2], runs[1::2]), (1.5, 1, 2)))
    tap.claim('a run that failed has no ratio', differs(document.times_as_many(runs[:1], [{'failed': 'x'}]), None))
    written = document.tables({'runs': runs, 'deaths': {'libredlock': [2.0, 4.0, None], 'floor': [None]}, 'machine': {
        'masters': 5, 'server': 'a server', 'transport': 'unix', 'cores': 2, 'cpu': 'x', 'rounds': 2, 'seconds': 3}})
    for line in ('**8 contenders, a process each**', '| floor | 55 (50–60) |', '| 1.5 (1.0–2.0) |',
                 '| libredlock | 3.0 | 4.0 |', '| floor | - | - |'):
        tap.claim(f'the tables have {line}', [] if line in written else [written])


def main():
    tap = Tap()
    claim_tables(tap)
    found = figures(GOOD, 3, 0, 1000 * MS)
    tap.claim('a change of the owner is an acquisition by another one', differs(found['changes'], 2))
    tap.claim('the time from a release to the next owner is of those only',
              differs((found['gap_p50_ms'], found['gap_max_ms']), (2.0, 2.0)))
    tap.claim('who never got it has the least share', differs((found['share'], found['served']), (0.0, 2 / 3)))
    tap.claim('tries are per acquisition', differs(found['tries'], 2.0))
    tap.claim('what is outside of the time that is measured does not count',
              differs(figures(GOOD, 2, 12 * MS, 16 * MS)['changes'], 1))
    tap.claim('nothing happened: no figures, and no error', differs(figures([], 2, 0, MS)['gap_p50_ms'], None))
    tap.claim('one holder after the other', differs(overlaps(GOOD), 0))
    tap.claim('two holders at once', differs(overlaps(BAD), 1))
    tap.claim('two holders at once, also when a third one came between',
              differs(overlaps([(1, 9, 0, 1), (2, 3, 1, 1), (4, 5, 2, 1)]), 2))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
