#!/usr/bin/env python3
"""The figures of the workloads are right: medians, ratios of one round, goals, tables and pictures."""
import argparse
import os
import sys
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), os.path.join(HERE, '../../tests/lint')]

import counting
import document
import figures
import paper
import plot
import renewals
import trials
from plans import BEFORE, NEWCOMERS, PLANS, Comparison, Goal, beside_another_build
from tap import Tap

OURS, OTHER = ('5', 'libredlock'), ('5', 'floor')
RATES = {OURS: [30, 80, 90], OTHER: [10, 20, 60]}  # three rounds: three times, four times, one and a half
HELD = {'locks': 100000, 'ttl_ms': 30000, 'seconds': 15, 'missed': 0, 'client_cpu_share': 0.04, 'renewals_per_s': 50000,
        'renewal_us': 1.0, 'bytes_per_lock': 790.0, 'one_by_one_us': 4.0,
        'bytes_after_burst': 990.0}


def run_of(side, round_, rate):
    run = {field: rate for field, _, _ in figures.FIELDS if field != 'instructions'}
    return run | {'place': side[0], 'client': side[1], 'in_flight': 64, 'round': round_, 'number': 0, 'errors': 0}


RUNS = [run_of(side, i, rate) for side, rates in RATES.items() for i, rate in enumerate(rates)]


def differs(got, wanted):
    return [] if got == wanted else [f'wanted {wanted}, got {got}']


def goal(relation, bound, in_flight=64):
    return figures.goals_of(RUNS, [Comparison(OURS, OTHER, [Goal('cycles_per_s', in_flight, relation, bound, 'x')])])[0]


def result_of(word):
    """What run.py writes, with every case measured once and the same figures."""
    plan = PLANS[word]()
    runs = [run_of((case.place, case.client), 0, 5.0) | {'in_flight': case.in_flight, 'instructions': 100.0}
            for case in plan.cases]
    return {'word': word, 'title': plan.title, 'command': f'scripts/bench {word}', 'date': '2026-01-01', 'rounds': 1,
            'machine': {'masters': 5, 'server': 'a server', 'transport': 'unix', 'cores': 2, 'cpu': 'x'},
            'rows': figures.rows_of(runs), 'ratios': list(figures.compared(runs, plan.comparisons)),
            'goals': figures.goals_of(runs, plan.comparisons), 'faults': [], 'absent': {'x': 'it is not here'},
            'renewals': HELD}


def of_figures(tap):
    tap.claim('a ratio is of one round', differs(figures.ratios(RUNS, OURS, OTHER, 64, 'cycles_per_s'), [3, 4, 1.5]))
    tap.claim('the median, the least and the most', differs(goal('>=', 3)['values'], (3, 1.5, 4)))
    tap.claim('a goal that is reached', differs([goal('>=', 3)['met'], goal('<=', 3)['met']], [True, True]))
    tap.claim('a goal that is missed', differs([goal('>=', 3.1)['met'], goal('<=', 2.9)['met']], [False, False]))
    tap.claim('what was not measured has not reached its goal', differs(goal('>=', 0, 1), figures.judged('x', '>=', 0, None)))
    tap.claim('runs without faults', figures.faults(RUNS))
    tap.fires('an acquire that failed', figures.faults([RUNS[0] | {'errors': 2}]), '2 acquires')
    tap.fires('a key that was left', figures.faults([RUNS[0] | {'keys_left': 1}]), '1 keys')
    tap.claim('renewals: a quarter of an EVALSHA each', differs(
        [round(goal_['values'][0], 3) for goal_ in renewals.goals_of(HELD)], [790, 990, 0.04, 0.25, 0]))
    tap.claim('renewals that were not seen have no cost', differs(
        renewals.goals_of(HELD | {'renewal_us': None})[3]['values'], None))
    tap.claim('instructions are judged by themselves', differs(
        [goal_['met'] for goal_ in counting.goals_of([
            {'client': 'libredlock', 'in_flight': 1, 'instructions': 8000},
            {'client': 'libredlock', 'in_flight': 64, 'instructions': 5001}])], [False, True]))


def of_two_builds(tap):
    args = argparse.Namespace(build='this', before='other', npm='npm')
    plan = beside_another_build(PLANS['fenced']())
    tap.claim('each case of libredlock is followed by that of the other build', differs(
        [case.client for case in plan.cases[:4]],
        ['libredlock', f'{BEFORE}libredlock', 'libredlock, fenced', f'{BEFORE}libredlock, fenced']))
    tap.claim('which runs the program of that build', differs(
        [trials.command(case, args) for case in plan.cases[2:4]],
        [['this/bench/bench-cycle', '--fenced'], ['other/bench/bench-cycle', '--fenced']]))
    tap.claim('both are compared', differs(
        plan.comparisons[1:], [Comparison(('5 masters', client), ('5 masters', BEFORE + client))
                               for client in ('libredlock', 'libredlock, fenced')]))
    clients = {case.client for case in beside_another_build(PLANS['peers']()).cases if case.client.startswith(BEFORE)}
    tap.claim('floors and peers are not run twice', differs(clients, {f'{BEFORE}libredlock'}))
    clients = {case.client for case in beside_another_build(PLANS['faults']()).cases}
    tap.claim('new processes are', differs(f'{BEFORE}{NEWCOMERS}' in clients, True))


def of_documents(tap):
    text = f'a\n{document.BEGIN}\nold\n{document.END}\nb\n'
    results = [result_of(word) for word in PLANS]
    tap.claim('the tables are replaced, and nothing else', differs(
        document.replaced(text, 'x', 'new\n'), f'a\n{document.BEGIN}\n\nnew\n\n{document.END}\nb\n'))
    written = document.tables(results, 'performance')
    tap.claim('each workload has its picture', [
        f'no {word}' for word in PLANS if f'performance/{word}.svg' not in written])
    tap.claim('a workload that was not measured is named', [] if '`scripts/bench held`' in document.tables([], 'x') else ['no'])
    tap.claim('libredlock is divided by both floors', [
        f'no {floor}' for floor in document.FLOORS if f'| {floor} | 64 | 1.00 |' not in written])
    for result in results:
        drawn = plot.draw(result)
        xml.dom.minidom.parseString(drawn)
        tap.claim(f"the picture of {result['word']} names its command", differs(result['command'] in drawn, True))


def on_paper(tap):
    row = {'client': 'libredlock', 'in_flight': 64} | {field: (value,) * 3 for field, value in (
        ('cycles_per_s', 20000), ('cpu_s_per_100k', 1.0), ('masters_cpu_us', 20))}
    result = {'rows': [row], 'machine': {'cores': 2}}
    tap.claim('of the 50 µs of a cycle the client has 10 and the masters 20, on two cores', differs(
        paper.bounds(result)[1], ['64', '50.0', '10.0', '20.0', '30%']))
    tap.claim('five masters end at 1 s / 4 µs, and a client at 1 s / 10 µs', differs(paper.limits(row, 5), (250000, 100000)))
    tap.claim('a computation has two digits', differs(paper.rounded(123456), '120,000'))
    tap.claim('an acquire is a round trip and half of the CPU times', differs(
        '(10.0 + 4.0) / 2 = 7.0 µs' in paper.latencies(row, 5), True))
    tap.claim('without figures there is nothing to compute', document.on_paper([]))


def main():
    tap = Tap()
    of_figures(tap)
    of_two_builds(tap)
    of_documents(tap)
    on_paper(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
