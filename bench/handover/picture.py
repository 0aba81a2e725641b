#!/usr/bin/env python3
"""Draw the figures of `scripts/bench handover --json FILE` as an SVG: `picture.py FILE >docs/handover.svg`.

Two panels: hand-overs per second, and the time from a release to the next holder, for each number of contenders. A mark
is the median of the rounds; a bar goes from the least to the most of them.
"""
import json
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from machine import in_words
from svg import legend, linear, logarithmic, panel, picture
from table import groups, spread

WIDTH, HEIGHT = 960, 470
PANELS = [(70, 450), (560, 940)]
AXIS = 'contenders for one key'


def values_of(table, kind, field):
    """{contenders: (median, least, most)}, without what cannot be drawn."""
    found = {contenders: spread(kinds[kind], field)
             for (contenders, trouble), kinds in table.items() if kind in kinds and not trouble}
    return {contenders: values for contenders, values in found.items() if values and values[1] > 0}


def draw(result):
    table = groups(result['runs'])
    columns = sorted({contenders for contenders, trouble in table if not trouble})
    kinds = list(dict.fromkeys(kind for row in table.values() for kind in row))
    changes = [values_of(table, kind, 'changes_per_s') for kind in kinds]
    gaps = [values_of(table, kind, 'gap_p50_ms') for kind in kinds]
    most = max(value[2] for values in changes for value in values.values())
    times = [value for values in gaps for triple in values.values() for value in triple]
    about = result['machine']
    return picture(WIDTH, HEIGHT, f'{in_words(about)}; held for 1 ms; {about["rounds"]} rounds of {about["seconds"]:g} s', [
        *panel(PANELS[0], 'hand-overs per second', AXIS, *linear(most), changes, columns),
        *panel(PANELS[1], 'release to next holder, median, ms', AXIS, *logarithmic(min(times), max(times)), gaps, columns),
        *legend(kinds)])


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.write(draw(json.load(file)))


if __name__ == '__main__':
    main()
