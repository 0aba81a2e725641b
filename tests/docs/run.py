#!/usr/bin/env python3
"""Every block of the documents is true: `run.py ROOT BUILD CC...`. $REDLOCK: the command.

sh        runs, and every line of it succeeds
console   `$ command` and what it prints: numbers and tokens are any, but
          not a line that is only a number; ... is any text
c, cpp    a whole program is compiled, and run in a sandbox without arguments; a part is an excerpt of an example
sql, python, lua    an excerpt of an example
crontab   the command of each line succeeds; what it would find in /usr/local is `true`,
          and its keys have a prefix
redis, chrony, nodes    the program that reads such a file accepts it

All shell blocks of a document are one session, in a folder of its own, on five masters of a sandbox. A
script that a document names as ./NAME.sh is made there and prints its name; an `export REDLOCK_NODES`
is left out. Another block has `<!-- not tested: REASON -->` before it.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'lint'), os.path.join(HERE, '..', 'lib')]

from blocks import Block, blocks, commands, differs  # noqa: E402
from tap import Tap  # noqa: E402
from until import until  # noqa: E402

REDLOCK = os.environ['REDLOCK']
BOUND_S = 300
PROGRAM = r'/usr/local/\S+'
SHELL = ('sh', 'console', 'crontab')
PROGRAMS = {'c': ['-std=c11'], 'cpp': ['-std=c++17', '-x', 'c++']}
RUNTIME = {'c': [], 'cpp': ['-lstdc++']}
EXCERPTS = (*PROGRAMS, 'sql', 'python', 'lua')


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), 'w', encoding='utf-8') as file:
        file.write(text)
    return os.path.join(*path)


# ---- shell ----

def steps(block):
    """(command, what it shows, or None) each."""
    if block.language == 'console':
        return [(command, '\n'.join(shown)) for command, shown in commands(block.text)]
    if block.language == 'crontab':
        lines = re.findall(r'^(?:@\w+|(?:[\d*/,-]+ +){5})\s*(?:root +)?(\S.*)$', block.text, re.M)
        return [(f'( export REDLOCK_KEY_PREFIX=cron:; {re.sub(PROGRAM, "true", line)} )', None)
                for line in lines] or [('false # no line of a crontab', None)]
    return [(f'( set -e\n{block.text})' if '=$(' not in block.text else block.text, None)]


def session(todo):
    """One script of all steps: what is between the marks \\1 and \\2 STATUS is what a step printed."""
    lines = []
    for command, _ in todo:
        command = re.sub(r'^( *)export REDLOCK_NODES=.*$', r'\1:', command, flags=re.M)
        lines += ["printf '\\001'", command, "printf '\\002%d\\n' $?"]
    return '\n'.join([*lines, 'kill $(jobs -p) 2>/dev/null', 'wait', ''])


def scripts(folder, text):
    for name in set(re.findall(r'\./(\w+\.sh)\b', text)):
        os.chmod(write(f'#!/bin/sh\necho {name}\n', folder, name), 0o755)


def ran(folder, todo):
    """What each step printed, and its status."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith('REDLOCK')}
    environment.update(HOME=folder, PATH=os.path.dirname(REDLOCK) + os.pathsep + os.environ['PATH'])
    scripts(folder, '\n'.join(command for command, _ in todo))
    done = subprocess.run([REDLOCK, 'sandbox', '--', 'bash', write(session(todo), folder, '.session')],
                          cwd=folder, env=environment, stdout=subprocess.PIPE, timeout=BOUND_S,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False)
    return re.findall('\1(.*?)\2(\\d+)\n', done.stdout, re.S), done.stdout


def shell(found):
    """(block, complaints) for the shell blocks of a document."""
    todo = [(block, step) for block in found for step in steps(block)]
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        results, everything = ran(folder, [step for _, step in todo])
    complaints = {block: [] for block in found}
    for at, (block, (command, shown)) in enumerate(todo):
        if at >= len(results):
            complaints[block].append(f'it did not come to: {command}\n{everything[-2000:]}')
        elif shown is not None:
            complaints[block] += [f'$ {command}\n{text}' for text in differs(shown, results[at][0])]
        elif results[at][1] != '0':
            complaints[block].append(f'exit status {results[at][1]}: {command}\n{results[at][0]}')
    return complaints.items()


# ---- programs and excerpts ----

def examples(root):
    folder = os.path.join(root, 'docs', 'examples')
    return [read(at, name) for at, _, names in os.walk(folder) for name in names
            if not name.endswith('.pyc')]


def excerpt(root, text):
    return [] if any(textwrap.indent(text, ' ' * depth) in example for example in examples(root)
                     for depth in (0, 4, 8)) else ['no file in docs/examples says this']


def program(root, build, cc, text, language='c'):
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        source, target = write(text, folder, 'program.' + language), os.path.join(folder, 'program')
        made = subprocess.run(
            [*cc, *PROGRAMS[language], '-D_DEFAULT_SOURCE', '-Wall', '-Wextra', '-Werror', source, '-o', target,
             '-I', os.path.join(root, 'include'), '-I', os.path.join(build, 'include'),
             '-L', os.path.join(build, 'src'), f'-Wl,-rpath,{os.path.join(build, "src")}',
             '-lredlock', '-levent_core', '-pthread', *RUNTIME[language]], capture_output=True, text=True, check=False)
        if made.returncode:
            return [made.stderr]
        run = subprocess.run([REDLOCK, 'sandbox', '-n', '3', '--', target],
                             capture_output=True, text=True, timeout=BOUND_S, check=False)
        return [] if run.returncode == 0 else [f'exit status {run.returncode}\n{run.stdout}{run.stderr}']


# ---- files of settings ----

def accepted(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND_S, check=False, **options)
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def redis(text):
    """The server listens, so it knows every setting; Redis 8 looks for them in its modules first."""
    server = shutil.which('redis-server') or shutil.which('valkey-server')
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        lines = re.sub(r'^(?:port|tls-port|bind|dir|aclfile|logfile|tls-\S+) .*$', '', text, flags=re.M)
        socket = os.path.join(folder, 'socket')
        conf = write(f'{lines}\nport 0\ndir {folder}\nunixsocket {socket}\n', folder, 'conf')
        with subprocess.Popen([server, conf], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            until(lambda: os.path.exists(socket) or running.poll() is not None, conf)
            listens = os.path.exists(socket)
            running.kill()
            printed = running.communicate()[0]
    return [] if listens else [printed]


def chrony(text):
    if not shutil.which('chronyd'):
        return []
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        return accepted(['chronyd', '-p', '-f', write(text, folder, 'chrony.conf')])


def nodes(text):
    """`redlock nodes` reads the file; 64 would be a mistake in it, 69 says that no master is there."""
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        os.makedirs(os.path.join(folder, 'redlock'))
        write(re.sub(r'redis://\S+', lambda found: f'unix:///nonexistent/{found.start()}', text),
              folder, 'redlock', 'nodes')
        done = subprocess.run([REDLOCK, 'nodes'], env=dict(os.environ, XDG_CONFIG_HOME=folder, HOME=folder),
                              capture_output=True, text=True, timeout=BOUND_S, check=False)
        return [] if done.returncode == 69 else [f'{done.returncode}: {done.stderr}']


FILES = {'redis': redis, 'chrony': chrony, 'nodes': nodes}


# ---- documents ----

def one(root, build, cc, block):
    if block.language in FILES:
        return FILES[block.language](block.text)
    if block.language in PROGRAMS and 'int main(' in block.text:
        return program(root, build, cc, block.text, block.language)
    if block.language in EXCERPTS:
        return excerpt(root, block.text)
    return ['it has no language that this test knows, and no reason not to be tested']


def checked(root, build, cc, markdown):
    """(block, complaints) for all blocks that have no reason."""
    todo = [block for block in blocks(markdown) if not block.reason]
    in_shell = [block for block in todo if block.language in SHELL]
    yield from shell(in_shell) if in_shell else ()
    yield from ((block, one(root, build, cc, block)) for block in todo if block not in in_shell)


def all_complaints(*arguments):
    return [text for _, complaints in checked(*arguments) for text in complaints]


def fires(tap, *where):
    for claim, text, word in [
            ('a block without a language', 'a\n\n    b\n\nc', 'no language'),
            ('a command that fails', '```sh\nfalse\ntrue\n```', 'exit status 1'),
            ('other output', '```console\n$ echo 5 apples\n6 pears\n```', 'pears'),
            ('another exit status', '```console\n$ redlock acquire k\n...\n'
             '$ redlock lock k --no-wait -qE 3 true; echo $?\n0\n```', 'printed:\n3'),
            ('a program that does not compile', '```c\nint main(void) { return x; }\n```', 'undeclared'),
            ('a program in C++ that does not', '```cpp\nint main() { return x; }\n```', 'not declared'),
            ('a part of no example', '```lua\nreturn no_example\n```', 'no file'),
            ('a setting that does not exist', '```redis\nappend-fsync always\n```', 'append-fsync'),
            ('a file of nodes that is wrong', '```nodes\nredis://a\nmax-ttl = 5 apples\n```', '64'),
            ('a job of cron that fails', '```crontab\n0 3 * * * exit 7\n```', 'exit status')]:
        tap.fires(claim, all_complaints(*where, text + '\n'), word)
    tap.claim('passes: numbers and tokens', differs('5 ms ...\nx', '17.5 ms and more\nx'))
    reasoned = list(blocks('a\n\n<!-- not tested: because -->\n\n    b\n\nc'))
    tap.claim('passes: a reason', [] if [block.reason for block in reasoned] == ['because'] else reasoned)
    assert isinstance(reasoned[0], Block)


def main(root, build, *cc):
    tap, where = Tap(), (root, build, cc)
    folder = os.path.join(root, 'docs')
    without = 0
    for path in [os.path.join(root, 'README.md'), *sorted(
            os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.md'))]:
        name = os.path.relpath(path, root)
        without += len([block for block in blocks(read(path)) if block.reason])
        for block, complaints in checked(*where, read(path)):
            tap.claim(f'{name}: {block}', complaints)
    fires(tap, *where)
    status = tap.finish()
    print(f'# {without} blocks are not tested, each with its reason')
    return status


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
