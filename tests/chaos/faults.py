"""The faults: what each does, and how it ends.

A fault is a function of the section and its random numbers. It returns None if it cannot happen now, or
Struck: whom it struck, for how many seconds, and what ends it; if that returns False, it is tried again. `group` keeps two faults that would be in each
other's way from striking one master at the same time.

Faults inside the model of guarantees.md must break nothing. Those of OUTSIDE only happen with --outside KIND.
"""
import os
import shutil
from dataclasses import dataclass, field
from typing import Callable

from history import wall_us


@dataclass
class Struck:
    who: list
    seconds: float = 0
    heal: Callable = None
    masters: list = field(default_factory=list)  # that no other fault of the group may strike
    group: str = ''


def one_master(section, random, group):
    """A master without a fault of this group. One that has other data or does not run has no settings."""
    able = [master for master in section.masters if not master.faults & {group, 'process'}]
    return random.choice(able) if able else None


def strike_one(group):
    """Makes a fault of one master of a function (section, random, master) -> (seconds, heal)."""
    def decorate(strike):
        def fault(section, random):
            master = one_master(section, random, group)
            ended = strike(section, random, master) if master else None
            return ended and Struck([master.name], ended[0], ended[1], [master], group)
        return fault
    return decorate


# --- a master and its data ---

@strike_one('process')
def kill(section, random, master):
    """Killed; it comes back with what it has saved."""
    master.kill()
    return random.choice([0.1, random.uniform(0.2, 4)]), master.start


@strike_one('process')
def lose(section, random, master):
    """Killed; it comes back empty."""
    master.kill()
    master.lose_data()
    return random.choice([0.1, random.uniform(0.2, 4)]), master.start


def kill_all(section, random):
    """Each of them is killed, at nearly the same time, and comes back with what it has saved."""
    masters = [master for master in section.masters if not master.faults]
    if len(masters) < len(section.masters):
        return None
    for master in masters:
        master.kill()

    def heal():
        for master in masters:
            master.start()
    return Struck([master.name for master in masters], random.uniform(0.1, 2), heal, masters, 'process')


def can_take_over(old, new):
    """Valkey reads what Redis has written before 7.4, and Redis nothing of Valkey."""
    old_is_redis, new_is_redis = ('redis-server' in os.path.basename(server[1]) for server in (old, new))
    same = old_is_redis == new_is_redis
    return new[0] > old[0] and (same or old_is_redis and old[0] < (7, 4))


@strike_one('process')
def upgrade(section, random, master):
    """Another version of the server starts with its data."""
    newer = [server for server in section.servers if can_take_over(master.server, server)]
    if not newer:
        return None
    master.kill()
    master.server = random.choice(newer)
    if master.persistence == 'always':
        master.lose_data()  # not every version reads the log of every other one
    return random.uniform(0.1, 2), master.start


@strike_one('process')
def stop(section, random, master):
    """Stopped; it then executes what is in its sockets."""
    master.stop()
    return random.choice([random.uniform(0.05, 0.6), random.uniform(0.6, 6)]), master.go_on


# --- what a master refuses ---

@strike_one('settings')
def memory(section, random, master):
    """No more memory: it refuses what may need some."""
    if master.try_to_ask('CONFIG', 'SET', 'maxmemory', '1') != 'OK':
        return None
    return random.uniform(0.2, 4), lambda: master.set_again('CONFIG', 'SET', 'maxmemory', '0')


@strike_one('settings')
def disk(section, random, master):
    """A full disk. A server that must sync each write ends, and is started again."""
    master.fill_disk()
    client = master.send('BGSAVE')

    def heal():
        if client:
            client.close()
        master.empty_disk()
        if master.is_running():
            master.try_to_ask('BGSAVE')
        else:
            master.process.wait()
            master.start()
    return random.uniform(0.5, 5), heal


@strike_one('settings')
def busy(section, random, master):
    """A script that does not end: after a while everybody gets -BUSY."""
    client = master.send('EVAL', 'while true do end', '0')

    def heal():
        if not master.set_again('SCRIPT', 'KILL'):
            return False
        if client:
            client.close()
        return True
    return random.uniform(0.05, 3), heal


@strike_one('settings')
def forget_scripts(section, random, master):
    master.try_to_ask('SCRIPT', 'FLUSH')
    return 0, None


@strike_one('settings')
def end_connections(section, random, master):
    master.try_to_ask('CLIENT', 'KILL', 'TYPE', random.choice(['normal', 'pubsub']), 'SKIPME', 'yes')
    return 0, None


def certificate(section, random):
    """A new certificate of the same authority, or for a while one of another."""
    master = one_master(section, random, 'settings') if section.tls else None
    if not master:
        return None
    right, foreign = section.tls, random.random() < 0.5

    def use(authority):
        authority.issue(master.name, master.host.address, into=right.folder)
        master.try_to_ask('CONFIG', 'SET', 'tls-cert-file', right.path(master.name + '.pem'), 'tls-key-file',
                          right.path(master.name + '.key'))
    use(section.foreign if foreign else right)
    if not foreign:
        return Struck([master.name])
    master.try_to_ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    return Struck([master.name], random.uniform(0.5, 4), lambda: use(right), [master], 'settings')


# --- the network ---

@strike_one('proxy')
def delay(section, random, master):
    most = random.choice([5, 30, 150, 600])
    master.tell_proxy('delay', random.randrange(most), most)
    return random.uniform(0.5, 8), master.let_flow


@strike_one('proxy')
def stall(section, random, master):
    """Bytes of one direction, or of both, wait; none is lost."""
    master.tell_proxy('stall', random.choice(['in', 'out', 'both']))
    return random.uniform(0.1, 5), master.let_flow


@strike_one('proxy')
def cut(section, random, master):
    """All connections end, perhaps in the middle of a reply."""
    master.tell_proxy('cut')
    return 0, None


@strike_one('proxy')
def loss(section, random, master):
    """Connections end again and again, in the middle of a command or of a reply."""
    master.tell_proxy('cut-rate', random.choice([2, 10, 50]))
    return random.uniform(0.5, 5), master.let_flow


@strike_one('proxy')
def deny(section, random, master):
    """New connections are closed, or nothing comes through them."""
    master.tell_proxy(random.choice(['deny', 'hang']))
    master.tell_proxy('cut')
    return random.uniform(0.2, 5), master.let_flow


def partition(section, random):
    """Packets between some hosts of clients and some masters are lost, in one direction or in both."""
    clients = random.sample(section.hosts, random.randint(1, len(section.hosts)))
    masters = random.sample(section.masters, random.randint(1, len(section.masters)))
    ways = random.choice([['in'], ['out'], ['in', 'out']])
    lost = [(way, host, master.host) for way in ways for host in clients for master in masters]
    for way, host, other in lost:
        other.drop(way, host)

    def heal():
        for way, host, other in lost:
            other.undrop(way, host)
    return Struck([thing.name for thing in clients + masters], random.uniform(0.2, 6), heal)


# --- clocks ---

@strike_one('clock')
def clock_back(section, random, master):
    if master.offset_us < -4_000_000:
        return None
    master.set_clock(master.offset_us - int(random.uniform(0.01, 2) * 1e6))
    return 0, None


@strike_one('clock')
def clock_forward(section, random, master):
    master.set_clock(master.offset_us + int(random.uniform(0.05, 1) * section.ttl_ms * 2000))
    return 0, None


@strike_one('clock')
def freeze(section, random, master):
    """TIME stands still, and goes on later as if it had not."""
    master.set_clock(master.offset_us, wall_us() + master.offset_us)
    return random.uniform(0.2, 3), lambda: master.set_clock(master.offset_us)


# --- data that are lost unseen ---

@strike_one('settings')
def flush(section, random, master):
    master.try_to_ask('FLUSHALL')
    return 0, None


@strike_one('settings')
def demote(section, random, master):
    """It becomes a replica of another master, with its data, and a master again."""
    others = [other for other in section.masters if other is not master and not other.faults]
    if not others or section.tls:
        return None
    master.try_to_ask('REPLICAOF', random.choice(others).host.address, '6379')
    return random.uniform(0.2, 3), lambda: master.set_again('REPLICAOF', 'NO', 'ONE')


@strike_one('process')
def copy(section, random, master):
    """A durable master comes back from a copy of its data."""
    if master.persistence != 'always':
        return None
    saved = master.folder + '/copy'
    shutil.rmtree(saved, ignore_errors=True)
    shutil.copytree(master.data, saved)

    def heal():
        master.kill()
        master.lose_data()
        shutil.copytree(saved, master.data, dirs_exist_ok=True)
        master.start()
    return random.uniform(0.5, 4), heal


# --- clients ---

def stop_client(section, random):
    clients = section.clients.running()
    return clients and section.clients.stop([random.choice(clients)], some_time(random))


def stop_host(section, random):
    """Everything on a host is stopped: a machine that is suspended, but for its clock."""
    host = random.choice(section.hosts)
    there = [client for client in section.clients.running() if client.host is host]
    return there and section.clients.stop(there, some_time(random))


def stop_part(section, random):
    """A `redlock` or its supervisor is stopped: the other one takes care."""
    return section.clients.stop_part(random, some_time(random))


def some_time(random):
    return random.choice([random.uniform(0.05, 0.5), random.uniform(0.5, 5)])


def kill_client(section, random):
    clients = section.clients.running()
    return clients and section.clients.kill(random.choice(clients))


def kill_part(section, random):
    """A `redlock` or its supervisor is killed: the other one ends the command."""
    return section.clients.kill_part(random)


def end_client(section, random):
    """SIGTERM: it ends by itself, and another one begins."""
    clients = section.clients.running()
    return clients and section.clients.terminate(random.choice(clients))


# --- which masters there are ---

def change(section, random):
    return section.change_masters(random)


INSIDE = {
    'kill': (kill, 6), 'lose-data': (lose, 3), 'kill-all': (kill_all, 0.3), 'upgrade': (upgrade, 1), 'stop': (stop, 6),
    'memory': (memory, 3), 'disk': (disk, 2), 'busy': (busy, 3), 'forget-scripts': (forget_scripts, 2),
    'end-connections': (end_connections, 3), 'certificate': (certificate, 4), 'delay': (delay, 5),
    'stall': (stall, 5), 'cut': (cut, 5), 'cut-again': (loss, 4), 'deny': (deny, 3), 'partition': (partition, 8),
    'clock-back': (clock_back, 2), 'stop-client': (stop_client, 6), 'stop-host': (stop_host, 3),
    'stop-part': (stop_part, 5), 'kill-client': (kill_client, 5), 'kill-part': (kill_part, 4),
    'end-client': (end_client, 4), 'change': (change, 2),
}
OUTSIDE = {'flush': (flush, 4), 'demote': (demote, 3), 'clock-forward': (clock_forward, 4), 'freeze': (freeze, 3),
           'copy': (copy, 2)}


def draw(random, outside):
    """(kind, function, whether it is outside the model)."""
    table = {**INSIDE, **{kind: OUTSIDE[kind] for kind in outside}}
    kind = random.choices(list(table), [weight for _, weight in table.values()])[0]
    return kind, table[kind][0], kind in OUTSIDE
