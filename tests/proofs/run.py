#!/usr/bin/env python3
"""Proves with Frama-C what the TOML files beside this say of the arithmetic of src/.

    run.py [--build DIR] [--controls | --update] [NAME...]

NAME is a function, a source file, or "sets" for the facts and lemmas about sets; without one, all is proved.
A line for each of them says whether all of its contract is proved, and that it does nothing undefined: else it
is followed by what is not. --controls proves wrong variants of the sources instead, which must fail.
--update writes what is to be proved into docs/proofs.md, and proves nothing.

What frama-c reads and says is kept below DIR (build-test/prove). The last line is "N proved, M failed", with
--controls "N refused, M proved"; the exit status is 0 if the second number is 0.
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

    def say(self, good, word, what, complaints=()):
        self.good += good
        self.bad += not good
        print(f'{word:8} {what}', flush=True)
        for complaint in complaints:
            print(f'         {complaint}')


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


def try_controls(count, folder, units, sets, names):
    """A wrong variant is refused if in each function that it breaks something is not proved, of what is there."""
    for unit in units:
        for control in unit['control']:
            if not (is_named(names, unit, control['name']) or set(names) & set(control['breaks'])):
                continue
            place = os.path.join(folder, 'controls', control['name'])
            result = prover.prove_unit(place, units, unit, sets, control['breaks'], change=control)
            proved = [name for name in control['breaks'] if not is_refused(result[name])]
            count.say(not proved, 'PROVED' if proved else 'refused', f'{control["name"]}: {control["why"]}',
                      [f'{name}() is proved, or nothing is known of it' for name in proved])


def is_refused(missing):
    """A function that rests on others which were not tried is not refused by that."""
    return missing is not None and any(line.startswith('Unknown') for line in missing)


def is_named(names, unit, what):
    return not names or what in names or unit['source'] in names


def known_names(units):
    yield 'sets'
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
        sys.exit(f'run.py: nothing is proved of {", ".join(sorted(unknown))}')
    if options.update:
        return table.update(units)
    prover.configure(options.build)
    if options.controls:
        try_controls(count, options.build, units, sets, options.names)
        print(f'{count.good} refused, {count.bad} proved')
    else:
        if not options.names or 'sets' in options.names:
            prove_sets(count, options.build, sets)
        prove_functions(count, options.build, units, sets, options.names)
        print(f'{count.good} proved, {count.bad} failed')
    return 1 if count.bad or not count.good else 0


if __name__ == '__main__':
    sys.exit(main())
