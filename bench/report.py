"""Make a table, and JSON if asked for, of the lines that the benchmark's clients printed.

The n-th run of one client with k in flight is paired with the n-th run of the other: the two
ran one after the other. A ratio is taken of each pair, and the median of the ratios is shown,
so that what changes slowly on the machine hits both sides.
"""
import argparse
import collections
import json
import statistics
import sys

from machine import in_words, machine

BEFORE = 'before'
FIGURES = [  # field, title, format
    ('cycles_per_s', 'cycles/s', '{:,.0f}'),
    ('cpu_s_per_100k', 'CPU s/100k', '{:.3f}'),
    ('acquire_p50_us', 'p50 µs', '{:,.0f}'),
    ('acquire_p99_us', 'p99 µs', '{:,.0f}'),
]

# What is compared: the client that is measured, the one beside it, and the goals: a field, how many
# in flight, at least or at most so much of the other one's.
Pair = collections.namedtuple('Pair', 'other ours goals')
PAIRS = {
    'cycle': Pair('floor', 'libredlock', [('cycles_per_s', 64, '>=', 0.92),
                                          ('cycles_per_s', 256, '>=', 0.92),
                                          ('acquire_p50_us', 1, '<=', 1.05),
                                          ('cpu_s_per_100k', 64, '<=', 1.5),
                                          ('cpu_s_per_100k', 256, '<=', 1.5)]),
    'tls': Pair('plain', 'tls', [('cpu_s_per_100k', 64, '<=', 1.5)]),
    'threads': Pair('libredlock', 'threads', [('cycles_per_s', 16, '>=', 0.5)]),
}


def spread(values):
    return {'median': statistics.median(values), 'min': min(values), 'max': max(values)}


def collect(runs):
    """{in_flight: {client: [run, ...]}}, everything in the order in which it ran."""
    table = {}
    for run in runs:
        table.setdefault(run['in_flight'], {}).setdefault(run['client'], []).append(run)
    return table


def figures_of(clients, field, other, ours):
    """The spread of another client, of ours, and of their ratios, pair by pair."""
    others = [run[field] for run in clients[other]]
    ours = [run[field] for run in clients[ours]]
    ratios = [b / a if a else float('nan') for a, b in zip(others, ours)]
    return spread(others), spread(ours), spread(ratios)


def text(values, form):
    return form.format(values['median']) + '  ' + '–'.join(
        form.format(values[end]) for end in ('min', 'max'))


def print_table(table, about, pair):
    print(about)
    print('median  min–max')
    print()
    before = any(BEFORE in clients for clients in table.values())
    print(f'{"in flight":>9}  {"":11}{pair.other:>28}{pair.ours:>28}{pair.ours + " / " + pair.other:>24}'
          + (f'{BEFORE:>28}{pair.ours + " / " + BEFORE:>24}' if before else ''))
    for in_flight, clients in sorted(table.items()):
        for i, (field, title, form) in enumerate(FIGURES):
            other, ours, ratio = figures_of(clients, field, pair.other, pair.ours)
            line = (f'{in_flight if i == 0 else "":>9}  {title:11}{text(other, form):>28}'
                    f'{text(ours, form):>28}{text(ratio, "{:.2f}"):>24}')
            if before:
                old, _, ratio = figures_of(clients, field, BEFORE, pair.ours)
                line += f'{text(old, form):>28}{text(ratio, "{:.2f}"):>24}'
            print(line)
        print()


def judge(table, pair):
    goals = []
    for field, in_flight, relation, bound in pair.goals:
        if in_flight in table:
            ratio = figures_of(table[in_flight], field, pair.other, pair.ours)[2]['median']
            met = ratio >= bound if relation == '>=' else ratio <= bound
            goals.append({'figure': field, 'in_flight': in_flight, 'relation': relation,
                          'bound': bound, 'ratio': ratio, 'met': met})
    return goals


def print_goals(goals, pair):
    titles = {field: title for field, title, _ in FIGURES}
    for goal in goals:
        print(f"goal: {titles[goal['figure']]} at {goal['in_flight']} in flight "
              f"{goal['relation']} {goal['bound']} of {pair.other}'s: {goal['ratio']:.3f}, "
              f"{'met' if goal['met'] else 'NOT met'}")


def faults(table):
    """What makes figures worthless, as sentences."""
    found = []
    for client in sorted({client for clients in table.values() for client in clients}):
        runs = [run for clients in table.values() for run in clients.get(client, [])]
        errors = sum(run['errors'] for run in runs)
        keys = [run['keys_left'] for run in runs if run['keys_left']]
        if errors:
            found.append(f'{client}: {errors} acquires or releases did not end as they should')
        if keys:
            found.append(f'{client}: {len(keys)} of {len(runs)} runs left keys on the masters, '
                         f'{sum(keys)} in all')
    return found


def as_row(client, in_flight, runs):
    row = {'client': client, 'in_flight': in_flight}
    for field, _, _ in FIGURES:
        values = spread([run[field] for run in runs])
        row[field] = values['median']
        row[field + '_min'], row[field + '_max'] = values['min'], values['max']
    row['runs'] = len(runs)
    for field in ('errors', 'keys_left'):
        row[field] = sum(run[field] for run in runs)
    return row


def as_json(table, goals, about, what):
    pair, rows, ratios = PAIRS[what], [], []
    for in_flight, clients in sorted(table.items()):
        rows += [as_row(client, in_flight, clients[client])
                 for client in (pair.other, pair.ours, BEFORE) if client in clients]
        for other in (pair.other, BEFORE):
            if other in clients:
                ratios.append({'in_flight': in_flight, 'to': other}
                              | {field: figures_of(clients, field, other, pair.ours)[2]
                                 for field, _, _ in FIGURES})
    return {what: rows, 'ratios': ratios, 'goals': goals, 'machine': about}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--what', choices=PAIRS, default='cycle')
    parser.add_argument('--masters', type=int, required=True)
    parser.add_argument('--server', required=True, help='what its --version says')
    parser.add_argument('--transport', required=True)
    parser.add_argument('--seconds', type=float, required=True, help='of each run')
    parser.add_argument('--json', help='a file to write')
    parser.add_argument('runs', help='the file with the lines')
    args = parser.parse_args()

    with open(args.runs, encoding='utf-8') as file:
        table = collect(json.loads(line) for line in file)
    pair = PAIRS[args.what]
    about, goals = machine(args.masters, args.server, args.transport), judge(table, pair)
    rounds = min(len(runs) for clients in table.values() for runs in clients.values())
    about.update(rounds=rounds, seconds=args.seconds)
    print_table(table, f'{in_words(about)}, {rounds} rounds of {args.seconds:g} s', pair)
    print_goals(goals, pair)
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump(as_json(table, goals, about, args.what), file, indent=1)
            file.write('\n')
    wrong = faults(table)
    for sentence in wrong:
        print(f'WRONG: {sentence}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
