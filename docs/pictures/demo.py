#!/usr/bin/env python3
"""Draws what scripts/demo prints on a terminal.

    script -qec scripts/demo /dev/null | docs/pictures/demo.py >docs/demo.svg

It begins after the build, and ends before what to try next.
"""
import html
import re
import sys

COLOURS = {'31': '#ff7b72', '32': '#7ee787', '33': '#f2cc60', '34': '#79c0ff'}
LINE, LEFT, TOP, LETTER = 19, 18, 30, 7.85
STYLE = 'text{font:13px monospace;fill:#e6edf3;white-space:pre}'


def shown(text):
    text = text.replace('\r', '')
    lines = text[text.index('1. '):].split('Try next')[0].rstrip().split('\n')
    # The heading of the first act is bold from before the number.
    return ['\x1b[1m' + lines[0]] + [line.rstrip() for line in lines[1:]]


def attributes(codes):
    """Of the codes that are on."""
    out = ''.join(f' fill="{COLOURS[code]}"' for code in codes if code in COLOURS)
    return out + (' font-weight="bold"' if '1' in codes else '') + (' opacity="0.65"' if '2' in codes else '')


def spans(line):
    codes = []
    for part in re.split(r'(\x1b\[[0-9;]*m)', line):
        if part.startswith('\x1b'):
            found = part[2:-1].split(';')
            codes = [] if found in (['0'], ['']) else codes + found
        elif part:
            yield f'<tspan{attributes(codes)}>{html.escape(part)}</tspan>'


def plain(line):
    return re.sub(r'\x1b\[[0-9;]*m', '', line)


def draw(text):
    lines = shown(text)
    width = round(max(len(plain(line)) for line in lines) * LETTER + 2 * LEFT)
    height = TOP + LINE * len(lines) + 6
    title = 'scripts/demo on a terminal: without a lock updates are lost; under redlock lock none is, though masters die'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
             f'aria-labelledby="title"><title id="title">{title}</title><style>{STYLE}</style>',
             f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>']
    parts += [f'<text xml:space="preserve" x="{LEFT}" y="{TOP + LINE * i}">{"".join(spans(line))}</text>'
              for i, line in enumerate(lines) if line]
    return '\n'.join(parts) + '\n</svg>\n'


def sentences(picture):
    """What a picture says: the texts that scripts/demo must still print."""
    for line in re.findall(r'<text .*?>(.*?)</text>', picture):
        for part in re.split(r' {2,}', html.unescape(re.sub('<.*?>', '', line)).strip()):
            if re.search('[a-z]{3}', part) and not re.fullmatch(r'[\d.]+ \w+', part):
                yield part


if __name__ == '__main__':
    sys.stdout.write(draw(sys.stdin.read()))
