"""Servers for a test in Python: real ones, each in a folder of its own, and fakes that say anything.

All of them end with the test, however it ends. $REDIS_SERVER is the program, or redis-server, or
valkey-server.
"""
import ctypes
import os
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

PATIENCE_S = 20
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class Skip(Exception):
    """This server cannot be brought there."""


def until_true(condition, otherwise):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.005)


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def free_cluster_port():
    """A cluster node also listens at the port 10000 above its own."""
    while True:
        port = free_port()
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port + 10000))
                return port
            except (OSError, OverflowError):
                pass


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def become_server():
    """A file that must not grow is an error of write(), and not the end of the server."""
    die_with_parent()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


class Client:
    """A connection of the test to a server: whole replies, one after the other."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(path)
        self.replies = self.socket.makefile('rb')

    def send(self, *words):
        words = [str(word).encode() for word in words]
        self.socket.sendall(b'*%d\r\n' % len(words)
                            + b''.join(b'$%d\r\n%s\r\n' % (len(word), word) for word in words))

    def reply(self):
        line = self.replies.readline().decode('latin-1').rstrip('\r\n')
        if line.startswith('$') and line != '$-1':
            return self.replies.read(int(line[1:]) + 2)[:-2].decode('latin-1')
        if line.startswith('*'):
            return [self.reply() for _ in range(int(line[1:]))]
        return line[line.startswith(('+', ':')):]

    def close(self):
        self.replies.close()
        self.socket.close()


class Master:
    """A real server. Its options are lines of redis.conf; ValueError when it does not know one."""

    def __init__(self, folder, *options, program=None, arguments=()):
        self.folder, self.path = folder, os.path.join(folder, 'sock')
        self.uri = f'unix://{self.path}'
        self.program = program or os.environ.get('REDIS_SERVER') or shutil.which(
            'redis-server') or shutil.which('valkey-server')
        self.arguments = arguments
        self.client, self.may_load = None, False
        self.idle = []  # connections that stay open
        os.mkdir(folder)
        self.lines = [f'dir {folder}', 'save ""', f'unixsocket {self.path}', 'port 0', *options]
        self.start()

    def start(self):
        config = os.path.join(self.folder, 'conf')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('\n'.join(self.lines) + '\n')
        with open(os.path.join(self.folder, 'log'), 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen([self.program, config, *self.arguments], stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL,
                                            preexec_fn=become_server)
        until_true(self.is_there, f'{self.program} does not start in {self.folder}')

    def is_there(self):
        if self.process.poll() is not None:
            raise ValueError(f'{self.program} ended at once')
        try:
            client = Client(self.path)
            client.send('PING')
            answer = client.reply()
            client.close()
        except OSError:
            return False
        return bool(answer) and not answer.startswith('-LOADING') or self.may_load

    def ask(self, *words):
        self.client = self.client or Client(self.path)
        self.client.send(*words)
        return self.client.reply()

    def hang(self, *words):
        """Sends a command over a connection of its own that stays open."""
        self.idle.append(Client(self.path))
        self.idle[-1].send(*words)
        return self.idle[-1]

    def says(self, line, section='all'):
        """Waits for a line of INFO."""
        until_true(lambda: line in self.ask('INFO', section), f'no {line}')

    def limit_files(self, size):
        """As a full disk: no file may grow beyond that size."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def restart(self):
        """With the data that it has saved, which it may still be loading then."""
        self.end()
        os.unlink(self.path)
        self.client, self.may_load = None, True
        self.start()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def end(self):
        for client in [self.client, *self.idle]:
            if client:
                client.close()
        self.idle = []
        self.process.kill()
        self.process.wait()


class Fake:
    """A server of the test's own: `serve` handles each connection, in a thread of its own."""

    def __init__(self, path, serve):
        self.path, self.uri, self.serve = path, f'unix://{path}', serve
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.handle, args=[connection], daemon=True).start()

    def handle(self, connection):
        with connection:
            try:
                self.serve(connection)
            except OSError:
                pass

    def end(self):
        self.socket.close()


def commands(stream):
    """The commands that a client sends, each as a list of words with its bytes."""
    while line := stream.readline():
        raw, words = line, []
        for _ in range(int(line[1:])):
            size = stream.readline()
            word = stream.read(int(size[1:]) + 2)
            raw += size + word
            words.append(word[:-2].decode('latin-1'))
        yield words, raw


def replies(stream):
    """Each reply of a server, as bytes."""
    def one():
        line = stream.readline()
        if line[:1] == b'$' and line[:3] != b'$-1':
            return line + stream.read(int(line[1:]) + 2)
        if line[:1] == b'*' and line[:3] != b'*-1':
            return line + b''.join(one() for _ in range(int(line[1:])))
        return line

    while reply := one():
        yield reply


def proxy(path, answer):
    """Serves as a proxy of the server at this path. answer(words): the reply of the proxy itself,
    None: it passes the command on, b'': it hangs up."""
    def serve(client):
        with socket.socket(socket.AF_UNIX) as server, client.makefile('rb') as there:
            server.connect(path)
            back = replies(server.makefile('rb'))
            for words, raw in commands(there):
                own = answer([word.upper() for word in words])
                if own == b'':
                    return
                if own is None:
                    server.sendall(raw)
                client.sendall(next(back) if own is None else own)
    return serve
