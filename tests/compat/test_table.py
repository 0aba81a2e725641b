#!/usr/bin/env python3
"""What the table of scripts/compat says, from logs of every kind. Speaks TAP."""
import contextlib
import io
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lint')]
import table  # noqa: E402
from tap import Tap  # noqa: E402

COLUMNS = [{'name': 'locks', 'tests': ['cli-lock']},
           {'name': 'names', 'tests': ['cli-lock: names the holder']},
           {'name': 'fences', 'tests': ['cli-fence']}]
NAMED, OTHER = 'ok 1 - names the holder', 'ok 2 - locks'
PLAN = '1..2'

# What cli-lock printed, meson's result, and the cells of locks, names and fences.
CELLS = [
    ('a test that passed', [NAMED, OTHER, PLAN], 'OK', ['yes', 'yes', '-']),
    ('a skip', [f'{NAMED} # SKIP it has no GET', OTHER, PLAN], 'OK', ['yes', 'no', '-']),
    ('some skips', [NAMED, OTHER, 'ok 3 - x # SKIP no x', '1..3'], 'OK', ['partly', 'yes', '-']),
    ('a failure', [NAMED, f'not {OTHER}', PLAN], 'FAIL', ['FAILS', 'yes', '-']),
    ('a crash', [NAMED], 'ERROR', ['FAILS', 'yes', '-']),
]


def programs(printed, result):
    run = {'stdout': '\n'.join(printed), 'result': result, 'returncode': 0}
    return {'cli-lock': table.lines_of(run)}


def cells(printed, result):
    return list(table.result_of(programs(printed, result), COLUMNS)['cells'].values())


def shown(*results):
    """What is printed of results, and the exit status."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = table.show(list(results))
    return out.getvalue(), status


def result(name, printed, how='OK'):
    return dict(table.result_of(programs(printed, how), table.features()), name=name, version='7.0',
                date='2026-01-02')


def in_document(text, *results):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'document.md')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        table.write(path, list(results))
        with open(path, encoding='utf-8') as file:
            return file.read()


def kept(text):
    """The name of a program and its lines, from a log as meson writes it."""
    with tempfile.NamedTemporaryFile('w', encoding='utf-8') as log:
        log.write(json.dumps({'name': 'p:s / x', 'stdout': text, 'result': 'OK', 'returncode': 0}))
        log.flush()
        return table.read_log(log.name)


def main():
    tap = Tap()
    for claim, printed, how, wanted in CELLS:
        got = cells(printed, how)
        tap.claim(claim, [] if got == wanted else [f'{got}, not {wanted}'])
    good, bad = result('redis-sid', [NAMED, OTHER, PLAN]), result('redis-sid', [f'not {NAMED}'], 'FAIL')
    gone = {'name': 'redis-buster', 'refused': 'it is too old'}
    lacks = result('redis-sid', [f'{NAMED} # SKIP it has no GET', OTHER, PLAN])
    marks = f'a\n{table.BEGIN}\nold\n{table.END}\nb\n'
    for claim, good_one in [
        ('a log of meson is read', kept('ok 1 - a\n1..1') == {'x': [('a', 'passed', None)]}),
        ('what no test is called is noticed',
         table.unasked(COLUMNS, programs([NAMED, OTHER, PLAN], 'OK')) == ['cli-fence']),
        ('a server that passed is fine', shown(good)[1] == 0),
        ('one that failed is not', shown(good, bad)[1] == 1),
        ('a failed test is named', 'FAILED: cli-lock: names the holder' in shown(bad)[0]),
        ('one that could not be had is said', 'redis-buster: could not be had' in shown(good, gone)[0]),
        ('and is no failure', shown(good, gone)[1] == 0),
        ('but no server at all is one', shown(gone)[1] == 1),
        ('what a server lacks is said', 'redis-sid: it has no GET' in shown(lacks)[0]),
        ('the document gets the table in its place',
         in_document(marks, good, gone).startswith(f'a\n{table.BEGIN}\nOn 2026-01-02:\n\n|  | Redis, sid 7.0 |')),
        ('and keeps the rest', in_document(marks, good).endswith(f'{table.END}\nb\n')),
        ('a second time changes nothing',
         in_document(in_document(marks, good), good) == in_document(marks, good)),
    ]:
        tap.claim(claim, [] if good_one else ['it does not'])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
