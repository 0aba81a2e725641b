#!/usr/bin/env python3
"""Every C file is formatted as .clang-format says: `format.py ROOT CLANG_FORMAT`.

Other versions of clang-format format the same file differently, so only the version that the
project uses is run.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap, skip_all

VERSION = '14'
FOLDERS = ['bench', 'docs', 'include', 'src', 'tests']


def sources(root):
    for folder in FOLDERS:
        for place, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(('.c', '.h', '.cpp', '.hpp')):
                    yield os.path.join(place, name)


def complaints(clang_format, paths):
    """A complaint for each file that clang-format would change."""
    done = subprocess.run([clang_format, '--style=file', '--dry-run', '-Werror', *paths],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first = {}
    for line in done.stdout.splitlines():
        match = re.match(r'(.*\.[ch](?:pp)?):\d+:\d+: error', line)
        if match:
            first.setdefault(match.group(1), line)
    found = [f'{line}\nfix it with: {clang_format} -i {path}' for path, line in first.items()]
    return found if found or done.returncode == 0 else [done.stdout]


def complaints_about_text(root, clang_format, text):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(root, '.clang-format'), folder)
        path = os.path.join(folder, 'x.c')
        with open(path, 'w', encoding='utf-8') as source:
            source.write(text)
        return complaints(clang_format, [path])


def main(root, clang_format):
    try:
        version = subprocess.run([clang_format, '--version'], stdout=subprocess.PIPE, text=True)
    except OSError:
        skip_all('there is no clang-format')
    if not re.search(rf'version {VERSION}\.', version.stdout):
        skip_all(f'clang-format is not version {VERSION}')
    tap = Tap()
    tap.claim('every C file is formatted', complaints(clang_format, list(sources(root))))
    tap.fires('a line that is too long', complaints_about_text(
        root, clang_format, 'int f(int ' + 'a' * 60 + ', int ' + 'b' * 60 + ');\n'), 'x.c')
    tap.fires('tabs', complaints_about_text(
        root, clang_format, 'int f(void)\n{\n\treturn 1;\n}\n'), 'x.c')
    tap.claim('passes: a good file', complaints_about_text(
        root, clang_format, 'int f(void)\n{\n    return 1;\n}\n'))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
