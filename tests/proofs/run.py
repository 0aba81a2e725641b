#!/usr/bin/env python3
"""Proves with Frama-C what the TOML files beside this say of the arithmetic of src/.

    run.py [--build DIR] [--controls | --update] [NAME...]

NAME is a function, a source file, or "sets" for the facts and lemmas about sets, or "values" for what Eva
finds in eva.c; without one, all is proved.
A line for each of them says whether all of its contract is proved, and that it does nothing undefined: else it
is followed by what is not. --controls proves wrong variants of the sources instead, which must fail.
A variant counts as refused only if the same functions are proved as they are, a moment before and with the same
limits; "undecided" are its goals that Z3 gave up, "late" those for which it had too little time.
--update writes what is to be proved into docs/proofs.md, and proves nothing.

What frama-c reads and says is kept below DIR (build-test/prove). Before the last line is how long Z3 took for the
slowest goal. The last line is "N proved, M failed", with --controls "N refused, M not"; the exit status is 0 if the
second number is 0.
"""
import argparse
import os
import sys

import annotate
import prover
import table

ROOT = annotate.ROOT


class Count:
    def __init__(self):
        self.good = self.bad = 0
        self.slowest = 0.0, ''

    def say(self, good, word, what, complaints=()):
        self.good += good
        self.bad += not good
        print(f'{word:8} {what}', flush=True)
        for complaint in complaints:
            print(f'         {complaint}')

    def take_time(self, where):
        self.slowest = max(self.slowest, (prover.take_answers().slowest(), where))

    def say_time(self):
        if self.slowest[1]:
            print('the slowest goal, in {1}: {0:.1f} s of the processor, of {2}'.format(*self.slowest, prover.LIMIT))


def causes(missing):
    """Of what is not proved, that which does not just depend on the rest."""
    if missing is None:
        return ['nothing is known of it: see the log']
    return [line for line in missing if not line.startswith('Partially')] or missing


def prove_sets(count, folder, sets):
    for fact in sets['fact']:
        good = prover.is_always_true(fact['smt'])
        count.say(good, 'proved' if good else 'FAILED', f'fact {fact["name"]}')
    for name, missing in prover.prove_lemmas(os.path.join(folder, 'sets'), sets):
        count.say(missing == [], 'proved' if missing == [] else 'FAILED', f'lemma {name}',
                  causes(missing) if missing != [] else ())
        count.take_time(f'lemma {name}')


def prove_values(count, folder):
    alarms = prover.count_alarms(folder)
    count.say(alarms == 0, 'proved' if alarms == 0 else 'FAILED', 'values: nothing in eva.c is undefined',
              [f'alarms: {alarms}; see the log'] if alarms != 0 else ())


def try_values(count, folder):
    alarms = prover.count_alarms(folder, '-DTEXT_SIZE=19')
    count.say(bool(alarms), 'refused' if alarms else 'WRONG', f'values: 19 bytes for 20 digits ({alarms} alarms)')


def all_of(unit):
    return [function['name'] for function in unit['function']]


def prove_functions(count, folder, units, sets, names):
    for unit in units:
        wanted = [function['name'] for function in unit['function'] if is_named(names, unit, function['name'])]
        if not wanted:
            continue
        place = os.path.join(folder, unit['name'])
        for name, missing in prover.prove_unit(place, units, unit, sets, all_of(unit)).items():
            if name in wanted:
                count.say(missing == [], 'proved' if missing == [] else 'FAILED', f'{name}() in {unit["source"]}',
                          causes(missing) if missing != [] else ())
        count.take_time(unit['source'])


def try_controls(count, folder, units, sets, names):
    """A wrong variant is refused if in each function that it breaks something is not proved, of what is there, and
    all of it is proved when nothing is changed."""
    for unit in units:
        controls = [control for control in unit['control']
                    if is_named(names, unit, control['name']) or set(names) & set(control['breaks'])]
        broken = sorted({name for control in controls for name in control['breaks']})
        if not controls:
            continue
        place = os.path.join(folder, 'controls', unit['name'])
        good = prover.prove_unit(place, units, unit, sets, broken)
        count.take_time(unit['source'])
        for control in controls:
            try_control(count, os.path.join(place, control['name']), units, unit, sets, control, good)


def try_control(count, place, units, unit, sets, control, good):
    result = prover.prove_unit(place, units, unit, sets, control['breaks'], change=control)
    undecided, late = prover.take_answers().open()
    wrong = [complaint for name in control['breaks'] for complaint in complaints(name, good[name], result[name])]
    count.say(not wrong, 'WRONG' if wrong else 'refused',
              f'{control["name"]}: {control["why"]} ({undecided} undecided, {late} late)', wrong)


def complaints(name, good, result):
    """Why the control says nothing about this function."""
    if good is None or is_refused(good):
        yield f'{name}() is not proved as it is, either'
    if not is_refused(result):
        yield f'{name}() is proved, or nothing is known of it'


def is_refused(missing):
    """A function that rests on others which were not tried is not refused by that."""
    return missing is not None and any(line.startswith('Unknown') for line in missing)


def is_named(names, unit, what):
    return not names or what in names or unit['source'] in names


def known_names(units):
    yield from ('sets', 'values')
    for unit in units:
        yield unit['source']
        for row in (*unit['function'], *unit['control']):
            yield row['name']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default=os.path.join(ROOT, 'build-test', 'prove'))
    parser.add_argument('--controls', action='store_true')
    parser.add_argument('--update', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    units, sets, count = annotate.load_units(), annotate.load_sets(), Count()
    unknown = set(options.names) - set(known_names(units))
    if unknown:
        sys.exit(f'scripts/prove: no file or function is called {", ".join(sorted(unknown))}; try src/core/pace.c, or a '
                 'function of the table in docs/proofs.md')
    if options.update:
        return table.update(units)
    prover.configure(options.build)
    if options.controls:
        if not options.names or 'values' in options.names:
            try_values(count, os.path.join(options.build, 'controls', 'values'))
        try_controls(count, options.build, units, sets, options.names)
        count.say_time()
        print(f'{count.good} refused, {count.bad} not')
    else:
        if not options.names or 'sets' in options.names:
            prove_sets(count, options.build, sets)
        if not options.names or 'values' in options.names:
            prove_values(count, os.path.join(options.build, 'values'))
        prove_functions(count, options.build, units, sets, options.names)
        count.say_time()
        print(f'{count.good} proved, {count.bad} failed')
    return 1 if count.bad or not count.good else 0


if __name__ == '__main__':
    sys.exit(main())
