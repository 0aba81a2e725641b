#!/usr/bin/env python3
"""Puts one known bug into a copy of the source it belongs to.

    mutate.py NAME SOURCE_ROOT BUILD_ROOT

looks NAME up in table.toml, writes the changed text below BUILD_ROOT/mutants/NAME/ and prints
two lines: the source that it replaces, relative to SOURCE_ROOT, and what it is replaced with.
The build calls it when it is configured with -Dmutant=NAME.

A row says which text of which file to replace by which. That text must be there exactly once:
a table that has fallen behind the code is an error and never a mutant that changes nothing. Each
mutant has a file of its own, so no object of one is taken for that of another.
"""
import os
import re
import sys
import tomllib

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'table.toml')
FIELDS = {'name': str, 'rule': str, 'why': str, 'file': str, 'from': str, 'to': str,
          'killed_by': list}
NAME = re.compile(r'[a-z0-9]+(-[a-z0-9]+)*')
RULE = re.compile(r'S[0-9]+|retrying|telling|command')

# A header is compiled into many objects: swapping in another one would leave old ones behind.
FILE = re.compile(r'(src|tests/sim)/([a-z0-9_]+/)*[a-z0-9_]+\.c')


class Problem(Exception):
    """The table is wrong, or does not fit the code."""


def flaw(row):
    """What is wrong with a row by itself; None when nothing is."""
    for field, kind in FIELDS.items():
        if not isinstance(row.get(field), kind) or (field != 'to' and not row[field]):
            return f'has no {field}'
    for field in row:
        if field not in FIELDS:
            return f'has a field that nobody knows: {field}'
    if not NAME.fullmatch(row['name']):
        return 'has a name that is not in-kebab-case'
    if not RULE.fullmatch(row['rule']):
        return f'cites a rule that is none: {row["rule"]}'
    if not FILE.fullmatch(row['file']):
        return f'is not in a .c file below src/ or tests/sim/: {row["file"]}'
    if row['from'] == row['to']:
        return 'changes nothing'
    return None


def load(path=TABLE):
    """The rows of the table, in its order."""
    with open(path, 'rb') as table:
        rows = tomllib.load(table).get('mutant', [])
    seen = set()
    for number, row in enumerate(rows, 1):
        wrong = flaw(row)
        if wrong:
            raise Problem(f'mutant {number} ({row.get("name", "no name")}) {wrong}')
        if row['name'] in seen:
            raise Problem(f'there are two mutants called {row["name"]}')
        seen.add(row['name'])
    return rows


def find(rows, name):
    for row in rows:
        if row['name'] == name:
            return row
    raise Problem(f'there is no mutant called {name}')


def mutated(row, source_root):
    """The text of the row's file, with its bug in it."""
    with open(os.path.join(source_root, row['file']), encoding='utf-8') as source:
        text = source.read()
    times = text.count(row['from'])
    if times != 1:
        raise Problem(f'{row["name"]}: {row["file"]} has the text to replace {times} times, '
                      'not once: bring table.toml up to date')
    return text.replace(row['from'], row['to'])


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as copy:
        copy.write(text)


def main(name, source_root, build_root):
    try:
        row = find(load(), name)
        text = mutated(row, source_root)
    except Problem as problem:
        print(f'mutate.py: {problem}', file=sys.stderr)
        return 1
    path = os.path.join(build_root, 'mutants', name, os.path.basename(row['file']))
    write(path, text)
    print(row['file'])
    print(path)
    return 0


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit('usage: mutate.py NAME SOURCE_ROOT BUILD_ROOT')
    sys.exit(main(*sys.argv[1:]))
