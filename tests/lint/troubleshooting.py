#!/usr/bin/env python3
"""docs/troubleshooting.md has every code, and quotes messages as the sources have them: `troubleshooting.py ROOT`.

A heading in backquotes is a message: N is a number, ... any text. A message may be put together from two texts.
The messages of one chapter are left to tests/cli/test_refusals.py, which brings servers into these states.
"""
import os
import re
import sys

from tap import Tap

DOCUMENT = 'docs/troubleshooting.md'
OTHERS = '## Masters that refuse commands\n'
SHORTEST = 6  # of a text that a message is put together from


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def sources(root, ending):
    return [read(folder, name) for folder, _, names in os.walk(os.path.join(root, 'src'))
            for name in names if name.endswith(ending)]


# ---- codes ----

def statuses(header):
    """The exit statuses of exit.h; 128 + N stands there as 128."""
    return {number for number in re.findall(r'CLI_\w+ =\s+(\d+)', header)}


def missing_codes(document, header, exits):
    table = document.partition('## Exit statuses')[2].partition('\n## ')[0]
    first = ' '.join(re.findall(r'^\| ([^|]*) \|', table, re.M))
    yield from (f'{number} is no exit status there' for number in sorted(statuses(exits))
                if not re.search(rf'\b{number}\b', first))
    for code, number in re.findall(r'^ {4}(REDLOCK_\w+) = (-?\d+)', header, re.M):
        if f'| `{code}` {number} |' not in document:
            yield f'no row is about {code} {number}'


# ---- messages ----

def texts(files):
    """What the sources can print: texts that stand side by side are one."""
    names = {name: text for file in files
             for name, text in re.findall(r'#define (\w+)\s+\\?\s*"((?:[^"\\]|\\.)*)"', file)}
    for file in files:
        for literal in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*(?:PRI\w+\s*|[A-Z_]{4,}\s+)?)+', file):
            for name, text in names.items():
                literal = re.sub(rf'\b{name}\b', f'"{text}"', literal)
            yield ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal))


def parts(message):
    return [part.strip() for part in re.split(r'\.\.\.|\bN\b', message) if len(part.strip()) > 1]


def is_said(part, said):
    """By one text, or by two."""
    return part in said or any(part[:at].strip() in said and part[at:].strip() in said
                               for at in range(SHORTEST, len(part) - SHORTEST) if part[at] in ' (')


def unsaid(document, said):
    quoted = re.findall(r'^### (`.*`)$', re.sub(rf'(?ms)^{OTHERS}.*?(?=^## |\Z)', '', document), re.M)
    quoted += re.findall(r'^\| (`[^`|]+`) \|', document.partition('## Masters in quarantine')[2]
                         .partition('\n## ')[0], re.M)
    for message in re.findall('`([^`]+)`', ' '.join(quoted)):
        yield from (f'nothing says "{part}" ({message})' for part in parts(message) if not is_said(part, said))


def missing_reasons(document, trouble):
    """Why a master does not vote for a time: the first text in each row of node/trouble.c."""
    for row in re.findall(r'(?:\[RLK_QUARANTINED_\w+\]|evicted) =\s+\{(.*?)\}', trouble, re.S):
        reason = next(texts([row]))
        if reason and f'| `{reason}` |' not in document:
            yield f'no row is about "{reason}"'


def main(root):
    tap = Tap()
    document, header = read(root, DOCUMENT), read(root, 'include/redlock/error.h')
    exits, trouble = read(root, 'src/cli/say/exit.h'), read(root, 'src/node/trouble.c')
    said = '\n'.join(texts(sources(root, ('.c', '_rows.h', '.lua'))))
    tap.claim('every code is there', missing_codes(document, header, exits))
    tap.claim('the sources say every message', unsaid(document, said))
    tap.claim('every reason of a quarantine is there', missing_reasons(document, trouble))
    tap.fires('a code that is not there', missing_codes(document, '    REDLOCK_ENEW = -999,\n', ''), 'ENEW')
    tap.fires('a status that is not there', missing_codes(document, '', 'CLI_NEW = 99'), '99')
    tap.fires('a message of old', unsaid('### `stars N ...`\n', 'is full\nis empty'), 'stars')
    tap.claim('passes: two texts', unsaid('### `no majority may vote`\n', 'no majority %s\nmay vote'))
    tap.fires('a reason that is not there', missing_reasons('', '[RLK_QUARANTINED_X] = {"old"}'), 'old')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
