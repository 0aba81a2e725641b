#!/usr/bin/env python3
"""The scripts are good Lua: `lua.py LUAC SOURCE_FOLDER BUILD_FOLDER`

Each file is valid Lua 5.1, which every server runs. The text that is sent uses no global variables
except those of a server: otherwise a misspelt name, or a shared file that was not included, would be
found only at run time. A line is either a comment or code, as embed.py expects.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from tap import Tap, skip_all

VERSION = 'Lua 5.1'
GLOBALS = {'ARGV', 'KEYS', 'ipairs', 'math', 'redis', 'string', 'table', 'tonumber', 'type', 'unpack'}

# From the listing of luac: the operation, the line, and the name.
GLOBAL = re.compile(r'\[(\d+)\]\s+(GET|SET)GLOBAL\s.*; (\w+)$', re.MULTILINE)


def luac(program, *words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def syntax(program, path):
    done = luac(program, '-p', path)
    return [done.stdout] if done.returncode else []


def foreign_globals(program, path):
    for line, what, name in GLOBAL.findall(luac(program, '-p', '-l', path).stdout):
        if what == 'SET' or name not in GLOBALS:
            yield f'{os.path.basename(path)}, line {line}: the global variable {name}'


def mixed_lines(path):
    with open(path, encoding='ascii') as file:
        for number, line in enumerate(file, 1):
            if re.search('--|\\[=*\\[', line) and not re.match(r'\s*--(?!\[=*\[)', line):
                yield f'{os.path.basename(path)}, line {number}: not a line of code or of comment'


def of_text(text, check, *words):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x.lua')
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        return list(check(*words, path))


def fires(tap, program):
    tap.fires('a missing end', of_text('if x then\n', syntax, program), "'end' expected")
    tap.fires('a name that is misspelt', of_text('return ARVG[1]\n', foreign_globals, program), 'ARVG')
    tap.fires('a variable that is not local', of_text('x = 1\n', foreign_globals, program), 'x')
    tap.fires('a comment behind code', of_text('return 1 -- one\n', mixed_lines), 'line 1')
    tap.fires('a comment of several lines', of_text('--[[ one\n', mixed_lines), 'line 1')
    tap.claim('passes: a comment that has a line', of_text('-- 1 -- 2 [[\n', mixed_lines))


def scripts(folder):
    return sorted(glob.glob(os.path.join(folder, '**', '*.lua'), recursive=True))


def main(program, sources, *wholes):
    try:
        version = luac(program, '-v').stdout
    except OSError:
        skip_all('there is no luac')
    if not version.startswith(VERSION):
        skip_all(f'luac is not of {VERSION}')
    tap = Tap()
    for path in scripts(sources):
        name = os.path.relpath(path, sources)
        tap.claim(f'{name} is Lua', syntax(program, path))
        tap.claim(f'{name}: code and comments have lines of their own', mixed_lines(path))
    for path in (path for folder in wholes for path in scripts(folder)):
        name = os.path.basename(path)
        tap.claim(f'{name}, as it is sent, is Lua', syntax(program, path))
        tap.claim(f'{name}, as it is sent, has no globals of its own',
                  foreign_globals(program, path))
    fires(tap, program)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
