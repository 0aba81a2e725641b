"""The servers of etcd and of ZooKeeper: three each, on the loopback; and how a minority of servers is stopped."""
import contextlib
import glob
import os
import signal
import socket
import subprocess

from candidates import wait_for
from processes import end, signal_all, start

MEMBERS = 3
READY_S = 60
JARS = '/usr/share/java'


def free_ports(count):
    """All of them are bound at once, so that they differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for bound in sockets:
            bound.bind(('127.0.0.1', 0))
        return [bound.getsockname()[1] for bound in sockets]


@contextlib.contextmanager
def minority_stopped(pids, first):
    """first: which of them is the first one to be stopped."""
    victims = [pids[(first + i) % len(pids)] for i in range((len(pids) - 1) // 2)]
    signal_all(victims, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(victims, signal.SIGCONT)


class Servers:
    """Three processes, which end with the `with`."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, self.name)
        os.mkdir(self.folder)
        self.processes = []

    def __enter__(self):
        for i in range(MEMBERS):
            with open(os.path.join(self.folder, f'{i}.log'), 'wb') as log:
                self.processes.append(start(self.command(i), stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        if not wait_for(self.ready, READY_S):
            self.__exit__()
            raise RuntimeError(f'{self.name}: not ready within {READY_S} s')
        return self

    def __exit__(self, *error):
        for process in self.processes:
            end(process)

    def pids(self):
        return [process.pid for process in self.processes]


class Etcd(Servers):
    name = 'etcd'

    def __init__(self, folder):
        super().__init__(folder)
        ports = free_ports(2 * MEMBERS)
        self.clients = [f'http://127.0.0.1:{port}' for port in ports[:MEMBERS]]
        self.peers = [f'http://127.0.0.1:{port}' for port in ports[MEMBERS:]]
        self.control = ['etcdctl', '--endpoints', ','.join(self.clients)]

    def command(self, i):
        return ['etcd', '--name', str(i), '--data-dir', os.path.join(self.folder, str(i)),
                '--listen-client-urls', self.clients[i], '--advertise-client-urls', self.clients[i],
                '--listen-peer-urls', self.peers[i], '--initial-advertise-peer-urls', self.peers[i],
                '--initial-cluster', ','.join(f'{n}={url}' for n, url in enumerate(self.peers))]

    def ready(self):
        return subprocess.run([*self.control, 'endpoint', 'health'], capture_output=True).returncode == 0

    def version(self):
        text = subprocess.run(['etcd', '--version'], capture_output=True, text=True).stdout
        return 'etcd ' + text.split('\n', 1)[0].rsplit(' ', 1)[-1]


class ZooKeeper(Servers):
    name = 'zookeeper'
    jars = ('zookeeper', 'zookeeper-jute', 'curator-recipes', 'curator-framework', 'curator-client', 'guava',
            'slf4j-api', 'slf4j-nop', 'metrics-core', 'snappy-java', 'netty-all')
    java = ('java', '-Xmx64m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-cp')

    def __init__(self, folder):
        super().__init__(folder)
        ports = free_ports(3 * MEMBERS)
        self.ports = ports[:MEMBERS]
        self.peers = [f'server.{i + 1}=127.0.0.1:{ports[MEMBERS + i]}:{ports[2 * MEMBERS + i]}' for i in range(MEMBERS)]
        self.classes = os.path.join(self.folder, 'classes')
        self.path = ':'.join([self.classes, *(os.path.join(JARS, f'{jar}.jar') for jar in self.jars)])
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'Latch.java')
        subprocess.run(['javac', '-cp', self.path, '-d', self.classes, source], check=True)

    def command(self, i):
        """A tick of 500 ms allows sessions of a second and more, and lets them end sooner than the usual one of 2 s."""
        data = os.path.join(self.folder, str(i))
        os.mkdir(data)
        with open(os.path.join(data, 'myid'), 'w', encoding='ascii') as file:
            file.write(str(i + 1))
        with open(data + '.cfg', 'w', encoding='utf-8') as file:
            file.write('\n'.join(['tickTime=500', 'initLimit=20', 'syncLimit=5', f'dataDir={data}',
                                  f'clientPort={self.ports[i]}', 'clientPortAddress=127.0.0.1',
                                  'admin.enableServer=false', *self.peers, '']))
        return [*self.java, self.path, 'org.apache.zookeeper.server.quorum.QuorumPeerMain', data + '.cfg']

    def candidate(self, *words):
        servers = ','.join(f'127.0.0.1:{port}' for port in self.ports)
        return [*self.java, self.path, 'Latch', servers, *words]

    def ready(self):
        return all(self.mode(port) in ('leader', 'follower') for port in self.ports)

    def mode(self, port):
        """What a server says about itself; None when it does not say anything."""
        try:
            with socket.create_connection(('127.0.0.1', port), 1) as asked:
                asked.sendall(b'srvr')
                text = asked.makefile(encoding='utf-8').read()
        except OSError:
            return None
        return next((line.split(': ')[1] for line in text.splitlines() if line.startswith('Mode: ')), None)

    def version(self):
        """As the names of Debian's files say it."""
        found = {}
        for name in ('zookeeper', 'curator-recipes'):
            files = glob.glob(os.path.join(JARS, f'{name}-[0-9]*.jar'))
            found[name] = os.path.basename(files[0])[len(name) + 1:-len('.jar')] if files else '?'
        return f"ZooKeeper {found['zookeeper']}, Curator {found['curator-recipes']}"
