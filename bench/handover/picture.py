#!/usr/bin/env python3
"""Draw the figures of `scripts/bench handover --json FILE` as an SVG: `picture.py FILE >docs/handover.svg`.

Two panels: owner changes a second, and the time from a release to the next owner, for each number of contenders. A mark
is the median of the rounds; a bar goes from the least to the most of them.
"""
import html
import json
import math
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from machine import in_words
from table import groups, spread

WIDTH, HEIGHT = 960, 470
TOP, BOTTOM = 70, 330
PANELS = [(70, 450), (560, 940)]
COLOURS = ['#c0392b', '#e6a39b', '#7f8c8d', '#34495e', '#2980b9', '#85c1e9', '#27ae60', '#a9dfbf', '#8e44ad']
STYLE = ('text{font:13px sans-serif;fill:#222}.small{font-size:11px;fill:#555}.title{font-size:15px;font-weight:bold}'
         '.axis{stroke:#999}.grid{stroke:#e5e5e5}')


def element(name, content=None, **attributes):
    words = ''.join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items())
    return f'<{name}{words}/>' if content is None else f'<{name}{words}>{html.escape(content)}</{name}>'


def text(x, y, content, **attributes):
    return element('text', content, x=round(x, 1), y=round(y, 1), **attributes)


def line(x1, y1, x2, y2, **attributes):
    return element('line', x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1), **attributes)


def linear(most):
    """A scale from 0, and its marks."""
    step = 10 ** math.floor(math.log10(most))
    step = step / 2 if most / step < 3 else step
    top = math.ceil(most / step) * step
    marks = [step * i for i in range(round(top / step) + 1)]
    return lambda value: BOTTOM - (BOTTOM - TOP) * value / top, marks


def logarithmic(least, most):
    """A scale of powers of ten, and its marks."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    high = max(high, low + 1)
    return (lambda value: BOTTOM - (BOTTOM - TOP) * (math.log10(value) - low) / (high - low),
            [10.0 ** i for i in range(low, high + 1)])


def panel(area, title, scale, marks, series, columns):
    """series: [(colour, {contenders: (median, least, most)})]; each has its place in the column, so that none hides
    another."""
    left, right = area
    step = (right - left) / len(columns)
    out = [text(left, TOP - 18, title, class_='title')]
    for mark in marks:
        out += [line(left, scale(mark), right, scale(mark), class_='grid'),
                text(left - 8, scale(mark) + 4, f'{mark:g}', text_anchor='end', class_='small')]
    for column, contenders in enumerate(columns):
        middle = left + step * (column + 0.5)
        out.append(text(middle, BOTTOM + 18, str(contenders), text_anchor='middle'))
        for i, (colour, values) in enumerate(series):
            if contenders in values:
                x = middle + (i - (len(series) - 1) / 2) * step * 0.8 / len(series)
                median, least, most = (scale(value) for value in values[contenders])
                out += [line(x, least, x, most, stroke=colour, stroke_width=3, stroke_opacity=0.45),
                        element('circle', cx=round(x, 1), cy=round(median, 1), r=4.5, fill=colour)]
    out += [line(left, BOTTOM, right, BOTTOM, class_='axis'),
            text((left + right) / 2, BOTTOM + 38, 'contenders for one key', text_anchor='middle', class_='small')]
    return out


def legend(kinds):
    out = []
    for i, kind in enumerate(kinds):
        x, y = 70 + 300 * (i % 3), BOTTOM + 70 + 22 * (i // 3)
        out += [element('circle', cx=x, cy=y - 4, r=4.5, fill=COLOURS[i % len(COLOURS)]), text(x + 12, y, kind)]
    return out


def values_of(table, kind, field):
    """{contenders: (median, least, most)}, without what cannot be drawn."""
    found = {contenders: spread(kinds[kind], field)
             for (contenders, trouble), kinds in table.items() if kind in kinds and not trouble}
    return {contenders: values for contenders, values in found.items() if values and values[1] > 0}


def draw(result):
    table = groups(result['runs'])
    columns = sorted({contenders for contenders, trouble in table if not trouble})
    kinds = list(dict.fromkeys(kind for row in table.values() for kind in row))
    changes = [(COLOURS[i % len(COLOURS)], values_of(table, kind, 'changes_per_s')) for i, kind in enumerate(kinds)]
    gaps = [(COLOURS[i % len(COLOURS)], values_of(table, kind, 'gap_p50_ms')) for i, kind in enumerate(kinds)]
    most = max(value[2] for _, values in changes for value in values.values())
    times = [value for _, values in gaps for triple in values.values() for value in triple]
    about = result['machine']
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f'<style>{STYLE}</style>', element('rect', width=WIDTH, height=HEIGHT, fill='#fff'),
        text(70, 24, f'{in_words(about)}; held for 1 ms; {about["rounds"]} rounds of {about["seconds"]:g} s',
             class_='small'),
        *panel(PANELS[0], 'owner changes a second', *linear(most), changes, columns),
        *panel(PANELS[1], 'release to next owner, median, ms', *logarithmic(min(times), max(times)), gaps, columns),
        *legend(kinds), '</svg>', ''])


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.write(draw(json.load(file)))


if __name__ == '__main__':
    main()
