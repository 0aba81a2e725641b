#!/usr/bin/env python3
"""The pictures of the documents show what there is: `pictures.py ROOT`.

docs/house.svg is what its script makes of the layers; what docs/demo.svg says is what scripts/demo prints. No
picture is large, and docs/dashboard.md shows each .png.
"""
import os
import re
import sys

from tap import Tap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'pictures'))
import demo  # noqa: E402
import house  # noqa: E402

LARGEST = 200_000  # bytes


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as text:
        return text.read()


def outdated(picture):
    if picture != house.draw():
        yield 'docs/house.svg is not up to date: docs/pictures/house.py >docs/house.svg'


def numberless(text):
    return re.sub(r'[\d.]+', 'N', text)


def not_printed(picture, script):
    script = re.sub(r'\$\{?(red|green|yellow|plain|dim|bold)\}?', '', script)
    script = numberless(re.sub(r'\$\(\((.*?)\)\)(?=[ "])|\$\w+', 'N', script))
    script = script.replace('%Ns', 'N ms')
    for sentence in demo.sentences(picture):
        words = re.sub(r'^an acquire took$|^pN N ms$', 'an acquire took', numberless(sentence))
        if words not in script:
            yield f'docs/demo.svg says {sentence!r}, and scripts/demo does not: see docs/pictures/demo.py'


def sizes(root):
    docs = os.path.join(root, 'docs')
    return {name: os.path.getsize(os.path.join(docs, name)) for name in os.listdir(docs) if name.endswith('.png')}


def too_large(pictures):
    return [f'docs/{name} has {size} bytes, more than {LARGEST}' for name, size in pictures.items() if size > LARGEST]


def unused(pictures, text):
    return [f'no document shows docs/{name}' for name in pictures if name not in text]


def main(root):
    tap = Tap()
    pictures = sizes(root)
    tap.claim('no picture is large', too_large(pictures))
    tap.fires('a large picture', too_large({'x.png': LARGEST + 1}), 'x.png')
    tap.claim('each picture is shown', unused(pictures, read(root, 'docs', 'dashboard.md')))
    tap.fires('a picture that no document shows', unused({'x.png': 1}, ''), 'x.png')
    script, picture = read(root, 'scripts', 'demo'), read(root, 'docs', 'demo.svg')
    tap.claim('the picture of the house is that of the layers', outdated(read(root, 'docs', 'house.svg')))
    tap.fires('an older picture', outdated('<svg/>'), 'house.svg')
    tap.claim('the picture of the demo says what the demo prints', not_printed(picture, script))
    tap.fires('a demo that says something else', not_printed(picture, script.replace('and on it goes', 'on')),
              'and on it goes')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
