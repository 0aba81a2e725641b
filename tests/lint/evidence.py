#!/usr/bin/env python3
"""The record of bugs in docs/evidence.md is true: `evidence.py ROOT`, or `evidence.py ROOT --print`.

Its two tables are what tests/mutants/table.toml says of bugs of other libraries, and of those of ours that
were found here; --print writes them. The faults are those of tests/chaos/faults.py. The ledger adds up.
"""
import os
import re
import sys
import tomllib

from tap import Tap

PEERS = ('aioredlock', 'DistributedLock', 'hiredis', 'node-redis', 'node-redlock', 'redis-plus-plus', 'redis-semaphore',
         'Redisson', 'redlock-cpp', 'RedLock.net', 'redlock-py', 'redlock-rb', 'redlock-universal', 'redlock4j', 'redsync',
         'rslock', 'rueidis', 'sesamecare')
OURS = re.compile(r'\(ours|found by (the simulator|an attack)')
TABLES = {'peers': 'Bugs of other libraries', 'ours': 'Bugs of our own'}


def kind(bug):
    """Whose bug it was: a table of the document, or None for one that nobody is known to have had."""
    if bug['name'].startswith('model-'):
        return None
    if any(peer in bug['why'] for peer in PEERS):
        return 'peers'
    return 'ours' if OURS.search(bug['why']) else None


def table(bugs, which):
    lines = ['| bug | rule | what happens | found by |', '| --- | --- | --- | --- |']
    for bug in bugs:
        if kind(bug) == which:
            why = bug['why'].replace('|', '\\|')
            lines.append(f'| `{bug["name"]}` | {bug["rule"]} | {why} | {", ".join(bug["killed_by"])} |')
    return lines


def tables(markdown):
    """(heading, lines) of each table."""
    heading, lines = None, []
    for line in [*markdown.splitlines(), '']:
        if line.startswith('|'):
            lines.append(line)
            continue
        if lines:
            yield heading, lines
        heading, lines = line.lstrip('# ') if line.startswith('#') else heading, []


def tables_of(markdown):
    """{heading: lines of the first table below it}"""
    found = {}
    for heading, lines in tables(markdown):
        found.setdefault(heading, lines)
    return found


def differences(markdown, bugs):
    there = tables_of(markdown)
    for which, heading in TABLES.items():
        wanted = table(bugs, which)
        if there.get(heading) != wanted:
            yield f'"{heading}" is not what `evidence.py . --print` prints'


def kinds_of_faults(text):
    """The names in the tables of tests/chaos/faults.py."""
    tables = re.findall(r"^(?:INSIDE|OUTSIDE) = \{(.*?)\}$", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"'([\w-]+)': \(", ' '.join(tables)))


def wrong_kinds(markdown, kinds):
    cells = [line.split('|')[1] for _, lines in tables(markdown) if lines[0].startswith(('| fault |', '| fault outside |'))
             for line in lines[2:]]
    there = set(re.findall(r'`([\w-]+)`', ' '.join(cells)))
    yield from (f'the fault {kind} is not in a table' for kind in sorted(kinds - there))
    yield from (f'there is no fault {kind}' for kind in sorted(there - kinds))


def numbers(row):
    return [int(cell.replace(',', '')) if re.fullmatch(r'[\d,]+', cell) else None for cell in row]


def wrong_sums(lines):
    """The last row of the ledger has the sums of the others, in each column of numbers."""
    rows = [[cell.strip(' *') for cell in row.strip('|').split('|')] for row in lines[2:]]
    if not rows or rows[-1][0] != 'all':
        yield 'the ledger has no row "all"'
        return
    sums = [sum(n or 0 for n in column) for column in zip(*map(numbers, rows[:-1]))]
    for title, is_sum, wanted in zip(lines[0].strip('|').split('|'), numbers(rows[-1]), sums):
        if is_sum is not None and is_sum != wanted:
            yield f'{title.strip()} is {is_sum:,}, and not {wanted:,}'


def main(root, *how):
    with open(os.path.join(root, 'tests', 'mutants', 'table.toml'), 'rb') as file:
        bugs = tomllib.load(file)['mutant']
    if how:
        for which, heading in TABLES.items():
            print('\n'.join([f'### {heading}', '', *table(bugs, which), '']))
        return 0
    with open(os.path.join(root, 'docs', 'evidence.md'), encoding='utf-8') as file:
        markdown = file.read()
    with open(os.path.join(root, 'tests', 'chaos', 'faults.py'), encoding='utf-8') as file:
        kinds = kinds_of_faults(file.read())
    tap = Tap()
    tap.claim('there are faults, and the tables have them', wrong_kinds(markdown, kinds or {'any'}))
    tap.claim('the tables of bugs are those of the tests', differences(markdown, bugs))
    tap.claim('the ledger adds up', wrong_sums(tables_of(markdown).get('Ledger', ['', ''])))
    bug = {'name': 'b', 'rule': 'S1', 'why': 'half (redsync)', 'killed_by': ['sim']}
    both = '\n'.join(f'### {heading}\n' + '\n'.join(table([bug], which)) for which, heading in TABLES.items())
    tap.claim('a table is read as it is printed', differences(both, [bug]))
    tap.fires('a bug that is no longer in the table', differences(both, [dict(bug, name='c')]), 'other libraries')
    tap.fires('a fault that is not in a table', wrong_kinds('| fault |\n| --- |\n| `a` |\n', {'a', 'b'}), 'b is not')
    tap.fires('a fault of old in a table', wrong_kinds('| fault |\n| --- |\n| `a`, `b` |\n', {'a'}), 'no fault b')
    tap.fires('a sum that is wrong', wrong_sums(['| of | n |', '|-|-|', '| a | 1 |', '| b | 1,000 |', '| all | 1,000 |']),
              'n is 1,000')
    tap.fires('a ledger without a sum', wrong_sums(['| of | n |', '|-|-|', '| a | 1 |']), 'no row')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
