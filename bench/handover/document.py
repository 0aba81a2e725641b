#!/usr/bin/env python3
"""Write the tables of hand-over in docs/comparison.md: `document.py DOCUMENT FILE`, from `scripts/bench handover --json FILE`.

How much faster libredlock is comes from the runs of one round each, because those have the same load beside them.
"""
import json
import os
import statistics
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import markdown
from columns import text
from machine import in_words
from table import groups, spread, title_of

BEGIN = '<!-- Written by bench/handover/document.py. -->'
END = '<!-- The end of the tables of hand-over. -->'
OURS = 'libredlock'
FIGURES = [  # field, title, format
    ('changes_per_s', 'hand-overs/s', '{:,.0f}'),
    ('gap_p50_ms', 'release to next holder, p50 ms', '{:.2f}'),
    ('gap_p99_ms', 'p99 ms', '{:.1f}'),
    ('share', 'least/most share', '{:.2f}'),
    ('client_cpu_ms', 'client CPU, ms each', '{:.2f}'),
    ('master_cpu_ms', "masters' CPU, ms each", '{:.2f}'),
]


def times_as_many(ours, theirs):
    """libredlock's hand-overs for each of theirs: median, least and most of the rounds."""
    values = [our['changes_per_s'] / their['changes_per_s'] for our, their in zip(ours, theirs)
              if 'failed' not in our and 'failed' not in their and their['changes_per_s']]
    return (statistics.median(values), min(values), max(values)) if values else None


def contest(kinds):
    """The table of one number of contenders. kinds: {kind: [run of each round]}."""
    rows = [['client'] + [title for _, title, _ in FIGURES] + ['libredlock / this']]
    for kind, runs in kinds.items():
        ratio = '1' if kind == OURS else text(times_as_many(kinds[OURS], runs), '{:,.1f}')
        rows.append([kind] + [text(spread(runs, field), form) for field, _, form in FIGURES] + [ratio])
    return markdown.table(rows)


def deaths_table(deaths):
    rows = [['client', 'median, ms', 'worst, ms']]
    for kind, times in deaths.items():
        good = [time for time in times if time is not None]
        rows.append([kind, f'{statistics.median(good):.1f}', f'{max(good):.1f}'] if good else [kind, '-', '-'])
    return markdown.table(rows)


def tables(result):
    about, parts = result['machine'], []
    parts.append(f"{in_words(about)}, {about['rounds']} rounds of {about['seconds']:g} s; the lock is held for 1 ms.\n")
    for (contenders, trouble), kinds in groups(result['runs']).items():
        parts += [f'**{title_of(contenders, trouble, sum(kinds.values(), []))}**\n', contest(kinds)]
    if 'deaths' in result:
        parts += ['**A holder is killed: from the end of its key to the next holder** (TTL 1 s)\n',
                  deaths_table(result['deaths'])]
    return '\n'.join(parts)


def main(document, path):
    with open(path, encoding='utf-8') as file:
        markdown.rewrite(document, BEGIN, END, tables(json.load(file)))


if __name__ == '__main__':
    main(*sys.argv[1:])
