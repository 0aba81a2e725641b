#!/usr/bin/env python3
"""redlock.hpp has everything that the blocking façade has: `hpp.py ROOT`.

Each function of redlock/sync.h and redlock/sync_election.h is called, each field of the options is
set, and each error code has a name. What a program in C++ does not need is listed here, with why.
"""
import os
import re
import sys

from tap import Tap

FUNCTIONS = ['sync.h', 'sync_election.h']
STRUCTS = {'redlock_options': ('manager.h', 'manager.hpp'),
           'redlock_companion_options': ('companion.h', 'manager.hpp'),
           'redlock_request': ('lock.h', 'request.hpp'),
           'redlock_election_options': ('election.h', 'election.hpp')}
NOT_NEEDED = {
    'size': 'set by the initialiser',
    'error_text': 'redlock_sync_error_text() says the same',
    'error_text_size': 'the same',
    'error_node': 'the text of the exception names the master',
    'moved_cb': 'any thread may read the deadline',
}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)


def functions(header):
    return re.findall(r'^REDLOCK_EXPORT\s[^;]*?\b(\w+)\s*\(', header, re.MULTILINE)


def fields(header, struct):
    body = re.search(rf'^struct {struct} {{\n(.*?)^}};', header, re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r'\b(\w+);', body)


def codes(header):
    return re.findall(r'\b(REDLOCK_E[A-Z]+) = -', header)


def missing(names, cpp, pattern):
    for name in names:
        if name not in NOT_NEEDED and not re.search(pattern.format(name), cpp):
            yield f'{name} is missing'


def main(root):
    tap = Tap()
    folder = os.path.join(root, 'include', 'redlock')
    cpp = {name: read(folder, 'hpp', name) for name in sorted(os.listdir(os.path.join(folder, 'hpp')))}
    for name in FUNCTIONS:
        tap.claim(f'each function of redlock/{name} is called',
                  missing(functions(read(folder, name)), '\n'.join(cpp.values()), r'\b{}\('))
    for struct, (header, where) in STRUCTS.items():
        tap.claim(f'each field of {struct} is set in {where}',
                  missing(fields(read(folder, header), struct), cpp[where], r'\bc_?\.{}\b'))
    tap.claim('each error code has a name', missing(codes(read(folder, 'error.h')), cpp['error.hpp'], r'= {}\b'))
    fires(tap)
    return tap.finish()


def fires(tap):
    new = fields('struct s {\n    size_t size;\n    int new_one;\n    cb *new_cb;\n};\n', 's')
    tap.fires('a new field', missing(new, 'c_.new_cb = x;', r'\bc_?\.{}\b'), 'new_one')
    tap.fires('a new callback', missing(new, 'c_.new_one = x;', r'\bc_?\.{}\b'), 'new_cb')
    call = functions('REDLOCK_EXPORT int redlock_sync_new_one(\n    struct redlock_sync *s);\n')
    tap.fires('a new function', missing(call, 'redlock_sync_new()', r'\b{}\('), 'redlock_sync_new_one')
    tap.fires('a new code', missing(codes('REDLOCK_ENEW = -99'), 'x = REDLOCK_EINVAL', r'= {}\b'), 'REDLOCK_ENEW')


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
