#!/usr/bin/env python3
"""The simulator needs neither libevent nor hiredis: `test_without_io.py MESON NINJA SOURCE BUILD SIMULATOR`.

With -Dio=disabled, and where pkg-config finds nothing, the simulator is made by the same commands as in BUILD. So it is not
made a second time: that BUILD's simulator runs, and that no header of the two libraries went into it, is true of both.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))

from tap import Tap  # noqa: E402

# How well a program is optimized and checked, and by what it is linked: of BUILD alone.
OWN = re.compile(r'-(O.|g\d?|Werror|f(lto|use-ld|diagnostics-color|fat-lto-objects)\b.*|[DU](NDEBUG|_FORTIFY_SOURCE)\b.*)')


def run(*words):
    """What a command printed, and its status."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=os.environ | {'PKG_CONFIG_LIBDIR': '', 'PKG_CONFIG_PATH': ''})
    return done.stdout, done.returncode


def complaints(*words):
    text, status = run(*words)
    return text.splitlines()[-30:] if status else []


def from_top(word, source, build):
    """A path, or -I and a path, from the top of the sources."""
    flag, path = re.fullmatch(r'(-I)?(.*)', word).groups()
    whole = os.path.normpath(os.path.join(build, path))
    inside = path.startswith('.') and whole.startswith(source + os.sep)
    return (flag or '') + os.path.relpath(whole, source) if inside else word


def commands(ninja, source, build, program):
    """What makes a program, without what each build has of its own."""
    text, status = run(ninja, '-C', build, '-t', 'commands', program)
    said = [words.replace(build, 'BUILD') for words in text.splitlines() if not words.startswith('ninja: ')]
    made = {' '.join(from_top(word, source, build) for word in words.split() if not OWN.fullmatch(word))
            for words in said}
    return made if status == 0 else set()


def differences(there, here, at_least):
    if len(here) < at_least:
        yield f'only {len(here)} commands'
    for line in sorted(there - here):
        yield f'only without libevent: {line}'
    for line in sorted(here - there):
        yield f'only with libevent: {line}'


def objects(made):
    return {re.search(r' -o (\S+\.o) ', words)[1] for words in made if ' -c ' in words}


def headers_read(text, wanted):
    """The headers of libevent and hiredis that a source of these objects includes, as `ninja -t deps` has it."""
    seen = set()
    for block in text.split('\n\n'):
        name = block.lstrip().split(': #deps')[0]
        if name in wanted:
            seen.add(name)
            yield from (f'{name}: {line.strip()}' for line in block.splitlines()
                        if '/event2/' in line or '/hiredis/' in line)
    if seen != wanted:
        yield f'ninja does not know what these include: {sorted(wanted - seen)[:5]}'


def main(meson, ninja, source, build, simulator):
    tap = Tap()
    program = os.path.relpath(simulator, build)
    here = commands(ninja, source, build, program)
    with tempfile.TemporaryDirectory() as folder:
        there = os.path.join(folder, 'without-io')
        tap.claim('is set up without pkg-config', complaints(meson, 'setup', there, source, '-Dio=disabled', '-Dwerror=true'))
        tap.claim('the simulator is made by the same commands',
                  differences(commands(ninja, source, there, program), here, 100))
    tap.claim('no header of libevent or hiredis is read', headers_read(run(ninja, '-C', build, '-t', 'deps')[0], objects(here)))
    tap.claim('the simulator runs', complaints(simulator, '--seeds', '20'))
    tap.fires('a source that only one of them has', differences({'gcc -c a.c'}, {'gcc -c a.c', 'gcc -c b.c'}, 1), 'b.c')
    tap.fires('too few commands', differences({'gcc -c a.c'}, {'gcc -c a.c'}, 2), 'only 1')
    tap.fires('a header of libevent', headers_read('a.o: #deps 1, deps mtime 1 (VALID)\n    /usr/include/event2/event.h\n', {'a.o'}),
              'event.h')
    tap.fires('an object that was not compiled', headers_read('', {'a.o'}), 'a.o')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
