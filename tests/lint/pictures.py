#!/usr/bin/env python3
"""The pictures of the documents show what there is: `pictures.py ROOT`.

docs/house.svg is what its script makes of the layers; what docs/demo.svg says is what scripts/demo prints.
"""
import os
import re
import sys

from tap import Tap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'pictures'))
import demo  # noqa: E402
import house  # noqa: E402


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


def main(root):
    tap = Tap()
    script, picture = read(root, 'scripts', 'demo'), read(root, 'docs', 'demo.svg')
    tap.claim('the picture of the house is that of the layers', outdated(read(root, 'docs', 'house.svg')))
    tap.fires('an older picture', outdated('<svg/>'), 'house.svg')
    tap.claim('the picture of the demo says what the demo prints', not_printed(picture, script))
    tap.fires('a demo that says something else', not_printed(picture, script.replace('and on it goes', 'on')),
              'and on it goes')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
