"""Every command with --json prints the fields that docs/json.md names, with their types, and no others.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP.
"""
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from inside import run_in_sandbox  # noqa: E402
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
DOCUMENT = os.path.join(HERE, '..', '..', 'docs', 'json.md')
PATIENCE_S = 60
COMMON = ['--node-timeout', '20s', '--audit']
ROW = re.compile(r'^\| `([\w.\[\]]+)` \| ([\w ]+?)(; optional)? \| \S.*\|$')


# --- the document ---

def read_document(text):
    """{command: {path: (types, whether it may be left out)}}"""
    commands = {}
    for section in re.split(r'^## ', text, flags=re.M)[1:]:
        rows = [line for line in section.splitlines() if line.startswith('| `')]
        for name in re.findall(r'`redlock (\w+)', section.splitlines()[0]):
            commands[name] = {}
            for row in rows:
                path, types, optional = ROW.match(row).groups()
                commands[name][path] = (types.split(' or '), bool(optional))
    return commands


# --- what was printed ---

def type_of(value):
    if isinstance(value, list) and value and not isinstance(value[0], dict):
        return 'strings'
    return {bool: 'boolean', int: 'number', str: 'string', list: 'array', dict: 'object',
            type(None): 'null'}[type(value)]


def walk(value, path=''):
    """(path, value) of all fields. The elements of an array have the path of the array followed by []."""
    if isinstance(value, dict):
        for name, field in value.items():
            here = f'{path}.{name}' if path else name
            yield here, field
            yield from walk(field, here)
    elif isinstance(value, list):
        for element in value:
            yield from walk(element, path + '[]')


def objects(value, path=''):
    """(path, object) of all objects: '' is the outermost."""
    if isinstance(value, dict):
        yield path, value
        for name, field in value.items():
            yield from objects(field, f'{path}.{name}' if path else name)
    elif isinstance(value, list):
        for element in value:
            yield from objects(element, path + '[]' if path else '')


def parent(path):
    return path.rpartition('.')[0]


def complaints(documented, values):
    """What is wrong with the output of a command. If it prints an array, each element is checked."""
    values = [element for value in values for element in (value if isinstance(value, list) else [value])]
    seen = {}
    for value in values:
        for path, field in walk(value):
            seen.setdefault(path, set()).add(type_of(field))
    found = [f'{path} is not in the document' for path in seen if path not in documented]
    found += [f'{path} was never printed' for path in documented if path not in seen]
    for path in seen.keys() & documented.keys():
        types = documented[path][0]
        # An empty array of strings looks like any other empty array.
        wrong = seen[path] - set(types) - ({'array'} if 'strings' in types else set())
        found += [f'{path} is {", ".join(sorted(wrong))}, not {" or ".join(types)}'] if wrong else []
    for value in values:
        for place, each in objects(value):
            found += [f'{path} is missing' for path, (_, optional) in documented.items()
                      if parent(path) == place and not optional
                      and path.rpartition('.')[2] not in each]
    return sorted(set(found))


# --- the commands ---

def run(*words):
    done = subprocess.run([REDLOCK, words[0], *COMMON, *words[1:]], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, timeout=PATIENCE_S)
    assert done.returncode in (0, 1), (words, done.returncode)  # 1: doctor or masters found something
    return done.stdout.decode()


def printed(*words):
    return json.loads(run(*words, '--json'))


def start(*words):
    return subprocess.Popen([REDLOCK, words[0], *COMMON, *words[1:]], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def leads(name, who):
    return printed('status', name)[0]['leader'] == who


def of_a_lock():
    """A lock that is acquired, extended, inspected and released."""
    first = printed('acquire', 'k', '--ttl', '60s', '--fence')
    plain = printed('acquire', 'plain', '--ttl', '60s')
    extended = printed('extend', 'k', '--token', first['token'], '--fence')
    run('acquire', 'broken', '--ttl', '60s')
    run('break', 'broken', '--reason', 'x', '--no-wait')
    seen = {'status': [printed('status', 'k', 'free', 'broken')], 'list': [printed('list', '--all')]}
    released = [printed('release', 'k', '--token', first['token']),
                printed('release', 'k', '--token', first['token'])]
    history = [printed('history', 'k')]
    return {'acquire': [first, plain], 'extend': [extended], 'release': released, 'history': history, **seen}


def of_masters():
    dead = os.environ['REDLOCK_NODES'].replace(',', ' ').split()[:4] + ['unix:///no/socket']
    off = ['--no-record', '--nodes', ' '.join(dead)]
    found = {'nodes': [printed('nodes'), printed('nodes', *off)], 'masters': [printed('masters')],
             'doctor': [printed('doctor'), printed('doctor', *off)]}
    # With quarantine=off, as in the sandbox, there is no record.
    os.environ.update(REDLOCK_QUARANTINE='lenient', REDLOCK_MAX_TTL='10s')
    run('acquire', 'recorded', '--ttl', '5s')
    until(lambda: printed('masters')['record']['state'] == 'agreed')
    for command, some in found.items():
        some.append(printed(command))
    return found


def of_an_election():
    candidates = {}
    for who in ('a', 'b'):
        candidates[who] = start('elect', 'e', '--id', who, '--value', f'at {who}', '--', 'sleep', '600')
        until(lambda: leads('e', 'a'))
    observer = start('elect', 'e', '--observe', '--json')
    lines = [json.loads(observer.stdout.readline())]
    status = printed('status', 'e')
    moved = printed('transfer', 'e', '--to', 'b')
    for process in (*candidates.values(), observer):
        process.terminate()
        process.communicate()
    return {'elect': lines, 'transfer': [moved], 'status': [status]}


def of_a_hold():
    hold = start('hold', 'h', '--json', '--fence', '--ttl', '5s', '--max-hold', '5s')
    lines = [json.loads(line) for line in hold.stdout]
    hold.communicate()
    return {'hold': lines}


def test(tap):
    with open(DOCUMENT, encoding='utf-8') as file:
        documented = read_document(file.read())
    values = {}
    for part in (of_a_lock(), of_an_election(), of_a_hold(), of_masters()):
        for command, some in part.items():
            values.setdefault(command, []).extend(some)
    tap.claim('the document describes exactly these commands', sorted(documented.keys() ^ values.keys()))
    for command in sorted(documented.keys() & values.keys()):
        tap.claim(f'{command} --json prints what the document says', complaints(documented[command], values[command]))
    row = {'a': (['number'], False), 'b': (['string', 'null'], True)}
    tap.fires('a field that is not documented', complaints(row, [{'a': 1, 'b': 'x', 'c': 1}]), 'c is not in')
    tap.fires('a field with another type', complaints(row, [{'a': '1', 'b': 'x'}]), 'a is string, not number')
    tap.fires('a field that is left out', complaints(row, [{'a': 1, 'b': 'x'}, {'b': 'x'}]), 'a is missing')
    tap.fires('a field that is never printed', complaints(row, [{'a': 1}]), 'b was never printed')
    if '--print' in sys.argv:
        for command, some in values.items():
            seen = {}
            for value in some:
                for element in value if isinstance(value, list) else [value]:
                    for path, field in walk(element):
                        seen.setdefault(path, []).append(type_of(field))
            print(f'## `redlock {command}`', file=sys.stderr)
            for path, types in seen.items():
                print(f'| `{path}` | {" or ".join(sorted(set(types)))} |', file=sys.stderr)


def main():
    run_in_sandbox()
    tap = Tap()
    test(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
