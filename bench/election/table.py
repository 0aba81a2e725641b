"""The tables, and what makes figures of ours worthless."""
from columns import print_rows, text
from figures import spread
from machine import in_words
from trials import AWAKE_S

KILL_GOAL_MS, TERM_GOAL_MS, SLACK_MS = 50, 20, 100

FIGURES = [  # trial, field, title of two lines, format
    ('kill', 'next_ms', ('kill -9 to', 'next, ms'), '{:,.0f}'),
    ('term', 'next_ms', ('SIGTERM to', 'next, ms'), '{:,.1f}'),
    ('stop', 'next_ms', ('SIGSTOP to', 'next, ms'), '{:,.0f}'),
    ('stop', 'idle_ms', ('then nobody', 'acted for, ms'), '{:,.0f}'),
    ('suspend', 'late_ms', ('suspended: acted', 'when woken, ms'), '{:,.1f}'),
    ('both', 'next_ms', ('with supervisor', 'killed: next, ms'), '{:,.0f}'),
    ('gone', 'next_ms', ('everything', 'killed: next, ms'), '{:,.0f}'),
]
NEVER = {  # median, least and most say that the former leader went on as long as it was watched
    'idle_ms': lambda median, least, most: most < 0,
    'late_ms': lambda median, least, most: least >= AWAKE_S * 1000,
}
EVENTS = {'kill': 'kill -9', 'term': 'SIGTERM', 'stop': 'SIGSTOP', 'suspend': 'the suspension',
          'both': 'kill -9 of it and its supervisor', 'gone': 'kill -9 of all its processes'}


def of(trials, **wanted):
    return [trial for trial in trials if all(trial[field] == value for field, value in wanted.items())]


def good(trials):
    return [trial for trial in trials if 'failed' not in trial]


def cell(trials, event, field, form):
    values = spread(of(trials, trial=event), field)
    return 'acts on' if values and NEVER.get(field, lambda *_: False)(*values) else text(values, form)


def goals(ttl_s):
    ttl = f'≤ {ttl_s * 1000 + SLACK_MS:,}'
    return ['goal', f'≤ {KILL_GOAL_MS}', f'≤ {TERM_GOAL_MS}', ttl, '> 0', '', ttl, ttl, '0']


def row(system, trials):
    """Two leaders at once: in how many of the trials."""
    whole = good(trials)
    cells = [cell(whole, event, field, form) for event, field, _, form in FIGURES]
    return [system, *cells, f"{sum(trial['together'] > 0 for trial in whole)} of {len(whole)}"]


def remarks(system, trials):
    """What a row of figures does not show."""
    for event, words in EVENTS.items():
        some = of(good(trials), trial=event)
        twice = [trial['together_ms'] for trial in some if trial['together']]
        if twice:
            yield f'{system}: two acted at once after {words} in {len(twice)} of {len(some)}, for at least {max(twice):,.0f} ms'
        nobody = sum(trial['next_ms'] is None for trial in some)
        if nobody:
            yield f'{system}: nobody was elected after {words} in {nobody} of {len(some)}'
    for trial in trials:
        if 'failed' in trial:
            yield f"{system}: {trial['failed']}"
    vanished = sum(trial['vanished'] for trial in good(trials))
    if vanished:
        yield f'{system}: {vanished} candidates ended although nothing was done to them'


def systems_of(trials):
    return list(dict.fromkeys(trial['system'] for trial in trials))


def print_trials(trials, ttl_s):
    systems = systems_of(trials)
    for trouble, title in ((None, 'all servers up'), ('stopped', 'two of five masters stopped, one of three members of etcd '
                                                      'and of ZooKeeper')):
        some = of(trials, trouble=trouble)
        print(f'three candidates, {title}')
        heads = [[''] + [title[line] for _, _, title, _ in FIGURES] + [('two at', 'once')[line]] for line in (0, 1)]
        print_rows(heads + [row(system, of(some, system=system)) for system in systems] + [goals(ttl_s)])
        for system in systems:
            for remark in remarks(system, of(some, system=system)):
                print(f'  {remark}')
        print()


def print_all(result):
    about = result['machine']
    print(f"{in_words(about)}, {', '.join(about['versions'])}, a ttl of {about['ttl_s']} s, {about['rounds']} rounds: "
          'median (least–most)')
    print()
    print_trials(result['trials'], about['ttl_s'])
    for remark in result['remarks']:
        print(remark)
    for name in result['left_out']:
        print(f'left out: {name}')


def faults(trials, ours):
    """What must not happen with ours, as sentences."""
    found = []
    for system in ours:
        some = good(of(trials, system=system))
        for field, words in (('together', 'two acted at once'), ('bad_terms', 'a term was not greater than the one before')):
            times = sum(trial[field] > 0 for trial in some)
            if times:
                found.append(f'{system}: {words}, in {times} trials')
        without = sum(trial['next_ms'] is None for trial in some) + len(of(trials, system=system)) - len(some)
        if without:
            found.append(f'{system}: nobody was elected, in {without} trials')
    return found
