#!/usr/bin/env python3
"""The figures of hand-over are right, and two holders at once are noticed."""
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tests/lint')]

from figures import figures, overlaps
from tap import Tap

MS = 1000000
# (held, released, contender, tries): 0, 0, 1, and 0 again, which holds when 1 is still holding in the second story.
GOOD = [(10 * MS, 11 * MS, 0, 1), (12 * MS, 13 * MS, 0, 2), (15 * MS, 16 * MS, 1, 3), (17 * MS, 18 * MS, 0, 2)]
BAD = GOOD[:3] + [(15 * MS + 1, 18 * MS, 0, 2)]


def differs(got, wanted):
    return [] if got == wanted else [f'wanted {wanted}, got {got}']


def main():
    tap = Tap()
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
