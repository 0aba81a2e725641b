#!/usr/bin/env python3
"""Lists that grow together: `complete.py ROOT`.

  - The words by which an error means "not now" (core/classify.c) are those of the fuzz target that classifies
    replies. The tables of test_classify.c and test_endings.c have each of them.
  - An error that is explained (node/refusal.c) is in test_trouble.c.
  - An option of a command is in the section of this command in redlock(1), with its name or its letter.

test_trouble.c itself demands a row for each kind of trouble, and cli-help has the options about the masters.
"""
import glob
import os
import re
import sys

from tap import Tap

# After this error the script itself is sent, and nothing is pending.
SENT_AT_ONCE = {'NOSCRIPT'}


def read(root, *path):
    with open(os.path.join(root, *path), encoding='utf-8') as file:
        return file.read()


def texts(code):
    """The literals; those that stand side by side are one."""
    return [''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', found))
            for found in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', code)]


def rows(code, name):
    """The text of a table."""
    return code.partition(f'{name}[] = {{')[2].partition('};')[0]


# ---- errors of servers ----

def explained(code):
    return re.findall(r'^ +(?:\{|CLUSTER\()"([^"]+)"', rows(code, 'refusals'), re.M)


def different(words, others):
    yield from (f'{word} is in one of the lists only' for word in sorted(set(words) ^ set(others)))


def lacking(words, said):
    """An error begins with the word, or has it after the places of a script."""
    yield from (f'no row has {word}' for word in words
                if not any(re.search(rf'(^|: )-?{re.escape(word)}\b', text) for text in said))


# ---- options ----

def options_of(code):
    """{name: letter, '' for none} of the rows in this source."""
    found = re.findall(r'\{"([a-z-]+)",\s*CLI_((?:[^{}]|\{[^{}]*\})*)\}', code)
    return {name: ''.join(re.findall(r"\.letter = '(.)'", row)) for name, row in found}


def commands(sources):
    """{command: its options, with those of the tables that it shares with others}"""
    shared = {name: options_of(code) for code in sources
              for name in re.findall(r'^const struct cli_option (\w+)\[\]', code, re.M)}
    found = {}
    for code in sources:
        for command in re.findall(r'struct cli_subcommand \w+ = \{\s*\.name = "([a-z]+)"', code):
            found[command] = options_of(code)
            for table in re.findall(r'\.options = \{(?:options, )?(cli_\w+)\}', code):
                found[command].update(shared[table])
    return found


def sections(page):
    """{command: its section}"""
    parts = re.split(r'^\.S[SH] (.*)$', page.replace('\\-', '-'), flags=re.M)
    return {name[8:]: text for name, text in zip(parts[1::2], parts[2::2]) if name.startswith('redlock ')}


def undocumented(found, page):
    there = sections(page)
    for command in sorted(found):
        for name, letter in found[command].items():
            either = f'-{name}|{letter}' if letter else f'-{name}'
            if not re.search(rf'(^|\W)-({either})(?![a-z-])', there.get(command, '')):
                yield f'the section of redlock {command} lacks --{name}'


def main(root):
    tap = Tap()
    words = re.findall(r'"(\w+)"', rows(read(root, 'src/core/classify.c'), 'words'))
    fuzzed = re.findall(r'"(\w+)"', rows(read(root, 'tests/fuzz/fuzz_classify.c'), 'words'))
    errors = explained(read(root, 'src/node/refusal.c'))
    found = commands([read(path) for path in sorted(glob.glob(os.path.join(root, 'src/cli/*/*.c')))])
    page = read(root, 'docs/man/redlock.1')
    tap.claim('there are words, errors and options',
              [] if min(len(words), len(errors), len(found)) > 9 and 'ttl' in found['acquire'] else ['too few'])
    tap.claim('the fuzz target has the words for "not now"', different(words, fuzzed))
    tap.claim('test_classify.c has each of them',
              lacking(words, texts(rows(read(root, 'tests/unit/test_classify.c'), 'for_now'))))
    tap.claim('test_endings.c has each of them', lacking([word for word in words if word not in SENT_AT_ONCE],
              texts(rows(read(root, 'tests/io/test_endings.c'), 'not_now'))))
    tap.claim('test_trouble.c has each error that is explained',
              lacking(errors, texts(read(root, 'tests/unit/test_trouble.c'))))
    tap.claim('redlock(1) has the options of each command', undocumented(found, page))
    tap.fires('a word that is not fuzzed', different(['A', 'B'], ['A']), 'B is in one')
    tap.fires('a word without a row', lacking(['A', 'B'], ['A no', 'ERR at: 5: -BC']), 'B')
    tap.claim('passes: behind a place', lacking(['B'], ['ERR at: 5: -B no']))
    tap.fires('an option of a new table', undocumented(commands([
        'const struct cli_option cli_shared[] = {{"one", CLI_FLAG}, {"two", CLI_FLAG, .letter = \'t\'}};',
        'struct cli_subcommand x = {.name = "go", .options = {options, cli_shared}};']),
        '.SS redlock go\n.B \\-t\n.B \\-\\-one\\-more\n.SS redlock\n.B \\-\\-one\n'), 'lacks --one')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
