#!/usr/bin/env python3
"""Mutants of the sources, made at random: a test should find each.

    draw.py [--seed N] [--count N] [--minutes N] [--jobs J] [--build DIR] [FILE...]
    draw.py --list [FILE...]
    draw.py --only NAME...

The operators change C: a comparison, a logical or arithmetic operator, a constant, a condition, an
operand that goes, or a statement. The seed decides which mutants are tried, and in which order. They
are of the FILEs, or of all in FOLDERS. A name is a file, a line and a number there. Each mutant is
built in a copy of the tree, as the known bugs of table.toml are (run.py), and tests run until one
fails. What is printed is the change, and the test that found it.

A mutant that no test finds has survived: a claim lacks a test, or the change has no effect. Those
known to have none are in equivalent.toml and are not tried. The last line is "M mutants, K killed",
and the exit status is 0 if no mutant survived.
"""
import argparse
import difflib
import glob
import os
import random
import re
import sys
import time
import tomllib

import mutate
import run

EQUIVALENT = os.path.join(mutate.HERE, 'equivalent.toml')

# The suites that find bugs of a folder; then the simulator goes through its first seeds.
PURE, ALL = ('unit', 'fuzz'), ('unit', 'fuzz', 'io')
FOLDERS = {'src/base': PURE, 'src/core': PURE, 'src/election': ALL, 'src/lock': ALL, 'src/net': ALL,
           'src/node': ALL}

# They wait for what never comes, or are the walks of minutes: nothing that the others do not find.
TOO_SLOW = 'walk'

TOKEN = re.compile(r'''/\*.*?\*/ | //[^\n]* | ^[ ]*\#(?:\\\n|[^\n])* | "(?:\\.|[^"\\])*" |
                       '(?:\\.|[^'\\])+' | \w+ | -> | <<=? | >>=? | [-+*/%&|^<>=!]= | && | \|\| |
                       \+\+ | -- | \S''', re.VERBOSE | re.DOTALL | re.MULTILINE)
SWAPS = {'<': ['<=', '>'], '<=': ['<', '>='], '>': ['>=', '<'], '>=': ['>', '<='], '==': ['!='],
         '!=': ['=='], '&&': ['||'], '||': ['&&'], '+=': ['-=', '='], '-=': ['+=', '='],
         '|=': ['=', '&='], '&=': ['=', '|='], 'true': ['false'], 'false': ['true'],
         'rlk_time_min': ['rlk_time_max'], 'rlk_time_max': ['rlk_time_min'],
         'rlk_time_add': ['rlk_time_sub'], 'rlk_time_sub': ['rlk_time_add']}
BINARY = {'+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '&': ['|'], '|': ['&']}
OPEN, CLOSE = '([{', ')]}'

# Whose operands are left out, and what binds less; and what is no operator at all.
OPERANDS = {'&&': {'&&', '||'}, '||': {'||'}, '&': {'&', '|', '&&', '||', '==', '!='},
            '|': {'|', '&&', '||'}}
ENDS = {';', ',', ':', '?', 'return', '=', '|=', '&=', '+=', '-='}
KEPT = ('return', 'goto', 'struct', 'const', 'static', 'enum', 'unsigned', 'if', 'for', 'while',
        'do', 'else', 'switch', 'case', 'default')


class Token:
    def __init__(self, match):
        self.text = match.group()
        self.start, self.end = match.span()
        self.pair = None  # the index of the bracket that belongs to this one
        self.runs = False  # in the body of a function

    def is_operand(self):
        return bool(re.match(r'\w|[)\]]', self.text)) and self.text not in ('return', 'case')


def tokens(text):
    found = [Token(match) for match in TOKEN.finditer(text)
             if not match.group().startswith(('/*', '//'))]
    pending = []
    for i, token in enumerate(found):
        token.runs = any(found[at].text == '{' and found[at - 1].text == ')' for at in pending[:1])
        if token.text in OPEN:
            pending.append(i)
        elif token.text in CLOSE and pending:
            token.pair = pending.pop()
            found[token.pair].pair = i
    return found


# ---- the operators: each yields (start, end, the text instead) ----

def swaps(_text, found):
    for before, token in zip(found, found[1:]):
        instead = SWAPS.get(token.text, []) if token.runs else []
        if token.text in BINARY and token.runs and before.is_operand():
            instead = BINARY[token.text]
        yield from ((token.start, token.end, text) for text in instead)
        if token.text in '!~':
            yield token.start, token.end, ''


def constants(_text, found):
    for before, token in zip(found, found[1:]):
        number = re.match(r'(?:#define \w+ )?(\d+)\b', token.text)
        if number and before.text != '{' and (token.runs or token.text[0] == '#'):
            at, value = token.start + number.start(1), int(number.group(1))
            for other in sorted({value + 1, max(0, value - 1)} - {value}):
                yield at, token.start + number.end(1), str(other)


def conditions(text, found):
    for word, opening in zip(found, found[1:]):
        if word.text in ('if', 'while') and opening.pair:
            start, end = opening.end, found[opening.pair].start
            yield start, end, f'!({text[start:end]})'
            yield start, end, 'false'
            if word.text == 'if':
                yield start, end, 'true'


def edge(found, i, step, ends):
    """The last token of the operand beside the operator i, going by `step`."""
    j = i + step
    while 0 <= j < len(found) and found[j].text not in ends:
        if found[j].text in OPEN + CLOSE:
            if (found[j].text in OPEN) != (step > 0) or found[j].text in '{}':
                break
            j = found[j].pair
        j += step
    return found[j - step]


def operands(_text, found):
    """A && B becomes A, and B."""
    for i, token in enumerate(found):
        if token.text in OPERANDS and token.runs and found[i - 1].is_operand():
            ends = OPERANDS[token.text] | ENDS
            yield edge(found, i, -1, ends).start, found[i + 1].start, ''
            yield found[i - 1].end, edge(found, i, 1, ends).end, ''


def is_statement(words):
    """Neither a declaration, nor a return whose value a caller needs."""
    if words[0] in KEPT or not re.match(r'\w|\*', words[0]):
        return words == ['return']
    return not (len(words) > 1 and words[0] != '*' and re.match(r'[A-Za-z_*]', words[1]))


def statements(_text, found):
    begin, depth = None, 0
    for i, token in enumerate(found):
        depth += (token.text == '(') - (token.text == ')')
        if not token.runs or token.text in '{}' or (token.text == ':' and depth == 0):
            begin = None
        elif begin is None and token.text != ';':
            begin = i
        elif token.text == ')' and depth == 0 and found[begin].text in ('if', 'for', 'while'):
            begin = None
        elif token.text == ';' and depth == 0 and begin is not None:
            if is_statement([one.text for one in found[begin:i]]):
                yield found[begin].start, found[i].end, ';'
            begin = None


def mutants_of(text):
    """(start, end, the text instead), each once, in the order of the file."""
    found = tokens(text)
    made = [edit for operator in (swaps, constants, conditions, operands, statements)
            for edit in operator(text, found)]
    return sorted({apply(text, edit): edit for edit in reversed(made)}.values())


def apply(text, edit):
    start, end, instead = edit
    return text[:start] + instead + text[end:]


# ---- the mutants of the tree ----

class Mutant:
    def __init__(self, name, file, before, edit):
        self.name, self.file, self.before, self.edit = name, file, before, edit

    def after(self):
        return apply(self.before, self.edit)

    def change(self):
        lines = difflib.unified_diff(self.before.splitlines(), self.after().splitlines(), n=0,
                                     lineterm='')
        return [line for line in list(lines)[2:] if line[0] in '-+']


def mutants_in(file, text):
    count = {}
    for edit in mutants_of(text):
        line = text.count('\n', 0, edit[0]) + 1
        count[line] = count.get(line, 0) + 1
        yield Mutant(f'{file}:{line}.{count[line]}', file, text, edit)


def equivalents(path=EQUIVALENT):
    """Those known to have no effect: for each file, its texts."""
    with open(path, 'rb') as table:
        rows = tomllib.load(table).get('equivalent', [])
    texts = {}
    for row in rows:
        texts.setdefault(row['file'], set()).add(mutate.mutated({'name': row['why'], **row}, run.ROOT))
    return texts


def all_mutants(files):
    known = equivalents()
    for file in files:
        text = mutate.source_of({'name': file, 'file': file}, run.ROOT)
        yield from (one for one in mutants_in(file, text)
                    if file not in known or one.after() not in known[file])


def files_of_folders():
    found = [path for folder in FOLDERS
             for path in glob.glob(os.path.join(run.ROOT, folder, '*.[ch]'))]
    return sorted(os.path.relpath(path, run.ROOT) for path in found)


def choose(files, options):
    """In the order in which they are tried."""
    if options.only:
        files = sorted({name.rsplit(':', 1)[0] for name in options.only})
    mutants = list(all_mutants(files))
    if options.only:
        chosen = [one for one in mutants if one.name in options.only]
        if len(chosen) < len(options.only):
            raise mutate.Problem('there is no such mutant; --list shows all')
        return chosen
    random.Random(options.seed).shuffle(mutants)
    return mutants[:options.count]


# ---- judging ----

def killers_of(tests, file):
    """Names of tests; first those that are called as the file is."""
    suites = set(FOLDERS.get(os.path.dirname(file), ALL))
    stem = re.split(r'[._]', os.path.basename(file))[0]
    found = [test for test in tests if {suite.split(':')[-1] for suite in test['suite']} & suites
             and not any(suite.endswith(TOO_SLOW) for suite in test['suite'])]
    found.sort(key=lambda test: (stem not in test['name'], len(test['cmd'])))
    return [test['name'] for test in found] + ['sim']


def judge(build, mutant):
    """(what became of it, the test)."""
    killers = killers_of(build.known.tests(), mutant.file)
    with build.tree.changed(mutant.file, mutant.after()):
        try:
            build.make(killers)
        except run.Broken:
            return 'does not build', ''
        for i in range(0, len(killers), run.AT_A_TIME):
            for killer, result in run.run_all(build, killers[i:i + run.AT_A_TIME]):
                if isinstance(result, run.Broken):
                    return 'killed', f'{killer}: {result}'
                if result.failed:
                    return 'killed', f'{killer} {result.detail}'.strip()
    return 'SURVIVED', ''


class Report:
    def __init__(self):
        self.count = {'killed': 0, 'SURVIVED': 0, 'does not build': 0}

    def add(self, mutant, verdict, by):
        self.count[verdict] += 1
        if verdict != 'does not build':
            again = [] if verdict == 'killed' else [
                f'repeat: python3 -B tests/mutants/draw.py --only {mutant.name}']
            print('\n'.join([f'{mutant.name} {verdict}{" by " if by else ""}{by}', *mutant.change(),
                             *again]), flush=True)

    def finish(self):
        tried = self.count['killed'] + self.count['SURVIVED']
        print(f'{tried} mutants, {self.count["killed"]} killed')
        return 1 if self.count['SURVIVED'] else 0


def try_all(mutants, options):
    builds = [run.Build(os.path.join(os.path.abspath(options.build), str(i + 1)), options.seeds,
                        options.patience) for i in range(options.jobs)]
    files = {one.file for one in mutants}
    wrong, _ = run.sound(builds, lambda build: sorted(
        {killer for file in files for killer in killers_of(build.known.tests(), file)}))
    if wrong:
        sys.exit(f'draw.py: {wrong}')

    def work(build, mutant):
        if time.monotonic() < until:
            report.add(mutant, *judge(build, mutant))

    report, until = Report(), time.monotonic() + 60 * options.minutes
    run.in_parallel(builds, mutants, work)
    return report.finish()


def main(args):
    parser = argparse.ArgumentParser(description='Makes mutants at random; a test should find each.')
    parser.add_argument('files', nargs='*', metavar='FILE')
    parser.add_argument('--seed', type=int, default=random.randrange(10**6))
    parser.add_argument('--count', type=int, metavar='N')
    parser.add_argument('--minutes', type=float, default=float('inf'), metavar='N')
    parser.add_argument('--jobs', type=int, default=min(3, os.cpu_count() or 1))
    parser.add_argument('--build', metavar='DIR',
                        default=os.path.join(run.ROOT, 'build-test', 'mutants'))
    parser.add_argument('--seeds', type=int, default=1000, help='how far the simulator hunts')
    parser.add_argument('--patience', type=int, default=5, metavar='SECONDS')
    parser.add_argument('--only', nargs='+', metavar='NAME')
    parser.add_argument('--list', action='store_true', help='print the mutants and run nothing')
    options = parser.parse_args(args)
    try:
        mutants = choose(options.files or files_of_folders(), options)
    except mutate.Problem as problem:
        print(f'draw.py: {problem}', file=sys.stderr)
        return 2
    if options.list:
        for one in mutants:
            print(one.name, *one.change(), sep='\n')
        return 0
    print(f'{len(mutants)} mutants, seed {options.seed}', flush=True)
    return try_all(mutants, options)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
