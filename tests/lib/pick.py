#!/usr/bin/env python3
"""Build and run tests by name, and nothing else: `pick.py BUILD NAME...`, at the top of the tree.

A NAME is what a failure report or a search in the sources shows of a test:

    the_holder_is_named              a test function of Check
    each_order[2]                    one run of it, if it runs in a loop
    tests/io/test_wire.c             all tests of a file; so for .sh and .py
    io-wire                          a test of meson (`meson test -C BUILD --list`)
    io                               a suite of meson: all of its tests
    tests/fuzz/corpus/uri/two-dbs    an input of a fuzz target
    quorum-half                      a bug of tests/mutants/table.toml
    "true runs under a lock"         words of a claim in a .sh or .py: all programs that contain
                                     them, which are named first

The last line of the output is "N passed, N failed[, N skipped]", as of scripts/check.
`pick.py BUILD --goals SUITE...` runs nothing: it prints what ninja has to make for the tests of these
suites, except those of each -SUITE.
"""
import difflib
import os
import re
import shlex
import subprocess
import sys

import builds
import tally

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))


class Run:
    """A command, what it needs, and in what environment it runs."""

    def __init__(self, cmd, files=(), env=None):
        self.cmd = cmd
        self.files = files
        self.env = env or {}

    def title(self):
        return shlex.join(from_here(word) for word in self.cmd)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def sources(*suffixes):
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, 'tests'))):
        for name in sorted(names):
            if name.startswith('test_') and name.endswith(suffixes):
                yield os.path.join(folder, name)


def claims(text, table):
    """The first field of each row of a table that TEST_ROWS() makes tests of."""
    body = re.search(rf'^static const .*\b{table}\[\] = {{$(.*?)^}};$|^}} {table}\[\] = {{$(.*?)^}};$',
                     text, re.MULTILINE | re.DOTALL)
    return re.findall(r'^    {"(\w+)",', body[1] or body[2], re.MULTILINE)


def functions(text):
    """The names of the tests: of each TEST(), or of the rows of a TEST_ROWS()."""
    names = []
    for kind, name, table in re.findall(r'^(TEST\w*)\((\w+)(?:,\s*(\w+))?', text, re.MULTILINE):
        names += claims(text, table) if kind == 'TEST_ROWS' else [name]
    return names


def absolute(build, files, word):
    """Meson runs tests in the folder of the build, and names programs from there. They may not be
    made yet."""
    path = os.path.join(build.folder, word)
    return path if word in files or os.path.isfile(path) else word


def has_test(text, name):
    """As a function, or as the claim of a row."""
    return name in functions(text) or re.search(rf'^ *\{{"{re.escape(name)}",', text, re.MULTILINE)


def suites_of(test):
    """Meson writes the project before the name of a suite."""
    return {suite.split(':')[-1] for suite in test['suite']}


def run_of_test(build, test):
    files = build.files_of([test])
    return Run([absolute(build, files, word) for word in test['cmd']], files, test['env'])


def runs_of_functions(build, path, names):
    """Of those that are compiled from the file; the torture of it is a program of its own."""
    for program in build.programs_of(path):
        if not os.path.basename(program).startswith('torture_'):
            yield Run([program, *names], [os.path.relpath(program, build.folder)])


def by_test_of_meson(build, name):
    try:
        yield run_of_test(build, build.test(name))
    except builds.Missing:
        pass


def by_suite(build, name):
    for test in build.tests():
        if name in suites_of(test):
            yield run_of_test(build, test)


def by_function(build, name):
    for path in sources('.c'):
        if has_test(read(path), re.sub(r'\[\d+\]$', '', name)):
            yield from runs_of_functions(build, path, [name])


def by_script(build, path):
    for test in build.tests():
        if any(os.path.realpath(word) == path for word in test['cmd']):
            yield run_of_test(build, test)


def by_file(build, name):
    path = os.path.realpath(name)
    corpus = os.path.join(ROOT, 'tests', 'fuzz', 'corpus')
    if not os.path.isfile(path):
        return
    if path.startswith(corpus):
        test = build.test('fuzz-' + os.path.basename(os.path.dirname(path)))
        yield Run([test['cmd'][0], path], build.files_of([test]))
    elif path.endswith('.c'):
        yield from runs_of_functions(build, path, functions(read(path)))
    else:
        yield from by_script(build, path)


def by_mutant(_build, name):
    table = read(os.path.join(ROOT, 'tests', 'mutants', 'table.toml'))
    if re.search(rf"^name = ['\"]{re.escape(name)}['\"]$", table, re.MULTILINE):
        yield Run(['python3', '-B', 'tests/mutants/run.py', '--only', name])


def by_claim(build, name):
    for path in sources('.sh', '.py'):
        if name in read(path):
            yield from by_script(build, path)


def function_names():
    for path in sources('.c'):
        yield from functions(read(path))


def runs_of(build, name):
    """The runs, and whether `name` is the name of a test and not only a part of claims."""
    for way in (by_test_of_meson, by_suite, by_function, by_file, by_mutant, by_claim):
        found = list(way(build, name))
        if found:
            return found, way != by_claim
    near = difflib.get_close_matches(name, {test['name'] for test in build.tests()} | set(function_names()))
    raise builds.Missing(f'no test is called {name!r}' + (f'; perhaps {" or ".join(near)}' if near else ''))


def find(build, names):
    """The runs of all names. A word may be in many programs, so these are announced."""
    for name in names:
        found, is_name = runs_of(build, name)
        if not is_name:
            print(f'no test is called {name!r}; what contains it:',
                  *(one.title() for one in found), sep='\n    ', flush=True)
        yield from found


def make(build, files):
    """Says what went wrong, and nothing when nothing did."""
    if not files:
        return True
    done = subprocess.run(['ninja', '-C', build.folder, *sorted(set(files))], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
    return done.returncode == 0


def from_here(word):
    """A word of a command as short as it can be here."""
    if not os.path.isabs(word):
        return word
    path = os.path.relpath(os.path.realpath(word), ROOT)
    return word if path.startswith('..') else path


def run(one):
    """Run it, show what it prints at once, and count its tests."""
    print('+ ' + one.title(), flush=True)
    lines = []
    with subprocess.Popen(one.cmd, env={**os.environ, **one.env}, cwd=ROOT, text=True,
                          errors='replace', stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            print(line, end='', flush=True)
            lines.append(line)
    status = process.returncode
    result = {0: 'OK', tally.SKIPPED_BY_STATUS: 'SKIP'}.get(status, 'FAIL')
    return tally.count_program({'stdout': ''.join(lines), 'result': result, 'returncode': status})


def print_goals(build, names):
    left_out = {name[1:] for name in names if name.startswith('-')}
    tests = [test for test in build.tests()
             if suites_of(test) & set(names) and not suites_of(test) & left_out]
    print(*build.files_of(tests), sep='\n')
    return 0


def run_tests(build, names):
    found = list(find(build, names))
    if not make(build, [file for one in found for file in one.files]):
        return 1
    total = tally.Count()
    for one in found:
        total.add(run(one))
    return tally.sum_up(total)


def main(folder, *names):
    build = builds.Build(os.path.realpath(folder))
    if not make(build, ['build.ninja']):  # what meson knows is of the tree as it is now
        return 1
    try:
        if names[:1] == ('--goals',):
            return print_goals(build, names[1:])
        return run_tests(build, names)
    except builds.Missing as problem:
        print(f'pick.py: {problem}', file=sys.stderr)
        return 64


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
