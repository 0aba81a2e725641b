"""Hosts in network namespaces on one bridge, and a firewall between each two of them.

All of it is inside the namespaces of the process that runs scripts/chaos, and ends with it.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', 'lib'))
from namespaces import BRIDGE, as_root, begin_again, refusal  # noqa: E402
from servers import die_with_parent  # noqa: E402

PREFIX = '10.77.0.'
INSIDE = 'RLK_CHAOS_INSIDE'
TOOLS = ('unshare', 'nsenter', 'ip', 'nft', 'mount')


def must(*words, text=None):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, input=text, text=True)


def begin_inside():
    """Begin again as process 1 of namespaces of our own, where everything ends with us."""
    if os.environ.get(INSIDE) and os.getpid() != 1:
        sys.exit(f'chaos: ${INSIDE} is set, but this process is not the first of its namespace: unset it')
    if os.getpid() == 1 and os.environ.get(INSIDE):
        # `ip netns` keeps its names in /run, and other mounts there stay out of the way.
        must('mount', '-t', 'tmpfs', 'none', '/run')
        must('ip', 'link', 'set', 'dev', 'lo', 'up')
        return
    words = as_root('--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private')
    why = refusal(TOOLS, words, BRIDGE)
    if why:
        sys.exit('chaos: ' + why)
    begin_again(words, INSIDE)


class Network:
    """The bridge. We are at .1, where the server with the registers is."""

    def __init__(self):
        self.address, self.hosts = PREFIX + '1', []
        must('ip', 'link', 'add', 'name', 'chaos', 'type', 'bridge')
        must('ip', 'address', 'add', self.address + '/24', 'dev', 'chaos')
        must('ip', 'link', 'set', 'dev', 'chaos', 'up')

    def add(self, name):
        self.hosts.append(Host(name, PREFIX + str(10 + len(self.hosts))))
        return self.hosts[-1]

    def end(self):
        for host in self.hosts:
            must('ip', 'netns', 'delete', host.name)
        must('ip', 'link', 'delete', 'chaos')


class Host:
    """A network namespace with one address. Its firewall drops what `drops` names."""

    def __init__(self, name, address):
        self.name, self.address = name, address
        self.drops = []  # (way, address of the other one)
        inside = ['ip', '-n', name]
        must('ip', 'netns', 'add', name)
        must('ip', 'link', 'add', 'name', name, 'type', 'veth', 'peer', 'name', 'net', 'netns', name)
        must('ip', 'link', 'set', 'dev', name, 'master', 'chaos', 'up')
        must(*inside, 'address', 'add', address + '/24', 'dev', 'net')
        must(*inside, 'link', 'set', 'dev', 'net', 'up')
        must(*inside, 'link', 'set', 'dev', 'lo', 'up')

    def words(self, *words):
        """The words that run a program here."""
        return ['nsenter', f'--net=/run/netns/{self.name}', *map(str, words)]

    def start(self, *words, **options):
        return subprocess.Popen(self.words(*words), preexec_fn=die_with_parent, **options)

    def drop(self, way, other):
        """Lose what comes `in` from another host, or what goes `out` to it."""
        self.drops.append((way, other.address))
        self.write_firewall()

    def undrop(self, way, other):
        self.drops.remove((way, other.address))
        self.write_firewall()

    def write_firewall(self):
        lines = ['flush ruleset', 'add table inet chaos']
        for hook in ('input', 'output'):
            lines.append(f'add chain inet chaos {hook} {{ type filter hook {hook} priority 0; }}')
        for way, address in self.drops:
            hook, end = ('input', 'saddr') if way == 'in' else ('output', 'daddr')
            lines.append(f'add rule inet chaos {hook} ip {end} {address} drop')
        must(*self.words('nft', '-f', '-'), text='\n'.join(lines) + '\n')
