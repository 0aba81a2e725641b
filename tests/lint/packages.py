#!/usr/bin/env python3
"""What the Debian package says twice: `packages.py ROOT`.

The version of debian/changelog is that of meson.build, the symbols of the package are those of
src/libredlock.map, and each file that the package takes from the tree is there, under a name of its own.

The package of the command starts no server, and has the documents for operators. The line that builds one static
program is the same wherever it stands.
"""
import glob
import os
import re
import sys

from symbols import mapped
from tap import Tap


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as text:
        return text.read()


def versions(meson, changelog):
    ours = re.search(r"^  version: '([^']+)'", meson, re.MULTILINE)[1]
    theirs = re.match(r'libredlock \(([^)]+)-\d+\)', changelog)
    if theirs is None or theirs[1] != ours:
        yield f'debian/changelog begins with {changelog.splitlines()[0]}, meson.build says {ours}'


def symbols(names, package):
    theirs = set(re.findall(r'^ (redlock_\w+)@', package, re.MULTILINE))
    for name in sorted(names - theirs):
        yield f'debian/libredlock0.symbols lacks {name}: add " {name}@REDLOCK_0.1 VERSION"'
    for name in sorted(theirs - names):
        yield f'debian/libredlock0.symbols has {name}, and src/libredlock.map has not'


def from_the_tree(root, name, listed):
    for pattern in listed.split():
        if not glob.glob(os.path.join(root, pattern)):
            yield f'debian/{name}: there is no {pattern}'


def overwritten(root, name, listed):
    """The files of debian/*.docs go into one folder."""
    paths = [path for pattern in listed.split() for path in glob.glob(os.path.join(root, pattern))]
    names = [os.path.basename(path) for path in paths]
    return [f'debian/{name}: two files are called {one}' for one in sorted({one for one in names if names.count(one) > 1})]


def started(control):
    """A server that is installed along with the command would start on port 6379."""
    command = control.split('\nPackage: redlock\n')[1].split('\nPackage: ')[0]
    for field, value in re.findall(r'^(Pre-Depends|Depends|Recommends): (.*)$', command, re.MULTILINE):
        for server in re.findall(r'\b(?:redis|valkey)(?:-server)?\b', value):
            yield f'{field} of redlock installs {server}, which starts: use Suggests'


def lacking(listed):
    """The documents that an operator reads must be installed."""
    for name in 'NEWS', 'docs/acl', 'docs/operations', 'docs/troubleshooting':
        if f'{name}.md' not in listed.split():
            yield f'debian/redlock.docs lacks {name}.md'


STATIC = ['docs/containers.md', 'docs/examples/Dockerfile', 'scripts/systems']


def static_builds(texts):
    """scripts/systems tests the same build that the others name."""
    found = {name: {' '.join(sorted(set(re.findall(r'--?\w[\w=-]+', build))))
                    for build in re.findall(r'^(?:RUN|   )? *meson setup .*prefer-static(?:.*\\\n)*.*', text, re.M)}
             for name, text in texts.items()}
    wanted = found['scripts/systems']
    return [f'{name}: {builds}, and scripts/systems: {wanted}' for name, builds in found.items()
            if len(builds) != 1 or builds != wanted]


def main(root):
    tap = Tap()
    names = mapped(os.path.join(root, 'src', 'libredlock.map'))
    package = read(root, 'debian', 'libredlock0.symbols')
    tap.claim('the version of the package is that of the library',
              versions(read(root, 'meson.build'), read(root, 'debian', 'changelog')))
    tap.fires('another version', versions("  version: '1.2.3',\n", 'libredlock (1.2.2-1) x'), '1.2.3')
    tap.claim('the symbols of the package are those of the library', symbols(names, package))
    tap.fires('a new symbol', symbols(names | {'redlock_fly'}, package), 'redlock_fly')
    tap.fires('a symbol that is gone', symbols(names - {'redlock_new'}, package), 'redlock_new')
    for name in 'libredlock-dev.docs', 'libredlock-dev.examples', 'redlock.docs', 'redlock.examples':
        tap.claim(f'the files of debian/{name} are there',
                  from_the_tree(root, name, read(root, 'debian', name)))
        tap.claim('no two of them have the same name', overwritten(root, name, read(root, 'debian', name)))
    control = read(root, 'debian', 'control')
    tap.claim('the package of the command starts no server', started(control))
    tap.fires('a server that is recommended', started(control.replace('Suggests: redis', 'Recommends: redis')
                                                      .replace(' | valkey-server', '')), 'redis-server')
    tap.claim('it has the documents for operators', lacking(read(root, 'debian', 'redlock.docs')))
    tap.fires('a missing document', lacking('NEWS.md docs/acl.md docs/troubleshooting.md'), 'operations')
    tap.fires('two files of one name', overwritten(root, 'x', 'README.md docs/*.md'), 'README.md')
    tap.fires('a file that is not there', from_the_tree(root, 'x', 'README.md lost.md'), 'lost.md')
    texts = {name: read(root, name) for name in STATIC}
    tap.claim('the documented static build is the tested one', static_builds(texts))
    tap.fires('another static build', static_builds({**texts, STATIC[0]: texts[STATIC[0]].replace('--prefer-static', '--prefer-static -Dx=y')}), '-Dx=y')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
