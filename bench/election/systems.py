"""The programs that elect a leader: how a candidate is started, and how it is asked to end."""
import signal

from trials import EVENTS, OUR_EVENTS


class System:
    """A way to elect a leader. servers: process ids; act: the program that a leader runs."""
    ours = False
    remark = None

    def __init__(self, pids, act, ttl_s):
        self.pids, self.act, self.ttl_s = pids, act, ttl_s

    def ask_to_end(self, leader):
        leader.signal(signal.SIGTERM)

    def events(self, first):
        """first: nothing else has been measured yet with this one."""
        return list(EVENTS)


class Redlock(System):
    ours = True

    def __init__(self, verb, program, uris, *rest):
        super().__init__(*rest)
        self.name = f'redlock {verb}'
        self.verb, self.program, self.uris = verb, program, uris

    def events(self, first):
        """The suspended one comes last: when it is killed it waits in the queue, and keeps its position there for a while."""
        return ['kill', 'term', 'stop', *OUR_EVENTS, 'suspend']

    def commands(self, name, number, records):
        """Masters that were started just now have not lost anything, so none is put in quarantine."""
        return [[self.program, *self.verb.split(), name, '--ttl', f'{self.ttl_s}s', '--quarantine=off',
                 '--nodes', ','.join(self.uris), '--', *self.command(), records, str(number)]]

    def command(self):
        return [self.act]


class Deaf(Redlock):
    """Its command ignores SIGTERM."""

    def __init__(self, *args):
        super().__init__(*args)
        self.name += ' (CMD ignores SIGTERM)'

    def events(self, first):
        return ['kill', 'stop']

    def command(self):
        return ['sh', '-c', 'trap "" TERM; exec "$@"', 'sh', self.act]


class EtcdLock(System):
    name = 'etcdctl lock'
    remark = ('etcdctl lock passes no signal on to its command, and waits for its end: here SIGTERM is sent to both, as a '
              'terminal or systemd does')

    def __init__(self, etcd, *rest):
        super().__init__(etcd.pids(), *rest)
        self.control = etcd.control

    def commands(self, name, number, records):
        return [[*self.control, 'lock', '--ttl', str(self.ttl_s), name, '--', self.act, records, str(number)]]

    def ask_to_end(self, leader):
        leader.signal_group(signal.SIGTERM)


class EtcdElect(System):
    """It runs no command: it prints a line when it is elected, and another program reads that."""
    name = 'etcdctl elect'
    remark = ('etcdctl elect runs no command: what acts here reads what it prints, and gets SIGTERM, too. Its ttl is 60 s and '
              'cannot be chosen, so kill -9 was done once, and SIGSTOP left out')

    def __init__(self, etcd, act, ttl_s):
        super().__init__(etcd.pids(), act, 60)
        self.control = etcd.control

    def commands(self, name, number, records):
        return [[*self.control, 'elect', name, str(number)], [self.act, records, str(number), '--input']]

    def ask_to_end(self, leader):
        leader.signal_group(signal.SIGTERM)

    def events(self, first):
        return ['term', 'kill'] if first else ['term']


class Curator(System):
    name = 'Curator LeaderLatch'
    remark = ('Curator LeaderLatch acts in the process that asks, so that kill -9 and SIGSTOP hit both')

    def __init__(self, zookeeper, *rest):
        super().__init__(zookeeper.pids(), *rest)
        self.zookeeper = zookeeper

    def commands(self, name, number, records):
        return [self.zookeeper.candidate(f'/{name}', str(self.ttl_s * 1000), records, str(number))]
