#!/usr/bin/env python3
"""What the documents say about the tree is still true: `docs.py ROOT`.

The files, folders and tests that a document names exist; and so do the pieces in the map of
docs/design.md. A violation of the simulator that a document quotes is worded as a checker words it.
How many there are of something is counted here, or not said: a new count needs a row in COUNTS.
The figures of the README's proof are in the document that their row links.
A cron line that runs redlock has a PATH above it: cron's own lacks /usr/local/bin.
"""
import fnmatch
import os
import re
import sys

from tap import Tap

WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten',
         'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen']
COUNTED = 'targets|configurations|controls|mutants|bugs|rows|lints|suites'
ENDINGS = 'c|h|cpp|hpp|py|sh|lua|md|toml|map|build|txt|sql'

# Not a part of a path outside the tree: /usr/include/x.h, <event.h>, build/src/x.lua.
BEFORE = r'(?<![\w/<.~$>*-])'
FILE = re.compile(BEFORE + rf'((?:[\w.*-]+/)*[\w.*-]+\.(?:{ENDINGS}))(?![\w/])')
PLACE = re.compile(BEFORE + r'((?:src|tests|docs|scripts|include|bench)/[\w/.*@-]*\w)')


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


# ---- tests ----

def names(markdown):
    """Words in backquotes that look like the name of a test: four parts and more, and no rlk_."""
    return [word for word in re.findall(r'`([a-z0-9_]+)`', markdown)
            if word.count('_') >= 3 and not word.startswith('rlk_')]


def tests_of(sources):
    """A test is a function, or a row of a table that begins with its claim."""
    return {function or row for function, row in
            re.findall(r'^TEST\w*\((\w+)[,)]|{"(\w+)",', sources, re.MULTILINE)}


def missing_tests(markdown, tests):
    return [f'no test is called {name}' for name in names(markdown) if name not in tests]


# ---- files ----

def is_made_up(path):
    """NAME in a path means any name."""
    return re.search(r'(?<![a-z])(NAME|TARGET|BUILD)(?![a-z])', path) or path.startswith(
        ('.', 'build')) or path == 'name.c'


def ends_of(paths):
    """What a document may call these files: each by its path, or by the last parts of it."""
    return {path[at:] for path in paths
            for at in [0, *(slash.end() for slash in re.finditer('/', path))]}


def missing_files(markdown, paths, folders):
    ends = ends_of(paths)
    for word in sorted({*FILE.findall(markdown), *PLACE.findall(markdown)}):
        if not is_made_up(word) and word not in folders and word not in ends and not (
                '*' in word and fnmatch.filter(ends, word)):
            yield f'there is no {word}'


def map_of(markdown):
    """(folder, piece) for what the map of the tree names; a folder in a folder ends with a slash."""
    block = markdown.split('## Source tree\n')[-1].split('\n## ')[0]
    folder = None
    for line in block.splitlines():
        heading = re.match(r' {4}((?:src|include)/[\w/]+/)', line)
        pieces = re.match(r' {8}((?:[a-z_0-9.]+/?, )*[a-z_0-9.]+/?)(?: |$)', line)
        folder = heading.group(1) if heading else folder
        if pieces and not heading and folder:
            yield from ((folder, piece) for piece in pieces.group(1).split(', '))


def missing_pieces(markdown, paths):
    for folder, piece in map_of(markdown):
        if not any(path == folder + piece or path.startswith((f'{folder}{piece}.', f'{folder}{piece}/'))
                   or piece.endswith('/') and path.startswith(folder + piece) for path in paths):
            yield f'the map names {folder}{piece}'


# ---- violations ----

CHECK = re.compile(r'check_violated\(\s*\w+,\s*"(\w+)",\s*((?:"[^"]*"\s*)+)')


def wordings(simulator):
    """An expression for each violation that the sources of the simulator can print."""
    for checker, literals in CHECK.findall(simulator):
        text = f'{checker}: ' + ''.join(re.findall(r'"([^"]*)"', literals))
        yield re.compile('.+'.join(re.escape(part) for part in re.split(r'%[\d.]*l*[a-z]', text)))


def wrong_violations(markdown, simulator):
    """A quote begins its line, perhaps after a time, and may go on in the next line."""
    for quote in re.findall(r'^[ \d.]*(?:seed \d+:|VIOLATION) (\w+: .+(?:\n +and .+)?)', markdown,
                            re.MULTILINE):
        words = ' '.join(quote.split())
        if not any(wording.fullmatch(words) for wording in wordings(simulator)):
            yield f'no checker says {words}'


# ---- counts ----

def fuzz_targets(paths):
    return len({os.path.dirname(path) for path in paths if path.startswith('tests/fuzz/corpus/')})


# The things that a document counts, and how to count them.
COUNTS = {('docs/simulator.md', 'targets'): fuzz_targets}


def value(word):
    return WORDS.index(word.lower()) if word.lower() in WORDS else int(word.replace(',', ''))


def wrong_counts(document, markdown, paths, counts):
    for word, what in re.findall(rf'\b(\d[\d,]*|{"|".join(WORDS[2:])})\s+({COUNTED})\b', markdown,
                                 re.IGNORECASE):
        count = counts.get((document, what))
        if count is None:
            yield f'{word} {what}: nothing here counts them'
        elif count(paths) != value(word):
            yield f'{word} {what}: there are {count(paths)}'


# ---- figures ----

def figures(text):
    return {number.replace(',', '') for number in re.findall(r'(?<![\w.])\d[\d,]*(?:\.\d+)?', text)}


def unfounded(readme, document_of):
    """The last cell of a row of the README's proof links the document that has the figures of the row."""
    section = readme.split('## Proof\n')[-1].split('\n## ')[0]
    for row, link in re.findall(r'^\| (.*) \| \[[^]]*\]\(([^)#]*)[^)]*\) \|$', section, re.M):
        for figure in sorted(figures(row) - figures(document_of(link))):
            yield f'README.md says {figure}, and {link} does not: {row}'


# ---- cron ----

CRON = re.compile(r'^[#\s]*(?:[\d*/,-]+ +){5}(?:root +)?\S*(?:redlock|until_done\.sh) ')
CRON_PATH = re.compile(r'^[#\s]*PATH=\S*/usr/local/bin')


def without_a_path(path, text):
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if CRON.match(line) and not any(CRON_PATH.match(above) for above in lines[max(0, number - 4):number]):
            yield f'{path}:{number + 1}: no PATH for cron: {line.strip()}'


# ---- all of it ----

def tree(root):
    """The paths of all files from the root, and of all folders."""
    paths, folders = [], []
    for folder, inside, files in os.walk(root):
        inside[:] = [name for name in inside
                     if name not in ('.git', '__pycache__') and
                     not os.path.exists(os.path.join(folder, name, '.gitignore'))]
        folders.append(os.path.relpath(folder, root))
        paths += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(paths), folders


def joined(root, paths, folder):
    """The sources in C of a folder."""
    return '\n'.join(read(root, path) for path in paths
                     if path.startswith(folder) and path.endswith('.c'))


def documents(tap, root, paths, folders):
    tests = tests_of(joined(root, paths, 'tests/'))
    simulator = joined(root, paths, 'tests/sim/')
    for path in paths:
        if path.endswith('.md'):
            text = read(root, path)
            tap.claim(f'the tests named in {path} exist', missing_tests(text, tests))
            tap.claim('and so do its files', missing_files(text, paths, folders))
            tap.claim('and its violations are worded so', wrong_violations(text, simulator))
            tap.claim('and its counts are right', wrong_counts(path, text, paths, COUNTS))
    tap.claim('each cron line has a PATH',
              [wrong for path in paths if path.startswith(('docs/', 'README')) and
               path.endswith(('.md', '.cron', '.sh', '.1')) for wrong in without_a_path(path, read(root, path))])


def fires(tap):
    tree_of = ['src/core/round.c', 'docs/a.md', 'src/scripts/shared/keys.lua']
    world = '## Source tree\n    src/core/   x\n        {}   y\n'
    tap.fires('a test that is gone', missing_tests('`no_such_test_here`', tests_of('TEST(a_test_that_is_here)')), 'no_such_test')
    tap.claim('passes: a function of the library', missing_tests('`rlk_leases_replace_data`', set()))
    tap.claim('passes: a test', missing_tests('`a_test_that_is_here`', tests_of('TEST(a_test_that_is_here)')))
    tap.claim('passes: a row', missing_tests('`a_row_of_a_table`', tests_of('  {"a_row_of_a_table", 1},')))
    tap.fires('a file that is gone', missing_files('see `core/rond.c`', tree_of, []), 'core/rond.c')
    tap.fires('a folder that is gone', missing_files('see `src/cor`', tree_of, []), 'src/cor')
    tap.claim('passes: files', missing_files(
        'round.c, core/round.c, src/core/round.c, src/core/*.c, <event2/event.h>, /usr/x.h, '
        'tests/NAME.c, ./x.sh', tree_of, []))
    tap.fires('a piece that is gone', missing_pieces(world.format('round, rond'), tree_of), 'rond')
    tap.claim('passes: a map', missing_pieces(world.format('round'), tree_of))
    check = 'check_violated(w, "work", "%s is held"\n  " by c%u (%.1f ms)", 1, 2, 3);'
    tap.fires('a violation that is worded otherwise',
              wrong_violations('    seed 7: work: k0 was held by c1 (2.5 ms)', check), 'was held')
    tap.claim('passes: a violation', wrong_violations(
        ' 0.1  VIOLATION work: k0 is held by c1 (2.5 ms)\nwith `VIOLATION name: what`', check))
    tap.fires('a count that is wrong', wrong_counts('a', 'has eight\ntargets', [],
                                                    {('a', 'targets'): len}), 'there are 0')
    tap.fires('a count that nobody counts', wrong_counts('a', '368 bugs', [], {}), '368 bugs')
    tap.claim('passes: a count', wrong_counts('a', 'Two targets', [1, 2], {('a', 'targets'): len}))
    cron = '#   {}\n#   0 3 * * * root until_done.sh x\n'
    tap.fires('a cron line without a PATH', without_a_path('a', cron.format('MAILTO=ann')), 'a:2')
    tap.claim('passes: a cron line with a PATH', without_a_path('a', cron.format('PATH=/usr/local/bin:/bin')))

    row = '## Proof\n| fast | 57,000 in 0.5 s | [x](docs/x.md#y) |\n'
    tap.fires('a figure without a source', unfounded(row, lambda _: '5700 in 0.5 s'), 'says 57000')
    tap.claim('passes: a figure', unfounded(row, lambda _: 'a | 57,000 | 0.5 |'))


def main(root):
    tap = Tap()
    paths, folders = tree(root)
    tap.claim("the README's figures are in the documents that it links",
              unfounded(read(root, 'README.md'), lambda path: read(root, path)))
    documents(tap, root, paths, folders)
    tap.claim('the map in docs/design.md is right',
              missing_pieces(read(root, 'docs', 'design.md'), paths))
    fires(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
