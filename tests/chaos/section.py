"""A section: a few minutes with masters and clients of its own, all drawn from one seed.

First faults strike; then there are none, and when none is felt any more (calm) everybody must get on; then the clients end, and nothing may be
left. The seed draws the faults and what the clients do, but processes and the kernel run as they like: a seed that
found something finds it again often, not always.
"""
import heapq
import os
import random
import signal
import subprocess
import sys
import time

import faults
from authority import Authority
from clients import END_S, Clients, processes, send_signal
from history import History, now_us
from masters import PERSISTENCE, Master
from network import Network
from servers import Client as Connection
from servers import die_with_parent, until_true

TICK_S = 0.02
QUARANTINE_S = 6  # beside max_ttl: for so long new data do not vote after they are on record, and an inspection
CHANGE_S = 90  # a change of the masters is over then, at the latest, when it is calm
REGISTER_PORT = 6379
RESERVED = (':redlock-fence', ':redlock-waiting')


class Section:
    def __init__(self, options, number, folder, programs, servers, builds):
        self.options, self.number, self.folder = options, number, folder
        self.programs, self.servers, self.builds = programs, servers, builds
        self.random = random.Random(f'{options.seed}-{number}')
        self.history, self.network = History(folder), Network()
        self.actions, self.order = [], 0  # (when, order, function), the next one first
        self.healing = {}  # number of a fault: what ends it
        self.change, self.made, self.struck = None, 0, {}
        self.draw()
        self.hosts = [self.network.add(f'h{i}') for i in range(3)]
        self.start_register()
        self.masters = [self.new_master() for _ in range(self.n_masters)]
        self.listed = list(self.masters)  # what a client that is started now is told
        for master in self.masters:
            master.wait_until_up()
        self.clients = Clients(self)

    def draw(self):
        pick = self.random
        self.n_masters = self.options.masters or (5, 3, 7)[self.number % 3]
        self.ttl_ms = pick.choice([800, 1500, 2500])
        self.max_ttl_ms = pick.choice([self.ttl_ms, self.ttl_ms * 2])
        self.gap_s = pick.choice([0.3, 0.7, 1.5])  # from one fault to the next, on average
        self.workers, self.prefix = pick.choice([2, 4]), 'chaos:'
        self.keys = [f'k{i}' for i in range(pick.choice([2, 4, 6]))]
        self.elections = ['boss', 'chief'][:pick.randint(1, 2)]
        self.kinds = ['client', 'client', 'lock', 'lock', 'elect']
        self.tls = self.foreign = None
        if pick.random() < 0.3 and not self.options.sabotage:
            self.tls = Authority(self.path('tls'))
            self.foreign = Authority(self.path('foreign'))
        if self.options.sabotage:  # a short section must do
            self.keys, self.workers, self.ttl_ms, self.max_ttl_ms = ['k0', 'k1'], 4, 800, 1600
        # Each fault kind is drawn to be there or not: with fewer kinds each has more room.
        self.kinds_off = {kind for kind in faults.INSIDE if pick.random() < 0.3}

    @property
    def versions(self):
        return [f'{".".join(map(str, master.server[0]))} {master.persistence}' for master in self.masters]

    def __str__(self):
        return (f'section {self.number}: {self.n_masters} masters at first ({", ".join(self.versions)}), '
                f'{"TLS, " if self.tls else ""}ttl {self.ttl_ms} ms, max-ttl {self.max_ttl_ms} ms, {len(self.keys)} keys, a fault '
                f'each {self.gap_s} s, of all kinds but {", ".join(sorted(self.kinds_off)) or "none"}')

    def describe(self):
        """For section.json."""
        return {'gap_s': self.gap_s, 'keys': len(self.keys), 'workers': self.workers, 'tls': bool(self.tls),
                'servers': self.versions, 'off': sorted(self.kinds_off)}

    def path(self, name):
        return os.path.join(self.folder, name)

    @property
    def uris(self):
        return [master.uri for master in self.listed]

    def environment(self, build):
        return {**os.environ, **build.environment, 'REDLOCK_NODES': ' '.join(self.uris), 'REDLOCK_KEY_PREFIX': self.prefix,
                'REDLOCK_MAX_TTL': f'{self.max_ttl_ms}ms'}

    def last_words(self, name):
        with open(self.path(name + '.err'), encoding='utf-8', errors='replace') as file:
            return file.read()[-2000:]

    def new_master(self):
        self.made += 1
        name = f'm{self.made}'
        host = self.network.add(name)
        if self.tls:
            self.tls.issue(name, host.address)
        return Master(name, host, self.folder, self.programs, self.random.choice(self.servers),
                      self.random.choice(list(PERSISTENCE)), self.random.choice([0, self.random.randint(-3000, 3000)]),
                      self.tls)

    def start_register(self):
        self.register = f'{self.network.address}:{REGISTER_PORT}'
        path = self.path('register.sock')
        self.register_server = subprocess.Popen(
            [self.servers[0][1], '--bind', self.network.address, '--port', str(REGISTER_PORT), '--protected-mode', 'no',
             '--save', '', '--dir', self.folder, '--unixsocket', path], stdout=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
        until_true(lambda: os.path.exists(path), 'the register does not start')

    # --- time ---

    def at(self, when, function):
        self.order += 1
        heapq.heappush(self.actions, (when, self.order, function))

    def pass_time(self, seconds, until=lambda: False):
        """Let things happen for so long, or until a condition holds, and return it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            self.tick(time.monotonic())
            time.sleep(TICK_S)
        return until()

    def tick(self, now):
        while self.actions and self.actions[0][0] <= now:
            heapq.heappop(self.actions)[2]()
        self.clients.tick(now)

    # --- faults ---

    def strike(self):
        """One fault, and the next one after a while."""
        if self.is_calm:
            return
        kind, function, outside = faults.draw(self.random, self.options.outside)
        self.at(time.monotonic() + self.random.expovariate(1 / self.gap_s), self.strike)
        if kind in self.kinds_off:
            return
        struck = function(self, self.random)
        if struck:
            self.begin_fault(kind, struck, outside)

    def begin_fault(self, kind, struck, outside):
        number = self.history.fault(kind, struck.who, outside)
        self.struck[kind] = self.struck.get(kind, 0) + 1
        if not struck.heal:
            return
        for master in struck.masters:
            master.faults.add(struck.group)
        self.healing[number] = struck
        self.at(time.monotonic() + struck.seconds, lambda: self.heal(number))

    def heal(self, number):
        struck = self.healing.get(number)
        if not struck:
            return
        if struck.heal() is False:
            self.at(time.monotonic() + 0.3, lambda: self.heal(number))
            return
        del self.healing[number]
        for master in struck.masters:
            master.faults.discard(struck.group)
        self.history.heal(number)

    # --- which masters there are ---

    def change_pids(self):
        return {self.change.process.pid} if self.change and self.change.process else set()

    def change_masters(self, pick):
        left_s = self.calm_at - time.monotonic()
        if self.change or left_s < 30:
            return None
        kinds = ['replace'] + ['add'] * (len(self.listed) < 7) + ['remove'] * (len(self.listed) > 3)
        self.change = Change(self, pick.choice(kinds), pick)
        return faults.Struck(self.change.who(), 0.3, self.go_on_with_change)

    def go_on_with_change(self):
        if not self.change.is_over():
            return False
        self.change = None
        return True

    # --- the section ---

    def run(self):
        self.began, self.calm_at = now_us(), time.monotonic() + self.options.section_s
        self.is_calm = self.options.no_faults
        self.clients.tick(time.monotonic())
        self.sample()
        if not self.is_calm:
            self.at(time.monotonic() + 2, self.strike)
            self.pass_time(self.options.section_s)
            self.end_faults()
        self.calm = now_us()
        self.history.write('calm')
        self.pass_time(self.options.section_s if self.options.no_faults else self.options.calm_seconds)
        self.end_clients()
        self.look_for_keys()
        self.write_registers()
        self.history.end(seed=self.options.seed, section=self.number, masters=self.n_masters, ttl_ms=self.ttl_ms,
                         max_ttl_ms=self.max_ttl_ms, began=self.began, calm=self.calm, ended=now_us(),
                         outside=self.options.outside, options=self.describe())

    def end_faults(self):
        """Until none is felt any more."""
        self.is_calm = True
        for number in list(self.healing):
            self.heal(number)
        if not self.pass_time(CHANGE_S, lambda: not self.healing):
            sys.exit(f'chaos: these faults do not end: {self.healing}')
        for master in self.masters:
            master.start()
            master.wait_until_up()
        self.pass_time(self.max_ttl_ms * 1.02 / 1000 + QUARANTINE_S)

    def sample(self):
        self.clients.sample()
        self.at(time.monotonic() + min(4, self.options.section_s / 8), self.sample)

    def end_clients(self):
        self.clients.end()
        self.pass_time(END_S, lambda: not self.clients.running())
        self.clients.kill_what_is_left()
        self.pass_time(5, lambda: not self.left())
        for pid, name in self.left().items():
            self.history.write('left-process', pid=pid, command=name.decode(errors='replace'))
            send_signal(pid, signal.SIGKILL)

    def left(self):
        """What runs and should not."""
        servers = {process.pid for master in self.masters for process in (master.process, master.proxy)}
        return {pid: name for pid, (_, name) in processes().items()
                if pid not in servers | {os.getpid(), self.register_server.pid}}

    def look_for_keys(self):
        """A master whose clock was set back keeps keys for so much longer."""
        back_s = max([0, *(-master.offset_us / 1e6 for master in self.masters)])
        time.sleep(self.max_ttl_ms * 1.02 / 1000 + 1 + back_s)
        for master in self.masters:
            for key in master.ask('KEYS', self.prefix + '*'):
                if not key.startswith(self.prefix + 'redlock:') and not key.endswith(RESERVED):
                    self.history.write('left-key', master=master.name, key=key, ttl_ms=int(master.ask('PTTL', key)))

    def write_registers(self):
        client = Connection(self.path('register.sock'))
        values = {}
        for key in self.keys + ['election:' + name for name in self.elections]:
            client.send('HGET', key, 'value')
            value = client.reply()
            values[key] = 0 if value in ('-1', '$-1', '') else int(value)
        client.close()
        self.history.write('registers', values=values)

    def end(self):
        """Also after an error: what runs is ended."""
        for pid in self.left() if self.masters else []:
            send_signal(pid, signal.SIGKILL)
        for master in self.masters:
            master.end()
        self.register_server.kill()
        self.register_server.wait()
        self.network.end()


class Change:
    """Another server takes the place of a master, or one more joins, or one leaves. The command is run until it has
    worked, and is sometimes killed."""

    def __init__(self, section, kind, pick):
        self.section, self.kind, self.random = section, kind, pick
        self.old = pick.choice(section.listed) if kind != 'add' else None
        self.new = section.new_master() if kind != 'remove' else None
        if self.new:
            section.masters.append(self.new)
        self.words = ['masters', kind, *(master.uri for master in (self.old, self.new) if master), '--nodes',
                      ' '.join(section.uris)]
        self.process = None

    def who(self):
        return [self.kind, *(master.name for master in (self.old, self.new) if master)]

    def is_over(self):
        """Whether it has worked; otherwise it is under way, or begins again."""
        section = self.section
        if self.process and self.process.poll() is None:
            if not section.is_calm and self.random.random() < 0.02:
                self.process.kill()
            return False
        if self.process and self.process.returncode == 0:
            self.finish()
            return True
        build = section.builds[0]
        with open(section.path('change.err'), 'a', encoding='utf-8') as errors:
            self.process = section.hosts[0].start(build.redlock, *self.words, env=section.environment(build),
                                                  stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        return False

    def finish(self):
        listed = self.section.listed
        if self.new and self.old:
            listed[listed.index(self.old)] = self.new
        elif self.new:
            listed.append(self.new)
        else:
            listed.remove(self.old)
        if self.old:
            # A former master is kept off, as docs/operations.md says.
            self.section.masters.remove(self.old)
            self.old.end()
