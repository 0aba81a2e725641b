"""Medians, ratios pair by pair, and which goals are reached."""
import statistics

FIELDS = [  # field, title, format
    ('cycles_per_s', 'cycles/s', '{:,.0f}'),
    ('acquire_p50_us', 'p50 µs', '{:,.0f}'),
    ('acquire_p99_us', 'p99 µs', '{:,.0f}'),
    ('cpu_s_per_100k', 'CPU s/100k', '{:.3f}'),
    ('masters_cpu_us', "masters' CPU µs", '{:.1f}'),
    ('instructions', 'instructions', '{:,.0f}'),
]


def spread(values):
    """Median, least and most; None without values."""
    values = [value for value in values if value is not None]
    return (statistics.median(values), min(values), max(values)) if values else None


def groups(runs):
    """{(place, client, in_flight): [run, ...]}, in the order of the first round."""
    found = {}
    for run in sorted(runs, key=lambda run: (run['round'], run['number'])):
        found.setdefault((run['place'], run['client'], run['in_flight']), []).append(run)
    return found


def rows_of(runs):
    return [dict(zip(('place', 'client', 'in_flight'), key), runs=len(group),
                 **{field: spread([run.get(field) for run in group]) for field, _, _ in FIELDS})
            for key, group in groups(runs).items()]


def ratios(runs, ours, other, in_flight, field):
    """Of the pairs of one round each. ours and other: (place, client)."""
    found = {side: {run['round']: run[field] for run in runs if run.get(field) is not None and
                    (run['place'], run['client']) == side and run['in_flight'] == in_flight} for side in (ours, other)}
    return [value / found[other][round_] for round_, value in found[ours].items() if found[other].get(round_)]


def judged(title, relation, bound, values):
    """A row of the table of goals. values: median, least and most; None: it was not measured."""
    met = values is not None and (values[0] >= bound if relation == '>=' else values[0] <= bound)
    return {'title': title, 'relation': relation, 'bound': bound, 'values': values, 'met': met}


def goals_of(runs, comparisons):
    return [judged(goal.title, goal.relation, goal.bound,
                   spread(ratios(runs, comparison.ours, comparison.other, goal.in_flight, goal.field)))
            for comparison in comparisons for goal in comparison.goals]


def compared(runs, comparisons):
    """Rows of the ratios: a comparison, with so many in flight."""
    for comparison in comparisons:
        for in_flight in sorted({run['in_flight'] for run in runs}):
            row = {field: spread(ratios(runs, comparison.ours, comparison.other, in_flight, field))
                   for field, _, _ in FIELDS}
            if any(row.values()):
                yield {'ours': comparison.ours, 'other': comparison.other, 'in_flight': in_flight} | row


def faults(runs):
    """What makes figures worthless, as sentences."""
    for key, group in groups(runs).items():
        errors, left = (sum(run.get(field, 0) for run in group) for field in ('errors', 'keys_left'))
        where = f'{key[1]}, {key[0]}, {key[2]} in flight'
        if errors:
            yield f'{where}: {errors} acquires or releases did not end as they should'
        if left:
            yield f'{where}: {left} keys were left on the masters'
