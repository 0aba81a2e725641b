#!/usr/bin/env python3
"""Makes the pages of section 3 from the public headers, which are the manual.

    headers.py headers INCLUDE              the headers, a line each
    headers.py names INCLUDE                the names of all pages, a line each
    headers.py pages INCLUDE EXAMPLE OUT [NAME...]
                                            writes them into the folder OUT; NAME: those expected

A page is a header: redlock/lock.h is redlock_lock(3), and redlock/redlock.h with the program EXAMPLE is
libredlock(3). A function has a page that leads to that of its header.
"""
import os
import re
import sys
import textwrap

import roff

HEADERS = ['redlock', 'manager', 'lock', 'query', 'election', 'loop', 'examine', 'sync', 'sync_election',
           'stats', 'trace', 'error']
BANNER = re.compile(r'^-+ (.*?) -+$')


class Item:
    """What one comment is about: a function, or several, a type, constants."""

    def __init__(self, comment, code):
        self.comment = comment
        self.codes = [code]

    def functions(self):
        return [name for code in self.codes for name in [function_of(code)] if name]

    def title(self):
        names = [f'{name}()' for name in self.functions()] or [name_of(code) for code in self.codes]
        return ', '.join(dict.fromkeys(names))


def function_of(code):
    found = re.search(r'\b(redlock_\w+)\(', code)
    return found[1] if found and not re.match(r'typedef|#|(struct|enum) \w+ \{', code) else None


def name_of(code):
    found = (re.match(r'(?:struct|enum) \w+', code) or re.search(r'\bredlock_\w+(?=\()', code) or
             re.search(r'\bREDLOCK_\w+', code))
    return found[0]


# ---- reading a header ----

def text_of(comment):
    lines = comment[2:-2].split('\n')
    return '\n'.join(re.sub(r'^ *\*? ?', '', line, count=1) if i else line.strip()
                     for i, line in enumerate(lines)).strip()


def end_of(text, at):
    """Where the declaration that begins there ends."""
    depth = 0
    for found in re.compile(r'/\*.*?\*/|[{};]', re.DOTALL).finditer(text, at):
        depth += {'{': 1, '}': -1}.get(found[0], 0)
        if depth == 0 and (found[0] == ';' or found[0] == '}' and text.startswith('static', at)):
            return found.end()
    raise ValueError(f'no end: {text[at:at + 60]}')


def declaration(code):
    """As the reader wants to see it: nothing of linkage, and no body of a function."""
    code = re.sub(r'^REDLOCK_EXPORT |^static inline ', '', code)
    if function_of(code):
        code = re.sub(r'\s+', ' ', re.sub(r'\s*\{.*\}$', ';', code, flags=re.DOTALL))
        code = code.replace(' ', '\0').replace(',\0', ', ') # break it between arguments only
        code = '\n'.join(textwrap.wrap(code, 78, subsequent_indent='    ')).replace('\0', ' ')
    return code


def read(path):
    """Returns the comment of the file, and the items: an Item, or the text of a heading."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    text = re.sub(r'^#ifdef __cplusplus\n.*?^#endif\n', '', text, flags=re.DOTALL | re.MULTILINE)
    head, at, comment, items = None, 0, None, []
    while found := re.compile(r'\S').search(text, at):
        at = found.start()
        if text.startswith('/*', at):
            end = text.index('*/', at) + 2
            comment, at = text_of(text[at:end]), end
            if head is None:
                head, comment = comment, None
            elif banner := BANNER.match(comment):
                items.append(banner[1])
                comment = None
            continue
        end = text.index('\n', at) if text[at] == '#' else end_of(text, at)
        code, at = text[at:end], end
        if re.match(r'#(?!define \w+ )|(struct|enum) \w+;', code):
            continue
        is_type = re.match(r'(struct|enum) ', code)
        if comment is None and not is_type and items and isinstance(items[-1], Item):
            items[-1].codes.append(declaration(code))
        else:
            items.append(Item(comment or '', declaration(code)))
        comment = None
    return re.sub(r'^redlock/\w+\.h - ', '', head), items


# ---- writing a page ----

def page_name(header):
    return 'libredlock' if header == 'redlock' else f'redlock_{header}'


def split(body):
    """The parts of a struct or an enum: comments, and declarations with what is behind them."""
    pattern = re.compile(r'/\*.*?\*/|(?:\([^()]*\)|[^,;/(])+[,;]?(?:[ ]*/\*.*?\*/)?', re.DOTALL)
    return [part.strip() for part in pattern.findall(body) if part.strip()]


def members(code):
    """The fields of a struct, or the values of an enum. A comment behind one is about that one; a
    comment before some that have none behind is about these."""
    out, above, shared = [], None, None
    for part in split(code[code.index('{') + 1:code.rindex('}')]):
        if part.startswith('/*'):
            above = text_of(part)
            continue
        entry, _, behind = part.partition('/*')
        entry = re.sub(r'\s+', ' ', entry).strip().rstrip(',;')
        if behind:
            out += roff.prose(above or '') + roff.term(entry) + roff.marked(text_of('/*' + behind))
            shared = None
        elif above is None and shared:
            out[-len(shared):] = roff.also(entry) + shared
        else:
            shared = roff.marked(above or '')
            out += roff.term(entry) + shared
        above = None
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
