#!/usr/bin/env python3
"""Each public header compiles alone: those of C as C99 and as C++, those of C++ as C++17, 20 and 23.
`headers.py ROOT CC [CXX...]`."""
import os
import subprocess
import sys
import tempfile

from tap import Tap

STRICT = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-fsyntax-only']
C99 = ['-x', 'c', '-std=c99'] + STRICT
CXX = ['-x', 'c++', '-std=c++98', '-Wno-long-long', '-Wno-variadic-macros'] + STRICT
CXX11 = ['-x', 'c++', '-std=c++11', '-Wshadow'] + STRICT
STRICTER = STRICT + ['-Wshadow', '-Wconversion', '-Wsign-conversion', '-Wold-style-cast', '-Wnon-virtual-dtor',
                     '-Woverloaded-virtual']
MODERN = {f'C++{year}': ['-x', 'c++', f'-std=c++{name}'] + STRICTER
          for year, name in [('17', '17'), ('20', '20'), ('23', '2b')]}


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


def headers(include_dir, ending):
    for folder, _, names in sorted(os.walk(os.path.join(include_dir, 'redlock'))):
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.relpath(os.path.join(folder, name), include_dir)


WHOLE = 'redlock/redlock.hpp'


def headers_of_cpp(tap, include_dir, compilers):
    for header in headers(include_dir, '.hpp'):
        if header == WHOLE:
            continue  # which is below
        tap.claim(f'{header} alone as C++17', complaints(compilers[:1], MODERN['C++17'], include_dir, header))
    for compiler in compilers:
        # The other compilers compile the C++ tests, too.
        languages = MODERN if compiler == compilers[0] else {'C++23': MODERN['C++23']}
        for language, options in languages.items():
            tap.claim(f'{WHOLE} as {language} ({os.path.basename(compiler)})',
                      complaints([compiler], options, include_dir, WHOLE))
        tap.claim(f'{WHOLE} without exceptions ({os.path.basename(compiler)})',
                  complaints([compiler], MODERN['C++17'] + ['-fno-exceptions'], include_dir, WHOLE))


def main(root, c, *compilers):
    tap = Tap()
    include_dir = os.path.join(root, 'include')
    cxx = compilers[0] if compilers else None
    ways = [('C99', c.split(), C99)]
    if cxx:
        ways += [('C++98', cxx.split(), CXX), ('C++11', cxx.split(), CXX11)]
    for header in headers(include_dir, '.h'):
        for language, compiler, options in ways:
            tap.claim(f'{header} alone as {language}', complaints(compiler, options, include_dir, header))
    if compilers:
        headers_of_cpp(tap, include_dir, compilers)
    fires(tap, 'a header that forgot an include', c.split(), C99,
          '#ifndef B\n#define B\nuint32_t f(void);\n#endif\n')
    fires(tap, 'a header without a guard', c.split(), C99, 'struct twice {\n    int x;\n};\n')
    fires(tap, 'a header that needs C11', c.split(), C99,
          '#ifndef B\n#define B\nstruct s {\n    union {\n        int x;\n    };\n};\n#endif\n')
    if cxx:
        fires(tap, 'a header that C++ cannot read', cxx.split(), CXX,
              '#ifndef B\n#define B\nint f(int class);\n#endif\n')
        fires(tap, 'a function that has the name of a struct', cxx.split(), CXX11,
              '#ifndef B\n#define B\nstruct s {\n    int x;\n};\nint s(struct s *arg);\n#endif\n')
        fires(tap, 'a header that throws where it must not', cxx.split(), MODERN['C++17'] + ['-fno-exceptions'],
              '#ifndef B\n#define B\ninline void f() {\n    throw 1;\n}\n#endif\n')
        fires(tap, 'a header of C++ that shadows', cxx.split(), MODERN['C++17'],
              '#ifndef B\n#define B\nstruct s {\n    void f(int x) { (void)x; { int x = 1; (void)x; } }\n};\n#endif\n')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
