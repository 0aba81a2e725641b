#!/usr/bin/env python3
"""-Dio=disabled builds the simulator without libevent and hiredis: `test_without_io.py MESON NINJA
SOURCE BUILD`. pkg-config finds nothing there, and the compiler must not read their headers."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))

from tap import Tap  # noqa: E402


def run(*words):
    """What a command printed, and its status."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=os.environ | {'PKG_CONFIG_LIBDIR': '', 'PKG_CONFIG_PATH': ''})
    return done.stdout, done.returncode


def complaints(*words):
    text, status = run(*words)
    return text.splitlines()[-30:] if status else []


def headers_read(ninja, build):
    """The headers of libevent and hiredis that a source includes."""
    text, status = run(ninja, '-C', build, '-t', 'deps')
    if status or 'src/core/round.h' not in text:
        return ['ninja does not know what was included']
    return sorted({line.strip() for line in text.splitlines()
                   if '/event2/' in line or '/hiredis/' in line})


def main(meson, ninja, source, build):
    tap = Tap()
    if not os.path.exists(f'{build}/build.ninja'):
        tap.claim('is set up without pkg-config', complaints(
            meson, 'setup', build, source, '-Dio=disabled', '-Dwerror=true', '-Dbuildtype=plain', '-Doptimization=0'))
    tap.claim('the simulator is built', complaints(ninja, '-C', build, 'tests/sim/redlock-sim'))
    tap.claim('no header of libevent or hiredis is read', headers_read(ninja, build))
    tap.claim('the simulator runs', complaints(f'{build}/tests/sim/redlock-sim', '--seeds', '20'))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
