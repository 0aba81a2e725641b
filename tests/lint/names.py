#!/usr/bin/env python3
"""The names in the documents exist: `names.py ROOT`.

A document may name commands and options of redlock, its environment variables, and the functions,
constants and fields of the public headers. All are compared with the sources, so that a document
cannot promise what was renamed or never built. A name that a line says is an old one ("`old` ->
`new`") is left alone.
"""
import os
import re
import sys

from tap import Tap

# Options of other programs that a document may name in a code span of its own.
OTHERS = {'--libdir', '--cap-add', '--client', '--mount-proc', '--pid', '--privileged', '--tls-ca-cert-file'}

ROFF = [(r'\\f[BIRP]', ''), (r'\\-', '-'), (r'\\e\n\s*', ''), (r'\\[&,/]', ''), (r'\\\(aq', "'")]
OLD = re.compile(r'`[^`]*` (?:->|→)')


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def sources(root, folders, endings):
    for top in folders:
        for folder, inside, files in os.walk(os.path.join(root, top)):
            inside[:] = [name for name in inside if name != '__pycache__']
            yield from (os.path.join(folder, name) for name in files if name.endswith(endings))


# ---- what exists ----

class Command:
    """What the sources of redlock(1) define: the options of each command, by their tables."""

    def __init__(self, texts):
        joined = '\n'.join(texts)
        table = re.search(r'rlk_setting_rows\[\] = \{(.*?)\n\};', joined, re.S).group(1)
        masters = set(re.findall(r'= \{"([a-z-]+)", ', table))
        shared = {name: self.rows(text) for text in texts
                  for name in re.findall(r'^const struct cli_option (cli_\w+)\[\]', text, re.M)}
        self.options = {}
        for text in texts:
            for name, row in re.findall(r'^const struct cli_subcommand cli_\w+ = \{\s*\.name = "(\w+)"(.*?)\};', text, re.S | re.M):
                found = self.rows(text).union(*(rows for table, rows in shared.items() if table in row))
                self.options[name] = {'verbose', 'help'} | found | (set() if 'CLI_WITHOUT_MASTERS' in row else masters)

    @staticmethod
    def rows(text):
        """The names of a table of struct cli_option."""
        return set(re.findall(r'\{"([a-z-]+)",\s+CLI_\w+,', text))

    def all(self):
        return set().union(*self.options.values()) | {'help', 'version'}


def identifiers(texts):
    return {name for text in texts for name in re.findall(r'\b(?:redlock|REDLOCK)_\w+', text)}


def fields(headers):
    """The fields of the structs that documents abbreviate: options.x, request.x."""
    found = {}
    for struct, body in re.findall(r'struct (redlock_\w+) \{\n(.*?)\n\};', '\n'.join(headers), re.S):
        code = re.sub(r'/\*.*?\*/', '', body, flags=re.S)
        names = set(re.findall(r'(\w+)(?:\[\w+\])?[,;]', code))
        found[struct.removeprefix('redlock_')] = names
    return found


# ---- what a document says ----

def plain(path, text):
    if path.endswith('.1'):
        for old, new in ROFF:
            text = re.sub(old, new, text)
        text = re.sub(r'^\.(?:[BI]{1,2}|BR|RB|IR|RI|TP|TQ) ?', '', text, flags=re.M)
    return OLD.sub('', text)


def lines_of_redlock(text):
    """(command, its words) for each call of redlock in a line of shell or in a code span."""
    text = re.sub(r'\\\n\s*', ' ', text)
    for command, rest in re.findall(r'(?<![\w/.-])redlock ([a-z]+)((?: [^\n`|;&]*)?)', text):
        words = re.split(r' -- | sh -c |\(', rest)[0]
        yield command, re.findall(r'(?<![\w-])--([a-z][a-z-]+)', words)


def wrong_calls(text, command):
    for name, options in lines_of_redlock(text):
        known = command.options.get(name)
        if known is not None:
            yield from (f'redlock {name} has no --{option}' for option in options
                        if option not in known | {'help'})


def wrong_commands(text, command):
    """Only code spans: elsewhere the word after "redlock" is English."""
    for name in re.findall(r'`redlock ([a-z]+)\b', text):
        if name not in command.options and name != 'help':
            yield f'there is no redlock {name}'


def wrong_options(text, known):
    for option in re.findall(r'`(--[a-z][a-z-]+)', text):
        if option[2:] not in known and option not in OTHERS:
            yield f'nothing has the option {option}'


def wrong_identifiers(text, known):
    """A name that ends in an underscore stands for all that begin so."""
    for name in sorted(set(re.findall(r'(?<![\w.:/-])(?:redlock|REDLOCK)_\w+', text))):
        if name not in known and not (name.endswith('_') and
                                      any(other.startswith(name) for other in known)):
            yield f'nothing is called {name}'


def wrong_fields(text, structs):
    for struct, field in re.findall(r'`(options|request|notice)\.(\w\w+)', text):
        if field not in structs[struct]:
            yield f'{struct} has no field {field}'


# ---- redlock_error_text() ----

COMMENTED = re.compile(r'/\*((?:(?!\*/).)*)\*/\nREDLOCK_EXPORT [^;(]*?\*?(redlock_\w+)\(', re.S)


def unlisted_texts(headers):
    """redlock_error_text() lists each function whose comment promises it, and no function that does not exist."""
    comments = {name: comment for text in headers for comment, name in COMMENTED.findall(text)
                if not name.startswith('redlock_sync_')}
    listed = set(re.findall(r'(redlock_\w+)\(', comments['redlock_error_text'].partition(': a')[0]))
    yield from (f'redlock_error_text() does not list {name}()' for name, comment in sorted(comments.items())
                if 'redlock_error_text()' in comment and name not in listed)
    yield from (f'there is no {name}(), which redlock_error_text() lists' for name in sorted(listed - set(comments)))


# ---- all of it ----

def documents(root):
    yield from (name for name in sorted(os.listdir(root)) if name.endswith('.md'))
    for top in ('docs', 'bench', 'tests', 'debian'):
        for path in sources(root, [top], ('.md', 'redlock.1')):
            yield os.path.relpath(path, root)


def script_options(texts):
    return {option for text in texts for option in re.findall(r'--([a-z][a-z-]+)', text)}


def fires(tap, command, structs):
    tap.fires('an option of another command',
              wrong_calls('    redlock nodes --ttl 5s\n', command), 'nodes has no --ttl')
    tap.claim('passes: the options of CMD',
              wrong_calls('redlock lock a --ttl 5s -- ls --all\n', command))
    tap.fires('a command that is gone', wrong_commands('see `redlock query k`', command), 'query')
    tap.fires('an option that is gone', wrong_options('`--fetch`', command.all()), '--fetch')
    tap.fires('a function that is gone', wrong_identifiers('redlock_lock_pet()', {'redlock_lock'}),
              'redlock_lock_pet')
    tap.claim('passes: all that begin so', wrong_identifiers('REDLOCK_TLS_*', {'REDLOCK_TLS_KEY'}))
    tap.claim('passes: an old name', wrong_identifiers(plain('NEWS.md', '`redlock_x()` -> `y`'), set()))
    tap.fires('a text that is not listed', unlisted_texts(
        ['/* Says redlock_error_text(). */\nREDLOCK_EXPORT int redlock_a(void);\n'
         '/* Of the last redlock_b(): a text. */\nREDLOCK_EXPORT const char *redlock_error_text(void);\n'
         '/* B. */\nREDLOCK_EXPORT int redlock_b(void);\n']), 'redlock_a')
    tap.fires('a field that is gone', wrong_fields('`options.hosts`', structs), 'no field hosts')


def main(root):
    tap = Tap()
    command = Command([read(path) for path in sources(root, ['src/cli', 'src/settings'], ('.c', '.h'))])
    headers = [read(path) for path in sources(root, ['include'], ('.h', '.hpp'))]
    scripts = [read(path) for path in sources(root, ['scripts', 'bench', 'tests'], '')
               if not path.endswith(('.md', '.bin')) and '/corpus/' not in path and
               not path.endswith('names.py') and is_text(path)]
    known = identifiers(headers + scripts + [read(path) for path in sources(
        root, ['src', 'docs/examples', 'debian'], ('.c', '.h', '.lua', '.map', '.sh', '.service'))] +
        [read(root, 'meson.build'), read(root, 'meson_options.txt')])
    options = command.all() | script_options(scripts)
    structs = fields(headers)
    for path in documents(root):
        text = plain(path, read(root, path))
        tap.claim(f'{path}: its calls of redlock have options that exist', wrong_calls(text, command))
        tap.claim('and its commands exist', wrong_commands(text, command))
        tap.claim('and its options', wrong_options(text, options))
        tap.claim('and its identifiers', wrong_identifiers(text, known))
        tap.claim('and its fields', wrong_fields(text, structs))
    tap.claim('redlock_error_text() lists the functions that set it', unlisted_texts(headers))
    fires(tap, command, structs)
    return tap.finish()


def is_text(path):
    with open(path, 'rb') as file:
        return b'\0' not in file.read(1024)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
