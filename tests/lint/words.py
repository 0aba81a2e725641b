#!/usr/bin/env python3
"""One word for one thing: `words.py ROOT [FOLDER...]`.

docs/algorithm.md has the glossary. This file lists other words for the same things, and phrases that
stop a reader, each with what to write instead. A name counts as the words that it is made of. With
folders as arguments: print what is left in them.
"""
import os
import re
import subprocess
import sys

from tap import Tap

# A word or phrase that must not occur, and what to write instead.
INSTEAD = {
    r'twins?': 'duplicate: one server at two addresses',
    r'(un)?barr(ed|ing)': 'in quarantine',
    r'uncounted': 'in quarantine',
    r'debts?': 'pending release',
    r'ow(e|es|ed|ing)': 'pending: a release is pending for a node',
    r'mend(s|ed|ing)?': 'fix',
    r'reckon(s|ed|ing)?': 'compute, count, expect',
    r'unvote\w*': 'retract a vote',
    r'stood still|stands still|standing still|standstills?': 'was suspended; does not answer',
    r'stand(s|ing)? in line|stood in line|in line': 'is queued, waits in the queue',
    r'for want of': 'without; out of memory',
    r'want of memory': 'out of memory',
    r'for good': 'permanently',
    r'(is|are|was) none any more|any more than that': 'no longer counts',
    r'is none\b': 'does not count, is not one',
    r'wards?': 'rig',
    r'wardens?': 'supervisor',
    r'errands?': 'operation',
    r'wait[ -]?lists?|wait(ing)? queues?|queues? of waiters': 'waiting list',
}
PATTERNS = [(re.compile(r'(?<![A-Za-z])(%s)(?![A-Za-z])' % old, re.I), new)
            for old, new in INSTEAD.items()]

# The folders and files that are checked.
HELD = [
    'docs/algorithm.md',
    'docs/design.md',
    'src/lock',
    'src/doctor',
    'src/sync',
    'src/net',
    'src/node',
    'README.md',
    'docs/compatibility.md',
    'docs/tutorial.md',
    'docs/operations.md',
    'docs/migrating.md',
    'tests/docs',
    'docs/examples',
    'docs/man',
    'docs/guarantees.md',
    'docs/loops.md',
    'include',
    'src/base',
    'src/core',
    'src/scripts',
    'src/cli',
    'tests/sim',
    'tests/small',
    'tests/fuzz',
    'tests/fence',
    'bench',
    'tests/lib',
    'tests/unit',
    'tests/io',
    'tests/live',
    'tests/sync',
    'tests/mutants',
    'tests/cli',
    'tests/examples',
    'tests/lint',
    'docs/simulator.md',
    'docs/developing.md',
    'CONTRIBUTING.md',
    'NEWS.md',
    'SECURITY.md',
    'scripts',
]

# Lines that use one of the words in another meaning.
MAY = re.compile(r'TLS|command line|words\.py|is None|in line( \d| or|\])')


def complaints(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if MAY.search(line):
            continue
        for pattern, new in PATTERNS:
            found = pattern.search(line.replace('_', ' '))
            if found:
                yield f'{name}:{number}: "{found.group(0)}": {new}'


def tracked(root, folders, git='git'):
    try:
        listed = subprocess.run([git, 'ls-files', '-z', '--', *folders], cwd=root, check=True,
                                capture_output=True, text=True)
        return [name for name in listed.stdout.split('\0') if name]
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        return [name for name in folders if os.path.isfile(os.path.join(root, name))] + [
            os.path.relpath(os.path.join(at, name), root) for folder in folders
            for at, _, names in os.walk(os.path.join(root, folder)) for name in names]


def is_text(name):
    return (re.search(r'\.(c|h|cpp|hpp|md|py|sh|lua|toml|build|in|[1-8])$', name) is not None
            and not name.endswith('lint/words.py'))


def read(root, name):
    with open(os.path.join(root, name), encoding='utf-8') as file:
        return file.read()


def of_folder(root, folder):
    for name in tracked(root, [folder]):
        if is_text(name):
            yield from complaints(name, read(root, name))


def main(root, folders):
    if folders:
        found = [line for folder in folders for line in of_folder(root, folder)]
        print('\n'.join(found))
        return 1 if found else 0
    tap = Tap()
    for folder in HELD:
        tap.claim(f'one word for one thing in {folder}', of_folder(root, folder))
    tap.fires('a word of its own', complaints('x.c', 'ok\n/* a twin */'), 'duplicate')
    tap.fires('a name made of one', complaints('x.c', 'the_debt_ends(n);'), 'pending release')
    tap.claim('passes: other words that contain one',
              complaints('x.c', 'knowing however flower trend forward'))
    tap.claim('without git, the same files are read',
              set(tracked(root, HELD)) - set(tracked(root, HELD, git='no-such-git')))
    return tap.finish()


sys.exit(main(sys.argv[1], sys.argv[2:]))
