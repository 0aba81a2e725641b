"""The clients of a section: programs on the library, and `redlock lock` and `redlock elect` with a command.

Each has a slot on a host. When one has ended, another one begins there, with a name of its own.
"""
import os
import signal
import subprocess
from dataclasses import dataclass

from faults import Struck

# How a command may end: well, without a quorum, because others had the lock all the time, or because the lock was
# lost. Whose supervisor was killed says 70, who got SIGTERM says 143.
ENDS_WELL = {0}
ENDS_OF_COMMAND = {0, 69, 75, 76}
SUPERVISOR = b'lock-supervisor'
END_S = 20


@dataclass(eq=False)
class Client:
    name: str
    kind: str
    host: object
    process: subprocess.Popen
    ends: set


def processes():
    """{pid: (parent, name)} of all that run."""
    found = {}
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/stat', 'rb') as file:
                text = file.read()
        except (OSError, ValueError):
            continue
        if name.isdigit():
            after = text[text.rindex(b')') + 2:].split()
            if after[0] != b'Z':
                found[int(name)] = int(after[1]), text[text.index(b'(') + 1:text.rindex(b')')]
    return found


def family(pid):
    """The process and its descendants, the eldest first: of a `redlock lock` itself, its supervisor, the command."""
    all_of_them, members = processes(), [pid]
    for member in members:
        members += sorted(child for child, (parent, _) in all_of_them.items() if parent == member)
    return [member for member in members if member in all_of_them]


def send_signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Slot:
    def __init__(self, kind, host):
        self.kind, self.host, self.client, self.due = kind, host, None, 0


class Clients:
    def __init__(self, section):
        self.section, self.random, self.made = section, section.random, 0
        self.history = section.history
        self.slots = [Slot(kind, host) for host in section.hosts for kind in section.kinds]
        self.ending = False

    def running(self):
        return [slot.client for slot in self.slots if slot.client]

    def tick(self, now):
        for slot in self.slots:
            if slot.client and slot.client.process.poll() is not None:
                self.note_end(slot.client)
                slot.client, slot.due = None, now + self.random.choice([0, self.random.uniform(0, 1)])
            if not slot.client and not self.ending and now >= slot.due:
                slot.client = self.start(slot)
        reap_orphans({slot.client.process.pid for slot in self.slots if slot.client} | self.section.change_pids())

    def note_end(self, client):
        status = client.process.returncode
        self.history.write('exit', p=client.name, status=status, expected=status in client.ends,
                           said='' if status in client.ends else self.section.last_words(client.name))

    def start(self, slot):
        self.made += 1
        name = {'client': 'c', 'lock': 'l', 'elect': 'e'}[slot.kind] + str(self.made)
        build = self.random.choice(self.section.builds)
        words = getattr(self, 'words_of_' + slot.kind)(name, build)
        with open(self.section.path(name + '.err'), 'w', encoding='utf-8') as errors:
            process = slot.host.start(*words, env=self.section.environment(build), stdin=subprocess.DEVNULL,
                                      stdout=errors, stderr=errors, cwd=self.section.folder)
        return Client(name, slot.kind, slot.host, process,
                      set(ENDS_WELL if slot.kind == 'client' else ENDS_OF_COMMAND))

    def words_of_client(self, name, build):
        section = self.section
        rate = self.random.choice([0, 0, self.random.randint(-3000, 3000)])
        sabotage = ['--sabotage', section.options.sabotage] if section.options.sabotage and self.made == 1 else []
        return ['env', f'LD_PRELOAD={section.programs["shim"]}', f'RLK_TEST_RATE={rate}', build.client,
                '--name', name, '--log', section.path(name + '.jsonl'), '--seed', str(self.random.getrandbits(31)),
                '--keys', ','.join(section.keys), '--elections', ','.join(section.elections), '--ttl', str(section.ttl_ms), '--max-ttl', str(section.max_ttl_ms),
                '--prefix', section.prefix, '--workers', str(section.workers), '--register', section.register,
                '--rate', str(rate), *sabotage, *section.uris]

    def words_of_work(self):
        section = self.section
        return [section.programs['work'], '--log', section.folder, '--register', section.register,
                '--seed', str(self.random.getrandbits(31)), '--ttl', str(section.ttl_ms)]

    def words_of_lock(self, name, build):
        section = self.section
        fence = ['--fence'] if self.random.random() < 0.7 else []
        return [build.redlock, 'lock', self.random.choice(section.keys), *fence, '--ttl', f'{section.ttl_ms}ms',
                '--wait', self.random.choice(['0s', '2s', '10s']), '--', *self.words_of_work()]

    def words_of_elect(self, name, build):
        return [build.redlock, 'elect', 'election:' + self.random.choice(self.section.elections), '--id', name,
                '--ttl',
                f'{self.section.ttl_ms}ms', '--', *self.words_of_work()]

    # --- faults ---

    def stop(self, clients, seconds):
        pids = [pid for client in clients for pid in family(client.process.pid)]
        who = [client.name for client in clients] + [f'w{pid}' for pid in pids]
        for pid in pids:
            send_signal(pid, signal.SIGSTOP)
        self.history.write('stopped', who=who)

        def heal():
            for pid in pids:
                send_signal(pid, signal.SIGCONT)
            self.history.write('continued', who=who)
        return Struck([client.name for client in clients], seconds, heal)

    def pick_part(self, random):
        """A `redlock`, or the supervisor of one: (client, pid, whether it is the supervisor)."""
        clients = [client for client in self.running() if client.kind != 'client']
        if not clients:
            return None
        client, known = random.choice(clients), processes()
        supervisors = [pid for pid in family(client.process.pid) if known.get(pid, (0, b''))[1] == SUPERVISOR]
        if supervisors and random.random() < 0.5:
            return client, supervisors[0], True
        return client, client.process.pid, False

    def stop_part(self, random, seconds):
        part = self.pick_part(random)
        if not part:
            return None
        send_signal(part[1], signal.SIGSTOP)
        return Struck([part[0].name], seconds, lambda: send_signal(part[1], signal.SIGCONT))

    def kill(self, client):
        if client.kind != 'client':
            return None
        client.ends.add(-signal.SIGKILL)
        client.process.kill()
        client.process.wait()
        self.history.write('killed', p=client.name)
        return Struck([client.name])

    def kill_part(self, random):
        part = self.pick_part(random)
        if not part:
            return None
        client, pid, is_supervisor = part
        client.ends |= {70} if is_supervisor else {-signal.SIGKILL}
        send_signal(pid, signal.SIGKILL)
        return Struck([client.name])

    def terminate(self, client):
        client.ends |= {-signal.SIGTERM, 128 + signal.SIGTERM}
        client.process.terminate()
        return Struck([client.name])

    def sample(self):
        for client in self.running():
            pid = client.process.pid
            try:
                fds = len(os.listdir(f'/proc/{pid}/fd'))
                with open(f'/proc/{pid}/statm', encoding='ascii') as file:
                    rss = int(file.read().split()[1]) * 4
            except OSError:
                continue
            if client.kind == 'client':
                self.history.write('sample', p=client.name, fds=fds, rss_kb=rss)

    # --- the end ---

    def end(self):
        """Ends all of them; those that do not end are left."""
        self.ending = True
        for client in self.running():
            self.terminate(client)

    def kill_what_is_left(self):
        for client in self.running():
            self.history.write('left-process', pid=client.process.pid, command=client.name)
            for pid in reversed(family(client.process.pid)):
                send_signal(pid, signal.SIGKILL)
            client.process.wait()


def reap_orphans(ours):
    """We are the parent of all whose parent has ended."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if not ended or ended.si_pid in ours:
            return
        os.waitpid(ended.si_pid, 0)
