#!/usr/bin/env python3
"""What the documents repeat is still true: `docs.py ROOT`.

The README's example is the one that the build compiles, and every test that a document names by
its function exists.
"""
import os
import re
import sys

from tap import Tap


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def example(source):
    """An example without the comment that heads it."""
    return source.split('*/\n', 1)[1]


def first_c_block(markdown):
    found = re.search(r'```c\n(.*?)```', markdown, re.S)
    return found.group(1) if found else ''


def example_differs(markdown, source):
    return [] if first_c_block(markdown) == example(source) else ['the example differs']


def names(markdown):
    """Words in backquotes that look like the name of a test: three parts and more."""
    return [word for word in re.findall(r'`([a-z0-9_]+)`', markdown) if word.count('_') >= 3]


def missing_tests(markdown, tests):
    return [f'no test is called {name}' for name in names(markdown)
            if f'START_TEST({name})' not in tests and f'\n    {{"{name}",' not in tests]


def all_tests(root):
    found = []
    for folder, _, files in os.walk(os.path.join(root, 'tests')):
        found += [read(folder, name) for name in files if name.endswith('.c')]
    return '\n'.join(found)


def main(root):
    tap = Tap()
    source = read(root, 'docs', 'examples', 'acquire.c')
    tap.claim("the README's example is docs/examples/acquire.c",
              example_differs(read(root, 'README.md'), source))
    tests = all_tests(root)
    for name in ('algorithm.md', 'design.md', 'guarantees.md', 'simulator.md'):
        tap.claim(f'the tests named in docs/{name} exist',
                  missing_tests(read(root, 'docs', name), tests))
    tap.fires('another example', example_differs('```c\nint x;\n```', '/* c */\nint y;\n'), 'differs')
    tap.fires('a test that is gone', missing_tests('`no_such_test_here`', tests), 'no_such_test')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
