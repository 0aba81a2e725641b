"""The masters of a run: their counters, and their processes."""
import contextlib
import os
import signal
import socket
import threading
import time

# What the scripts of the clients call: the server counts it like what clients send. No client sends one of these by
# itself, but for the EXISTS of libredlock that follows each CLIENT CACHING.
INSIDE = {
    'floor': {'get', 'del'},
    'libredlock': {'exists', 'get', 'del', 'pttl', 'pexpire', 'publish', 'zadd', 'zrem', 'zrange', 'zrank', 'zcard'},
    'redlock': {'exists', 'set', 'get', 'del'},
    'redlock-universal': {'get', 'del'},
}


def cpu_s(pid):
    """User and system time of all threads of a process, to the nanosecond."""
    total = 0
    for task in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{task}/schedstat', encoding='ascii') as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:  # the thread has ended
            pass
    return total / 1e9


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
        parts = [f'${len(word)}\r\n{word}\r\n' for word in map(str, words)]
        self.socket.sendall(f'*{len(parts)}\r\n{"".join(parts)}'.encode())
        return self.answer()

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


class Counters:
    """What masters have done and used since this was made."""

    def __init__(self, masters):
        self.masters = masters
        self.calls = [master.calls() for master in masters]
        self.cpu = [cpu_s(master.pid) for master in masters]

    def since(self, family):
        """Commands that clients sent, commands of scripts, messages pushed, and CPU seconds. A read that is tracked is
        answered by one invalidation at most, so `pushed` is an upper bound."""
        sent = inside = pushed = 0
        for master, before in zip(self.masters, self.calls):
            for name, count in master.calls().items():
                count -= before.get(name, 0)
                if name == 'client|caching':
                    sent, inside = sent + count, inside - count
                if name in ('publish', 'client|caching'):
                    pushed += count
                if name == 'info':
                    continue
                if name in INSIDE[family]:
                    inside += count
                else:
                    sent += count
        used = sum(cpu_s(master.pid) - cpu for master, cpu in zip(self.masters, self.cpu))
        return {'sent': sent, 'inside': inside, 'pushed': pushed, 'cpu_s': used}
