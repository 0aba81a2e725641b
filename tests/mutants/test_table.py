#!/usr/bin/env python3
"""The table of the known bugs fits the code, and its runner judges correctly. Speaks TAP."""
import contextlib
import copy
import os
import re
import sys
import tempfile

import mutate
import run

sys.path.insert(0, os.path.join(run.ROOT, 'tests', 'lint'))
from tap import Tap  # noqa: E402  (beside the lints)

GOOD = {'name': 'a-bug', 'rule': 'S1', 'why': 'because', 'file': 'src/core/x.c', 'from': 'one',
        'to': 'two', 'killed_by': ['unit-x']}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def rows_that_do_not_fit(rows):
    for row in rows:
        try:
            mutate.mutated(row, run.ROOT)
        except mutate.Problem as problem:
            yield str(problem)


def flaws(**changes):
    wrong = mutate.flaw({**GOOD, **changes})
    return [wrong] if wrong else []


def misfits(text):
    """The complaints when the good row's file has that text; None: no such file."""
    with tempfile.TemporaryDirectory() as root:
        if text is not None:
            write(os.path.join(root, GOOD['file']), text)
        try:
            mutate.mutated(GOOD, root)
        except mutate.Problem as problem:
            return [str(problem)]
    return []


def load_problem(text):
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, 'table.toml')
        write(path, text)
        try:
            mutate.load(path)
        except mutate.Problem as problem:
            return [str(problem)]
    return []


def wrong_lines(patch):
    """Lines of the patch, except those that replace the text of REAL by its mutant."""
    changes = [line for line in patch if re.match(r'[-+](?![-+])', line)]
    return changes if [line[0] for line in changes] != ['-', '+'] else []


class FakeBuild:
    """Builds nothing; each test has a given result: 'fails', 'passes' or 'breaks'."""

    def __init__(self, says, builds=True):
        self.says = says
        self.builds = builds

    def changed(self, row):
        mutate.mutated(row, run.ROOT)
        return contextlib.nullcontext()

    def make(self, killers):
        if not self.builds:
            raise run.Broken('error: expected expression')

    def run(self, killer):
        if self.says[killer] == 'breaks':
            raise run.Broken('no such program')
        return run.Result(self.says[killer] == 'fails', 'seed 7' if killer == 'sim' else '')


REAL = mutate.load()[0]


def verdict(says, with_sim=True, builds=True, row=REAL):
    row = copy.copy(row)
    row['killed_by'] = list(says)
    killed, text = run.judge(FakeBuild(says, builds), row, with_sim)
    return f'{killed} {text}'


def says(tap, claim, text, word):
    tap.claim(claim, [] if word in text else [f'wanted {word!r}, got {text!r}'])


def the_table(tap):
    rows = mutate.load()
    tap.claim('there are at least twenty mutants', [] if len(rows) >= 20 else [len(rows)])
    tap.claim('every mutant fits the code', rows_that_do_not_fit(rows))
    tap.claim('passes: a good row', flaws())
    tap.fires('a row without a killer', flaws(killed_by=[]), 'killed_by')
    tap.fires('a row without a reason', flaws(why=''), 'why')
    tap.fires('a field that is misspelt', flaws(form='x'), 'form')
    tap.fires('a name of two words', flaws(name='a bug'), 'kebab')
    tap.fires('an unknown rule', flaws(rule='S'), 'rule')
    tap.claim('passes: a header', flaws(file='src/core/x.h'))
    tap.claim('passes: a script', flaws(file='src/x/take-2.lua'))
    tap.fires('a path out of the tree', flaws(file='src/../x.c'), 'of the tree')
    tap.fires('an absolute path', flaws(file='/src/x.c'), 'of the tree')
    tap.fires('a folder', flaws(file='src/core/'), 'of the tree')
    tap.fires('a mutant like the original', flaws(to='one'), 'changes nothing')
    tap.claim('passes: a text that occurs once', misfits('zero one two'))
    tap.fires('a text that is gone', misfits('zero'), '0 times')
    tap.fires('a text that occurs twice', misfits('one one'), '2 times')
    tap.fires('a file that is gone', misfits(None), 'there is no src/core/x.c')
    tap.claim('a mutant is a patch', wrong_lines(mutate.patch(REAL)))
    row = '[[mutant]]\n' + ''.join(f'{field} = {value!r}\n' for field, value in GOOD.items())
    tap.claim('passes: a table of one', load_problem(row))
    tap.fires('a name that occurs twice', load_problem(row + row), 'two mutants')


def the_judge(tap):
    says(tap, 'killed when the test fails', verdict({'a': 'fails'}), 'True killed by a')
    says(tap, 'and when all do, with the seed', verdict({'sim': 'fails', 'a': 'fails'}),
         'True killed by sim, seed 7; a')
    says(tap, 'a mutant that one of them lets pass has survived',
         verdict({'sim': 'passes', 'a': 'fails'}), 'False SURVIVED sim')
    says(tap, 'a mutant that does not build is not killed', verdict({'a': 'fails'}, builds=False),
         'False does not build')
    says(tap, 'a test that cannot be run kills nobody', verdict({'a': 'breaks'}), 'False does not')
    says(tap, 'without a simulator the others judge',
         verdict({'sim': 'passes', 'a': 'fails'}, with_sim=False), 'True killed by a')
    says(tap, 'and a mutant for the simulator alone is not killed',
         verdict({'sim': 'fails'}, with_sim=False), 'False only the simulator')
    says(tap, 'a mutant that does not fit the code is not killed',
         verdict({'a': 'fails'}, row={**REAL, 'from': 'no such text'}), 'False')


def shell(script, timeout=60):
    try:
        result = run.run_tap(['sh', '-c', script], os.environ, timeout)
    except run.Broken as problem:
        return f'broken: {problem}'
    return f'{"failed" if result.failed else "passed"} {result.detail}'


def sim(script):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'sim')
        write(program, script)
        try:
            result = run.run_sim(['sh', program], os.environ, 10, 60)
        except run.Broken as problem:
            return f'broken: {problem}'
        return f'{"failed" if result.failed else "passed"} {result.detail}'


def the_programs(tap):
    says(tap, 'a program passes', shell('echo ok 1; echo 1..1'), 'passed')
    says(tap, 'a test of it fails', shell('echo not ok 1; exit 1'), 'failed')
    says(tap, 'one failure is enough', shell('echo not ok 1; exec sleep 600'), 'failed')
    says(tap, 'it crashes', shell('echo ok 1; kill -SEGV $$'), 'failed')
    says(tap, 'it hangs', shell('exec sleep 600', 0.2), 'failed hangs')
    says(tap, 'it runs no test', shell('echo 1..0'), 'broken')
    says(tap, 'the simulator finds a seed', sim('echo caught by seed 3: exclusion: x; exit 1'),
         'failed seed 3')
    says(tap, 'the simulator finds none', sim('echo "[$*]"'), 'passed')
    says(tap, 'the simulator does not know what is asked', sim('echo usage; exit 1'), 'broken')


# A process that leaves its group and ignores SIGTERM.
RUNAWAY = """
(setsid sh -c 'trap "" TERM; echo $$ >"$0.part"; mv "$0.part" "$0"; while :; do sleep 1; done' FILE &)
while ! [ -e FILE ]; do sleep 0.02; done
mkdir "$TMPDIR/left"
echo "$TMPDIR" >>FILE
"""


def left_by(script, timeout=60):
    """What a runaway process leaves when the program that started it has ended."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'runaway')
        shell(RUNAWAY.replace('FILE', file) + script, timeout)
        with open(file, encoding='utf-8') as lines:
            pid, its_folder = lines.read().split()
    return [f'there is {path}' for path in (f'/proc/{pid}', its_folder) if os.path.exists(path)]


def the_rest(tap):
    tap.claim('processes that a test started are killed when it ends',
              left_by('echo ok 1; exit 0'))
    tap.claim('processes that a test started are killed when it fails',
              left_by('echo not ok 1; exec sleep 600'))
    tap.claim('processes that a test started are killed when it crashes', left_by('kill -KILL $$'))
    tap.claim('processes that a test started are killed when it hangs',
              left_by('exec sleep 600', 2))


def main():
    tap = Tap()
    the_table(tap)
    the_judge(tap)
    the_programs(tap)
    the_rest(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
