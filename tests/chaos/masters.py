"""A master: a server on a host of its own behind a proxy, with a small disk and a wall clock that we set."""
import os
import shutil
import signal
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', 'lib'))
from network import must  # noqa: E402
from servers import Client, until_true  # noqa: E402

DISK = '24m'
INNER_PORT = 6380

# How a master keeps its data. Only the last one loses nothing when it is killed.
PERSISTENCE = {
    'nothing': ['save ""'],
    'snapshots': ['save 5 1'],
    'everysec': ['save ""', 'appendonly yes', 'appendfsync everysec'],
    'always': ['save ""', 'appendonly yes', 'appendfsync always'],
}


class Master:
    """`programs` are those that tests need: the proxy and the clock shim. `server` is (version, path)."""

    def __init__(self, name, host, folder, programs, server, persistence, rate, tls):
        self.name, self.host, self.programs, self.server = name, host, programs, server
        self.persistence, self.rate, self.tls = persistence, rate, tls
        self.folder = os.path.join(folder, name)
        self.data, self.log = os.path.join(self.folder, 'data'), os.path.join(self.folder, 'log')
        self.clock, self.offset_us = os.path.join(self.folder, 'clock'), 0
        self.path = os.path.join(self.folder, 'sock')
        self.process, self.faults = None, set()  # the groups of faults that it has now
        self.has_ended = False
        os.makedirs(self.data)
        must('mount', '-t', 'tmpfs', '-o', f'size={DISK}', 'none', self.data)
        self.set_clock(0)
        self.start()
        self.proxy = host.start(programs['proxy'], '--listen', f'{host.address}:6379', '--to',
                                f'127.0.0.1:{INNER_PORT}', stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)

    @property
    def uri(self):
        if self.tls:
            return f'rediss://{self.host.address}:6379?cacert={self.tls.path("ca.pem")}'
        return f'redis://{self.host.address}:6379'

    def lines(self):
        port = [f'port {INNER_PORT}']
        if self.tls:
            port = ['port 0', f'tls-port {INNER_PORT}', 'tls-auth-clients no', *self.tls.lines(self.name)]
        return [f'dir {self.data}', f'unixsocket {self.path}', 'bind 127.0.0.1', 'protected-mode no',
                f'logfile {self.log}', 'lua-time-limit 100', *port, *PERSISTENCE[self.persistence]]

    def start(self):
        """Nothing, if it runs, as a fault that has ended may have started it; or if it is a master no more."""
        if self.has_ended or self.process and self.is_running():
            return
        config = os.path.join(self.folder, 'conf')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('\n'.join(self.lines()) + '\n')
        self.process = self.host.start('env', f'LD_PRELOAD={self.programs["shim"]}',
                                       f'RLK_TEST_CLOCK={self.clock}', f'RLK_TEST_RATE={self.rate}',
                                       self.server[1], config, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_running(self):
        return self.process.poll() is None

    def wait_until_up(self):
        until_true(self.answers, f'{self.name} does not answer: see {self.log}')

    def answers(self):
        try:
            return self.ask('PING') == 'PONG'
        except OSError:
            return False

    def ask(self, *words, patience_s=20):
        """Over the unix socket, which no proxy and no firewall is in the way of."""
        client = Client(self.path)
        try:
            client.socket.settimeout(patience_s)
            client.send(*words)
            return client.reply()
        finally:
            client.close()

    def try_to_ask(self, *words):
        """A master that is down, stopped or busy does not answer: then None."""
        try:
            return self.ask(*words, patience_s=1)
        except OSError:
            return None

    def set_again(self, *words):
        """Ends a fault: whether there was an answer, or it does not run, and starts without that fault."""
        return not self.is_running() or self.try_to_ask(*words) is not None

    def send(self, *words):
        """Sends a command whose reply nobody waits for."""
        try:
            client = Client(self.path)
            client.send(*words)
            return client
        except OSError:
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def lose_data(self):
        for name in os.listdir(self.data):
            path = os.path.join(self.data, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def tell_proxy(self, *words):
        if self.has_ended:
            return
        self.proxy.stdin.write(' '.join(map(str, words)) + '\n')
        self.proxy.stdin.flush()
        said = self.proxy.stdout.readline().strip()
        assert said == 'ok', f'the proxy of {self.name} says {said!r}'

    def let_flow(self):
        self.tell_proxy('flow')

    def set_clock(self, offset_us, frozen_us=0):
        """Written over in place: a server has the file mapped."""
        self.offset_us = offset_us
        with open(self.clock, 'r+b' if os.path.exists(self.clock) else 'wb') as file:
            file.write(struct.pack('qq', offset_us, frozen_us))

    def fill_disk(self):
        with open(os.path.join(self.data, 'filler'), 'wb', buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass

    def empty_disk(self):
        path = os.path.join(self.data, 'filler')
        if os.path.exists(path):
            os.unlink(path)

    def end(self):
        self.has_ended = True
        self.process.kill()
        self.process.wait()
        self.proxy.stdin.close()
        self.proxy.wait()
        must('umount', self.data)
