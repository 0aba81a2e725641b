#!/usr/bin/env python3
"""Every C file says at its top what lives in it: `file_comments.py ROOT`.

It begins with "/* name.c - what lives here"; the name may have the folder before it by which the
file is included ("lib/fake.h").
"""
import os
import re
import sys

from tap import Tap

FOLDERS = ['bench', 'include', 'src', 'tests']
TOP = re.compile(r'/\* (\S+) - \S')


def sources(root):
    for folder in FOLDERS:
        for place, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(('.c', '.h', '.cpp', '.hpp')):
                    yield os.path.relpath(os.path.join(place, name), root)


def first_line(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.readline()


def complaints(path, line):
    found = TOP.match(line)
    if found is None:
        yield f'{path} does not begin with "/* {os.path.basename(path)} - what lives here"'
    elif not f'/{path}'.endswith(f'/{found.group(1)}'):
        yield f'{path} says that it is {found.group(1)}'


def main(root):
    tap = Tap()
    tap.claim('every C file says what lives in it',
              [complaint for path in sources(root)
               for complaint in complaints(path, first_line(root, path))])
    tap.fires('no comment', complaints('src/a/b.c', '#include "a/b.h"\n'), 'does not begin')
    tap.fires('a comment without a name', complaints('src/a/b.c', '/* What b does. */\n'), 'b.c - ')
    tap.fires('the name of another file', complaints('src/a/b.c', '/* c.c - what c does. */\n'), 'c.c')
    tap.fires('part of a name', complaints('src/a/ab.c', '/* b.c - what b does. */\n'), 'b.c')
    tap.claim('passes: the name', complaints('src/a/b.c', '/* b.c - what b does. */\n'))
    tap.claim('passes: the folder, too', complaints('tests/a/b.h', '/* a/b.h - what b does. */\n'))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
