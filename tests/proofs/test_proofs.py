#!/usr/bin/env python3
"""What is to be proved fits the code, and docs/proofs.md shows it. Speaks TAP; the proofs are for scripts/prove."""
import os
import sys
import tempfile

import annotate
import prover
import run
import table

sys.path.insert(0, os.path.join(annotate.ROOT, 'tests', 'lint'))
from tap import Tap  # noqa: E402  (beside the lints)

SOURCE = '''/* x.c */
static int twice(int n)
{
    return 2 * n;
}

int all(int n)
{
    for (; n > 0; n--) {
        twice(n);
    }
    return n;
}
'''.split('\n')
LOOP = {'name': 'all', 'contract': 'ensures all;', 'loops': ['loop assigns n;']}


def annotated(*functions):
    lines = list(SOURCE)
    annotate.annotate([['int all(int n);', ''], lines], functions)
    return lines


def problems(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except annotate.Problem as problem:
        return [str(problem)]
    return []


def misfits(units):
    for unit in units:
        yield from problems(annotate.annotated_files, unit)
        for control in unit['control']:
            yield from problems(annotate.annotated_files, unit, change=control)
            yield from (f'{control["name"]} breaks {name}(), which is not proved' for name in control['breaks']
                        if name not in [function['name'] for function in unit['function']])


def unless(good, complaint):
    return [] if good else [complaint]


def report(tap):
    """How a report of Frama-C is read."""
    rows = ['file\tline\tfunction\tproperty kind\tstatus\tproperty', 'a.c\t1\tgood\tassigns\tValid\tx',
            'a.c\t2\tbad\tassigns\tValid\tx', 'a.c\t3\tbad\tloop\tUnknown\ty',
            'a.c\t4\tgood\tprecondition\tUnknown\tz']
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report.csv')
        prover.write(path, '\n'.join(rows) + '\n')
        found = prover.read_report(path, ['good', 'bad', 'lost'])
    tap.claim('a function is proved when all of it is valid', unless(found['good'] == [], found['good']))
    tap.claim('one property that is not valid is enough to fail',
              unless(found['bad'] == ['Unknown: a.c:3: loop: y'], found['bad']))
    tap.claim('a function without a property is not proved', unless(found['lost'] is None, found['lost']))
    tap.claim('a control needs a function that is proved as it is', unless(
        list(run.complaints('x', ['Unknown: y'], ['Unknown: y'])) and list(run.complaints('x', None, ['Unknown: y']))
        and not list(run.complaints('x', [], ['Unknown: y'])), 'it does not'))
    tap.claim('a control that is proved is wrong', unless(list(run.complaints('x', [], [])), 'it is not'))
    tap.claim('what is not known fails', unless(run.causes(None), 'it does not'))


def answers(tap):
    """How the answers of Z3 are read."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'answers')
        prover.write(path, 'unsat 0m1.5s 0m0.1s\nunknown 1m2.0s 0m0.1s\nsat 0m0s 0m0s\ntimeout 0m3s 0m0s\n')
        found = prover.Answers(path)
    tap.claim('the slowest goal is found', unless(found.slowest() == 62.0, found.slowest()))
    tap.claim('what is undecided is not late', unless(found.open() == (2, 1), found.open()))


def main():
    tap, units = Tap(), annotate.load_units()
    tap.claim('what is to be proved fits the code', misfits(units))
    tap.claim('docs/proofs.md shows what is proved', table.complaints(units, annotate.read(table.DOCUMENT)))
    lines = annotated(LOOP)
    tap.claim('invariants are before their loop', unless(
        lines.index('/*@ loop assigns n; */') + 1 == lines.index('    for (; n > 0; n--) {'), lines))
    tap.claim('a contract is before the prototype', unless('/*@ ensures all; */' not in lines, lines))
    lines = annotated({'name': 'twice', 'contract': 'ensures one;'})
    tap.claim('or else before the definition', unless(
        lines.index('/*@ ensures one; */') + 1 == lines.index('static int twice(int n)'), lines))
    tap.fires('a loop without invariants', problems(annotated, {**LOOP, 'loops': []}), '1 loops, not 0')
    tap.fires('a function that is not there', problems(annotated, {**LOOP, 'name': 'al'}), 'defined 0 times')
    tap.fires('a step whose line is not there', problems(
        annotated, {**LOOP, 'steps': [{'before': 'n++;', 'say': []}]}), "0 lines 'n++;'")
    tap.fires('a control that changes nothing', problems(
        annotate.apply, {'name': 'x', 'from': 'y', 'to': 'z'}, {'a.c': 'int x;'}), 'there 0 times')
    tap.fires('a row that is missing', table.complaints(units, '\n'.join([*table.wanted(units)[:-1], ''])), 'lacks')
    report(tap)
    answers(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
