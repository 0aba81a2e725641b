#!/usr/bin/env python3
"""Each public header compiles alone, as C99 and as C++: `headers.py ROOT CC [CXX]`."""
import os
import subprocess
import sys
import tempfile

from tap import Tap

STRICT = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-fsyntax-only']
C99 = ['-x', 'c', '-std=c99'] + STRICT
CXX = ['-x', 'c++', '-std=c++98', '-Wno-long-long', '-Wno-variadic-macros'] + STRICT
CXX11 = ['-x', 'c++', '-std=c++11'] + STRICT


def complaints(compiler, options, include_dir, header):
    """What the compiler prints for a file that only includes the header, twice."""
    line = f'#include <{header}>\n'
    end = 'extern int not_empty;\n'
    done = subprocess.run([*compiler, *options, f'-I{include_dir}', '-'], input=line + line + end,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [done.stdout] if done.returncode else []


def fires(tap, text, compiler, options, body):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'bad.h'), 'w', encoding='utf-8') as header:
            header.write(body)
        tap.fires(text, complaints(compiler, options, folder, 'bad.h'), 'bad.h')


def main(root, c, cxx=None):
    tap = Tap()
    include_dir = os.path.join(root, 'include')
    ways = [('C99', c.split(), C99)]
    if cxx:
        ways += [('C++98', cxx.split(), CXX), ('C++11', cxx.split(), CXX11)]
    for name in sorted(os.listdir(os.path.join(include_dir, 'redlock'))):
        for language, compiler, options in ways:
            tap.claim(f'redlock/{name} alone as {language}',
                      complaints(compiler, options, include_dir, f'redlock/{name}'))
    fires(tap, 'a header that forgot an include', c.split(), C99,
          '#ifndef B\n#define B\nuint32_t f(void);\n#endif\n')
    fires(tap, 'a header without a guard', c.split(), C99, 'struct twice {\n    int x;\n};\n')
    fires(tap, 'a header that needs C11', c.split(), C99,
          '#ifndef B\n#define B\nstruct s {\n    union {\n        int x;\n    };\n};\n#endif\n')
    if cxx:
        fires(tap, 'a header that C++ cannot read', cxx.split(), CXX,
              '#ifndef B\n#define B\nint f(int class);\n#endif\n')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
