#!/usr/bin/env python3
"""Builds the scripts into the library: `embed.py OUT_DIR NAME.lua... --shared NAME.lua...`

Each script becomes one text. A line "-- Uses: NAME, NAME" becomes the shared files of these names,
in that order: at the top of the script, or in a branch that few calls reach. Comments, blank lines and
indentation are not sent to a server, so they are left out. Written to OUT_DIR are

    NAME.lua   the text as servers get it: redis-cli --eval NAME.lua KEY... , ARGUMENT...
    scripts.c  the same texts for the library, each with its length and the SHA-1 of the text

A text has no shebang line: a server that is out of memory refuses the whole of a script that has
one, but no DEL and no PEXPIRE of a script that has none. Releases depend on that.
"""
import argparse
import hashlib
import os
import re
import sys

USES = re.compile(r'^ *-- Uses: (.+)$', re.MULTILINE)

HEAD = '/* Made by src/scripts/embed.py. */\n#include "scripts/scripts.h"\n'

SCRIPT = '''
_Static_assert({len} < RLK_SCRIPT_SIZE, "{name}.lua is too long");
const struct rlk_script rlk_script_{name} = {{
    .text = {literal},
    .sha = "{sha}",
    .len = {len},
    .bit = 1u << {index},
}};
'''


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def read(path):
    with open(path, encoding='ascii') as file:
        return file.read()


def code(source):
    """The text without comments, blank lines and indentation. A comment fills a whole line, and no
    string is longer than a line."""
    lines = (line.strip() for line in source.splitlines())
    return ''.join(line + '\n' for line in lines if line and not line.startswith('--'))


def whole(source, shared):
    """The text of a script, with the shared files that it uses."""
    return code(USES.sub(lambda uses: ''.join(code(shared[name]) for name in uses.group(1).split(', ')), source))


def literal(text):
    """The text in C, a line for each of its lines."""
    escaped = text.replace('\\', '\\\\').replace('"', '\\"')
    return '\n            '.join(f'"{line}\\n"' for line in escaped.splitlines())


def definition(index, name, text):
    return SCRIPT.format(name=name, literal=literal(text), len=len(text), index=index,
                         sha=hashlib.sha1(text.encode()).hexdigest())


def write(folder, name, text):
    with open(os.path.join(folder, name), 'w', encoding='ascii') as file:
        file.write(text)


def main(args):
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('scripts', nargs='+')
    parser.add_argument('--shared', nargs='*', default=[])
    given = parser.parse_args(args)
    shared = {name_of(path): read(path) for path in given.shared}
    texts = {name_of(path): whole(read(path), shared) for path in given.scripts}
    for name, text in texts.items():
        write(given.folder, f'{name}.lua', text)
    write(given.folder, 'scripts.c',
          HEAD + ''.join(definition(i, name, texts[name]) for i, name in enumerate(texts)))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
