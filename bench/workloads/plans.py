"""The workloads: which clients run where, what is compared with what, and the goals.

A case is a client at a place with some cycles in flight. The place is what a workload varies: how many masters, what is
wrong with one, and so on. A comparison is of two cases of one round, with equally many in flight.
"""
from collections import namedtuple

ALL = 5  # masters, where their number is not what varies
LOCKS = 100000

Case = namedtuple('Case', 'place client in_flight masters transport options trouble',
                  defaults=(ALL, 'unix', (), None))

# ours and other: (place, client). A goal: field, in flight, relation, bound, what it is called in the table.
Comparison = namedtuple('Comparison', 'ours other goals', defaults=((),))
Goal = namedtuple('Goal', 'field in_flight relation bound title')

# What a picture shows: a field, on a linear or logarithmic scale, of the cases that `shown` lets through.
Panel = namedtuple('Panel', 'title field logarithmic shown', defaults=(lambda row: True,))

# along: what the columns of the picture are, `in_flight` or `place`.
Plan = namedtuple('Plan', 'title cases comparisons along panels')

RATE = Panel('cycles a second', 'cycles_per_s', False)
CPU = Panel('client CPU, s for 100,000 cycles', 'cpu_s_per_100k', True)
P50 = Panel('time to acquire, median, µs', 'acquire_p50_us', True)
P99 = Panel('time to acquire, p99, µs', 'acquire_p99_us', True)
NPM = ['redlock', 'redlock-universal']

# The floor sends what any Redlock client must send; this one what the library sends.
SAME_FLOOR = 'floor, same commands'

NEWCOMERS = 'new processes'

# How a client of the other build of libredlock is called.
BEFORE = 'before: '

# Peers without a package, and why. rslock would be the best of them.
ABSENT = {
    'rslock': 'Rust; no Debian package',
    'redsync': 'Go; no Debian package',
    'redis-plus-plus': 'C++; no Debian package',
}


def peers():
    levels, place = (1, 16, 64, 256), f'{ALL} masters'
    clients = ['floor', SAME_FLOOR, 'libredlock', *(f'npm {library}' for library in NPM)]
    return Plan(
        'compared with two floors and other libraries',
        [Case(place, client, level) for level in levels for client in clients],
        [Comparison((place, 'libredlock'), (place, 'floor'), [
            Goal('cpu_s_per_100k', 64, '<=', 1.5, "client CPU / floor's, 64 in flight"),
            Goal('cpu_s_per_100k', 256, '<=', 1.5, "client CPU / floor's, 256 in flight"),
            *(Goal('cycles_per_s', level, '>=', 0.92, f"cycles/s / floor's, {level} in flight") for level in (64, 256)),
            Goal('acquire_p50_us', 1, '<=', 1.05, "acquire p50 / floor's, 1 in flight")]),
         Comparison((place, 'libredlock'), (place, SAME_FLOOR), [
             Goal('cycles_per_s', level, '>=', 0.97, f"cycles/s / floor's with the same commands, {level} in flight")
             for level in (64, 256)]),
         Comparison((place, 'libredlock'), (place, 'npm redlock'), [
             Goal('cycles_per_s', 256, '>=', 8, "cycles/s / npm redlock's, 256 in flight")]),
         Comparison((place, 'libredlock'), (place, 'npm redlock-universal'), [
             Goal('cycles_per_s', 256, '>=', 3, "cycles/s / npm redlock-universal's, 256 in flight")])],
        'in_flight', [RATE, P50, CPU])


def nodes():
    counts, clients = (1, 3, 5, 7), ('floor', 'libredlock')
    at = {level: (lambda row, level=level: row['in_flight'] == level) for level in (1, 64)}
    return Plan(
        'with 1 to 7 masters',
        [Case(str(n), client, level, masters=n) for n in counts for level in at for client in clients],
        [Comparison((str(n), 'libredlock'), (str(n), 'floor')) for n in counts],
        'place', [RATE._replace(title='cycles a second, 64 in flight', shown=at[64]),
                  P50._replace(title='time to acquire, median, µs, 1 in flight', shown=at[1], logarithmic=False),
                  CPU._replace(title='client CPU, s for 100,000, 64 in flight', shown=at[64], logarithmic=False)])


def transport():
    clients, kinds = ('floor', 'libredlock'), ('unix', 'tcp')
    return Plan(
        'over unix sockets and over TCP',
        [Case(kind, client, level, transport=kind) for level in (1, 64) for kind in kinds for client in clients],
        [Comparison((kind, 'libredlock'), (kind, 'floor')) for kind in kinds] +
        [Comparison(('tcp', 'libredlock'), ('unix', 'libredlock'))],
        'in_flight', [RATE, P50, CPU])


def fenced():
    place = f'{ALL} masters'
    return Plan(
        'with and without a fencing token',
        [Case(place, client, level, options=options) for level in (1, 64)
         for client, options in (('libredlock', ()), ('libredlock, fenced', ('--fenced',)))],
        [Comparison((place, 'libredlock, fenced'), (place, 'libredlock'), [
            Goal('cycles_per_s', 1, '>=', 0.85, 'fenced / plain cycles/s, 1 in flight'),
            Goal('cycles_per_s', 64, '>=', 0.65, 'fenced / plain cycles/s, 64 in flight')])],
        'in_flight', [RATE, P50, CPU])


def faults():
    levels, crowd, troubles = (1, 64), 4, {'all up': None, 'one stopped': 'stopped', 'one 100 ms slow': 'slow'}
    return Plan(
        'with one of five masters stopped or slow',
        [Case(place, 'libredlock', level, trouble=trouble or 'well') for level in levels
         for place, trouble in troubles.items()] +
        [Case(place, NEWCOMERS, crowd, trouble=troubles[place] or 'well') for place in ('all up', 'one stopped')],
        [Comparison((place, 'libredlock'), ('all up', 'libredlock'), [
            Goal(field, level, '<=', 1.1, f'{place}: acquire {name} / all up, {level} in flight')
            for level in levels for field, name in (('acquire_p50_us', 'p50'), ('acquire_p99_us', 'p99'))])
         for place in troubles if troubles[place]] +
        [Comparison(('one stopped', NEWCOMERS), ('all up', NEWCOMERS), [
            Goal('cycles_per_s', crowd, '>=', 0.9, f'one stopped: locks/s of new processes that contend / all up, {crowd} at once')])],
        'in_flight', [P50, P99, RATE._replace(shown=lambda row: row['client'] != NEWCOMERS)])


def held(locks=LOCKS):
    places = {'none held': 0, f'{locks:,} held': locks}
    return Plan(
        'while many locks are held',
        [Case(place, 'libredlock', level, options=('--held', str(count)) if count else ()) for level in (1, 64)
         for place, count in places.items()],
        [Comparison((f'{locks:,} held', 'libredlock'), ('none held', 'libredlock'), [
            Goal('cpu_s_per_100k', level, '<=', 1.1, f'client CPU per cycle with {locks:,} held / none, {level} in flight')
            for level in (1, 64)])],
        'in_flight', [RATE, P50, CPU])


def instructions():
    """Counted, not timed; see counting.py."""
    place, levels = f'{ALL} masters', (1, 64)
    return Plan(
        'user-space instructions per cycle',
        [Case(place, client, level) for level in levels for client in ('floor', 'libredlock')],
        [Comparison((place, 'libredlock'), (place, 'floor'))],
        'in_flight', [Panel('user-space instructions per cycle', 'instructions', False)])


PLANS = {'peers': peers, 'nodes': nodes, 'transport': transport, 'fenced': fenced, 'faults': faults, 'held': held,
         'instructions': instructions}


def is_ours(client):
    """Whether a client is of this project, and no floor or peer."""
    return client == NEWCOMERS or client.split(',')[0] == 'libredlock'


def beside_another_build(plan):
    """Each client of libredlock, and right after it the same one of the other build."""
    sides = dict.fromkeys((case.place, case.client) for case in plan.cases if is_ours(case.client))
    return plan._replace(
        cases=[one for case in plan.cases
               for one in ([case, case._replace(client=BEFORE + case.client)] if is_ours(case.client) else [case])],
        comparisons=[*plan.comparisons,
                     *(Comparison((place, client), (place, BEFORE + client)) for place, client in sides)])
