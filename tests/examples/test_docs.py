#!/usr/bin/env python3
"""The code in docs/fencing.md is the code of the fence examples."""
import os
import re
import sys
import textwrap

import lib

LANGUAGES = {'sql': 'fence.sql', 'python': 'fence_http.py', 'lua': 'fence.lua'}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def blocks(document):
    return re.findall(r'^```(\w+)\n(.*?)^```', document, re.S | re.M)


def differs(document):
    """Each block occurs in its file, with any indentation."""
    found = []
    for language, block in blocks(document):
        text = read(lib.EXAMPLES, LANGUAGES[language])
        if not any(textwrap.indent(block, ' ' * depth) in text for depth in (0, 4, 8)):
            found.append(f'{LANGUAGES[language]} does not say:\n{block}')
    return found


def main():
    document = read(lib.HERE, '..', '..', 'docs', 'fencing.md')
    tap = lib.Tap()
    shown = {language for language, _ in blocks(document)}
    tap.claim('docs/fencing.md shows each of the three examples',
              lib.wrong('shown', shown, set(LANGUAGES)))
    tap.claim('the code it shows is that of the examples', differs(document))
    tap.fires('another text', differs('```lua\nreturn 1\n```\n'), 'return 1')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
