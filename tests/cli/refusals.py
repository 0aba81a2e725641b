"""The states in which a server refuses us, how a test brings a server there, and what redlock says.

Each row: its name; how to bring a server there; what redlock says, as a pattern; what to do about it; and
where that is shown, with the exit status of the command when this server is the only master.

    nodes    redlock nodes, which writes with a script: a server that allows that in this state grants locks
    lock     redlock lock KEY --no-wait
    doctor   redlock doctor, where the two parts are a finding and its fix; `doctor_says` where it has
             other words for the finding

docs/troubleshooting.md has the same words for people; test_refusals.py checks that.
"""
import os
import socket
import time
from dataclasses import dataclass
from typing import Callable, Optional

from servers import Skip, free_cluster_port, free_port, proxy, until_true

OK, WARNED, UNREACHABLE, HELD = 0, 1, 69, 75


# ---- how to bring a server there ----
# Each gets a place: place.master(line of redis.conf...) starts a server, place.fake(serve) a fake.

def configured(*lines):
    return lambda place: place.master(*lines)


def asked(*commands, lines=()):
    """A server that has been asked for this."""
    def bring(place):
        master = place.master(*lines)
        for words in commands:
            reply = master.ask(*words)
            if str(reply).startswith('-'):
                raise Skip(reply)
        return master
    return bring


def cluster_of_one(place):
    master = place.master('cluster-enabled yes', f'port {free_cluster_port()}')
    master.ask('CLUSTER', 'ADDSLOTS', *range(16384))
    return master


def sentinel(place):
    return place.master(arguments=['--sentinel'])


def replica(*lines):
    def bring(place):
        port = free_port()
        place.master(f'port {port}')
        master = place.master(f'replicaof 127.0.0.1 {port}', *lines)
        master.says('master_link_status:up', 'replication')
        return master
    return bring


def protected(place):
    """For a connection from an address that is not the loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))  # sends nothing
        except OSError as error:
            raise Skip(error) from error
        address = probe.getsockname()[0]
    port = free_port()
    place.master(f'port {port}').uri = f'redis://{address}:{port}'
    return place.last


def save_fails(place):
    master = place.master()
    os.mkdir(os.path.join(master.folder, 'dump.rdb'))
    for words in [('CONFIG', 'SET', 'save', '3600 1'), ('SET', 'x', 'y'), ('BGSAVE',)]:
        master.ask(*words)
    master.says('rdb_last_bgsave_status:err', 'persistence')
    return master


def disk_is_full(place):
    master = place.master('appendonly yes')
    master.limit_files(1)
    master.ask('SET', 'x', 'y')
    master.says('aof_last_write_status:err', 'persistence')
    return master


def full_of_clients(place):
    master = place.master('maxclients 1')

    def has_room():
        """Until the server has seen the end of the connection before, it hangs up."""
        try:
            return master.hang('PING').reply() == 'PONG'
        except OSError:
            return False

    until_true(has_room, 'no room for one client')
    return master


def is_busy(master):
    until_true(lambda: str(master.ask('PING')).startswith('-BUSY'), 'not busy')
    return master


def busy_script(place):
    master = place.master('lua-time-limit 1')
    master.hang('EVAL', 'while true do end', '0')
    return is_busy(master)


def busy_function(place):
    master = asked(('FUNCTION', 'LOAD', '#!lua name=spin\nredis.register_function("spin", '
                    'function() while true do end end)'), lines=['lua-time-limit 1'])(place)
    master.hang('FCALL', 'spin', '0')
    return is_busy(master)


def loading(place):
    """Each key takes a while, and now and then it answers."""
    master = place.master('rdbcompression no', 'loading-process-events-interval-bytes 1024')
    for i in range(2000):
        master.ask('SET', f'x{i}', 'y' * 2000)
    master.ask('SAVE')
    master.lines.append('key-load-delay 10000')
    master.restart()
    return master


def frozen(place):
    master = place.master()
    master.freeze()
    return master


def database(place):
    master = place.master()
    master.uri += '?db=99'
    return master


def says(*, first=b'', then=b''):
    """Another kind of server."""
    def serve(client):
        client.sendall(first)
        if client.recv(4096) and then:
            client.sendall(then)
        time.sleep(0.2)
    return lambda place: place.fake(serve)


def silent(place):
    return place.fake(lambda client: time.sleep(60))


def behind(answer):
    """A proxy of a server; answer(words) as in servers.proxy."""
    return lambda place: place.fake(proxy(place.master().path, answer))


def lacks(*commands):
    def answer(words):
        if words[0] in commands:
            return f"-ERR unknown command '{words[0]}'\r\n".encode()
        return None
    return behind(answer)


def hangs_up(words):
    return b'' if words[0] in ('HELLO', 'INFO', 'CLIENT', 'CONFIG') else None


def moved(words):
    return b'-MOVED 12706 192.0.2.7:6379\r\n' if words[0] == 'SET' else None


# ---- the table ----

@dataclass
class State:
    name: str
    bring: Callable
    what: str                # how redlock says it; N is any number, ... any text
    todo: str = ''           # what to do
    nodes: Optional[int] = None   # the exit status; None: this command does not show it
    lock: Optional[int] = None
    doctor: Optional[int] = None
    doctor_says: str = ''
    options: tuple = ()      # for redlock lock
    slow: bool = False       # it is found out by a timeout
    refuses: bool = False    # it is connected, and refuses what would write


def down(name, bring, what, todo, **more):
    """It refuses the connection."""
    return State(name, bring, what, todo, nodes=UNREACHABLE, lock=UNREACHABLE, doctor=UNREACHABLE,
                 **more)


def refusing(name, bring, what, todo):
    """It is connected, and refuses what would write."""
    return State(name, bring, what, todo, nodes=UNREACHABLE, lock=UNREACHABLE, doctor=UNREACHABLE,
                 refuses=True)


CLUSTER = ('is a cluster node', 'list independent masters, without cluster mode')
REPLICA = ('is a replica, not a master', 'list independent masters only')
BUSY = ('it runs a script or a function that does not end (BUSY)',
        'wait for that, or use SCRIPT KILL or FUNCTION KILL there')
DISK = ('it cannot write its data to the disk (MISCONF)',
        'check its log, and whether its disk is full or read-only')
SILENT = ('is connected, but has not finished the handshake for N ms',
          'check whether it is stopped, swapping or busy with a long command (SLOWLOG GET), and the '
          'network to it')
LATE = {'doctor_says': 'did not finish the handshake within N ms', 'slow': True}
NO_REDIS = ('does not reply like a Redis server',
            'check that a Redis server listens there, and what is in between (a proxy, TLS)')
ALLOW = 'allow it (redlock doctor prints the ACL SETUSER for that)'
UNKNOWN = 'remove its rename-command; if it is a proxy, list the masters behind it'

STATES = [
    # It is another kind of server.
    down('a cluster node', configured('cluster-enabled yes', f'port {free_cluster_port()}'), *CLUSTER),
    down('a cluster of one node', cluster_of_one, *CLUSTER),
    State('a cluster behind a proxy', behind(moved), 'it is a cluster node (MOVED)', CLUSTER[1],
          lock=UNREACHABLE, doctor=UNREACHABLE),
    down('a sentinel', sentinel, 'is a sentinel, which has no keys', 'list the masters themselves'),
    down('a replica', replica(), *REPLICA),
    down('a writable replica', replica('replica-read-only no'), *REPLICA),
    down('a replica that has lost its master',
         configured(f'replicaof 127.0.0.1 {free_port()}', 'replica-serve-stale-data no'), *REPLICA),
    down('a server of HTTP', says(then=b'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
         *NO_REDIS),
    down('a server of SSH', says(first=b'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'), *NO_REDIS),
    down('a port that nothing answers', silent, *SILENT, **LATE),

    # It does not let us in.
    down('protected mode', protected,
         'accepts connections from its own machine only (protected mode)',
         'set a password on it (requirepass, or ACL), and give it to its clients'),
    down('as many clients as it allows', full_of_clients,
         'it has as many connections as it allows (maxclients)',
         'raise its maxclients, or close other connections'),
    down('a database that it does not have', database, 'refused database 99: ERR ...',
         'use a database that it has (CONFIG GET databases shows how many)'),

    # It refuses commands, or does not answer.
    down('busy with a script', busy_script, *BUSY),
    down('busy with a function', busy_function, *BUSY),
    State('loading its data', loading, 'is loading its data; retrying until it has finished',
          nodes=UNREACHABLE, lock=UNREACHABLE, doctor=WARNED),
    down('stopped', frozen, *SILENT, **LATE),
    down('paused by CLIENT PAUSE', asked(('CLIENT', 'PAUSE', 60000)), *SILENT, **LATE),
    refusing('RDB cannot be saved', save_fails, *DISK),
    refusing('the disk of its AOF is full', disk_is_full, *DISK),
    refusing('out of memory', asked(('CONFIG', 'SET', 'maxmemory', 1)),
             'its memory is full (OOM)', 'raise its maxmemory, or move other data away'),
    refusing('fewer replicas than it needs', asked(('CONFIG', 'SET', 'min-replicas-to-write', 1)),
             'it has fewer replicas than it needs for a write (NOREPLICAS)',
             'set its min-replicas-to-write to 0'),

    # It lacks commands, or there is a proxy in between.
    State('SET is renamed', configured('rename-command SET ""'),
          'refused to set the key: ERR unknown command ...', UNKNOWN, lock=UNREACHABLE),
    State('EVAL is renamed', configured('rename-command EVAL ""'),
          'does not vote, because it does not know ...', UNKNOWN, nodes=UNREACHABLE, lock=UNREACHABLE),
    State('EVALSHA is denied', asked(('ACL', 'SETUSER', 'default', '-evalsha')),
          'does not vote, because it denies our user ...', ALLOW, nodes=UNREACHABLE, lock=UNREACHABLE),
    State('PEXPIRE is denied', asked(('ACL', 'SETUSER', 'default', '-pexpire')),
          'does not vote, because it denies ... to scripts', f'{ALLOW}, or remove its rename-command',
          nodes=UNREACHABLE, lock=UNREACHABLE),
    State('TIME is renamed', configured('rename-command TIME ""'),
          'can lose its data without our seeing it, so it votes without quarantine',
          'allow us EVAL with GET, SET and TIME on redlock:incarnation', nodes=OK),
    State('INFO is renamed', configured('rename-command INFO ""'),
          'has restarts that we cannot see, so it votes without quarantine', 'allow us INFO',
          nodes=OK),
    State('a proxy without HELLO, INFO and CLIENT', lacks('HELLO', 'INFO', 'CLIENT', 'CONFIG'),
          'has restarts and a role that we cannot see, so it votes without quarantine, even as a '
          'writable replica', 'allow us INFO; if it is a proxy, list the masters behind it', nodes=OK),
    State('a proxy or a server that lacks commands', lacks('HELLO', 'INFO', 'EVAL', 'CONFIG'),
          'does not know ...', 'remove rename-command for these from its configuration file, or use a '
          'newer server; if it is a proxy, list the masters behind it', doctor=UNREACHABLE),
    down('a proxy that hangs up', behind(hangs_up),
         'closed the connection during the handshake (...)', 'if this port is its tls-port, '
         'write rediss://; otherwise check what listens there, perhaps a proxy'),

    # Another program uses our keys.
    # Only a server that names the holder shows what the key is.
    State('the key is a list', asked(('SET', 'k', '', 'NX', 'GET'), ('DEL', 'k'), ('LPUSH', 'k', 'x')),
          'another program has a key of this name that is not a string',
          'use another key, or delete that one', lock=HELD),
    State('the fence counter has its last number', asked(('SET', 'k:redlock-fence', 2 ** 53 - 1)),
          'FENCE the counter has no numbers left: delete KEY:redlock-fence when nothing remembers its fences', '',
          lock=UNREACHABLE, options=('--fence',)),
    State('the fence counter is a list', asked(('LPUSH', 'k:redlock-fence', 'x')),
          'FENCE the counter of the key is not a string: delete KEY:redlock-fence', '',
          lock=UNREACHABLE, options=('--fence',)),
    State('the incarnation key is a list', asked(('LPUSH', 'redlock:incarnation', 'x')),
          'can lose its data without our seeing it, because its key redlock:incarnation is not a '
          'string; so it votes without quarantine', 'delete that key', nodes=OK, doctor=WARNED),
]
