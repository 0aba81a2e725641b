#!/usr/bin/env python3
"""A copy of a source with a bug, to show that a test notices it: `replace.py IN OUT OLD NEW`, where
OLD occurs once."""
import sys


def main(source, target, old, new):
    with open(source, encoding='utf-8') as file:
        text = file.read()
    if text.count(old) != 1:
        sys.exit(f'{source} says {text.count(old)} times: {old}')
    with open(target, 'w', encoding='utf-8') as file:
        file.write(text.replace(old, new))


if __name__ == '__main__':
    main(*sys.argv[1:])
