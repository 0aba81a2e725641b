#!/usr/bin/env python3
"""Draws the house: the folders of src/ and which may include which. `house.py >docs/house.svg`.

The arrows are those of tests/lint/layers.py, without those that follow from others; so the picture is
true, or lint-layers fails.
"""
import html
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'tests', 'lint'))
from layers import LAYERS  # noqa: E402

WIDTH, BOX, GAP = 960, 62, 34

# From above: (folder, what it is, left, right).
ROWS = [
    [('cli', 'redlock(1), the command', 30, 330), ('testing', 'masters in a test program', 365, 595),
     ('sync', 'the same for threads', 630, 930)],
    [('redlock', 'include/redlock: the public headers', 30, 930)],
    [('election', 'candidates, terms, observers', 30, 330), ('doctor', 'are the masters fit for locks?', 630, 930)],
    [('lock', 'drives the machines: acquire, hold, release, wait, close', 180, 780)],
    [('node', 'one master: commands, replies, inspections, reconnecting', 430, 830)],
    [('scripts', 'Lua in the masters', 20, 155), ('metrics', 'Prometheus', 165, 265), ('settings', 'masters, login', 275, 425),
     ('core', 'pure machines: the rules S1 to S14', 440, 690), ('net', 'sockets, clocks, timers, TLS', 705, 930)],
    [('base', 'lists, heap, table, pool: no rules', 340, 620), ('world', 'libevent, hiredis, OpenSSL', 650, 930)],
]
STYLE = ('text{font:13px sans-serif;fill:#222;text-anchor:middle}.name{font:bold 15px monospace}'
         '.box{fill:#eef3f8;stroke:#34495e}.world{fill:#fff;stroke:#7f8c8d;stroke-dasharray:4 3}'
         '.arrow{stroke:#34495e;stroke-width:1.5;marker-end:url(#tip)}')
TIP = ('<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="8" refY="4.5" orient="auto">'
       '<path d="M0 0L9 4.5L0 9z" fill="#34495e"/></marker></defs>')
TEXT = ('The house of libredlock: a folder may include those to which its arrow leads, and what they include. All but '
        'scripts may include base, and all above core the types of the public headers.')

PLACES = {name: (row, left, right) for row, boxes in enumerate(ROWS) for name, _, left, right in boxes}


def folder_of(name):
    return 'include/redlock' if name == 'redlock' else f'src/{name}'


def may_include(name):
    """The folders that it may include; the world for libraries."""
    rules = LAYERS[folder_of(name)]
    asked = {other: f'{other}/some.h' for other in PLACES if other not in (name, 'world')}
    asked['world'] = 'hiredis/read.h'
    return {other for other, header in asked.items() if any(re.fullmatch(f'(?:{rule})', header) for rule in rules)}


def folders():
    """Of src/, without those that are rooms of a folder."""
    return {name.split('/')[1] for name in LAYERS if name.startswith('src/')} | {'redlock'}


def reached(name, edges):
    return {far for near in edges.get(name, ()) for far in {near} | reached(near, edges)}


def arrows():
    edges = {name: may_include(name) for name in folders()}
    for name in sorted(edges):
        for other in sorted(edges[name]):
            follows = any(other in reached(near, edges) for near in edges[name] - {other})
            if not follows and PLACES[other][0] > PLACES[name][0] and not (name == 'sync' and other == 'base'):
                yield name, other


def top_of(row):
    return 24 + row * (BOX + GAP)


def box(row, name, what, left, right):
    middle, top = (left + right) / 2, top_of(row)
    title = {'world': 'the world', 'redlock': 'include/redlock'}.get(name, f'src/{name}')
    what = what.partition(': ')[2] if name == 'redlock' else what
    return (f'<rect class="{"world" if name == "world" else "box"}" x="{left}" y="{top}" width="{right - left}" '
            f'height="{BOX}" rx="6"/>'
            f'<text class="name" x="{middle:g}" y="{top + 26}">{title}</text>'
            f'<text x="{middle:g}" y="{top + 47}">{html.escape(what)}</text>')


def across(name, other):
    """Where an arrow begins and ends: straight down where both have room, otherwise between the middles."""
    (_, left, right), (_, low, high) = PLACES[name], PLACES[other]
    begin, end = max(left, low), min(right, high)
    if end - begin > 60:
        return (begin + end) / 2, (begin + end) / 2
    begin = min(max((low + high) / 2, left + 40), right - 40)
    return begin, min(max(begin, low + 40), high - 40)


def arrow(name, other):
    x1, x2 = across(name, other)
    return (f'<line class="arrow" x1="{x1:g}" y1="{top_of(PLACES[name][0]) + BOX}" x2="{x2:g}" '
            f'y2="{top_of(PLACES[other][0]) - 1}"/>')


def draw():
    height = top_of(len(ROWS)) - GAP + 52
    missing = folders() - set(PLACES)
    if missing:
        sys.exit(f'house.py: no box for {", ".join(sorted(missing))}')
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
             f'aria-labelledby="title"><title id="title">{TEXT}</title><style>{STYLE}</style>{TIP}',
             f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#fff"/>']
    parts += [box(row, *one) for row, boxes in enumerate(ROWS) for one in boxes]
    parts += [arrow(*edge) for edge in arrows()]
    parts += [f'<text x="{WIDTH / 2:g}" y="{height - 16}">An arrow: may include. All but scripts may include base; '
              'all above core the types of the public headers.</text>', '</svg>']
    return '\n'.join(parts) + '\n'


if __name__ == '__main__':
    sys.stdout.write(draw())
