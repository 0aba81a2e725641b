#!/usr/bin/env python3
"""What Doxygen reads in place of a header: `filter.py FILE`.

The comments of the public headers are plain ones, and one of them may be about several declarations. Here
each declaration has a comment of its own, as Doxygen wants it.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'docs', 'man'))
import declarations  # noqa: E402  (they are read as for the man pages)
import roff  # noqa: E402


def shown(text):
    """The text, with its drawings and programs marked as such."""
    blocks = []
    for block in re.split(r'\n *\n', text.replace('*/', '* /')):
        is_code = block and roff.is_shown(block.split('\n'))
        blocks.append(f'@code{{.unparsed}}\n{block}\n@endcode' if is_code else block)
    return re.sub(r'^ (?=\d\.)', '', '\n\n'.join(blocks), flags=re.MULTILINE)


def comment(text, *first):
    return '/**\n' + '\n'.join([*first, shown(text)]) + '\n*/'


def described(code, text):
    """A type with a comment on each of its members."""
    if not re.match(r'(struct|enum) \w+ \{', code):
        return comment(text) + '\n' + code
    end = ',' if code.startswith('enum') else ';'
    lines = [comment(text), code[:code.index('{') + 1]]
    for _, entries, about in declarations.members(code):
        lines += [comment(about) + f'\n{entry}{end}' for entry in entries]
    return '\n'.join(lines) + '\n};'


def main(path):
    head, items = declarations.read(path)
    what, _, rest = head.partition('\n')
    print(comment(rest, '@file', '@brief ' + what, ''))
    for item in items:
        if isinstance(item, declarations.Item):
            for code in item.codes:
                print(described(code, item.comment) + '\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
