#!/usr/bin/env python3
"""One word for one thing: `words.py ROOT [FOLDER...]`.

docs/glossary.md says which word. This file lists other words for the same things, and phrases that
stop a reader, each with what to write instead. A name counts as the words that it is made of, and a
phrase of TERMS may continue on the next line. With folders as arguments: print what is left in them.
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
}

# The same, for what is listed in FIELD: the field's own words.
TERMS = {
    r'pet(s|ted|ting)?': 'heartbeat',
    r'heal(s|ed|ing|er)?': 'restore',
    r'(the|a|its|this|each|another|own) leads?': 'leadership',
    r'fa[cç]ades?': 'blocking API',
    r'stuck': 'unresponsive',
    r'silent (master|node|server)s?': 'unresponsive',
    r'wait(ing)?[-\s]lists?': 'wait queue',
    r'(the|a|its|this|each|no|larger|smaller|same|compares?|want|wants) fences?': 'fencing token',
    r'fences (of|are|grow|in|with|that|which|to|for)': 'fencing tokens',
    r'forg[eo]t(s|ten|ting)?': 'lost (a server); detach (a handle)',
    r'greet(s|ed|ing|ings)?': 'handshake',
    r'comes? too late|c[ao]me too late': 'a stale holder; a late reply',
    r'(\d+|%zu|two|three) (make|makes|are) a majority': 'quorum 3',
    r'least rights|fewest rights': 'least privilege, minimum permissions',
    r'page to look at': 'web dashboard',
    r'`observed`|quarantine=observed': 'lenient',
    r'for ever': 'without end; forever',
    r'at last': 'finally, or nothing',
    r'whoever': 'name who it is',
}

# The folders and files that INSTEAD holds for.
HELD = [
    'docs/troubleshooting.md',
    'docs/versioning.md',
    'docs/performance.md',
    'docs/cpp.md',
    'docs/comparison.md',
    'docs/acl.md',
    'docs/managed.md',
    'docs/faq.md',
    'docs/containers.md',
    'docs/algorithm.md',
    'docs/proofs.md',
    'docs/rules.md',
    'docs/design.md',
    'src/lock',
    'src/doctor',
    'src/sync',
    'src/net',
    'src/node',
    'README.md',
    'docs/README.md',
    'docs/compatibility.md',
    'docs/dashboard.md',
    'docs/glossary.md',
    'docs/tutorial.md',
    'docs/operations.md',
    'docs/migrating.md',
    'tests/docs',
    'docs/examples',
    'docs/man',
    'docs/fencing.md',
    'docs/guarantees.md',
    'docs/loops.md',
    'include',
    'src/base',
    'src/core',
    'src/scripts',
    'src/cli',
    'tests/sim',
    'tests/small',
    'tests/broken',
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

# Those that TERMS holds for, too. In the order of the alphabet.
FIELD = [
    'CONTRIBUTING.md',
    'NEWS.md',
    'README.md',
    'SECURITY.md',
    'bench',
    'completions',
    'debian',
    'docs/README.md',
    'docs/acl.md',
    'docs/algorithm.md',
    'docs/comparison.md',
    'docs/compatibility.md',
    'docs/containers.md',
    'docs/cpp.md',
    'docs/dashboard.md',
    'docs/design.md',
    'docs/developing.md',
    'docs/examples',
    'docs/faq.md',
    'docs/fencing.md',
    'docs/glossary.md',
    'docs/guarantees.md',
    'docs/loops.md',
    'docs/man',
    'docs/managed.md',
    'docs/migrating.md',
    'docs/operations.md',
    'docs/performance.md',
    'docs/proofs.md',
    'docs/simulator.md',
    'docs/troubleshooting.md',
    'docs/tutorial.md',
    'docs/versioning.md',
    'include',
    'scripts',
    'src/base',
    'src/core',
    'src/doctor',
    'src/lock',
    'src/node',
    'src/scripts',
    'src/sync',
]

# Lines that use one of the words in another meaning, or say that a name is an old one.
MAY = re.compile(r'` -> `|TLS|--config|command line|words\.py|is None|in line( \d| or|\])'
                 r'|^ +greeting, login, info|`FENCE the counter|remembers its fences')

# Between two words of a phrase: perhaps the end of a line, and the marks of a comment.
GAP = r'(?:[ _]|\s*\n(?:[ \t]*(?:[*#>]|//|--)+)?[ \t]*)'


def patterns(table, gap):
    return [(re.compile(r'(?<![a-z])(%s)(?![a-z]|\.[ch]\b)' % old.replace(' ', gap)), new)
            for old, new in table.items()]


def any_of(table):
    return re.compile(r'(?<![a-z])(?:%s)' % '|'.join(table).replace(' ', GAP))


OLD, NEW = patterns(INSTEAD, '[ _]'), patterns({**INSTEAD, **TERMS}, GAP)
ANY = any_of({**INSTEAD, **TERMS})


def complaints(name, text, table=None):
    small = text.lower()
    if not ANY.search(small):  # as most files: one search instead of one for each word
        return
    for pattern, new in table or OLD:
        for found in pattern.finditer(small):
            begin = text.rfind('\n', 0, found.start()) + 1
            if not MAY.search(text[begin:].split('\n', 1)[0]):
                line, words = text.count('\n', 0, found.start()) + 1, ' '.join(found.group(0).split())
                yield f'{name}:{line}: "{words}": {new}'


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


def of_folder(root, folder, table):
    for name in tracked(root, [folder]):
        if is_text(name):
            yield from complaints(name, read(root, name), table)


def fires(tap):
    tap.fires('a word of its own', complaints('x.c', 'ok\n/* a twin */'), 'duplicate')
    tap.fires('a name made of one', complaints('x.c', 'the_debt_ends(n);'), 'pending release')
    tap.fires('a phrase over two lines', complaints('x.c', ' * it is\n * for want\n * of it', NEW), ':2: "for')
    tap.fires("a word that is not the field's", complaints('x.c', 'needs_pet = 1;', NEW), 'heartbeat')
    tap.claim('passes: other words that contain one', complaints(
        'x.c', 'knowing however flower trend forward carpet health leader misleads', NEW))
    tap.claim('without git, the same files are read',
              set(tracked('.', HELD)) - set(tracked('.', HELD, git='no-such-git')))


def main(root, folders):
    if folders:
        found = [line for folder in folders for line in of_folder(root, folder, NEW)]
        print('\n'.join(found))
        return 1 if found else 0
    tap = Tap()
    for folder in HELD:
        tap.claim(f'one word for one thing in {folder}', of_folder(root, folder, OLD))
    for folder in FIELD:
        tap.claim(f"the field's words in {folder}", of_folder(root, folder, NEW))
    os.chdir(root)
    fires(tap)
    return tap.finish()


sys.exit(main(sys.argv[1], sys.argv[2:]))
