#!/usr/bin/env python3
"""What `meson install` puts into a folder: `test_install.py MESON BUILD PREFIX`.

The command has to find its library without ldconfig and without LD_LIBRARY_PATH."""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))

from tap import Tap  # noqa: E402


def run_path(program):
    """The folders of its RUNPATH."""
    text = subprocess.run(['readelf', '-d', program], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return re.findall(r'R(?:UN)?PATH.*\[(.*)\]', text)


def complaints(root, prefix):
    program = f'{root}{prefix}/bin/redlock'
    if not os.path.exists(program):
        yield f'{program} is not there'
        return
    folders = run_path(program)
    if prefix != '/usr' and len(folders) != 1:
        yield f'its run path is {folders}'
    for folder in folders:
        if not os.path.exists(f'{root}{folder}/libredlock.so.0'):
            yield f'{folder} has no libredlock.so.0: {glob.glob(root + folder + "/*")}'


def main(meson, build, prefix):
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as root:
        subprocess.run([meson, 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', root],
                       check=True, stdout=subprocess.DEVNULL)
        tap.claim('the installed command finds its library', complaints(root, prefix))
        tap.claim('the manual is installed', [] if glob.glob(f'{root}{prefix}/share/man/man1/*')
                  else ['there is no man page'])
        for name in ('bash-completion/completions/redlock', 'zsh/site-functions/_redlock',
                     'fish/vendor_completions.d/redlock.fish', 'doc/libredlock/LICENSE'):
            there = os.path.exists(f'{root}{prefix}/share/{name}')
            tap.claim(f'share/{name} is installed', [] if there else ['it is not there'])
        for pattern in ('*.h', '*.hpp', 'hpp/*.hpp'):
            headers = glob.glob(f'{root}{prefix}/include/redlock/{pattern}')
            tap.claim(f'headers are installed: {pattern}', [] if headers else ['not one'])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
