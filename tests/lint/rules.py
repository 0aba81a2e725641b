#!/usr/bin/env python3
"""The rules of the protocol: `rules.py ROOT`.

docs/algorithm.md explains the rules S1, H1, W1, O1, L1, M1 ... without gaps. docs/rules.md lists each rule with
its code and its tests. The functions that it names are in the files that it names, and one of these
files (or its header) cites the rule. Every other .c file that cites a rule is listed as well. No source
cites a rule that does not exist.
"""
import os
import re
import sys

from tap import Tap

RULE = r'[SHWOLM]\d+'
CITED_IN = ('src', 'include', 'tests')


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def spread(text):
    """The rules in "S1", "S7, S11" or "W1 to W8"."""
    for first, last in re.findall(rf'\b({RULE})(?: to ({RULE}))?', text):
        end = int((last or first)[1:])
        yield from (f'{first[0]}{n}' for n in range(int(first[1:]), end + 1))


def explained(algorithm):
    """A rule is a heading, or a paragraph that begins with it in bold."""
    found = re.findall(rf'^(?:#{{2,4}} |\*\*)({RULE})\b', algorithm, re.MULTILINE)
    return sorted(found, key=lambda rule: (rule[0], int(rule[1:])))


def gaps(found):
    for letter in 'SHWOLM':
        numbers = [int(rule[1:]) for rule in found if rule[0] == letter]
        if numbers != list(range(1, len(numbers) + 1)) or not numbers:
            yield f'{letter}: {numbers}'


def sections(rules):
    """(heading, text) of each section."""
    return re.findall(r'^## (.*)\n((?:(?!## ).*\n)*)', rules, re.MULTILINE)


def listed(rules):
    return {rule for heading, _ in sections(rules) for rule in spread(heading)}


def different(found, rules):
    yield from (f'{rule} is not in docs/rules.md' for rule in found if rule not in listed(rules))
    yield from (f'{rule} is not in docs/algorithm.md' for rule in listed(rules) - set(found))


def code_of(text):
    """(file, functions) of the item "code"."""
    item = re.search(r'^- \*code\*: ((?:.*\n)(?: +.*\n)*)', text, re.MULTILINE)
    named = re.findall(r'`([\w/]+\.(?:c|h|lua))`(?: \(([^)]*)\))?', item.group(1) if item else '')
    return [(name, re.findall(r'`(\w+)`', functions)) for name, functions in named]


def wrong_code(rules, source):
    for heading, text in sections(rules):
        if not code_of(text) or '- *tests*:' not in text:
            yield f'{heading}: code or tests are missing'
        for name, functions in code_of(text):
            yield from (f'{heading}: {name} has no {function}' for function in functions
                        if not re.search(rf'\b{function}\b', source(name)))
        cited = {rule for name, _ in code_of(text) for rule in citations(source(name))}
        yield from (f'{heading}: no file of its code cites {rule}'
                    for rule in spread(heading) if rule not in cited)


def other_files(heading, text, source, names):
    """The line with the .c files that cite a rule of the section, and are not its code."""
    code, rules = {name for name, _ in code_of(text)}, set(spread(heading))
    others = [name for name in names if name not in code and rules & set(citations(source(name)))]
    return '- *also cited in*: ' + ', '.join(f'`{name}`' for name in others) + '.' if others else ''


def listed_others(text):
    found = re.search(r'^- \*also cited in\*: (?:.*\n)(?: +.*\n)*', text, re.MULTILINE)
    return ' '.join(found.group(0).split()) if found else ''


def unlisted(rules, source, names):
    for heading, text in sections(rules):
        wanted = other_files(heading, text, source, names)
        if wanted != listed_others(text):
            yield f'{heading}: docs/rules.md needs: {wanted or "no *also cited in*"}'


def citations(source):
    for inside in re.findall(rf'\[({RULE}[^\]\n]*)\]', source):
        yield from spread(inside)


def unknown(name, source, found):
    yield from (f'{name} cites {rule}' for rule in sorted(set(citations(source)) - set(found)))


def sources(root):
    for folder in CITED_IN:
        for at, _, names in os.walk(os.path.join(root, folder)):
            yield from (os.path.relpath(os.path.join(at, name), root) for name in names
                        if re.search(r'\.(c|h|hpp|cpp|lua)$', name))


def with_header(root, name):
    """What a file of src says, and its header."""
    header = os.path.splitext(name)[0] + '.h'
    both = {name, header} if os.path.exists(os.path.join(root, 'src', header)) else {name}
    return ''.join(read(root, 'src', path) for path in both)


def fires(tap):
    page = '## S1 Quorum\n\n- *code*: `core/a.c` (`count`).\n- *tests*: `x`.\n'
    tap.fires('a rule that is missing', gaps(['S1', 'S3', 'H1', 'W1', 'O1', 'L1', 'M1']), 'S: [1, 3]')
    tap.fires('a rule that is not listed', different(['S1', 'S2'], page), 'S2 is not in docs/rules.md')
    tap.fires('a rule that is not explained', different([], page), 'S1 is not in docs/algorithm.md')
    tap.fires('a rule without tests', wrong_code('## S1 x\n\n- *code*: `a.c`.\n', lambda _: '[S1]'),
              'missing')
    tap.fires('a function that is gone', wrong_code(page, lambda _: '[S1] recount()'), 'no count')
    tap.fires('code that cites another rule', wrong_code(page, lambda _: '[S2] count()'), 'cites S1')
    tap.fires('a file that cites a rule and is not listed', unlisted(page, lambda _: '[S1]', ['core/b.c']), '`core/b.c`')
    tap.fires('a rule that does not exist', unknown('a.c', '/* [S1, S99] */', ['S1']), 'S99')
    tap.claim('passes: a rule', [*wrong_code(page, lambda _: '[S1] count()'), *different(['S1'], page),
                                 *unknown('a.c', '[S1 to S2], a[S9]', ['S1', 'S2', 'S9'])])


def main(root):
    tap = Tap()
    found = explained(read(root, 'docs', 'algorithm.md'))
    rules = read(root, 'docs', 'rules.md')
    tap.claim('docs/algorithm.md explains the rules without gaps', gaps(found))
    tap.claim('docs/rules.md lists the same rules', different(found, rules))
    tap.claim('each with code that cites it, and tests',
              wrong_code(rules, lambda name: with_header(root, name)))
    tap.claim('and with all other files that cite it',
              unlisted(rules, lambda name: read(root, 'src', name),
                       sorted(name[4:] for name in sources(root) if re.match(r'src/.*\.c$', name))))
    tap.claim('no source cites a rule that does not exist',
              [line for name in sources(root) for line in unknown(name, read(root, name), found)])
    fires(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
