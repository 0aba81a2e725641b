#!/usr/bin/env python3
"""Builds the page into the command: `embed.py OUT.c FILE...`

Each FILE, page/NAME.EXT, becomes the text cli_page_NAME_EXT.
"""
import os
import sys

HEAD = '/* Made by src/cli/web/embed.py. */\n#include "cli/web/pages.h"\n'


def numbers(data):
    """The bytes in C. A string would be longer than a C compiler must accept."""
    rows = (data[i:i + 20] for i in range(0, len(data), 20))
    return '\n'.join('    ' + ' '.join(f'{byte},' for byte in row) for row in rows)


def definition(path):
    with open(path, encoding='ascii') as file:
        data = file.read().encode() + b'\0'
    name = os.path.basename(path).replace('.', '_')
    return f'\nconst char cli_page_{name}[] = {{\n{numbers(data)}\n}};\n'


def main(out, *paths):
    with open(out, 'w', encoding='ascii') as file:
        file.write(HEAD + ''.join(map(definition, paths)))


if __name__ == '__main__':
    main(*sys.argv[1:])
