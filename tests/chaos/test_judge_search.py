"""A part of test_judge.py: the search decides as brute force does, and what convert.py writes says the same."""
import itertools
import json
import os
import random
import re
import subprocess
import sys

import convert
import judge_history
import linear
from judge_story import Story

HERE = os.path.dirname(os.path.abspath(__file__))
HISTORIES = 3000

# ---- brute force ----


def orders(calls, done, model, state):
    """Whether the rest can follow in some order. Nothing is remembered."""
    if all(number in done or not one.certain for number, one in enumerate(calls)):
        return True
    for number, one in enumerate(calls):
        if number in done or any(other.certain and other.returned < one.call
                                 for i, other in enumerate(calls) if i != number and i not in done):
            continue
        after = model.step(state, one.what)
        if after is not None and orders(calls, done | {number}, model, after):
            return True
    return False


def drawn_times(pick, count):
    """(call, point in which it takes effect, return) of each call; the points differ."""
    for point in pick.sample(range(10, 60), count):
        yield point - pick.randint(0, 10), point, point + pick.randint(0, 10)


def drawn_register(pick):
    """Calls as a register answers them; often one of the answers is replaced."""
    made, state = [], linear.Register.initial
    for call, _, returned in sorted(drawn_times(pick, pick.randint(2, 6)), key=lambda one: one[1]):
        kind, fence, value = pick.choice(['read', 'write']), pick.randint(1, 3), pick.randint(1, 3)
        status = 'refused' if fence < state[0] else 'ok'
        certain = pick.random() < 0.75
        if status == 'ok' and (certain or pick.random() < 0.5):
            state = fence, value if kind == 'write' else state[1]
        value = value if kind == 'write' else state[1]
        made.append([call, returned, (kind, fence, value, status if certain else 'unknown'), certain])
    if pick.random() < 0.5:
        which = pick.choice(made)
        if which[3]:
            which[2] = (which[2][0], pick.randint(1, 3), pick.randint(0, 3), pick.choice(['ok', 'ok', 'refused']))
    return [linear.Call(*one, str(i)) for i, one in enumerate(made)]


def drawn_mutex(pick):
    made, at, fence = [], 0, 0
    for who in range(pick.randint(1, 3)):
        fence += pick.randint(0, 2) if pick.random() < 0.3 else 1
        got, over = at + pick.randint(1, 9), at + 10 + pick.randint(0, 4)
        if pick.random() < 0.2:
            made.append((got - pick.randint(0, 9), got + pick.randint(0, 9), ('pass', who, fence), True))
        else:
            made.append((got - pick.randint(0, 9), got + pick.randint(0, 3), ('acquire', who, fence), True))
            made.append((over, over + pick.randint(0, 9), ('release', who, 0), True))
        at = over + pick.choice([-6, 0, 1, 1, 1])
    return [linear.Call(*one, str(i)) for i, one in enumerate(made)]


def compare(tap, name, model, draw):
    pick, verdicts, wrong = random.Random(7), [0, 0], []
    for _ in range(HISTORIES):
        calls = draw(pick)
        expected, found = orders(calls, frozenset(), model, model.initial), linear.search(model, calls)[0] is None
        verdicts[expected] += 1
        if expected != found:
            wrong.append(f'{calls}: brute force says {expected}')
    tap.claim(f'the search decides as brute force does: {name}', wrong[:3])
    tap.claim(f'and both verdicts are frequent: {name}',
              [] if min(verdicts) > HISTORIES / 20 else [f'{verdicts} of false and true'])


def many_calls(tap):
    """Many unknown calls stay cheap, because a larger token ends them."""
    calls = []
    for i in range(1, 400):
        calls += [linear.Call(10 * i, 0, ('write', i, i, 'unknown'), False, 'w'),
                  linear.Call(10 * i + 5, 10 * i + 6, ('read', i, i if i % 2 else i - 1, 'ok'), True, 'r')]
    bad, visited = linear.search(linear.Register, calls)
    tap.claim('many unknown calls need few states', [] if bad is None and visited < 5000 else [bad, visited])
    unordered = [linear.Call(i, 1000 + i, ('write', 1, i, 'ok'), True, 'w') for i in range(24)]
    try:
        linear.search(linear.Register, unordered, 10_000)
        tap.claim('it gives up when there are too many orders', ['it did not'])
    except linear.TooLarge:
        tap.claim('it gives up when there are too many orders', [])


def searches(tap):
    compare(tap, 'register', linear.Register, drawn_register)
    compare(tap, 'mutex', linear.Mutex, drawn_mutex)
    many_calls(tap)


# ---- the converter ----

def sample():
    """All that convert.py knows: a wait, a hand-over, a lapse, a lock that was over, failures, all ends of register calls."""
    story = Story().acquire('c1', 0, 10, 1, deadline=1200, fence=4).acquire('c2', 5, 1010, 1, deadline=1500, fence=5)
    story.read('c1', 20, 30, 4, 0).write('c1', 40, 50, 4, 1).release('c1', 1000, 1030, 1, 'hand-over')
    story.read('c1', 1040, 1050, 4, status='unknown').acquire('c3', 1600, 9000, 1, deadline=2000, fence=6)
    story.read('c2', 1060, 1070, 5, 1).write('c2', 1080, 1090, 5, 2, 'unknown').read('c4', 2100, 2110, 3, status='refused')
    story.call('c4', 100, 200, 'acquire', -201, keys=['k'], fencing=1, ttl=1000, wait=0)
    story.call('c4', 2200, None, 'acquire', keys=['k'], fencing=1, ttl=1000, wait=0).kill('c4', 2300)
    return story.driver(50000, 'registers', values={'k': 2})


def key_of(entry):
    """An entry in a form that both formats can be read back to."""
    returned = None if entry.status == 'unknown' else convert.ns(entry.returned)
    return (entry.object, entry.key, entry.f, entry.status, convert.ns(entry.call), returned,
            entry.fence if entry.status != 'unknown' and entry.status != 'fail' or entry.object == 'register' else 0,
            entry.value)


def read_porcupine(lines):
    """The keys of the entries; what returned after everything else never did."""
    found = [json.loads(line) for line in lines]
    for one in found:
        asked, said = one['Input'], one['Output']
        yield (asked['object'], asked['key'], asked['f'], said['status'], one['Call'],
               None if said['status'] == 'unknown' else one['Return'], asked['fence'],
               asked['value'] if asked['f'] == 'write' else said['value'])


def read_map(line):
    """Of one line of EDN; the value of :value in a dict of its own."""
    inner = re.search(r':value \{([^}]*)\}', line)
    outer = re.sub(r':value (\{[^}]*\}|nil)', ':value nil', line)
    found = {name: word.strip('":') for name, word in re.findall(r':([a-z]+) ("[^"]*"|[^ ,}]+)', outer)}
    found['value'] = {name: word.strip('":') for name, word in
                      re.findall(r':([a-z]+) ("[^"]*"|[^ ,}]+)', inner.group(1))} if inner else {}
    return found


def number(word):
    return None if word in (None, 'nil') else int(word)


def read_knossos(lines):
    open_calls = {}
    for line in lines:
        one = read_map(line)
        if one['type'] == 'invoke':
            open_calls[one['process']] = one
            continue
        begun, value = open_calls.pop(one['process']), one['value']
        types = {'ok': 'ok', 'fail': 'fail', 'info': 'unknown'}
        status = value.get('status', types[one['type']])
        yield (one['object'], one['key'], one['f'], status, int(begun['time']),
               None if one['type'] == 'info' else int(one['time']), int(value.get('fence', 0)), number(value.get('value')))


def is_serial(lines):
    """Complaints where a process of the history has two calls at a time, or goes on after :info."""
    busy = set()
    for line in lines:
        one = read_map(line)
        if one['type'] == 'invoke' and one['process'] in busy:
            yield line
        busy.add(one['process'])
        if one['type'] in ('ok', 'fail'):
            busy.discard(one['process'])


def calls_from(keys):
    """The calls on a register, from keys."""
    return [linear.Call(call, returned, (f, fence, value, status), returned is not None, f)
            for kind, _, f, status, call, returned, fence, value in keys if kind == 'register']


def same(tap, claim, wanted, got):
    wanted, got = sorted(wanted, key=repr), sorted(got, key=repr)
    tap.claim(claim, [] if wanted == got else [pair for pair in itertools.zip_longest(wanted, got) if pair[0] != pair[1]])


def converter(tap, place):
    folder = sample().save(os.path.join(place, 'sample'))
    files = [os.path.join(place, name) for name in ('edn', 'jsonl')]
    subprocess.run([sys.executable, '-B', os.path.join(HERE, 'convert.py'), '--knossos', files[0], '--porcupine', files[1],
                    folder], check=True)
    edn, lines = ([line.rstrip('\n') for line in open(path, encoding='utf-8')] for path in files)
    keys = [key_of(entry) for entry in convert.entries(judge_history.read(folder))]
    tap.claim('the sample has all kinds', {'ok', 'fail', 'refused', 'unknown'} - {key[3] for key in keys})
    same(tap, 'what is written for Porcupine is read back', keys, read_porcupine(lines))
    same(tap, 'what is written for Knossos is read back', keys, read_knossos(edn))
    tap.claim('each process of Knossos has one call at a time', is_serial(edn))
    tap.claim('and the search says the same of what was read back',
              [bad for bad in [linear.search(linear.Register, calls_from(read_porcupine(lines)))[0]] if bad])
