#!/usr/bin/env python3
"""What a name means to pick.py: `test_pick.py BUILD`. Nothing is built. Speaks TAP."""
import contextlib
import io
import os
import sys

import builds
import pick
import tally

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))
from tap import Tap  # noqa: E402


def means(build, name, *wanted):
    """The commands, as short as they can be."""
    try:
        got = [' '.join(os.path.basename(word) for word in run.cmd)
               for run in pick.runs_of(build, name)[0]]
    except builds.Missing as problem:
        got = [str(problem)]
    return [] if got == list(wanted) else [f'{name!r} means {got}']


def needs(build, name, *wanted):
    got = [os.path.basename(file) for run in pick.runs_of(build, name)[0] for file in run.files]
    return [] if got == list(wanted) else [f'{name!r} needs {got}']


def finds_what_is_not_made_yet(build):
    path = pick.absolute(build, ['docs/not-made'], 'docs/not-made')
    return [] if path == os.path.join(build.folder, 'docs/not-made') else [path]


def announced(build, name):
    """What is said about a name before anything is built or run."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        list(pick.find(build, [name]))
    return out.getvalue()


def announces(build, name, word):
    said = announced(build, name)
    return [] if word in said and repr(name) in said else [f'{name!r} says {said!r}']


def summed(program, wanted):
    """What is counted of a program in Python."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        count = pick.run(pick.Run([sys.executable, '-c', program]))
        tally.sum_up(count)
    return [] if out.getvalue().splitlines()[-1] == wanted else [out.getvalue()]


def main(folder):
    build = builds.Build(folder)
    tap = Tap()
    os.chdir(pick.ROOT)
    tap.claim('a function', means(build, 'every_way_to_end_is_a_line_of_tap',
                                  'test_lib_runner every_way_to_end_is_a_line_of_tap'))
    tap.claim('a run of it', means(build, 'other_runs_in_a_loop[2]',
                                   'test_lib_bad other_runs_in_a_loop[2]'))
    tap.claim('a program that is not made yet', finds_what_is_not_made_yet(build))
    row = 'half_of_an_even_set_is_no_majority'
    tap.claim('a row of a table', means(build, row, f'test_unit_clocks {row}'))
    tap.claim('its program is built', needs(build, 'other_runs_in_a_loop', 'test_lib_bad'))
    tap.claim('a test of meson', means(build, 'lib-runner', 'test_lib_runner'))
    tap.claim('a file of functions', means(
        build, 'tests/lib/test_master.c',
        ' '.join(['test_lib_master', *pick.functions(pick.read('tests/lib/test_master.c'))])))
    tap.claim('a file of rows', means(
        build, 'tests/unit/test_leases.c',
        ' '.join(['test_unit_leases', *pick.functions(pick.read('tests/unit/test_leases.c'))])))
    tap.claim('a script', means(build, 'tests/lib/test_tally.py', 'python3 -B test_tally.py'))
    tap.claim('a claim of a script', means(build, 'builds are ' + 'summed', 'python3 -B test_tally.py'))
    tap.claim('which is announced', announces(build, 'builds are ' + 'summed', 'test_tally.py'))
    tap.claim('and a name is not', announced(build, 'lib-runner'))
    tap.claim('a suite', means(build, 'short', ' '.join(
        os.path.basename(word) for word in build.test('sim-short')['cmd'])))
    tap.claim('an input of a fuzz target', means(build, 'tests/fuzz/corpus/uri/two-dbs',
                                                 'replay_uri two-dbs'))
    none = 'no_such' + '_test'
    tap.claim('no such name', means(build, none, f'no test is called {none!r}'))
    tap.claim('tests are counted', summed('print("1..2\\nok 1 a\\nnot ok 2 b")', '1 passed, 1 failed'))
    tap.claim('a program without TAP is a test', summed('print("hello")', '1 passed, 0 failed'))
    tap.claim('which may fail', summed('raise SystemExit(3)', '0 passed, 1 failed'))
    tap.claim('or be skipped', summed('raise SystemExit(77)', '0 passed, 0 failed, 1 skipped'))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
