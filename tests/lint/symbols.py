#!/usr/bin/env python3
"""What the objects define and need: `symbols.py NM CC ROOT LIBREDLOCK CORE_ARCHIVE LOCK_ARCHIVE TESTING_ARCHIVE [MODULE]`.

The shared library exports what its map lists, which is what the public headers declare, and
nothing else. Its module exports what it looks up there. The static library for tests of programs defines what redlock/testing.h declares, and all
its names have our prefix. The objects of base and core need only memory functions from outside: so they cannot
use a clock, allocate, print or do I/O. Objects that trace allocate nothing, so that running out of
memory can be traced, too. No name of a static function is in more than three files, so that a backtrace
can be read.
"""
import os
import re
import subprocess
import sys
import tempfile

from tap import Tap

# Allowed in every object: symbols that compilers and sanitizers add, such as __popcountdi2.
COMPILER = (r'_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__assert_fail|_?_(a|ub|t|l)san_.*|__sanitizer_.*'
            r'|__gcov_.*|__llvm_.*|_?_fentry_?_?|__mem(cpy|set|move)_chk|__[a-z]+[sdt]i[234]')
MEMORY = r'mem(cpy|set|move|cmp|chr)|str(n?len|n?cmp|r?chr)|bcmp|(__)?explicit_bzero(_chk)?'
OWN = r'rlk_.*'
ALLOCATOR = r'malloc|calloc|realloc|free'
PAGES = r'mmap(64)?|munmap'
NEEDS = {
    'core': re.compile(f'{COMPILER}|{MEMORY}|{OWN}'),
    'base': re.compile(f'{COMPILER}|{MEMORY}|{OWN}|{ALLOCATOR}|{PAGES}'),
}
# Objects of node and lock that run when a listener is set.
TRACING = ['node_trace.c.o', 'node_probes.c.o', 'lock_trace_line.c.o']
TAKES = re.compile(rf'{ALLOCATOR}|rlk_(re)?alloc|rlk_pool_take|strn?dup|v?f?(as|sn|s)?printf')
PREFIX = re.compile(r'(redlock|rlk)_.*')
NAMESAKES = 3


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def exported(nm, library):
    lines = run(nm, '-D', '--defined-only', '--format=posix', library).splitlines()
    names = (line.split()[0] for line in lines)
    # The version node itself is listed as an absolute symbol with its own name. The linker adds the ends of sections.
    return {name.split('@')[0] for name in names if not re.fullmatch(r'REDLOCK_[0-9.]+(@.*)?|__bss_start|_edata|_end', name)}


def mapped(path):
    with open(path, encoding='utf-8') as text:
        body = re.sub(r'/\*.*?\*/', '', text.read(), flags=re.DOTALL)
    return set(re.findall(r'^\s*(\w+);', body, re.MULTILINE))


def declared(folder):
    names = set()
    for name in sorted(name for name in os.listdir(folder) if name.endswith('.h')):
        with open(os.path.join(folder, name), encoding='utf-8') as text:
            body = re.sub(r'/\*.*?\*/', '', text.read(), flags=re.DOTALL)
        names.update(re.findall(r'^REDLOCK_EXPORT\s[^;]*?\b(\w+)\s*\(', body, re.MULTILINE))
    return names


def declared_for_tests(text):
    return set(re.findall(r'\b(redlock_\w+)\(', re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)))


def defined(nm, archive):
    """The global names that an archive defines."""
    lines = run(nm, '-A', '--defined-only', '--extern-only', '--format=posix', archive).splitlines()
    return {line.split(': ', 1)[1].split()[0] for line in lines}


def differences(one, first, other, second):
    yield from (f'{name} is in {one}, not in {other}' for name in sorted(first - second))
    yield from (f'{name} is in {other}, not in {one}' for name in sorted(second - first))


def undefined(nm, archive):
    """(object, symbol) for each symbol that an object needs from elsewhere."""
    for line in run(nm, '-A', '-u', '--format=posix', archive).splitlines():
        where, name = line.split(': ', 1)
        member = re.search(r'\[(.*)\]$|:([^:]*)$', where)
        yield (member.group(1) or member.group(2)) if member else where, name.split()[0]


def needless(nm, archive, layer):
    for member, name in undefined(nm, archive):
        mine = os.path.basename(member).startswith(f'{layer}_')
        if mine and not NEEDS[layer].fullmatch(name):
            yield f'{member} needs {name}'


def taking(nm, archive):
    for member, name in undefined(nm, archive):
        if os.path.basename(member) in TRACING and TAKES.fullmatch(name):
            yield f'{member} needs {name}'


def other_names(nm, archive):
    """Global names without our prefix could clash with names of a program that links the library."""
    for line in run(nm, '--defined-only', '-g', '--format=posix', archive).splitlines():
        words = line.split()
        if len(words) >= 2 and not PREFIX.fullmatch(words[0]) and not words[0].startswith('__'):
            yield f'{words[0]} is global and without prefix'


def unloadable(readelf, library):
    if 'NODELETE' not in run(readelf, '-d', library):
        yield 'dlclose(3) would take away the code of threads that run in it'


def static_functions(root):
    """(file, name) for each static function of the sources."""
    for folder, _, names in sorted(os.walk(os.path.join(root, 'src'))):
        for name in sorted(name for name in names if name.endswith(('.c', '.h'))):
            with open(os.path.join(folder, name), encoding='utf-8') as text:
                found = re.findall(r'^static [^;={}()]*?\b(\w+)\(', text.read(), re.MULTILINE)
            yield from ((os.path.relpath(os.path.join(folder, name), root), one) for one in set(found))


def namesakes(functions):
    files = {}
    for file, name in functions:
        files.setdefault(name, []).append(file)
    for name, where in sorted(files.items()):
        if len(where) > NAMESAKES:
            yield f'{name}() is in {len(where)} files, say what of: {", ".join(where)}'


def archive_of(cc, folder, name, source):
    path = os.path.join(folder, f'{name}.c')
    with open(path, 'w', encoding='utf-8') as text:
        text.write(source)
    # In C23 an empty list of parameters means none.
    run(*cc, '-std=c11', '-w', '-c', path, '-o', path + '.o')
    run('ar', 'rcs', os.path.join(folder, f'{name}.a'), path + '.o')
    return os.path.join(folder, f'{name}.a')


def show_that_it_fires(tap, nm, cc):
    with tempfile.TemporaryDirectory() as folder:
        for name in ('clock_gettime', 'malloc', 'printf', 'getrandom', 'socket'):
            bad = archive_of(cc, folder, f'core_{name}', f'int {name}();int rlk_x(void);'
                             f'int rlk_x(void) {{ return {name}(0); }}')
            tap.fires(f'{name} in core', needless(nm, bad, 'core'), name)
        bad = archive_of(cc, folder, 'node_trace', 'void *rlk_alloc();void *rlk_x(void);'
                         'void *rlk_x(void) { return rlk_alloc(1); }')
        tap.fires('memory for a trace', taking(nm, bad), 'rlk_alloc')
        bad = archive_of(cc, folder, 'base_time', 'int time();int y(void);int y(void)'
                         ' { return time(0); }')
        tap.fires('time in base', needless(nm, bad, 'base'), 'time')
        tap.fires('a name without prefix', other_names(nm, bad), 'y is')
    tap.fires('a library that can be unloaded', unloadable('readelf', '/proc/self/exe'), 'dlclose')
    tap.fires('a symbol too many', differences('a', {'x', 'y'}, 'b', {'x'}), 'y is in a')
    tap.fires('a name of many functions', namesakes((f'{c}.c', 'begin') for c in 'abcd'), 'begin() is in 4')
    tap.claim('passes: a name of three', namesakes((f'{c}.c', 'begin') for c in 'abc'))
    tap.fires('a symbol too few', differences('a', {'x'}, 'b', {'x', 'y'}), 'y is in b')


def main(nm, cc, root, library, core, lock, testing, *modules):
    tap = Tap()
    in_map = mapped(os.path.join(root, 'src', 'libredlock.map'))
    in_headers = declared(os.path.join(root, 'include', 'redlock'))
    tap.claim('there is something to export', [] if in_map else ['the map is empty'])
    tap.claim('the library exports what its map lists',
              differences('libredlock.so', exported(nm, library), 'libredlock.map', in_map))
    tap.claim('the headers declare what the map lists',
              differences('the headers', in_headers, 'libredlock.map', in_map))
    tap.claim('the library stays loaded', unloadable('readelf', library))
    for module in modules:
        tap.claim('its module exports one name', differences(module, exported(nm, module), 'net/tls_module.c', {'rlk_tls_module'}))
    for layer in NEEDS:
        seen = {m for m, _ in undefined(nm, core) if os.path.basename(m).startswith(f'{layer}_')}
        tap.claim(f'there are objects of {layer}', [] if seen else [f'{core} has none'])
        tap.claim(f'{layer} needs nothing from outside', needless(nm, core, layer))
    seen = {os.path.basename(member) for member, _ in undefined(nm, lock)}
    tap.claim('there are objects that trace',
              [name for name in TRACING if name not in seen and 'probes' not in name])
    tap.claim('tracing takes no memory', taking(nm, lock))
    tap.claim('names of base and core have the prefix', other_names(nm, core))
    with open(os.path.join(root, 'include', 'redlock', 'testing.h'), encoding='utf-8') as text:
        for_tests = declared_for_tests(text.read())
    tap.claim('redlock/testing.h declares something', [] if for_tests else ['nothing'])
    tap.claim('the library for tests defines what redlock/testing.h declares', differences(
        'libredlock-testing.a', {name for name in defined(nm, testing) if name.startswith('redlock_')},
        'redlock/testing.h', for_tests))
    tap.claim('its names have the prefix', other_names(nm, testing))
    functions = list(static_functions(root))
    tap.claim('there are static functions', [] if functions else ['src has none'])
    tap.claim('names of static functions say what of', namesakes(functions))
    show_that_it_fires(tap, nm, cc.split())
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
