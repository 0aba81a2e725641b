"""The table of docs/proofs.md: what is proved of each function."""
import os

import annotate

DOCUMENT = os.path.join(annotate.ROOT, 'docs', 'proofs.md')
HEAD = ['| file | function | proved for all arguments |', '| --- | --- | --- |']


def rows(units):
    for unit in units:
        source = f'`{unit["source"].removeprefix("src/")}`'
        for function in unit['function']:
            yield f'| {source} | `{function["name"]}()` | {function["says"]} |'
            source = ''


def wanted(units):
    return [*HEAD, *rows(units)]


def find(lines):
    """Where the table begins and ends."""
    if HEAD[0] not in lines:
        raise annotate.Problem('docs/proofs.md has no table of what is proved')
    start = lines.index(HEAD[0])
    return start, lines.index('', start)


def complaints(units, text):
    lines = text.split('\n')
    start, end = find(lines)
    there, want = lines[start:end], wanted(units)
    yield from (f'docs/proofs.md lacks: {row}' for row in want if row not in there)
    yield from (f'docs/proofs.md has what nothing proves: {row}' for row in there if row not in want)


def update(units):
    text = annotate.read(DOCUMENT)
    lines = text.split('\n')
    start, end = find(lines)
    with open(DOCUMENT, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines[:start] + wanted(units) + lines[end:]))
