#!/usr/bin/env python3
"""Runs the simulator as a person does: `test_sim.py REDLOCK-SIM HISTORIES`.

It runs so many random histories, demonstrates every assumption of the fault model, and checks what
the program itself promises. A violation is printed with its seed, and with the command that shows
it again.

The seeds are the same each time, so that the result depends on the commit alone. To try new ones,
set RLK_SIM_FROM=SEED, or run the program by hand: docs/simulator.md.
"""
import os
import re
import signal
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(ROOT, 'tests', folder))
from sentences import strangers  # noqa: E402
from tap import Tap  # noqa: E402

ASSUMPTIONS = ['quarantine', 'steps', 'rates', 'memory', 'boot-clock', 'truth', 'same-nodes',
               'names', 'wall-clocks', 'former-masters']
# Runs a program of another architecture: meson sets it.
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()
# BEGIN: the first seed to try; earlier ones show no violation without the assumption. RARE: seeds that show rare
# lines of a trace. Other values only cost time.
BEGIN = {'names': 900}
RARE = [168, 202, 226]
JOBS = 2
FROM = os.environ.get('RLK_SIM_FROM', '700000000')


class Sim:
    def __init__(self, program):
        self.program = program

    def __call__(self, *words):
        done = subprocess.run([*WRAPPER, self.program, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


def random_histories(out, wanted):
    if not re.search(rf'^{wanted} histories, \d+ events, 0 violations$', out, re.MULTILINE):
        yield out
    else:
        print(f'# {out.splitlines()[-1]}, seeds from {FROM}')


def first_seed(sim, *words):
    status, out = sim('--hunt', '3000', *words)
    caught = re.search(r'^caught by seed (\d+): (.*)$', out, re.MULTILINE)
    return (int(caught[1]), caught[2]) if status == 1 and caught else (None, out)


def demonstrated(sim, assumption):
    """Without it two clients hold one lock, or a fence goes back, and the trace shows how."""
    seed, text = first_seed(sim, '--break', assumption, '--from', str(BEGIN.get(assumption, 1)))
    if seed is None:
        yield f'no violation: {text}'
        return
    print(f'# {assumption}: seed {seed}, {text}')
    status, out = sim('--seed', str(seed), '--break', assumption, '--trace')
    if status != 1 or f'VIOLATION {text}' not in out or 'OUTSIDE THE FAULT MODEL' not in out:
        yield f'the trace of seed {seed} ends with {status}: {out[-400:]}'
    for word in ['asks for k', 'round 1: t', 'granted', 'says yes', 'HOLDS k']:
        if word not in out:
            yield f'the trace of seed {seed} has no "{word}"'


def same_twice(sim):
    for seed in ['1', '2', '33', '444']:
        plain, again = sim('--seed', seed)[1], sim('--seed', seed)[1]
        traced = sim('--seed', seed, '--trace')[1]
        if plain != again:
            yield f'seed {seed} gives two histories'
        if plain.splitlines()[-2:] != traced.splitlines()[-2:]:
            yield f'the trace of seed {seed} is of another history'


def jobs_agree(sim):
    """One process or three: the same work, and the same counts of it."""
    words = ['--seeds', '40', '--coverage', '--jobs']
    one, three = (re.sub(r'^seeds from .*\n', '', sim(*words, jobs)[1], flags=re.MULTILINE) for jobs in '13')
    if one != three or not re.fullmatch(r'40 histories, \d{5,} events, 0 violations', one.splitlines()[-1]):
        yield f'one job prints {one}, and three print {three}'


def every_violation(sim, folder):
    """All are counted by their kind, whatever the number of jobs, and the seeds of a kind are named
    up to the hundredth. One kind is common in these histories, and another is rare."""
    path = os.path.join(folder, 'violations')
    words = ['--seeds', '400', '--from', '700000000', '--break', 'same-nodes']
    one, three = (sim(*words, '--violations', path, '--jobs', jobs)[1] for jobs in '13')
    kinds = [line for line in one.splitlines() if re.match(r'\d+ x \w+: ', line)]
    counts = [int(line.split()[0]) for line in kinds]
    counted, shown = sum(counts), sum(min(n, 100) for n in counts)
    named = re.findall(r'(?<= )\d+', ''.join(re.findall(r'^    seeds.*$', one, re.MULTILINE)))
    total = re.search(r'(\d+) violations$', one)
    if total is None or int(total[1]) != counted or len(named) != shown:
        yield f'{total} violations, {counted} of {kinds}, seeds {named}'
    if len(kinds) < 2 or counted - shown == 0:
        yield f'all violations are of one kind, or no kind has more than a hundred: {kinds}'
    if kinds != [line for line in three.splitlines() if re.match(r'\d+ x \w+: ', line)]:
        yield f'three jobs find others: {three}'
    status, out = sim('--file', path)
    if status != 0 or out.splitlines()[-1] != f'1..{counted}':
        yield f'the file of violations: {status}, {out}'
    if sim(*words, '--violations', os.path.join(folder, 'no', 'such'))[0] != 1:
        yield 'a file that cannot be written is no error'


# ---- runs that go on ----

def so_far(out):
    """The figures of all runs, and the seed that comes next."""
    found = re.search(r'^so far: (\d+) histories, (\d+) locks acquired, (\d+) faults, (\d+) violations;'
                      r'.* the next seed is (\d+)$', out, re.MULTILINE)
    return [int(n) for n in found.groups()] if found else out


def at_once(sim, seeds, *words):
    """The same figures of one run without a ledger."""
    out = sim('--seeds', str(seeds), *words)[1]
    found = re.search(r': (\d+) locks acquired.* (\d+) faults;', out)
    last = re.search(r'^(\d+) histories, \d+ events, (\d+) violations$', out, re.MULTILINE)
    return [int(last[1]), int(found[1]), int(found[2]), int(last[2])]


def interrupted(sim, *words):
    """A run that is interrupted after its first violation; and how another one that wants its ledger
    meanwhile ends."""
    with subprocess.Popen([*WRAPPER, sim.program, *words, '--seconds', '60'], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as run:
        first = run.stdout.readline()
        other = sim(*words)[0]
        run.send_signal(signal.SIGINT)
        out = first + run.stdout.read()
    return run.returncode, out, other


def goes_on(sim, folder):
    """Runs with one ledger are one, also if one of them was interrupted. Another build and other
    options have lines of their own."""
    ledger = os.path.join(folder, 'ledger')
    words = ['--from', '700000000', '--break', 'same-nodes']
    ours = [*words, '--ledger', ledger, '--jobs', '2']
    first = so_far(sim(*ours, '--seeds', '30')[1])
    status, out, other = interrupted(sim, *ours)
    second, third = so_far(out), so_far(sim(*ours, '--seeds', '7', '--jobs', '3')[1])
    if status != -signal.SIGINT or other != 75 or not first < second < third:
        yield f'{first}, {status}, {second}, {other}, {third}'
    elif third != [*at_once(sim, third[0], *words, '--jobs', '2'), 700000000 + third[0]]:
        yield f'in parts: {third}; at once: {at_once(sim, third[0], *words)}'
    for more in [['--build', 'other'], ['--resizes'], ['--from', '5']]:
        seeds = so_far(sim(*ours, '--seeds', '1', *more)[1])
        if seeds[-1] not in [700000001, 6]:
            yield f'{more} does not begin anew: {seeds}'
    if so_far(sim(*ours, '--seeds', '1')[1])[-1] != third[-1] + 1:
        yield 'the first runs do not go on after others'


def bad_ledgers(sim, folder):
    path = os.path.join(folder, 'bad')
    for text in ['no ledger\n', '0.1.0 x from=1 1-2 2 3\n', '0.1.0 x from=1 2-1 0 0 0 0 0 0 0 0 0.0\n',
                 '0.1.0 x from=1 1-2 0 0 0 0 0 0 0 0 0.0']:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        status, out = sim('--ledger', path, '--seeds', '1')
        if status != 65 or 'line 1 of' not in out:
            yield f'{text!r}: {status}, {out}'
    if sim('--ledger', os.path.join(folder, 'no', 'such'), '--seeds', '1')[0] != 73:
        yield 'a ledger that cannot be written is no error'


# What happens to a client without its knowledge: only the simulator can print these lines.
OF_THE_WORLD = ['stalls for', 'is paused for', 'is suspended for', 'and its clock freeze for',
                'its wall clock is set', 'dies', 'is started again', 'its clock is off by',
                'is cut off from', 'cannot reach', 'gets nothing from', 'everything to and from',
                'the connection breaks', 'its user', 'its election is gone', ' in the place of n',
                'its change ended with', 'follows from n', 'follows, and has n', 'leaves n', 'goes by',
                'as one more master', ' removed']


def lines_of_others(sim):
    """Every line about a client is one that redlock_trace_line() writes, or names a fault."""
    checked = 0
    for seed in range(1, 40):
        shown = [line for line in sim('--seed', str(seed), '--trace')[1].splitlines()
                 if re.match(r' *\d+\.\d{6}  c', line)]
        checked += len(shown)
        for text in strangers(shown):
            if not any(words in text for words in OF_THE_WORLD):
                yield f'seed {seed}: {text}'
    if checked < 10000:
        yield f'there are only {checked} lines'


def coverage(out):
    """Most pairs happen, and none that is said to be impossible."""
    figures = re.search(r'^(\d+) of (\d+) pairs of a state and an event happened$', out, re.MULTILINE)
    missing = len(re.findall('^never happened: ', out, re.MULTILINE))
    if figures is None or int(figures[2]) - int(figures[1]) != missing or missing > int(figures[2]) // 3:
        yield f'{figures}, and {missing} never happened'
    yield from re.findall('^happened: .*', out, re.MULTILINE)


# ---- the documents ----

# The pictures of guarantees.md.
PICTURES = [('61', 'quarantine'), ('4', 'steps')]


def outdated(sim, folder, pictures):
    """A change of the library or of the simulator may give a seed another history."""
    for seed, broken in pictures:
        path = os.path.join(folder, 'picture.svg')
        kept = os.path.join('docs', f'history-{broken}.svg')
        command = ['--seed', seed, '--break', broken, '--svg']
        status, out = sim(*command, path)
        if status != 0:
            yield f'no picture of seed {seed}: {out}'
            continue
        with open(path, encoding='utf-8') as new, open(os.path.join(ROOT, kept), encoding='utf-8') as old:
            drawn = new.read()
            if drawn != old.read() or 'two holders' not in drawn:
                yield f'{kept} is not up to date: redlock-sim {" ".join(command)} {kept}'


def parts_of_a_picture(sim, folder):
    """One key, and a time without a violation."""
    path = os.path.join(folder, 'picture.svg')
    status, out = sim('--seed', '8', '--svg', path, '--', '--key', 'k0', '--until', '1')
    with open(path, encoding='utf-8') as file:
        drawn = file.read()
    if status != 0 or not drawn.startswith('<svg') or drawn.count('marker-end') < 10 or 'two holders' in drawn:
        yield f'{status} {out} {drawn[:400]}'

def shapes(text):
    """What each line says, without its numbers, tokens, columns and comment."""
    for what, instead in [(r'  +#.*$', ''), (r'\bt[0-9a-f]{8}\b', 't0'), (r'\d+', '0'), (r'[ \t]+', ' ')]:
        text = re.sub(what, instead, text, flags=re.MULTILINE)
    return {line.strip() for line in text.splitlines()}


def shape(line):
    return shapes(line).pop()


def shown_in(document):
    """The lines of a trace; not a violation, which lint-docs compares."""
    return [line for line in document.splitlines()
            if re.match(r' *\d{1,2}\.\d{6}  ', line) and 'VIOLATION' not in line]


def explained_in(document):
    """The parts of lines in the table "| line | means |": a word that ends in … is any text."""
    table = document.split('| line | means |\n')[1].split('\n\n')[0]
    cells = [row.split(' | ')[0] for row in table.splitlines()[1:]]
    return [part for cell in cells for part in re.findall('`(.+?)`', cell)]


def pattern(part):
    """Of the shape of a line, with any key."""
    text = re.escape(shape(part.replace(' t…', ' t00000000')))
    return re.compile(text.replace('…', '.*'))


def not_worded_so(sim, lines, parts, histories):
    """Each line, and each part of a line, occurs in some history, with other numbers."""
    wanted = {shape(line): line for line in lines}
    missing = {part: pattern(part) for part in parts}
    for seed in [*range(1, 20), *RARE, *range(20, histories)]:
        if not wanted and not missing:
            break
        seen = shapes(sim('--seed', str(seed), '--trace')[1])
        wanted = {text: line for text, line in wanted.items() if text not in seen}
        missing = {part: text for part, text in missing.items()
                   if not any(text.search(line) for line in seen)}
    return [f'no history has a line as: {line}' for line in [*wanted.values(), *missing]]


def wrong_samples(sim):
    texts = []
    for name in ['guarantees.md', 'simulator.md']:
        with open(os.path.join(ROOT, 'docs', name), encoding='utf-8') as file:
            texts.append(file.read())
    lines = [line for text in texts for line in shown_in(text)]
    parts = explained_in(texts[1])
    if len(lines) < 20 or len(parts) < 15:
        yield f'the documents show {len(lines)} lines, and explain {len(parts)}'
    yield from not_worded_so(sim, lines, parts, 600)


def usage(sim):
    for words in [['--seeds', 'x'], ['--seeds', '-1'], ['--jobs', '0'], ['--break', 'nothing'],
                  ['--nonsense'], ['word'], ['--seconds', '0'], ['--build', 'two words']]:
        if sim(*words)[0] != 64:
            yield f'{words} is accepted'
    status, out = sim('--help')
    if status != 0 or any(name not in out for name in ASSUMPTIONS):
        yield f'--help ends with {status}: {out}'


def bad_seed_files(sim, folder):
    path = os.path.join(folder, 'seeds')
    for text, why in [('1 nothing # an unknown assumption', 'not ok'), ('# empty\n', '1..0'),
                      ('1 truth # perhaps no violation\n' * 2, 'ok')]:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        status, out = sim('--file', path)
        if why not in out or (why != 'ok' and status == 0):
            yield f'{text!r}: {status}, {out}'
    os.remove(path)
    if sim('--file', path)[0] != 66:
        yield 'a missing file is accepted'


def main(program, histories):
    import tempfile

    sim = Sim(program)
    played = sim('--seeds', histories, '--jobs', str(JOBS), '--from', FROM, '--coverage')[1]
    tap = Tap()
    tap.claim(f'{histories} random histories', random_histories(played, histories))
    tap.claim('the events that came to each state are counted', coverage(played))
    tap.claim('a seed is a history, with or without a trace', same_twice(sim))
    tap.claim('the number of jobs does not matter', jobs_agree(sim))
    tap.claim('the library itself writes the lines about clients', lines_of_others(sim))
    tap.claim('the histories in the documents are worded so', wrong_samples(sim))
    tap.fires('another wording', not_worded_so(sim, ['  0.000001  c0.0  HOLDS k0 once'], [], 3),
              'HOLDS')
    tap.fires('another explanation', not_worded_so(sim, [], ['holds t… once'], 3), 'no history')
    tap.claim('wrong usage is rejected', usage(sim))
    with tempfile.TemporaryDirectory() as folder:
        tap.claim('a wrong file of seeds is rejected', bad_seed_files(sim, folder))
        tap.claim('the pictures in the documents are up to date', outdated(sim, folder, PICTURES))
        tap.fires('an outdated picture', outdated(sim, folder, [('4', 'quarantine')]), 'not up to date')
        tap.claim('a part of a history is drawn', parts_of_a_picture(sim, folder))
        tap.claim('every violation is counted by its kind, and its seed is named',
                  every_violation(sim, folder))
        tap.claim('a run with a ledger goes on where the last one ended', goes_on(sim, folder))
        tap.claim('a wrong ledger is rejected', bad_ledgers(sim, folder))
    for assumption in ASSUMPTIONS:
        what = 'fences go back' if assumption == 'wall-clocks' else 'two clients can hold a lock'
        tap.claim(f'without the assumption "{assumption}" {what}',
                  demonstrated(sim, assumption))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
