#!/usr/bin/env python3
"""Tests shadow.py, which copies the tree for the builds of the known bugs. Speaks TAP."""
import contextlib
import os
import subprocess
import sys
import tempfile

import mutate
import shadow

sys.path.insert(0, os.path.join(mutate.ROOT, 'tests', 'lint'))
from tap import Tap  # noqa: E402  (beside the lints)

LONG_AGO = (1, 1)
SOURCES = {'a.c': b'one\r\ntwo', 'b/c.lua': b'\0', 'b/run.sh': b'#!/bin/sh\n', '.rules': b''}


def write(root, files):
    for path, contents in files.items():
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shadow.write(path, contents)


def contents(root):
    return {path: shadow.read(os.path.join(root, path)) for path in shadow.files_of(root)}


def differ(found, wanted):
    return [] if found == wanted else [f'wanted {wanted}, found {found}']


@contextlib.contextmanager
def a_tree():
    """A source tree and its copy, in which every file is old."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'source')
        write(source, SOURCES)
        os.chmod(os.path.join(source, 'b/run.sh'), 0o755)
        tree = shadow.Tree(os.path.join(folder, 'builds', '1', 'tree'))
        tree.follow(source)
        make_old(tree)
        yield source, tree


def make_old(tree):
    for path in shadow.files_of(tree.folder):
        os.utime(os.path.join(tree.folder, path), LONG_AGO)


def new_ones(tree):
    """The files that were written since then."""
    return {path for path in shadow.files_of(tree.folder)
            if os.stat(os.path.join(tree.folder, path)).st_mtime > LONG_AGO[1]}


def what_is_copied(tap):
    with a_tree() as (source, tree):
        tap.claim('a new copy equals the source tree', differ(contents(tree.folder), SOURCES))
        tap.claim('a copied program is executable',
                  [] if os.access(os.path.join(tree.folder, 'b/run.sh'), os.X_OK) else ['it is not'])
        tap.claim('a copied file is not a link', [path for path in shadow.files_of(tree.folder)
                                            if os.path.islink(os.path.join(tree.folder, path))])
        write(source, {'.git/x': b'', 'c/.git': b'', '__pycache__/a.pyc': b'',
                       'build-x/.gitignore': b'# by meson\n*\n', 'build-x/y/z.c': b''})
        tree.follow(source)
        tap.claim('generated files are not copied', differ(contents(tree.folder), SOURCES))
        write(source, {'copies/x': b''})
        shadow.mark_as_build(os.path.join(source, 'copies'))
        tree.follow(source)
        tap.claim('copies inside the tree are not copied', differ(contents(tree.folder), SOURCES))


def what_is_followed(tap):
    with a_tree() as (source, tree):
        tree.follow(source)
        tap.claim('an unchanged file is not written again', differ(new_ones(tree), set()))
        write(source, {'a.c': b'1', 'new/d.c': b'2'})
        tree.follow(source)
        tap.claim('a changed file is written again', differ(new_ones(tree), {'a.c', 'new/d.c'}))
        os.remove(os.path.join(source, 'new/d.c'))
        os.remove(os.path.join(source, 'a.c'))
        tree.follow(source)
        tap.claim('a removed file is removed from the copy', differ(sorted(contents(tree.folder)),
                                             ['.rules', 'b/c.lua', 'b/run.sh']))
        tap.claim('a removed folder is removed from the copy',
                  differ(sorted(os.listdir(tree.folder)), ['.rules', 'b']))


def what_is_changed(tap):
    with a_tree() as (source, tree):
        with tree.changed('a.c', 'wrong\r\n'):
            tap.claim('a bug changes one file', differ(contents(tree.folder),
                                                    {**SOURCES, 'a.c': b'wrong\r\n'}))
            tap.claim('the file with the bug is new', differ(new_ones(tree), {'a.c'}))
            make_old(tree)
        tap.claim('the bug is taken out, byte by byte', differ(contents(tree.folder), SOURCES))
        tap.claim('the repaired file is new again', differ(new_ones(tree), {'a.c'}))
        with contextlib.suppress(KeyError), tree.changed('a.c', 'wrong'):
            raise KeyError
        tap.claim('the bug is taken out after an exception, too',
                  differ(contents(tree.folder), SOURCES))
        tap.claim('the sources are never changed', differ(contents(source), SOURCES))


def what_is_left(tap):
    with a_tree() as (source, tree):
        with tree.changed('a.c', 'wrong'):
            make_old(tree)
            tree.follow(source)  # as the next run does, when this one is killed
            tap.claim('a bug left by an interrupted run is repaired',
                      differ(contents(tree.folder), SOURCES))
            tap.claim('the file repaired after an interrupted run is new',
                      differ(new_ones(tree), {'a.c'}))


def who_has_it(tap):
    with a_tree() as (source, tree):
        tap.claim('a copy can be locked', differ(tree.claim(), True))
        tap.claim('a locked copy cannot be locked again',
                  differ(shadow.Tree(tree.folder).claim(), False))
        builder = subprocess.Popen(['sleep', '600'], pass_fds=[tree.lock.fileno()])
        tree.lock.close()
        tap.claim('a copy stays locked while it is built',
                  differ(shadow.Tree(tree.folder).claim(), False))
        builder.kill()
        builder.wait()
        tap.claim('a copy is unlocked after the build',
                  differ(shadow.Tree(tree.folder).claim(), True))


def main():
    tap = Tap()
    what_is_copied(tap)
    what_is_followed(tap)
    what_is_changed(tap)
    what_is_left(tap)
    who_has_it(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
