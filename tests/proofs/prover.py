"""Runs Frama-C's WP, and Z3, on what annotate.py has written.

Each proof has a folder with all that it reads: the annotated copies come before the source tree."""
import csv
import os
import re
import subprocess

import annotate

# For a goal. Z3 needs less than a second for nearly all of them.
SECONDS = 75
FRAMA_C = ['frama-c', '-machdep', 'gcc_x86_64', '-c11', '-no-autoload-plugins',
           '-load-module', 'wp,rtegen,report', '-wp', '-wp-rte', '-wp-model', 'Typed+Ref', '-wp-prover', 'z3',
           '-wp-timeout', str(SECONDS), '-wp-par', '2']

# From the root of the source tree.
INCLUDES = ['include', 'src']

# Definitions of what is said about words: bit m i, and the lowest bit that is set.
WORDS = ['(set-logic QF_BV)',
         *(f'(declare-const {name} (_ BitVec 64))' for name in 'mabin'),
         '(define-fun none () (_ BitVec 64) #x0000000000000000)',
         '(define-fun bit ((m (_ BitVec 64)) (i (_ BitVec 64))) (_ BitVec 64)',
         '    (bvand (bvlshr m i) #x0000000000000001))',
         '(define-fun low ((m (_ BitVec 64))) (_ BitVec 64)']


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)


# ---- facts ----

def lowest():
    cases = [f'(ite (= (bit m #x{i:016x}) #x0000000000000001) #x{i:016x}' for i in range(64)]
    return ' '.join(cases) + ' none' + ')' * 64 + ')'


def is_always_true(formula):
    """Whether Z3 finds no words for which the formula is false."""
    text = '\n'.join([*WORDS, lowest(), f'(assert (not {formula}))', '(check-sat)'])
    return run(['z3', '-in', '-T:300'], input=text).stdout.strip() == 'unsat'


# ---- C ----

# Some goals need another strategy than the one that Z3 chooses. Each gets so many seconds of the processor, not
# of the clock: what is proved must not depend on what else the machine does.
Z3 = """#!/bin/sh
ulimit -t 15
for option in smt.random_seed=0 smt.arith.solver=2 smt.auto_config=false smt.case_split=3; do
    said=$(z3 "$@" $option -T:300 2>/dev/null)
    case $said in *unsat*) break ;; esac
done
echo "${said:-timeout}"
"""


def configure(folder):
    """Tells Why3 which prover there is; nothing is written to the user's home."""
    path = os.path.abspath(os.path.join(folder, 'why3.conf'))
    script = os.path.abspath(os.path.join(folder, 'z3'))
    write(script, Z3)
    os.chmod(script, 0o755)
    run(['why3', '-C', path, 'config', 'detect'])
    write(path, re.sub(r'path = ".*/z3"', f'path = "{script}"', annotate.read(path)))
    os.environ['WHY3CONFIG'] = path


def prove(folder, source, functions):
    """What is not proved of each of these functions: a list of lines, empty when all of it is. None: nothing
    is known of the function."""
    report = os.path.join(folder, 'report.csv')
    if os.path.exists(report):
        os.remove(report)
    paths = [os.path.join(folder, name) for name in INCLUDES]
    paths += [os.path.join(annotate.ROOT, name) for name in INCLUDES]
    flags = ' '.join(['-include', os.path.join(folder, 'prelude.h'), *(f'-I{path}' for path in paths)])
    done = run([*FRAMA_C, f'-cpp-extra-args={flags}', source, '-wp-fct', ','.join(functions),
                '-then', '-report-csv', report])
    write(os.path.join(folder, 'log'), done.stdout)
    if done.returncode != 0 or not os.path.exists(report):
        return {name: None for name in functions}
    return read_report(report, functions)


def read_report(path, functions):
    found = {name: None for name in functions}
    with open(path, encoding='utf-8', newline='') as file:
        for row in csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE):
            row = {(key or '').strip(): value for key, value in row.items()}
            if row['function'] in found:
                lines = found[row['function']] = found[row['function']] or []
                if row['status'] != 'Valid':
                    lines.append('{status}: {file}:{line}: {property kind}: {property}'.format(**row))
    return found


def prove_lemmas(folder, sets):
    """Each by itself, after those before it."""
    for number, lemma in enumerate(sets['lemma']):
        place = os.path.join(folder, lemma['name'])
        write(os.path.join(place, 'prelude.h'), annotate.prelude(sets, sets['lemma'][:number], 'induction' in lemma))
        source = os.path.join(place, 'lemma.c')
        write(source, annotate.lemma_source(lemma))
        yield lemma['name'], prove(place, source, [lemma['name']])[lemma['name']]


def prepare(folder, units, unit, sets, change=None):
    """Writes what the proof of a unit reads, with the change of a control; returns its source."""
    write(os.path.join(folder, 'prelude.h'), annotate.prelude(sets, sets['lemma']))
    for other in units:
        files = annotate.annotated_files(other, change=change if other is unit else None)
        for path, text in files.items():
            write(os.path.join(folder, path), text)
    source = os.path.join(folder, 'unit.c')
    write(source, f'#include "{unit["source"].removeprefix("src/")}"\n')
    return source


def prove_unit(folder, units, unit, sets, functions, change=None):
    return prove(folder, prepare(folder, units, unit, sets, change), functions)
