#!/usr/bin/env python3
"""No #include crosses a layer: `layers.py ROOT`.

Each folder has the list of what its files may include; everything else is a complaint. The
core in particular has no way to read a clock, allocate, print or do I/O.
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
OURS = r'(base|core|net|scripts|node|lock|doctor|sync|cli|sim|small|lib|redlock)/.*'
LIBRARIES = r'(event2?/.*|event\.h|hiredis/.*|valkey/.*|check\.h|openssl/.*)'
SYSTEM = rf'(?!({OURS}|{LIBRARIES})$).*'

# What is above the network knows no libevent, no socket, no clock: only the headers of src/net.
BELOW_NODE = [r'scripts/.*', r'net/.*', r'core/.*', r'base/.*', r'redlock/.*', PURE,
              r'(stdio|stdarg|stdlib)\.h']

LAYERS = {
    'include/redlock': [r'redlock/.*', r'std(def|int)\.h'],
    'src/base': [r'base/.*', PURE, r'stdlib\.h'],
    'src/core': [r'core/.*', r'base/.*', r'redlock/error\.h', PURE],
    'src/net': [r'net/.*', r'core/reply\.h', r'base/.*', r'redlock/(error|manager)\.h',
                r'event2/.*', r'hiredis/.*', SYSTEM],
    'src/scripts': [r'scripts/.*', r'stddef\.h'],
    'src/node': [r'node/.*', *BELOW_NODE],
    'src/lock': [r'lock/.*', r'node/.*', *BELOW_NODE],
    'src/doctor': [r'doctor/.*', r'lock/.*', r'node/.*', *BELOW_NODE],
    'src/sync': [r'sync/.*', r'lock/.*', r'base/.*', r'redlock/.*', r'event2/.*', SYSTEM],
    'src/cli': [r'cli/.*', r'redlock/.*', r'event2/.*', SYSTEM],
    'tests/sim': [r'sim/.*', r'core/.*', r'base/.*', r'lib/runner\.h', r'check\.h',
                  r'redlock/error\.h', SYSTEM],
    'tests/small': [r'small/.*', r'core/.*', r'base/.*', r'lib/runner\.h', r'check\.h',
                    r'redlock/error\.h', SYSTEM],
}


def sources(folder):
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(('.c', '.h')):
                yield os.path.join(place, name)


def complaints(root, layer):
    allowed = re.compile('|'.join(f'(?:{rule})' for rule in LAYERS[layer]))
    for path in sources(os.path.join(root, layer)):
        with open(path, encoding='utf-8') as source:
            for match in INCLUDE.finditer(source.read()):
                if not allowed.fullmatch(match.group(1)):
                    yield f'{os.path.relpath(path, root)} must not include {match.group(1)}'


# One bad line a layer, and good ones that must pass.
BAD = [
    ('include/redlock', 'event2/event.h'), ('include/redlock', 'stdbool.h'),
    ('src/base', 'core/round.h'), ('src/base', 'time.h'),
    ('src/core', 'net/conn.h'), ('src/core', 'stdio.h'), ('src/core', 'stdlib.h'),
    ('src/core', 'time.h'), ('src/core', 'unistd.h'), ('src/core', 'redlock/lock.h'),
    ('src/net', 'node/node.h'), ('src/net', 'core/round.h'), ('src/net', 'redlock/lock.h'),
    ('src/net', 'scripts/scripts.h'), ('src/scripts', 'node/node.h'),
    ('src/node', 'lock/manager.h'), ('src/node', 'event2/event.h'), ('src/node', 'sys/socket.h'),
    ('src/node', 'hiredis/hiredis.h'), ('src/lock', 'doctor/probe.h'), ('src/lock', 'time.h'),
    ('src/lock', 'event2/event.h'), ('src/doctor', 'cli/args.h'), ('src/doctor', 'unistd.h'),
    ('src/cli', 'node/node.h'), ('src/cli', 'hiredis/hiredis.h'),
    ('src/cli', 'core/round.h'), ('tests/sim', 'node/node.h'), ('tests/sim', 'event2/event.h'),
    ('tests/small', 'node/node.h'),
]
GOOD = [
    ('include/redlock', 'redlock/export.h'), ('src/base', 'base/list.h'), ('src/base', 'stdint.h'),
    ('src/core', 'base/list.h'), ('src/core', 'redlock/error.h'), ('src/core', 'string.h'),
    ('src/net', 'sys/socket.h'), ('src/net', 'event2/event.h'), ('src/node', 'net/conn.h'),
    ('src/lock', 'node/node.h'), ('src/doctor', 'lock/manager.h'), ('src/cli', 'unistd.h'),
    ('src/cli', 'redlock/redlock.h'), ('tests/sim', 'core/round.h'),
]


def complaints_about_one(layer, header):
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, layer))
        with open(os.path.join(root, layer, 'x.c'), 'w', encoding='utf-8') as source:
            source.write(f'/* x */\n#  include <{header}>\n')
        return list(complaints(root, layer))


def main(root):
    tap = Tap()
    for layer in LAYERS:
        tap.claim(f'{layer} keeps to its layer', complaints(root, layer))
    for layer, header in BAD:
        tap.fires(f'{header} in {layer}', complaints_about_one(layer, header), header)
    for layer, header in GOOD:
        tap.claim(f'passes: {header} in {layer}', complaints_about_one(layer, header))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
