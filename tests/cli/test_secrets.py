"""A password is shown nowhere, however it is given, and may be changed while a lock is held.

Nowhere: not in what any command prints or traces, nor in what the kernel shows of its processes
(arguments, environment), nor in what a core file of them would have. Runs three masters of its own.
$REDLOCK is the command under test; the output is TAP.
"""
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lint'))
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
SERVER = os.environ.get('REDIS_SERVER') or shutil.which('redis-server') or shutil.which('valkey-server')
PATIENT = ['--node-timeout', '20s', '--quarantine', 'off']
BOUND = 60


class Masters:
    """Masters on TCP ports with a password."""

    def __init__(self, folder, n, password):
        self.password = password
        self.ports = [self.free_port() for _ in range(n)]
        self.processes = [
            subprocess.Popen([SERVER, '--port', str(port), '--bind', '127.0.0.1', '--save', '', '--dir',
                              folder, '--requirepass', password], stdout=subprocess.DEVNULL)
            for port in self.ports]
        for port in self.ports:
            until(lambda port=port: self.ask(port, 'PING') == '+PONG')

    @staticmethod
    def free_port():
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            return probe.getsockname()[1]

    def ask(self, port, command):
        """The first line of the reply to an inline command."""
        try:
            with socket.create_connection(('127.0.0.1', port), timeout=BOUND) as link:
                link.sendall(f'AUTH {self.password}\r\n{command}\r\n'.encode())
                reader = link.makefile()
                reader.readline()
                return reader.readline().strip()
        except OSError as error:
            return str(error)

    def change_password(self, password):
        for port in self.ports:
            self.ask(port, f'CONFIG SET requirepass {password}')
        self.password = password

    def end_connections(self):
        for port in self.ports:
            self.ask(port, 'CLIENT KILL TYPE normal')

    def uris(self, login=''):
        return [f'redis://{login}127.0.0.1:{port}' for port in self.ports]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def until(condition):
    end = time.monotonic() + BOUND
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError('the condition does not come true')
        time.sleep(0.02)


def environment(**variables):
    clean = {name: value for name, value in os.environ.items() if not name.startswith('REDLOCK')}
    return {**clean, **variables}


class Way:
    """How a password is given: options, variables, and stdin."""

    def __init__(self, name, options=(), variables=None, stdin=None):
        self.name, self.options, self.stdin = name, list(options), stdin
        self.variables = variables or {}

    def start(self, *words, cmd=(), stderr=subprocess.PIPE):
        end = ['--', *cmd] if cmd else []
        return subprocess.Popen([REDLOCK, *words, *PATIENT, *self.options, *end], text=True,
                                env=environment(**self.variables), stdout=subprocess.PIPE,
                                stderr=stderr,
                                stdin=subprocess.PIPE if self.stdin else subprocess.DEVNULL)

    def run(self, *words, cmd=()):
        process = self.start(*words, cmd=cmd)
        out, err = process.communicate(self.stdin, timeout=BOUND)
        return process.returncode, out, err


def write(path, lines):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(''.join(line + '\n' for line in lines))


def all_ways(masters, folder):
    plain = ','.join(masters.uris())
    login = masters.uris(f':{masters.password}@')
    path, config = os.path.join(folder, 'password'), os.path.join(folder, 'nodes')
    lines = masters.uris() + ['username = default']
    write(path, [masters.password])
    write(config, login)
    write(config + '-file', lines + [f'password-file = {path}'])
    write(config + '-command', lines + [f'password-command = cat {path}'])
    nodes = ['--nodes', plain]
    return [
        Way('a URI of --nodes', ['--nodes', ','.join(login)]),
        Way('a URI of --nodes=', ['--nodes=' + ','.join(login)]),
        Way('a URI of REDLOCK_NODES', [], {'REDLOCK_NODES': ' '.join(login)}),
        Way('a URI of a file', [], {'REDLOCK_CONFIG': config}),
        Way('password-file in a file', [], {'REDLOCK_CONFIG': config + '-file'}),
        Way('password-command in a file', [], {'REDLOCK_CONFIG': config + '-command'}),
        Way('--password-file', [*nodes, '--password-file', path]),
        Way('--password-file with a pipe', [*nodes, '--password-file', '/dev/stdin'],
            stdin=masters.password + '\n'),
        Way('--password-command', [*nodes, '--password-command', f'cat {path}']),
        Way('REDLOCK_PASSWORD_FILE', nodes, {'REDLOCK_PASSWORD_FILE': path}),
        Way('REDLOCK_PASSWORD_COMMAND', nodes, {'REDLOCK_PASSWORD_COMMAND': f'cat {path}'}),
        Way('REDLOCK_PASSWORD', nodes, {'REDLOCK_PASSWORD': masters.password}),
    ]


# ---- what the kernel shows ----

def read(path):
    with open(path, 'rb') as file:
        return file.read()


def descendants(pid):
    found = [pid]
    for task in os.listdir(f'/proc/{pid}/task'):
        for child in read(f'/proc/{pid}/task/{task}/children').split():
            found += descendants(int(child))
    return found


def mappings(pid):
    """(from, to, left out of core files) of each mapping that can be read."""
    area = None
    for row in read(f'/proc/{pid}/smaps').decode().splitlines():
        head = re.match(r'([0-9a-f]+)-([0-9a-f]+) (r?)', row)
        if head and not row.startswith('VmFlags'):
            area = (int(head[1], 16), int(head[2], 16)) if head[3] else None
        elif row.startswith('VmFlags:') and area:
            yield (*area, ' dd' in row)


def memory_has(pid, secret, left_out=False):
    """Whether a core file (or the memory that it leaves out) would have the secret."""
    with open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
        for start, end, is_left_out in mappings(pid):
            if is_left_out != left_out:
                continue
            try:
                memory.seek(start)
                if secret in memory.read(end - start):
                    return True
            except (OSError, OverflowError, ValueError):
                continue  # [vvar], [vsyscall]
    return False


def keeps_copies(pid):
    """AddressSanitizer has copies of its own: of the environment, and of what was freed."""
    return b'libasan' in read(f'/proc/{pid}/maps')


def shown_of(pid, secret):
    name = read(f'/proc/{pid}/comm').decode().strip()
    for what in ['cmdline', 'environ']:
        if secret in read(f'/proc/{pid}/{what}'):
            yield f'/proc/PID/{what} of {name} has the password'
    if not keeps_copies(pid) and memory_has(pid, secret):
        yield f'a core file of {name} would have the password'


def showing(pid, secret):
    """Where the kernel shows the secret of this process and of those that it has started."""
    for each in descendants(pid):
        try:
            yield from shown_of(each, secret)
        except (ProcessLookupError, FileNotFoundError):
            if each == pid:
                raise


# ---- the claims ----

def hold(way, cmd, key='k', ttl='2s'):
    """Start redlock lock, and wait until it has begun CMD, which prints a line."""
    process = way.start('lock', key, '--ttl', ttl, '-v', '--trace', cmd=cmd)
    if way.stdin:
        process.stdin.write(way.stdin)
        process.stdin.close()
        process.stdin = None
    line = process.stdout.readline()
    return process, line


def nothing_is_shown_while_a_lock_is_held(tap, way, secret):
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, 'fifo')
        os.mkfifo(fifo)
        process, line = hold(way, ['sh', '-c', f'env; echo held; read line <{fifo}'])
        printed = line
        while line and line != 'held\n':
            line = process.stdout.readline()
            printed += line
        if not line:
            raise RuntimeError(process.communicate())
        found = list(showing(process.pid, secret.encode()))
        control = memory_has(process.pid, b'REDLOCK') or memory_has(process.pid, secret.encode(), True)
        with open(fifo, 'w', encoding='utf-8') as file:
            file.write('\n')
        out, err = process.communicate(timeout=BOUND)
    tap.claim(f'{way.name}: the lock is held', [] if process.returncode == 0 else [err])
    tap.claim(f'{way.name}: no process shows the password', found)
    tap.claim(f'{way.name}: the memory was read', [] if control else ['nothing was found in it'])
    tap.claim(f'{way.name}: lock -v --trace and the environment of CMD do not have the password',
              [text for text in (printed + out, err) if secret in text])


def nothing_is_printed(tap, way, secret):
    status, token, err = way.run('acquire', 'k', '--ttl', '1m')
    tap.claim(f'{way.name}: acquire logs in', [] if status == 0 else [err])
    token = token.strip()
    for words in [['extend', 'k', '--token', token], ['status', 'k', '--json'], ['nodes'],
                  ['doctor'], ['doctor', '--json'], ['release', 'k', '--token', token]]:
        status, out, err = way.run(*words, '-v', '--trace')
        wrong = [f'exit {status}: {err}'] if status not in (0, 1) else []
        tap.claim(f'{way.name}: {" ".join(words[:1])} works, and does not print the password',
                  wrong + [text for text in (out, err) if secret in text])


def nothing_is_printed_of_a_refused_password(tap, masters, folder):
    """The ways of before, when the masters have another password."""
    ways, secret = all_ways(masters, folder), masters.password
    masters.change_password(secrets.token_hex(8))
    for way in ways:
        status, out, err = way.run('lock', 'k', '-v', '--trace', cmd=['true'])
        wrong = [] if status == 69 and 'rejected our user' in err else [f'exit {status}: {err}']
        tap.claim(f'{way.name}: a refused password is said and not shown',
                  wrong + [text for text in (out, err) if secret in text])


class Said:
    """What a process writes to its stderr, a file, from now on."""

    def __init__(self, path):
        self.path, self.before = path, os.path.getsize(path)

    def text(self):
        with open(self.path, encoding='utf-8') as file:
            file.seek(self.before)
            return file.read()

    def count(self, words):
        return self.text().count(words)


def renews_over_new_connections(said):
    """After the last connection that makes a majority the lock is renewed."""
    return any('is renewed' in rest for rest in said.text().split(' connected: ')[2:])


def change(masters, path, early, said):
    """Everywhere. early: write the file first; otherwise when a majority has refused the former one."""
    password = secrets.token_hex(8)
    if early:
        write(path, [password])
    masters.change_password(password)
    masters.end_connections()
    if not early:
        until(lambda: said.count('rejected our user or password') >= 2)
        write(path, [password])


def nothing_is_lost_by_a_new_password(tap, masters, folder, name, command, early):
    """CMD ends when the lock was renewed with the new password, and redlock with its exit status."""
    way = next(way for way in all_ways(masters, folder) if way.name == name)
    log, fifo = os.path.join(folder, 'log'), os.path.join(folder, 'fifo')
    os.mkfifo(fifo)
    with open(log, 'w', encoding='utf-8') as stderr:
        process = way.start(command, 'rotated', '--ttl', '12s', '-v', '--trace', stderr=stderr,
                            cmd=['sh', '-c', f'echo held; read line <{fifo}; exit 7'])
    line = process.stdout.readline()
    said = Said(log)
    change(masters, os.path.join(folder, 'password'), early, said)
    try:
        until(lambda: renews_over_new_connections(said) or process.poll() is not None)
    except TimeoutError:
        process.kill()
    if process.poll() is None:
        write(fifo, [''])
    process.communicate(timeout=BOUND)
    os.remove(fifo)
    when = 'written before' if early else 'written when the masters refuse the former one'
    tap.claim(f'{name}: redlock {command} loses nothing by a new password, {when}',
              [] if (line, process.returncode) == ('held\n', 7)
              else [f'exit {process.returncode}: {line}{said.text()}'])


def a_command_that_fails(tap, masters):
    for command, words in [('exit 3', 'ended with status 3'), ('true', 'printed nothing'),
                           ('echo oh >&2; kill -9 $$', 'ended with status 137')]:
        way = Way(command, ['--nodes', masters.uris()[0], '--password-command', command])
        status, _, err = way.run('nodes')
        tap.claim(f"--password-command '{command}' is refused",
                  [] if status == 64 and words in err else [f'exit {status}: {err}'])
    tap.claim('what it writes to stderr is shown', [] if 'oh\n' in err else [err])
    way = Way('both', ['--nodes', masters.uris()[0], '--password-command', 'x', '--password-file', 'y'])
    status, _, err = way.run('nodes')
    tap.claim('a file and a command are too much',
              [] if status == 64 and 'both given' in err else [f'exit {status}: {err}'])


def main():
    tap = Tap()
    secret = secrets.token_hex(8)
    with tempfile.TemporaryDirectory() as folder:
        masters = Masters(folder, 3, secret)
        try:
            ways = all_ways(masters, folder)
            for way in ways:
                nothing_is_shown_while_a_lock_is_held(tap, way, secret)
            for way in ways:
                nothing_is_printed(tap, way, secret)
            nothing_is_printed_of_a_refused_password(tap, masters, folder)
            for name, command, early in [
                    ('--password-file', 'lock', True), ('--password-command', 'lock', True),
                    ('password-file in a file', 'elect', True),
                    ('password-file in a file', 'lock', False),
                    ('password-command in a file', 'elect', False)]:
                nothing_is_lost_by_a_new_password(tap, masters, folder, name, command, early)
            a_command_that_fails(tap, masters)
        finally:
            masters.end()
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
