"""Runs Frama-C's WP, and Z3, on what annotate.py has written; and its Eva on eva.c.

Each proof has a folder with all that it reads: the annotated copies come before the source tree."""
import csv
import os
import re
import subprocess

import annotate

# For a goal, by the clock. What ends an attempt is LIMIT.
SECONDS = 900
FRAMA_C = ['frama-c', '-machdep', 'gcc_x86_64', '-c11', '-no-autoload-plugins', '-load-module']
WP = [*FRAMA_C, 'wp,rtegen,report', '-wp', '-wp-rte', '-wp-model', 'Typed+Ref', '-wp-prover', 'z3',
      '-wp-timeout', str(SECONDS), '-wp-par', '2']
# A loop is taken step by step up to 200 times.
EVA = [*FRAMA_C, 'eva,inout,scope', '-eva', '-eva-precision', '6', '-eva-auto-loop-unroll', '200']

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

# Some goals need another strategy than the one that Z3 chooses. Each gets a short time, and then all that have
# not given up get a longer one; by the processor, not by the clock: what is proved must not depend on what else
# the machine does. The answer and the time of each goal are kept beside the script.
LIMIT = 4 * (2 + 6)
Z3 = """#!/bin/sh
answer=timeout
left='smt.random_seed=0 smt.arith.solver=2 smt.auto_config=false smt.case_split=3'
for seconds in 2 6; do
    options=$left left=
    for option in $options; do
        said=$(ulimit -t $seconds; z3 "$@" $option -T:300 2>/dev/null)
        case $said in
        unsat* | sat*) answer=$said left=; break 2 ;;
        unknown*) answer=$said ;;
        *) left="$left $option" ;;
        esac
    done
done
[ -z "$left" ] || answer=timeout
echo "$answer"
times >"$0.$$"
{ read -r own; read -r children; } <"$0.$$"
rm "$0.$$"
echo "${answer%%[!a-z]*} $children" >>"$0.answers"
"""


class Answers(list):
    """What Z3 said of the goals that it was given since the file was forgotten: pairs of the answer and seconds."""

    def __init__(self, path):
        if os.path.exists(path):
            self += [self.answer(line.split()) for line in annotate.read(path).splitlines()]

    @staticmethod
    def answer(words):
        minutes, seconds = words[1].rstrip('s').split('m')
        return words[0], 60 * float(minutes) + float(seconds)

    def slowest(self):
        return max((seconds for _, seconds in self), default=0.0)

    def open(self):
        """How many goals Z3 gave up, or refuted, and for how many it had too little time."""
        late = sum(word == 'timeout' for word, _ in self)
        return sum(word != 'unsat' for word, _ in self) - late, late


def take_answers():
    path = os.environ['PROVE_ANSWERS']
    answers = Answers(path)
    if os.path.exists(path):
        os.remove(path)
    return answers


def configure(folder):
    """Tells Why3 which prover there is; nothing is written to the user's home."""
    path = os.path.abspath(os.path.join(folder, 'why3.conf'))
    script = os.path.abspath(os.path.join(folder, 'z3'))
    write(script, Z3)
    os.chmod(script, 0o755)
    run(['why3', '-C', path, 'config', 'detect'])
    write(path, re.sub(r'path = ".*/z3"', f'path = "{script}"', annotate.read(path)))
    os.environ['WHY3CONFIG'] = path
    os.environ['PROVE_ANSWERS'] = f'{script}.answers'
    take_answers()


def prove(folder, source, functions):
    """What is not proved of each of these functions: a list of lines, empty when all of it is. None: nothing
    is known of the function."""
    report = os.path.join(folder, 'report.csv')
    if os.path.exists(report):
        os.remove(report)
    paths = [os.path.join(folder, name) for name in INCLUDES]
    paths += [os.path.join(annotate.ROOT, name) for name in INCLUDES]
    flags = ' '.join(['-include', os.path.join(folder, 'prelude.h'), *(f'-I{path}' for path in paths)])
    done = run([*WP, f'-cpp-extra-args={flags}', source, '-wp-fct', ','.join(functions),
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
            # What a function requires is shown of its callers; its own row sums up all of them.
            if row['function'] in found and row['property kind'] != 'precondition':
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


# ---- values ----

def count_alarms(folder, define=''):
    """How often something undefined may happen in eva.c; None: Eva did not come to the end."""
    flags = ' '.join([define, *(f'-I{os.path.join(annotate.ROOT, name)}' for name in INCLUDES)])
    done = run([*EVA, f'-cpp-extra-args={flags}', os.path.join(annotate.HERE, 'eva.c')])
    write(os.path.join(folder, 'log'), done.stdout)
    if done.returncode != 0 or 'ANALYSIS SUMMARY' not in done.stdout:
        return None
    return sum(int(number) for number in re.findall(r'(\d+) (?:alarms? generated|unknown|invalid )', done.stdout))
