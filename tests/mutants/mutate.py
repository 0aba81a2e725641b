#!/usr/bin/env python3
"""The table of the known bugs.

    mutate.py NAME

prints the bug NAME as a patch of the source tree, for patch -p1 or git apply.

A row says which text of which file to replace by which. That text must be there exactly once:
a table that has fallen behind the code is an error and never a mutant that changes nothing. The
file is any file that is built or run: a source, a header, a script.
"""
import difflib
import os
import re
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TABLE = os.path.join(HERE, 'table.toml')
FIELDS = {'name': str, 'rule': str, 'why': str, 'file': str, 'from': str, 'to': str,
          'killed_by': list}
NAME = re.compile(r'[a-z0-9]+(-[a-z0-9]+)*')
RULE = re.compile(r'[HLOSW][0-9]+|retrying|waiting|telling|loops|threads|cpp|command|secrets|tls|'
                  r'counts|breaking|listing|companion|audit')

# From the root of the tree, and inside it.
FILE = re.compile(r'(\w[\w.+-]*/)*\w[\w.+-]*')


class Problem(Exception):
    """The table is wrong, or does not fit the code."""


def flaw(row):
    """What is wrong with a row by itself; None for a good row."""
    for field, kind in FIELDS.items():
        if not isinstance(row.get(field), kind) or (field != 'to' and not row[field]):
            return f'has no {field}'
    for field in row:
        if field not in FIELDS:
            return f'has an unknown field: {field}'
    if not NAME.fullmatch(row['name']):
        return 'has a name that is not in-kebab-case'
    if not RULE.fullmatch(row['rule']):
        return f'cites an unknown rule: {row["rule"]}'
    if not FILE.fullmatch(row['file']):
        return f'is not in a file of the tree: {row["file"]}'
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


def source_of(row, root):
    """The text of the row's file, without the bug."""
    try:
        with open(os.path.join(root, row['file']), encoding='utf-8', newline='') as source:
            return source.read()
    except FileNotFoundError:
        raise Problem(f'{row["name"]}: there is no {row["file"]}') from None


def mutated(row, root):
    """The text of the row's file, with the bug."""
    text = source_of(row, root)
    times = text.count(row['from'])
    if times != 1:
        raise Problem(f'{row["name"]}: {row["file"]} has the text to replace {times} times, '
                      'not once: bring table.toml up to date')
    return text.replace(row['from'], row['to'])


def patch(row):
    """The lines of a patch that adds the bug."""
    before, after = source_of(row, ROOT), mutated(row, ROOT)
    return difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True),
                                f'a/{row["file"]}', f'b/{row["file"]}')


def main(name):
    try:
        sys.stdout.writelines(patch(find(load(), name)))
    except Problem as problem:
        print(f'mutate.py: {problem}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: mutate.py NAME')
    sys.exit(main(sys.argv[1]))
