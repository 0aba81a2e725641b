#!/usr/bin/env python3
"""Builds the page into the command: `embed.py OUT.c FILE...`

The page is page.html; the others are beside it, by their names.
"""
import os
import sys

HEAD = '/* Made by src/cli/web/embed.py. */\n#include "cli/web/pages.h"\n\n#include <stddef.h>\n'

TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8'}


def numbers(data):
    """The bytes in C. A string would be longer than a C compiler must accept."""
    rows = (data[i:i + 20] for i in range(0, len(data), 20))
    return '\n'.join('    ' + ' '.join(f'{byte},' for byte in row) for row in rows)


def symbol(path):
    return os.path.basename(path).replace('.', '_')


def definition(path):
    with open(path, encoding='ascii') as file:
        data = file.read().encode() + b'\0'
    return f'\nstatic const char {symbol(path)}[] = {{\n{numbers(data)}\n}};\n'


def row(path):
    name = os.path.basename(path)
    place = '/' if name == 'page.html' else f'/{name}'
    return f'    {{"{place}", "{TYPES[os.path.splitext(name)[1]]}", {symbol(path)}}},\n'


def table(paths):
    return (f'\n_Static_assert({len(paths)} < CLI_PAGES_ROOM, "there is room for all pages");\n'
            f'const struct cli_page cli_pages[CLI_PAGES_ROOM] = {{\n{"".join(map(row, paths))}}};\n')


def main(out, *paths):
    with open(out, 'w', encoding='ascii') as file:
        file.write(HEAD + ''.join(map(definition, paths)) + table(paths))


if __name__ == '__main__':
    main(*sys.argv[1:])
