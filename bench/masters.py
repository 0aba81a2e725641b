"""A master, and what a benchmark does to it."""
import contextlib
import os
import signal
import socket
import threading
import time


def encode(*words):
    """A command, as it is sent."""
    parts = [f'${len(word)}\r\n{word}\r\n' for word in map(str, words)]
    return f'*{len(parts)}\r\n{"".join(parts)}'.encode()


class Master:
    def __init__(self, uri):
        if uri.startswith('unix://'):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(uri[len('unix://'):])
        else:
            host, port = uri[len('redis://'):].rsplit(':', 1)
            self.socket = socket.create_connection((host, int(port)))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile('rb')
        self.pid = int(self.info('server')['process_id'])

    def ask(self, *words):
        return self.ask_all([encode(*words)])[0]

    def ask_all(self, commands):
        """The answers to commands that are sent together."""
        self.socket.sendall(b''.join(commands))
        return [self.answer() for _ in commands]

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b':':
            return int(rest)
        if kind == b'$':
            return None if rest == '-1' else self.file.read(int(rest) + 2)[:-2].decode()
        return rest

    def info(self, section):
        return dict(entry.split(':', 1) for entry in self.ask('INFO', section).splitlines() if ':' in entry)

    def calls(self):
        """{command: how often}, in lower case, as the server has counted them."""
        stats = self.info('commandstats')
        return {name[len('cmdstat_'):]: int(text.split(',')[0].split('=')[1]) for name, text in stats.items()}

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)


@contextlib.contextmanager
def stopped(master):
    master.stop()
    try:
        yield
    finally:
        master.go_on()


@contextlib.contextmanager
def slow(master):
    """It runs for 5 ms, then not for 5 ms, and so on."""
    over = threading.Event()

    def pulse():
        while not over.is_set():
            master.stop()
            time.sleep(0.005)
            master.go_on()
            time.sleep(0.005)

    thread = threading.Thread(target=pulse)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


TROUBLES = {'stopped': stopped, 'slow': slow}
