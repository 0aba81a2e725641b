"""The tables, and what makes figures worthless."""
import statistics

from columns import print_rows, text
from machine import in_words

FIGURES = [  # field, title, format; a title of two lines
    ('changes_per_s', ('hand-overs', '/s'), '{:,.0f}'),
    ('gap_p50_ms', ('release to next', 'holder, p50 ms'), '{:.2f}'),
    ('gap_p99_ms', ('', 'p99 ms'), '{:.1f}'),
    ('share', ('least/most', 'share'), '{:.2f}'),
    ('tries', ('rounds per', 'acquisition'), '{:.2f}'),
    ('sent', ('commands', 'each'), '{:,.1f}'),
    ('pushed', ('pushed', 'each'), '{:.1f}'),
    ('client_cpu_ms', ('client CPU', 'ms each'), '{:.2f}'),
    ('master_cpu_ms', ('masters\' CPU', 'ms each'), '{:.2f}'),
]


def groups(runs):
    """{(contenders, trouble): {kind: [run, ...]}}, in the order of the first round."""
    found = {}
    for run in runs:
        found.setdefault((run['contenders'], run['trouble']), {}).setdefault(run['kind'], []).append(run)
    return found


def spread(runs, field):
    """Median, least and most; None when no run has the figure."""
    values = [run[field] for run in runs if 'failed' not in run and run[field] is not None]
    return (statistics.median(values), min(values), max(values)) if values else None


def title_of(contenders, trouble, runs):
    processes = max((run['processes'] for run in runs if 'failed' not in run), default=1)
    how = 'a process each' if processes == contenders else f'in {processes} process{"es" if processes > 1 else ""}'
    return f'{contenders} contenders, {how}' + (f', one master {trouble}' if trouble else '')


def remarks(kind, runs):
    """What a row of figures does not show."""
    good = [run for run in runs if 'failed' not in run]
    stranded, unserved = sum(run['stranded'] for run in good), sum(run['unserved'] for run in good)
    for run in runs:
        if 'failed' in run:
            yield f'{kind}: a run failed: {run["failed"]}'
    if stranded:
        yield f'{kind}: {stranded} waiters were stranded: nobody got the lock while they waited'
    if unserved:
        yield f'{kind}: {unserved} waiters were not served by the end of the run'
    served = min((run['served'] for run in good), default=1)
    if served < 1:
        yield f'{kind}: {1 - served:.0%} of the contenders never got the lock in the time that was measured'


def print_runs(runs):
    for (contenders, trouble), kinds in groups(runs).items():
        print(title_of(contenders, trouble, sum(kinds.values(), [])))
        print_rows([[''] + [title[0] for _, title, _ in FIGURES], [''] + [title[1] for _, title, _ in FIGURES]] +
                   [[kind] + [text(spread(kind_runs, field), form) for field, _, form in FIGURES]
                    for kind, kind_runs in kinds.items()])
        for kind, kind_runs in kinds.items():
            for remark in remarks(kind, kind_runs):
                print(f'  {remark}')
        print()


def print_deaths(deaths):
    print('a holder is killed (TTL 1 s): from the end of its key to the next holder, ms')
    lines = [['', 'median', 'worst', 'of']]
    for kind, times in deaths.items():
        good = [time for time in times if time is not None]
        lines.append([kind, f'{statistics.median(good):.1f}' if good else '-', f'{max(good):.1f}' if good else '-',
                      str(len(times))])
    print_rows(lines)
    print()


def print_waiters(waiters):
    print(f"{waiters['waiters']:,} waiters on {waiters['keys']} keys in one process, nobody releasing, libredlock: "
          f"{waiters['cpu_share']:.2%} of a core, the masters {waiters['master_cpu_share']:.2%}, "
          f"{waiters['sent_per_s']:,.0f} commands/s")
    print()


def print_all(result):
    about = result['machine']
    print(f"{in_words(about)}, {about['rounds']} rounds of {about['seconds']:g} s: median (least–most)")
    print()
    if 'runs' in result:
        print_runs(result['runs'])
    if 'deaths' in result:
        print_deaths(result['deaths'])
    if 'waiters' in result:
        print_waiters(result['waiters'])


def faults(result):
    """What makes figures worthless, as sentences."""
    found = []
    for kind in dict.fromkeys(run['kind'] for run in result.get('runs', [])):
        runs = [run for run in result['runs'] if run['kind'] == kind and 'failed' not in run]
        overlaps, errors = sum(run['overlaps'] for run in runs), sum(run['errors'] for run in runs)
        if overlaps:
            found.append(f'{kind}: the lock was held by two at once, {overlaps} times')
        if errors:
            found.append(f'{kind}: {errors} acquires or releases did not end as they should')
    if 'waiters' in result and result['waiters']['still_waiting'] != result['waiters']['waiters']:
        found.append(f"only {result['waiters']['still_waiting']:,} of {result['waiters']['waiters']:,} were waiting")
    return found
