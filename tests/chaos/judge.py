#!/usr/bin/env python3
"""Judges the history of a chaos test: `judge.py [--json] SECTION...`, each a folder as README.md describes it.

Prints a table of what happened and a line for each violation. Exits with 1 if there is one, with 2 if a history cannot be
read. From Python: judge(folder) returns a Verdict, or raises Unreadable.
"""
import collections
import gc
import json
import sys
import time

import linear
from judge_ends import answered, flat, left, process
from judge_exclusion import exclusion, fencing, mutex
from judge_history import Unreadable, read
from judge_progress import progress, sanity
from judge_queue import queue
from judge_register import register, updates

# Each check is a generator of (when, who, what) for each violation.
CHECKS = {check.__name__: check for check in
          [exclusion, fencing, register, updates, mutex, answered, queue, left, process, flat, progress, sanity]}
MOST_LINES = 20  # that are printed, of the violations of one check in one section

Violation = collections.namedtuple('Violation', 'check seconds who what')
Verdict = collections.namedtuple('Verdict', 'section seed figures faults most violations')


def violations(history):
    for name, check in CHECKS.items():
        try:
            for t, who, what in check(history):
                yield Violation(name, history.seconds(min(t, history.facts['ended'])), who, what)
        except linear.TooLarge as error:
            yield Violation(name, history.seconds(history.facts['ended']), 'judge', f'cannot decide: {error}')
    for name, t, who, what in history.oddities:
        yield Violation(name, history.seconds(t), who, what)


def figures(history):
    """What happened, in numbers that can be added up over sections."""
    operations = history.operations.values()
    calls = collections.Counter(one.what for one in operations)
    return {
        **{f'calls {what}': number for what, number in sorted(calls.items())},
        'acquisitions': sum(1 for hold in history.holds if hold.operation is not None),
        'holds': len(history.holds),
        'holds of commands': sum(1 for hold in history.holds if hold.command),
        'leaderships': sum(1 for hold in history.holds if hold.operation and hold.operation.what == 'campaign'),
        'processes': len(history.starts),
        'processes killed': len(history.killed),
        'lines': history.lines,
        'seconds': round(history.seconds(history.facts['ended'])),
        **dict(sorted(history.figures.items())),
    }


def faults(history):
    found = collections.Counter(fault['kind'] for fault in history.faults.values())
    return dict(sorted(found.items()))


def judge(folder):
    """The Verdict on a section. Raises Unreadable."""
    began = time.monotonic()
    gc.disable()  # nothing of a history is garbage, so looking for some only takes time
    try:
        history = read(folder)
        found = sorted(violations(history), key=lambda one: one.seconds)
    except (KeyError, TypeError) as error:
        raise Unreadable(f'{folder}: {type(error).__name__}: {error}') from error
    finally:
        gc.enable()
    most = {**history.most, 'seconds to judge': round(time.monotonic() - began, 2)}
    return Verdict(folder, history.facts['seed'], figures(history), faults(history), most, found)


# ---- printing ----

def table(verdict):
    yield f'section {verdict.section}, seed {verdict.seed}'
    for title, numbers in (('', verdict.figures), ('fault ', verdict.faults), ('most ', verdict.most)):
        for name, number in numbers.items():
            yield f'    {title + name:36} {number:>10,}'


def text_of(violation):
    return f'{violation.check}: {violation.who}, at {violation.seconds:.6f} s: {violation.what}'


def violation_lines(verdicts):
    """All of them, but not very many of one check in one section."""
    for verdict in verdicts:
        printed = collections.Counter()
        for one in verdict.violations:
            printed[one.check] += 1
            if printed[one.check] <= MOST_LINES:
                yield text_of(one)
        for check, number in printed.items():
            if number > MOST_LINES:
                yield f'{check}: and {number - MOST_LINES} more'


def total(verdicts):
    """The figures of all sections together."""
    found = collections.Counter()
    for verdict in verdicts:
        found.update(verdict.figures)
    return found


def summary(verdicts):
    operations = sum(number for name, number in total(verdicts).items() if name.startswith('calls '))
    found = sum(len(one.violations) for one in verdicts)
    return f'{len(verdicts)} sections, {operations:,} operations, {found} violations'


def as_json(verdicts):
    """The figures and violations of all sections together, and the sections one by one."""
    return json.dumps({
        'violations': list(violation_lines(verdicts)), 'figures': total(verdicts), 'summary': summary(verdicts),
        'sections': [{**one._asdict(), 'violations': [each._asdict() for each in one.violations]} for one in verdicts]})


def show(verdicts):
    for verdict in verdicts:
        print('\n'.join(table(verdict)))
        for line in violation_lines([verdict]):
            print('VIOLATION ' + line)
    print(summary(verdicts))


def main(words):
    wants_json, folders = '--json' in words, [word for word in words if word != '--json']
    if not folders or any(word.startswith('-') for word in folders):
        print('usage: judge.py [--json] SECTION...', file=sys.stderr)
        return 2
    try:
        verdicts = [judge(folder) for folder in folders]
    except Unreadable as error:
        print(f'judge: {error}', file=sys.stderr)
        return 2
    if wants_json:
        print(as_json(verdicts))
    else:
        show(verdicts)
    return 1 if any(verdict.violations for verdict in verdicts) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
