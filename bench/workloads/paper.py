"""What bounds a cycle, and what five masters on five machines would give: computed from what was measured on one."""
import math

ROUND_TRIPS_MS = 0.1, 0.5, 2, 20


def find(result, client, in_flight):
    for row in result['rows']:
        if row['client'] == client and row['in_flight'] == in_flight and row.get('masters_cpu_us'):
            return row
    return None


def costs(row):
    """Microseconds of a cycle: of the clock, of the client's CPU, of the CPU of all masters."""
    return 1e6 / row['cycles_per_s'][0], row['cpu_s_per_100k'][0] * 10, row['masters_cpu_us'][0]


def bounds(result, client='libredlock'):
    """Lines of a table: how much of the machine is busy with a cycle, and with whose part of it."""
    lines = [['in flight', 'time, µs', "client's CPU, µs", "masters' CPU, µs", 'share of the cores']]
    for row in result['rows']:
        if row['client'] == client and row.get('masters_cpu_us'):
            wall, own, masters = costs(row)
            share = (own + masters) / wall / result['machine']['cores']
            lines.append([str(row['in_flight']), f'{wall:.1f}', f'{own:.1f}', f'{masters:.1f}', f'{share:.0%}'])
    return lines


def limits(row, n):
    """Cycles a second: of the masters, each of them a thread of its own that sees every cycle; and of one client thread."""
    _, own, masters = costs(row)
    return 1e6 / (masters / n), 1e6 / own


def rounded(value):
    """With two digits: a computation on paper has no more."""
    return f'{round(value, 1 - math.floor(math.log10(value))):,.0f}'


def throughput(name, row, n):
    _, own, masters = costs(row)
    of_masters, of_client = limits(row, n)
    return (f'- **{name}**, {row["in_flight"]} in flight: each master needs {masters:.1f} / {n} = {masters / n:.2f} µs per cycle. '
            f'So the masters allow 1 s / {masters / n:.2f} µs = {rounded(of_masters)} cycles/s for all clients together. A client thread '
            f'needs {own:.2f} µs, which allows {rounded(of_client)} cycles/s: {of_masters / of_client:.1f} threads '
            'keep the masters busy.\n')


def latencies(row, n):
    _, own, masters = costs(row)
    half = (own + masters / n) / 2
    times = ', '.join(f'{trip:g} ms → {trip + half / 1000:.2f} ms' for trip in ROUND_TRIPS_MS)
    return (f'- **Time to acquire**, 1 in flight: the round trip to the third nearest master, plus half the CPU time per cycle of the '
            f'client and one master, ({own:.1f} + {masters / n:.1f}) / 2 = {half:.1f} µs. Round trip → acquire: {times}.\n')
