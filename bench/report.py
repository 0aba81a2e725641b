"""Make a table, and JSON if asked for, of the lines that the benchmark's clients printed.

The n-th run of one client with k in flight is paired with the n-th run of the other: the two
ran one after the other. A ratio is taken of each pair, and the median of the ratios is shown,
so that what changes slowly on the machine hits both sides.
"""
import argparse
import json
import os
import platform
import re
import statistics
import sys

FLOOR, OURS = 'floor', 'libredlock'
FIGURES = [  # field, title, format
    ('cycles_per_s', 'cycles/s', '{:,.0f}'),
    ('cpu_s_per_100k', 'CPU s/100k', '{:.3f}'),
    ('acquire_p50_us', 'p50 µs', '{:,.0f}'),
    ('acquire_p99_us', 'p99 µs', '{:,.0f}'),
]
GOALS = [  # field, in flight, at least or at most, of the floor's
    ('cycles_per_s', 256, '>=', 0.85),
    ('acquire_p50_us', 1, '<=', 1.15),
]


def spread(values):
    return {'median': statistics.median(values), 'min': min(values), 'max': max(values)}


def collect(runs):
    """{in_flight: {client: [run, ...]}}, everything in the order in which it ran."""
    table = {}
    for run in runs:
        table.setdefault(run['in_flight'], {}).setdefault(run['client'], []).append(run)
    return table


def figures_of(clients, field):
    """The spread of both clients and of their ratios, pair by pair."""
    floor = [run[field] for run in clients[FLOOR]]
    ours = [run[field] for run in clients[OURS]]
    ratios = [b / a if a else float('nan') for a, b in zip(floor, ours)]
    return spread(floor), spread(ours), spread(ratios)


def text(values, form):
    return form.format(values['median']) + '  ' + '–'.join(
        form.format(values[end]) for end in ('min', 'max'))


def print_table(table, about):
    print(about)
    print('median  min–max')
    print()
    print(f'{"in flight":>9}  {"":11}{FLOOR:>28}{OURS:>28}{OURS + " / " + FLOOR:>24}')
    for in_flight, clients in sorted(table.items()):
        for i, (field, title, form) in enumerate(FIGURES):
            floor, ours, ratio = figures_of(clients, field)
            print(f'{in_flight if i == 0 else "":>9}  {title:11}{text(floor, form):>28}'
                  f'{text(ours, form):>28}{text(ratio, "{:.2f}"):>24}')
        print()


def judge(table):
    goals = []
    for field, in_flight, relation, bound in GOALS:
        if in_flight in table:
            ratio = figures_of(table[in_flight], field)[2]['median']
            met = ratio >= bound if relation == '>=' else ratio <= bound
            goals.append({'figure': field, 'in_flight': in_flight, 'relation': relation,
                          'bound': bound, 'ratio': ratio, 'met': met})
    return goals


def print_goals(goals):
    titles = {field: title for field, title, _ in FIGURES}
    for goal in goals:
        print(f"goal: {titles[goal['figure']]} at {goal['in_flight']} in flight "
              f"{goal['relation']} {goal['bound']} of the floor's: {goal['ratio']:.3f}, "
              f"{'met' if goal['met'] else 'NOT met'}")


def faults(table):
    """What makes figures worthless, as sentences."""
    found = []
    for client in (FLOOR, OURS):
        runs = [run for clients in table.values() for run in clients[client]]
        errors = sum(run['errors'] for run in runs)
        keys = [run['keys_left'] for run in runs if run['keys_left']]
        if errors:
            found.append(f'{client}: {errors} acquires or releases did not end as they should')
        if keys:
            found.append(f'{client}: {len(keys)} of {len(runs)} runs left keys on the masters, '
                         f'{sum(keys)} in all')
    return found


def cpu_name():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            return re.search(r'^model name\s*: (.*)', file.read(), re.M).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def machine(args):
    version = re.search(r'(\S*server\S*|Redis|Valkey).*?v=(\S+)', args.server)
    name = 'valkey-server' if 'alkey' in args.server else 'redis-server'
    return {
        'masters': args.masters,
        'server': f'{name} {version.group(2)}' if version else args.server,
        'transport': args.transport,
        'cores': len(os.sched_getaffinity(0)),
        'cpu': cpu_name(),
        'kernel': platform.release(),
    }


def as_json(table, goals, about):
    cycle, ratios = [], []
    for in_flight, clients in sorted(table.items()):
        rows = {FLOOR: {'client': FLOOR, 'in_flight': in_flight},
                OURS: {'client': OURS, 'in_flight': in_flight}}
        ratio_row = {'in_flight': in_flight}
        for field, _, _ in FIGURES:
            floor, ours, ratio_row[field] = figures_of(clients, field)
            for row, values in ((rows[FLOOR], floor), (rows[OURS], ours)):
                row[field] = values['median']
                row[field + '_min'], row[field + '_max'] = values['min'], values['max']
        for client, row in rows.items():
            row['runs'] = len(clients[client])
            for field in ('errors', 'keys_left'):
                row[field] = sum(run[field] for run in clients[client])
        cycle += rows.values()
        ratios.append(ratio_row)
    return {'cycle': cycle, 'ratios': ratios, 'goals': goals, 'machine': about}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--masters', type=int, required=True)
    parser.add_argument('--server', required=True, help='what its --version says')
    parser.add_argument('--transport', required=True)
    parser.add_argument('--seconds', type=float, required=True, help='of each run')
    parser.add_argument('--json', help='a file to write')
    parser.add_argument('runs', help='the file with the lines')
    args = parser.parse_args()

    with open(args.runs, encoding='utf-8') as file:
        table = collect(json.loads(line) for line in file)
    about, goals = machine(args), judge(table)
    rounds = min(len(runs) for clients in table.values() for runs in clients.values())
    about.update(rounds=rounds, seconds=args.seconds)
    print_table(table, f"{about['masters']} masters ({about['server']}) over {about['transport']} "
                       f"sockets, {about['cores']} cores ({about['cpu']}), "
                       f"{rounds} rounds of {args.seconds:g} s")
    print_goals(goals)
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump(as_json(table, goals, about), file, indent=1)
            file.write('\n')
    wrong = faults(table)
    for sentence in wrong:
        print(f'WRONG: {sentence}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
