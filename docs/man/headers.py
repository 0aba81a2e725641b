#!/usr/bin/env python3
"""Makes the pages of section 3 from the public headers, which are the manual.

    headers.py headers INCLUDE              the headers, a line each
    headers.py names INCLUDE                the names of all pages, a line each
    headers.py pages INCLUDE EXAMPLE OUT [NAME...]
                                            writes them into the folder OUT; NAME: those expected

--without HEADER, before these words, leaves out that header and the pages that lead to it.
A page is a header: redlock/lock.h is redlock_lock(3), and redlock/redlock.h with the program EXAMPLE is
libredlock(3). A function has a page that leads to that of its header.
"""
import os
import re
import sys

import declarations
import roff
from declarations import Item, function_of, read

HEADERS = ['redlock', 'manager', 'settings', 'lock', 'query', 'list', 'history', 'election', 'companion', 'loop', 'examine', 'record', 'change',
           'sync', 'sync_election', 'stats', 'trace', 'testing', 'error']
def page_name(header):
    return 'libredlock' if header == 'redlock' else f'redlock_{header}'


def members(code):
    """The fields of a struct, or the values of an enum."""
    out = []
    for above, entries, text in declarations.members(code):
        out += roff.prose(above) + roff.term(entries[0])
        out += [line for entry in entries[1:] for line in roff.also(entry)] + roff.marked(text)
    return out


def section(item):
    if isinstance(item, str):
        return ['.SS ' + roff.word(item.capitalize())]
    out = ['.SS ' + roff.word(item.title())]
    whole = [code for code in item.codes if not re.match(r'(struct|enum) \w+ \{', code)]
    out += roff.code('\n'.join(whole)) + roff.prose(item.comment)
    for code in item.codes:
        if code not in whole:
            out += members(code)
    return out


def synopsis(header, items):
    out = [f'#include <redlock/{header}.h>'] if header != 'redlock' else ['#include <redlock/redlock.h>']
    out += [code for item in items if isinstance(item, Item) for code in item.codes if function_of(code)]
    return '\n\n'.join(out)


def page(header, include, example):
    head, items = read(os.path.join(include, 'redlock', header + '.h'))
    what, _, rest = head.partition('\n')
    if header == 'redlock':
        what = 'locks over independent Redis or Valkey masters'
    names = [page_name(header)] + [name for item in items if isinstance(item, Item)
                                   for name in item.functions()]
    out = [f'.\\" Made from redlock/{header}.h.', roff.title(page_name(header)), '.SH NAME',
           roff.text(', '.join(dict.fromkeys(names))) + ' \\- ' + roff.text(what.rstrip('.'))]
    out += ['.SH SYNOPSIS'] + roff.code(synopsis(header, items))
    out += ['cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs libredlock)'] if header == 'redlock' else []
    out += ['.SH DESCRIPTION'] + roff.prose(rest)
    for item in items:
        out += section(item)
    if header == 'redlock':
        with open(example, encoding='utf-8') as file:
            out += ['.SH EXAMPLES', '.PP'] + roff.code(file.read().rstrip())
    others = sorted(page_name(other) for other in HEADERS if other != header)
    out += ['.SH SEE ALSO'] + [f'.BR {name} (3),' for name in others] + ['.BR redlock (1)']
    return '\n'.join(roff.tidy(out)) + '\n'


def functions(header, include):
    _, items = read(os.path.join(include, 'redlock', header + '.h'))
    for item in items:
        if isinstance(item, Item):
            yield from item.functions()


def all_pages(include, example):
    """Returns {name: text}."""
    pages = {}
    for header in HEADERS:
        pages[page_name(header) + '.3'] = page(header, include, example) if example else ''
    for header in HEADERS:
        for name in functions(header, include):
            pages.setdefault(name + '.3', f'.so man3/{page_name(header)}.3\n')
    return pages


def main(action, include, example=None, out=None, *expected):
    if action == '--without':
        HEADERS.remove(include)
        main(example, out, *expected)
        return
    if action == 'headers':
        print('\n'.join(os.path.join(include, 'redlock', header + '.h') for header in HEADERS))
        return
    pages = all_pages(include, example)
    if action == 'names':
        print('\n'.join(pages))
        return
    if expected and set(expected) != set(pages):
        sys.exit('there are other functions than when the build was set up: meson setup --reconfigure')
    for name, text in pages.items():
        with open(os.path.join(out, name), 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
