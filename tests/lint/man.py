#!/usr/bin/env python3
"""The man pages: `man.py ROOT PAGES MANDOC`; PAGES is the folder of those that are made from headers.

Each function of the library has a page, each declaration a comment, and mandoc has nothing to warn of.
"""
import glob
import os
import subprocess
import sys
import tempfile

from symbols import mapped
from tap import Tap, skip_all

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'man'))
import declarations  # noqa: E402  (what makes the pages)
from headers import HEADERS  # noqa: E402


def warnings(mandoc, *pages):
    """Of style mandoc says more, such as that a line is long."""
    done = subprocess.run([mandoc, '-T', 'lint', '-W', 'warning', *pages], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return [line for line in done.stdout.splitlines() if not line.startswith('mandoc: outdated')]


def is_link(page):
    with open(page, encoding='utf-8') as text:
        return text.read(4) == '.so '


def without_a_page(names, pages):
    for name in sorted(names):
        if f'{name}.3' not in pages:
            yield f'{name}() has no page'


def lost_links(links, pages):
    for link in links:
        with open(link, encoding='utf-8') as text:
            page = os.path.basename(text.read().split()[1])
        if page not in pages:
            yield f'{link}: there is no {page}'


def left_out(root, header):
    """The pages and headers that are still listed when a header is left out."""
    for action in ['names', 'headers']:
        done = subprocess.run([sys.executable, '-B', os.path.join(root, 'docs', 'man', 'headers.py'), '--without', header,
                               action, os.path.join(root, 'include')], text=True, stdout=subprocess.PIPE, check=True)
        yield from [name for name in done.stdout.split() if header in os.path.basename(name)]


def without_a_comment(item):
    for code in item.codes:
        if not item.comment:
            yield f'no comment: {code}'
        if code.startswith('struct'): # the values of an enum may speak for themselves
            for _, entries, text in declarations.members(code):
                if not text:
                    yield f'no comment: {entries[0]} of {item.title()}'


def commented(tap, folder):
    for header in HEADERS:
        _, items = declarations.read(os.path.join(folder, header + '.h'))
        tap.claim(f'each declaration of redlock/{header}.h has a comment',
                  [complaint for item in items if isinstance(item, declarations.Item)
                   for complaint in without_a_comment(item)])
    bad = declarations.Item('', 'int redlock_fly(void);')
    tap.fires('a function without a comment', without_a_comment(bad), 'redlock_fly')
    bad = declarations.Item('A bird.', 'struct bird {\n    /* Its size. */\n    size_t size;\n'
                            '    /* It. */\n    int a; /* one */\n    int wings;\n};')
    tap.fires('a field without a comment', without_a_comment(bad), 'wings')


def main(root, folder, mandoc=None):
    if not mandoc:
        skip_all('there is no mandoc')
    tap = Tap()
    commented(tap, os.path.join(root, 'include', 'redlock'))
    made = sorted(glob.glob(os.path.join(folder, '*.3')))
    links = [page for page in made if is_link(page)]
    whole = [page for page in made if page not in links]
    names = {os.path.basename(page) for page in made}
    for page in [os.path.join(root, 'docs', 'man', 'redlock.1'), *whole]:
        tap.claim(f'mandoc has nothing to warn of: {os.path.basename(page)}', warnings(mandoc, page))
    tap.claim('a header that is not installed has no page', left_out(root, 'testing'))
    functions = mapped(os.path.join(root, 'src', 'libredlock.map'))
    tap.claim('each function has a page', without_a_page(functions, names))
    tap.claim('each link leads to a page', lost_links(links, {os.path.basename(page) for page in whole}))
    tap.fires('a function without a page', without_a_page({'redlock_fly'}, names), 'redlock_fly')
    with tempfile.NamedTemporaryFile('w', suffix='.3') as page:
        page.write('.TH bad 3 2026-01-01 x\n.SH NAME\nbad \\- bad\n.SH DESCRIPTION\n.RE\nText.\n')
        page.flush()
        tap.claim('fires: an end of nothing', [] if warnings(mandoc, page.name) else ['no warning'])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
