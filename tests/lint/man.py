#!/usr/bin/env python3
"""The man pages: `man.py ROOT PAGES MANDOC`; PAGES is the folder of those that are made from headers.

mandoc has nothing to warn of, and each function of the library has a page.
"""
import glob
import os
import subprocess
import sys
import tempfile

from symbols import mapped
from tap import Tap, skip_all


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


def main(root, folder, mandoc=None):
    if not mandoc:
        skip_all('there is no mandoc')
    tap = Tap()
    made = sorted(glob.glob(os.path.join(folder, '*.3')))
    links = [page for page in made if is_link(page)]
    whole = [page for page in made if page not in links]
    names = {os.path.basename(page) for page in made}
    for page in [os.path.join(root, 'docs', 'man', 'redlock.1'), *whole]:
        tap.claim(f'mandoc has nothing to warn of: {os.path.basename(page)}', warnings(mandoc, page))
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
