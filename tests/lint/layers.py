#!/usr/bin/env python3
"""No #include crosses a layer: `layers.py ROOT`.

Each folder (without its subfolders) has a list of what its files may include. Everything else is a
complaint, and so is a folder without a list. The core in particular cannot read a clock, allocate,
print or do I/O.

Within a folder files may include each other. But in the folders of FREE_OF_CIRCLES no piece, which
is a header and its source, may include itself through other pieces.
"""
import os
import re
import sys
import tempfile

from tap import Tap

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^">]+)[">]', re.MULTILINE)

# Headers that only declare types, constants and functions of memory.
PURE = r'(std(bool|def|int|align)|limits|string|assert|inttypes)\.h'

# The rules, as expressions that the whole name must match. "system" is any header that is
# not ours and belongs to none of the libraries.
OURS = r'(base|core|net|settings|metrics|scripts|node|lock|election|doctor|sync|testing|cli|sim|small|lib|redlock)/.*'
LIBRARIES = r'(event2?/.*|event\.h|hiredis/.*|valkey/.*|check\.h|openssl/.*)'
SYSTEM = rf'(?!({OURS}|{LIBRARIES})$).*'

# Code above the network uses the headers of src/net, and no libevent, socket or clock.
BELOW_NODE = [r'scripts/.*', r'net/.*', r'core/.*', r'base/.*', r'redlock/.*', PURE,
              r'(stdio|stdarg|stdlib)\.h']

# The command is a user of the library: it may include the public headers and libevent.
OF_USERS = [r'redlock/.*', r'event2/.*', SYSTEM]

# What the command compiles for itself, because the library does not export it.
SHARED = [r'(settings|metrics)/.*', r'net/secret\.h']


def cli(rooms):
    return rf'cli/({rooms})/.*'


LAYERS = {
    'include/redlock': [r'redlock/.*', r'std(def|int)\.h'],
    'src/base': [r'base/.*', PURE, r'stdlib\.h', r'sys/mman\.h', r'sanitizer/asan_interface\.h'],
    'src/core': [r'core/.*', r'base/.*', r'redlock/error\.h', PURE],
    'src/net': [r'net/.*', r'core/reply\.h', r'base/.*', r'redlock/(error|export|loop|manager|version)\.h',
                r'event2/.*', r'hiredis/.*', r'openssl/.*', SYSTEM],
    # The environment, files and pipes: the command compiles it for itself.
    'src/settings': [r'settings/.*', r'net/secret\.h', r'base/.*', r'redlock/.*', SYSTEM],
    'src/metrics': [r'metrics/.*', r'base/.*', r'redlock/.*', PURE, r'stdio\.h'],
    'src/scripts': [r'scripts/.*', r'stddef\.h'],
    # sys/sdt.h is for probes.c: it only says where instructions are.
    'src/node': [r'node/.*', *BELOW_NODE, r'sys/sdt\.h'],
    'src/lock': [r'lock/.*', r'node/.*', r'(settings|metrics)/.*', *BELOW_NODE],
    'src/election': [r'election/.*', r'lock/.*', r'node/.*', *BELOW_NODE, r'stdatomic\.h'],
    'src/doctor': [r'doctor/.*', r'lock/.*', r'node/.*', *BELOW_NODE],
    # The façade is a user of the library, too. It shares the way to notice a fork, and to
    # copy a result, and keeps what it lends.
    'src/sync': [r'sync/.*', r'net/fork\.h', r'(lock/result|(lock|election)/kept)\.h', r'base/.*', *OF_USERS],
    # Masters for the tests of programs, and for ours: they do not share the library's code, so that
    # the two can disagree.
    'src/testing': [r'testing/.*', r'redlock/(testing|error)\.h', r'event2/.*', SYSTEM],
    'src/cli/say': [cli('say'), r'base/utf8\.h', SYSTEM],
    'src/cli/args': [cli('args|say'), r'redlock/.*', r'settings/.*', SYSTEM],
    'src/cli/system': [cli('system|say'), r'net/secret\.h', r'event2/.*', SYSTEM],
    'src/cli/http': [cli('http|system|say'), r'event2/.*', SYSTEM],
    # base/wipe.c is compiled into the command, too: the library does not export it.
    'src/cli/session': [cli('session|system|args|say'), r'base/wipe\.h', *SHARED, *OF_USERS],
    'src/cli/take': [cli('take|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/run': [cli('run|session|system|args|say'), *SHARED, *OF_USERS],
    # So are base/ledger.c, and what the library agrees on with its companion.
    'src/cli/companion': [cli('companion|run|session|system|args|say'), r'base/(alloc|companion|ledger)\.h', *SHARED, *OF_USERS],
    'src/cli/metrics': [cli('metrics|http|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/lock': [cli('lock|metrics|http|run|take|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/elect': [cli('elect|metrics|http|run|take|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/script': [cli('script|take|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/show': [cli('show|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/web': [cli('web|http|show|session|system|args|say'), *SHARED, *OF_USERS],
    'src/cli/sandbox': [cli('sandbox|run|system|args|say'), *SHARED, *OF_USERS],
    'src/cli': [r'cli/.*', r'base/wipe\.h', *OF_USERS],
    # The simulator links everything above the network, and replaces the network.
    'tests/sim': [r'sim/.*', r'(net|node|lock|election|scripts)/.*', r'core/.*', r'base/.*', r'redlock/.*',
                  r'lib/place\.h', SYSTEM],
    'tests/search': [r'search/.*', SYSTEM],
    'tests/small': [r'small/.*', r'search/.*', r'core/.*', r'base/.*', r'lib/place\.h',
                    r'lib/voters\.h', r'redlock/error\.h', SYSTEM],
    'tests/broken': [r'broken/.*', r'search/.*', r'core/.*', r'base/.*', r'lib/place\.h',
                     r'lib/voters\.h', r'redlock/error\.h', SYSTEM],
}


def is_source(name):
    return name.endswith(('.c', '.h'))


def sources(folder):
    for name in sorted(filter(is_source, os.listdir(folder))):
        yield os.path.join(folder, name)


def complaints(root, layer):
    allowed = re.compile('|'.join(f'(?:{rule})' for rule in LAYERS[layer]))
    for path in sources(os.path.join(root, layer)):
        with open(path, encoding='utf-8') as source:
            for match in INCLUDE.finditer(source.read()):
                if not allowed.fullmatch(match.group(1)):
                    yield f'{os.path.relpath(path, root)} must not include {match.group(1)}'


def folders_without_a_list(root):
    for top in ('include', 'src'):
        for place, _, names in sorted(os.walk(os.path.join(root, top))):
            folder = os.path.relpath(place, root)
            if any(map(is_source, names)) and folder not in LAYERS:
                yield f'{folder} has no list of what it may include'


FREE_OF_CIRCLES = ['src/base', 'src/core', 'src/net', 'src/node', 'src/lock', 'src/election',
                   'src/doctor', 'src/settings', 'src/metrics', 'src/sync', 'src/testing', 'src/cli']


def piece(path):
    return os.path.splitext(path)[0]


def needs(root, top):
    """For each piece below a folder, the other pieces there that it includes."""
    found = {}
    for place, _, _ in sorted(os.walk(os.path.join(root, top))):
        for path in sources(place):
            name = piece(os.path.relpath(path, os.path.join(root, 'src')))
            with open(path, encoding='utf-8') as source:
                included = map(piece, INCLUDE.findall(source.read()))
                found.setdefault(name, set()).update(other for other in included if other != name)
    return {name: others & found.keys() for name, others in found.items()}


def reached(graph, start):
    seen, left = set(), [start]
    while left:
        new = graph[left.pop()] - seen
        seen |= new
        left += new
    return seen


def circles(root, top):
    graph = needs(root, top)
    inside = [name for name in graph if name in reached(graph, name)]
    if inside:
        yield f'a circle in {top}: {", ".join(inside)}'


# One bad line for each layer, and good lines that must pass.
BAD = [
    ('include/redlock', 'event2/event.h'), ('include/redlock', 'stdbool.h'),
    ('src/base', 'core/round.h'), ('src/base', 'time.h'),
    ('src/core', 'net/conn.h'), ('src/core', 'stdio.h'), ('src/core', 'stdlib.h'),
    ('src/core', 'time.h'), ('src/core', 'unistd.h'), ('src/core', 'redlock/lock.h'),
    ('src/net', 'node/node.h'), ('src/net', 'core/round.h'), ('src/net', 'redlock/lock.h'),
    ('src/net', 'scripts/scripts.h'), ('src/scripts', 'node/node.h'),
    ('src/settings', 'node/options.h'), ('src/settings', 'cli/say/say.h'), ('src/node', 'settings/settings.h'),
    ('src/node', 'lock/manager.h'), ('src/node', 'event2/event.h'), ('src/node', 'sys/socket.h'),
    ('src/node', 'hiredis/hiredis.h'), ('src/lock', 'doctor/checkup.h'), ('src/lock', 'time.h'),
    ('src/lock', 'event2/event.h'), ('src/doctor', 'cli/args.h'), ('src/doctor', 'unistd.h'),
    ('src/sync', 'lock/lock.h'), ('src/sync', 'net/conn.h'), ('src/sync', 'node/node.h'),
    ('src/testing', 'base/alloc.h'), ('src/testing', 'net/reply.h'), ('src/testing', 'redlock/lock.h'),
    ('src/testing', 'hiredis/hiredis.h'), ('src/testing', 'lib/fake.h'), ('src/sync', 'testing/model.h'),
    ('src/cli/say', 'cli/args/args.h'), ('src/cli/say', 'redlock/lock.h'),
    ('src/cli/args', 'cli/session/session.h'), ('src/cli/args', 'event2/event.h'),
    ('src/cli/system', 'cli/session/session.h'), ('src/cli/system', 'redlock/redlock.h'),
    ('src/cli/http', 'redlock/redlock.h'), ('src/cli/web', 'cli/take/take.h'), ('src/cli/http', 'cli/session/session.h'),
    ('src/cli/session', 'cli/take/take.h'), ('src/cli/take', 'cli/run/guard.h'),
    ('src/cli/run', 'cli/take/take.h'), ('src/cli/run', 'cli/lock/lease.h'),
    ('src/cli/lock', 'cli/script/acquire.h'), ('src/cli/elect', 'cli/lock/lock.h'), ('src/cli/lock', 'node/node.h'),
    ('src/cli/script', 'cli/lock/lock.h'), ('src/cli/show', 'cli/take/explain.h'),
    ('src/cli/sandbox', 'cli/session/session.h'), ('src/cli/session', 'hiredis/hiredis.h'),
    ('src/cli/lock', 'cli/exit.h'), ('src/cli', 'node/node.h'), ('src/cli', 'core/round.h'),
    ('tests/sim', 'hiredis/hiredis.h'), ('tests/sim', 'event2/event.h'),
    ('tests/sim', 'doctor/checkup.h'), ('src/lock', 'sim/world.h'),
    ('tests/small', 'node/node.h'), ('tests/search', 'small/world.h'),
    ('tests/broken', 'lock/gather.h'),
]
GOOD = [
    ('include/redlock', 'redlock/export.h'), ('src/base', 'base/list.h'), ('src/base', 'stdint.h'),
    ('src/core', 'base/list.h'), ('src/core', 'redlock/error.h'), ('src/core', 'string.h'),
    ('src/net', 'sys/socket.h'), ('src/net', 'event2/event.h'), ('src/node', 'net/conn.h'),
    ('src/lock', 'node/node.h'), ('src/doctor', 'lock/manager.h'), ('src/cli', 'unistd.h'),
    ('src/cli', 'cli/lock/lock.h'), ('src/cli/lock', 'cli/take/take.h'),
    ('src/testing', 'redlock/testing.h'), ('src/testing', 'sys/socket.h'),
    ('src/cli/say', 'cli/say/exit.h'), ('src/cli/system', 'event2/event.h'),
    ('src/cli', 'redlock/redlock.h'), ('tests/sim', 'lock/lock.h'), ('tests/sim', 'net/conn.h'),
]


def write_one(root, folder, header):
    os.makedirs(os.path.join(root, folder))
    with open(os.path.join(root, folder, 'x.c'), 'w', encoding='utf-8') as source:
        source.write(f'/* x */\n#  include <{header}>\n')


def complaints_about_one(layer, header):
    with tempfile.TemporaryDirectory() as root:
        write_one(root, layer, header)
        return list(complaints(root, layer))


def complaints_about_circle(includes):
    with tempfile.TemporaryDirectory() as root:
        for path, header in includes.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as source:
                source.write(f'#include "{header}"\n')
        return list(circles(root, 'src/cli'))


def complaints_about_folder(folder):
    with tempfile.TemporaryDirectory() as root:
        write_one(root, folder, 'x.h')
        return list(folders_without_a_list(root))


def main(root):
    tap = Tap()
    for layer in LAYERS:
        tap.claim(f'{layer} includes only what it may', complaints(root, layer))
    tap.claim('each folder has a list of what it may include', folders_without_a_list(root))
    tap.fires('a new folder without one', complaints_about_folder('src/cli/new'), 'src/cli/new')
    for top in FREE_OF_CIRCLES:
        tap.claim(f'{top} has no circle', circles(root, top))
    two = {'src/cli/say/a.h': 'cli/say/a.h', 'src/cli/say/b.h': 'cli/say/a.h'}
    tap.claim('passes: one includes the other', complaints_about_circle(two))
    tap.fires('a header and a source in a circle',
              complaints_about_circle({**two, 'src/cli/say/a.c': 'cli/say/b.h'}), 'say/a, cli/say/b')
    for layer, header in BAD:
        tap.fires(f'{header} in {layer}', complaints_about_one(layer, header), header)
    for layer, header in GOOD:
        tap.claim(f'passes: {header} in {layer}', complaints_about_one(layer, header))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
