#!/usr/bin/env python3
"""Run a workload: its clients in turn, round by round, and say what they reached.

`scripts/bench WORD` starts the masters and this program; bench/README.md says how to read what it prints. Each round runs
every case once, each second round backwards, and figures are compared within a round, so that what changes slowly on the
machine hits both sides.
"""
import argparse
import datetime
import json
import os
import signal
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import counting
import figures
import plot
import renewals
import table
from fleet import Fleet
from machine import machine
from plans import ABSENT, LOCKS, PLANS, beside_another_build, held
from trials import trial, why_not


def say(words):
    if sys.stderr.isatty():
        print(f'\r{words:78.78}', end='', file=sys.stderr)


def run_rounds(cases, fleet, args):
    runs = []
    for round_ in range(args.rounds):
        numbered = list(enumerate(cases))
        for number, case in numbered if round_ % 2 == 0 else numbered[::-1]:
            say(f'{args.word}: round {round_ + 1} of {args.rounds}: {case.client}, {case.place}, {case.in_flight}')
            runs.append(trial(case, fleet, args) | {'round': round_, 'number': number})
    return runs


def count(cases, fleet, args):
    runs = []
    for number, case in enumerate(cases):
        say(f'{args.word}: {case.client}, {case.in_flight}')
        runs.append(counting.count(case, fleet, args) | {'round': 0, 'number': number})
    return runs


def measure(fleet, args):
    plan = held(args.locks) if args.word == 'held' else PLANS[args.word]()
    if args.before:
        plan = beside_another_build(plan)
    absent = {case.client: why for case in plan.cases if (why := why_not(case.client, args))}
    cases = [case for case in plan.cases if case.client not in absent]
    counts = args.word == 'instructions'
    masters = [case.masters for case in cases]
    runs = (count if counts else run_rounds)(cases, fleet, args)
    result = {
        'word': args.word, 'title': plan.title, 'date': f'{datetime.date.today()}', 'command': args.command,
        'machine': machine(' to '.join(str(n) for n in sorted({min(masters), max(masters)})), args.server, ' and '.join(
            sorted({case.transport for case in cases}))),
        'rounds': 1 if counts else args.rounds, 'seconds': args.seconds, 'rows': figures.rows_of(runs),
        'ratios': list(figures.compared(runs, plan.comparisons)), 'goals': figures.goals_of(runs, plan.comparisons),
        'faults': list(figures.faults(runs))}
    if counts:
        result['goals'] += counting.goals_of(runs)
    if args.word == 'peers':
        result['absent'] = absent | ABSENT
        result['goals'].append(figures.judged("cycles/s / rslock's, 256 in flight", '>=', 3, None))
    if args.word == 'held':
        result['renewals'] = renewals.measure(fleet, args, args.build)
        if args.before:
            result['renewals_before'] = renewals.measure(fleet, args, args.before)
        result['goals'] += renewals.goals_of(result['renewals'])
    return result


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def keep(result, args):
    """The figures as JSON, and a picture of them."""
    data = json.dumps(result, indent=1, ensure_ascii=False) + '\n'
    if args.json:
        write(args.json, data)
    if args.plot:
        os.makedirs(args.plot, exist_ok=True)
        write(os.path.join(args.plot, f'{args.word}.json'), data)
        write(os.path.join(args.plot, f'{args.word}.svg'), plot.draw(result))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('word', choices=PLANS)
    parser.add_argument('--build', required=True, help='where the programs are')
    parser.add_argument('--before', help='where those of another build of libredlock are, to compare this one with')
    parser.add_argument('--server', required=True, help='what its --version says')
    parser.add_argument('--command', required=True, help='to be noted with the figures')
    parser.add_argument('--npm', help="a folder with npm's libraries")
    parser.add_argument('--json', help='a file to write')
    parser.add_argument('--plot', help='a folder for the JSON and a picture')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=1.2, help='of each run')
    parser.add_argument('--warmup', type=float, default=0.3)
    parser.add_argument('--locks', type=int, default=LOCKS, help='how many are held')
    parser.add_argument('--keep', type=float, default=15, help='seconds for which their renewals are measured')
    parser.add_argument('uris', nargs='+', metavar='URI')
    return parser.parse_args()


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no master is left stopped
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Fleet(args.uris, folder, args.build), args)
    say('')
    print('\r' * sys.stderr.isatty(), end='', file=sys.stderr)
    table.print_all(result)
    keep(result, args)
    return 1 if result['faults'] else 0


if __name__ == '__main__':
    sys.exit(main())
