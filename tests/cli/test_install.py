#!/usr/bin/env python3
"""What `meson install` puts into a folder: `test_install.py MESON BUILD PREFIX CC...`.

The command has to find its library without ldconfig and without LD_LIBRARY_PATH. A program finds the
library through pkg-config, the shared one and the static one, and through CMake."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))

from tap import Tap  # noqa: E402

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'examples',
                       'acquire.c')


# Settings with which the example finds no masters, and what it then says.
NO_MASTERS = {'REDLOCK_NODES': '', 'REDLOCK_CONFIG': '/nonexistent'}
SAYS = 'cannot read the masters'


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


def pkg_config(root, prefix, *words):
    said = subprocess.run(['pkg-config', f'--define-variable=prefix={root}{prefix}', *words],
                          check=True, stdout=subprocess.PIPE, text=True)
    return said.stdout


def flags(root, prefix, static):
    """What pkg-config says of the library below the root. Only that is linked statically: what
    --static adds is for a program that links everything so."""
    pc = glob.glob(f'{root}{prefix}/lib*/**/libredlock.pc', recursive=True)[0]
    if not static:
        return pkg_config(root, prefix, '--cflags', '--libs', pc).split()
    needed = pkg_config(root, prefix, '--print-requires-private', pc).splitlines()
    said = pkg_config(root, prefix, '--cflags', '--libs', pc, *(one.split()[0] for one in needed))
    return said.replace('-lredlock', '-l:libredlock.a').split()


def compiled(root, prefix, compiler, static):
    """Compile the example of the README, without masters; its libraries' names, and what it says."""
    words = flags(root, prefix, static) + ['-pthread']
    program = f'{root}/program'
    subprocess.run([*compiler, EXAMPLE, '-o', program, *words], check=True)
    folder = os.path.dirname(glob.glob(f'{root}{prefix}/lib*/**/libredlock.so', recursive=True)[0])
    # Without masters it ends before it has freed all.
    ran = subprocess.run([program], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**os.environ, **NO_MASTERS, 'LD_LIBRARY_PATH': folder,
                              'ASAN_OPTIONS': 'detect_leaks=0'})
    needs = subprocess.run(['readelf', '-d', program], check=True, stdout=subprocess.PIPE,
                           text=True).stdout
    return 'libredlock.so.0' in needs, ran


UNIT_TEST = [os.path.join(os.path.dirname(EXAMPLE), 'tested', name) for name in ('report.c', 'test_report.c')]


def unit_test(root, prefix, compiler):
    """A program's test with masters: they are in a separate library, which pkg-config finds."""
    folder = glob.glob(f'{root}{prefix}/lib*/**/pkgconfig', recursive=True)[0]
    said = pkg_config(root, prefix, '--cflags', '--libs', f'{folder}/libredlock.pc', f'{folder}/libredlock-testing.pc')
    program = f'{root}/test'
    subprocess.run([*compiler, *UNIT_TEST, '-o', program, *said.split()], check=True)
    ran = subprocess.run([program], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, 'LD_LIBRARY_PATH': os.path.dirname(folder)})
    if ran.returncode != 0 or '4 tests passed' not in ran.stdout:
        yield f'its unit test: {ran}'


def programs(root, prefix, compiler):
    for static in False, True:
        is_shared, ran = compiled(root, prefix, compiler, static)
        if is_shared == static:
            yield f'static: {static}, but it needs libredlock.so.0: {is_shared}'
        if ran.returncode != 1 or SAYS not in ran.stderr:
            yield f'static: {static}: {ran}'


def has_tls(root, prefix):
    """The installed library finds the module that is installed with it."""
    folder = os.path.dirname(glob.glob(f'{root}{prefix}/lib*/**/libredlock.so', recursive=True)[0])
    ran = subprocess.run([f'{root}{prefix}/bin/redlock', 'nodes', '--nodes', 'rediss://127.0.0.1:1'], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, 'LD_LIBRARY_PATH': folder})
    if 'Connection refused' not in ran.stdout:
        yield str(ran)


CMAKE = '''cmake_minimum_required(VERSION 3.16)
project(example C)
find_package(libredlock 0.1 REQUIRED)
add_executable(example {example})
target_link_libraries(example PRIVATE libredlock::redlock)
add_executable(unit_test {unit_test})
target_link_libraries(unit_test PRIVATE libredlock::testing libredlock::redlock)
'''


def extra_pages(prefix):
    """The pages about headers that are not installed. The page of a function is only a link."""
    for page in glob.glob(f'{prefix}/share/man/man3/redlock_*.3'):
        header = os.path.basename(page)[len('redlock_'):-len('.3')] + '.h'
        with open(page, encoding='utf-8') as text:
            if text.read(4) != '.so ' and not os.path.exists(f'{prefix}/include/redlock/{header}'):
                yield f'{page}: there is no redlock/{header}'


def by_cmake(root, prefix, compiler):
    """A program built with CMake finds the library below the root, and runs."""
    os.makedirs(f'{root}/cmake')
    with open(f'{root}/cmake/CMakeLists.txt', 'w', encoding='utf-8') as file:
        file.write(CMAKE.format(example=os.path.abspath(EXAMPLE), unit_test=' '.join(map(os.path.abspath, UNIT_TEST))))
    for words in (['-S', f'{root}/cmake', '-B', f'{root}/cmake/build', f'-DCMAKE_C_COMPILER={compiler[0]}',
                   f'-DCMAKE_C_FLAGS={" ".join(compiler[1:])}', f'-DCMAKE_PREFIX_PATH={root}{prefix}'],
                  ['--build', f'{root}/cmake/build']):
        made = subprocess.run(['cmake', *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode:
            yield made.stdout
            return
    ran = subprocess.run([f'{root}/cmake/build/example'], text=True, stderr=subprocess.PIPE,
                         env={**os.environ, **NO_MASTERS, 'ASAN_OPTIONS': 'detect_leaks=0'})
    if ran.returncode != 1 or SAYS not in ran.stderr:
        yield str(ran)
    ran = subprocess.run([f'{root}/cmake/build/unit_test'], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ran.returncode != 0 or '4 tests passed' not in ran.stdout:
        yield f'its unit test: {ran}'


def main(meson, build, prefix, *compiler):
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as root:
        subprocess.run([meson, 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', root],
                       check=True, stdout=subprocess.DEVNULL)
        tap.claim('the installed command finds its library', complaints(root, prefix))
        tap.claim('the manual is installed', [] if glob.glob(f'{root}{prefix}/share/man/man1/*')
                  else ['there is no man page'])
        tap.claim('each page about a header is about an installed one', extra_pages(f'{root}{prefix}'))
        for name in ('bash-completion/completions/redlock', 'zsh/site-functions/_redlock',
                     'fish/vendor_completions.d/redlock.fish', 'doc/libredlock/LICENSE'):
            there = os.path.exists(f'{root}{prefix}/share/{name}')
            tap.claim(f'share/{name} is installed', [] if there else ['it is not there'])
        for pattern in ('*.h', '*.hpp', 'hpp/*.hpp'):
            headers = glob.glob(f'{root}{prefix}/include/redlock/{pattern}')
            tap.claim(f'headers are installed: {pattern}', [] if headers else ['not one'])
        tap.claim('a program builds with the shared library and with the static one',
                  programs(root, prefix, compiler))
        tap.claim('and its unit test with the masters', unit_test(root, prefix, compiler))
        if glob.glob(f'{build}/src/libredlock/tls-*.so'):
            tap.claim('the installed command has TLS', has_tls(root, prefix))
        else:
            tap.claim('the installed command has TLS # SKIP the build has none', [])
        if shutil.which('cmake'):
            tap.claim('a program builds with CMake', by_cmake(root, prefix, compiler))
        else:
            tap.claim('a program builds with CMake # SKIP there is no cmake', [])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
