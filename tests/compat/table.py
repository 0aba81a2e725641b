#!/usr/bin/env python3
"""The table server x feature of scripts/compat.

    table.py note RESULT NAME VERSION LOG [--quick]   what a run of `meson test` said of a server
    table.py refuse RESULT NAME WHY                   the server could not be had
    table.py show RESULT...                           print the table
    table.py write DOCUMENT RESULT...                 write it into the document, between two marks

RESULT is a file of our own, which stays, so that a table can be made of several runs. A feature
(features.toml) is "yes" when all its tests passed, "no" when all said that the server cannot do it,
and "partly" in between; "FAILS" when any failed, and "-" when none ran. The exit status of `show`
is 1 if any test failed.
"""
import json
import os
import re
import sys
import time
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import tally  # noqa: E402

LINE = re.compile(r'(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:\s*#\s*skip\b\s*(.*))?$', re.IGNORECASE)
BEGIN = '<!-- Written by scripts/compat --write. -->'
END = '<!-- The end of the table. -->'


def features():
    with open(os.path.join(HERE, 'features.toml'), 'rb') as file:
        return tomllib.load(file)['feature']


# --- what a run said ------------------------------------------------------------------------------

def lines_of(run):
    """For each test of a program: its name, "passed", "failed" or "skipped", and why."""
    lines = []
    for text in (run.get('stdout') or '').splitlines():
        found = LINE.match(text)
        if found:
            bad, name, why = found.groups()
            lines.append((name, 'failed' if bad else 'passed' if why is None else 'skipped', why))
    if tally.count_program(run).failed and not any(how == 'failed' for _, how, _ in lines):
        lines.append((f'it ended with {run["result"]}', 'failed', None))
    return lines


def read_log(path):
    """Of each program of a log, by its name: lines_of() it."""
    with open(path, encoding='utf-8') as log:
        runs = [json.loads(line) for line in log]
    return {run['name'].split(' / ')[-1]: lines_of(run) for run in runs}


def is_asked(test, program, name):
    wanted, _, text = test.partition(': ')
    return wanted == program and text in name


def feature_of(table, program, name):
    """A test that names a part of the program comes before one that names all of it."""
    for with_text in (True, False):
        for feature in table:
            for test in feature['tests']:
                if (': ' in test) == with_text and is_asked(test, program, name):
                    return feature['name']
    return None


def cell_of(hows):
    if not hows:
        return '-'
    if 'failed' in hows:
        return 'FAILS'
    if 'skipped' not in hows:
        return 'yes'
    return 'partly' if 'passed' in hows else 'no'


def unasked(table, programs):
    """What features.toml names and no program has."""
    return [test for feature in table for test in feature['tests']
            if not any(is_asked(test, program, name)
                       for program, lines in programs.items() for name, _, _ in lines)]


def result_of(programs, table):
    hows = {feature['name']: [] for feature in table}
    count = {'passed': 0, 'failed': 0, 'skipped': 0}
    failed, lacks = [], {}
    for program, lines in programs.items():
        for name, how, why in lines:
            count[how] += 1
            hows.get(feature_of(table, program, name), []).append(how)
            if how == 'failed':
                failed.append(f'{program}: {name}')
            if how == 'skipped':
                lacks[why] = None
    return {'cells': {name: cell_of(each) for name, each in hows.items()},
            'count': count, 'failed': failed, 'lacks': list(lacks)}


# --- what is printed ------------------------------------------------------------------------------

def tests_of(result):
    count = result['count']
    return f'{count["passed"]} of {count["passed"] + count["failed"]}'


def rows_of(results, table):
    rows = [['server', *(feature['name'] for feature in table), 'tests']]
    for result in results:
        if 'refused' not in result:
            cells = [result['cells'].get(feature['name'], '-') for feature in table]
            rows.append([f'{result["name"]} {result["version"]}', *cells, tests_of(result)])
    return rows


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ['  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def remarks(results):
    for result in results:
        if 'refused' in result:
            yield f'{result["name"]}: could not be had: {result["refused"]}'
        else:
            yield from (f'{result["name"]}: {why}' for why in result['lacks'])
            yield from (f'{result["name"]}: FAILED: {test}' for test in result['failed'])


def show(results):
    for line in [*aligned(rows_of(results, features())), '', *remarks(results)]:
        print(line)
    had = [result for result in results if 'refused' not in result]
    bad = [result for result in had if result['failed']]
    print(f'\n{len(had)} servers, {len(bad)} of them failed, {len(results) - len(had)} could not be had')
    return 1 if bad or not had else 0


# --- the document ---------------------------------------------------------------------------------

def proper(name):
    """redis-bookworm: Redis of Debian bookworm."""
    kind, release = name.split('-', 1)
    return f'{kind.capitalize()}, {release}'


def section(results):
    """A row for each feature: servers are fewer than features, and their names are shorter."""
    had = [dict(result, name=proper(result['name'])) for result in results if 'refused' not in result]
    rows = [list(row) for row in zip(*rows_of(had, features()))]
    rows[0][0] = ''
    rows.insert(1, ['---'] * len(rows[0]))
    lines = [f'| {" | ".join(row)} |' for row in rows]
    date = max(result['date'] for result in had)
    return '\n'.join([BEGIN, f'On {date}:', '', *lines, '', END])


def write(path, results):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f'{path} has no place for the table, between\n{BEGIN}\n{END}')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(before + section(results) + after)


# --- the command ----------------------------------------------------------------------------------

def keep(path, result):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(result, file, indent=1)


def load(paths):
    results = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            results.append(json.load(file))
    return results


def note(path, name, version, log, quick):
    table, programs = features(), read_log(log)
    result = result_of(programs, table)
    if not quick:
        result['failed'] += [f'features.toml names {test}, and no test is called so'
                             for test in unasked(table, programs)]
    keep(path, dict(result, name=name, version=version, date=time.strftime('%Y-%m-%d')))


def main(args):
    verb = args[0]
    if verb == 'note':
        note(*args[1:5], quick='--quick' in args)
    elif verb == 'refuse':
        keep(args[1], {'name': args[2], 'refused': args[3]})
    elif verb == 'show':
        return show(load(args[1:]))
    elif verb == 'write':
        write(args[1], load(args[2:]))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
