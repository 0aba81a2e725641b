"""The programs that contend: starting them, telling them what to do, and ending them."""
import json
import os
import select
import struct
import subprocess
import time

from processes import cpu_s, die_with_parent

RECORD = struct.Struct('=IIQQQ')


class Client:
    """One process with some contenders."""

    def __init__(self, command, records):
        self.records = records
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=die_with_parent)
        self.pending = b''

    def line(self, seconds):
        """The next line that it prints, without its end; None when no line comes in time."""
        until = time.monotonic() + seconds
        while b'\n' not in self.pending:
            left = until - time.monotonic()
            if left < 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            read = os.read(self.process.stdout.fileno(), 4096)
            if not read:
                return None
            self.pending += read
        line, self.pending = self.pending.split(b'\n', 1)
        return line.decode()

    def expect(self, word, seconds):
        line = self.line(seconds)
        if line != word:
            raise RuntimeError(f'{self.process.args[0]}: expected {word!r}, got {line!r}')

    def tell(self, letter):
        try:
            self.process.stdin.write(letter)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def end(self):
        """What its last line says. A program that does not end is killed."""
        self.process.stdin.close()
        line = self.line(5)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()
        try:
            return json.loads(line)
        except (TypeError, ValueError):
            return {'waiting': 0, 'errors': 1}

    def cpu_s(self):
        return cpu_s(self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Clients:
    """All processes of a run; whatever happens, none of them is left."""

    def __init__(self, folder):
        self.folder = folder
        self.list = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for client in self.list:
            client.kill()

    def start(self, command, uris):
        path = os.path.join(self.folder, f'records-{len(self.list)}')
        if os.path.exists(path):
            os.unlink(path)
        client = Client([*command, '--records', path, *uris], path)
        self.list.append(client)
        return client

    def ready(self):
        for client in self.list:
            client.expect('ready', 60)

    def tell(self, letter):
        for client in self.list:
            client.tell(letter)

    def progress(self):
        return sum(os.path.getsize(client.records) for client in self.list if os.path.exists(client.records))

    def cpu_s(self):
        return sum(client.cpu_s() for client in self.list)

    def rest(self, idle_s, at_most_s):
        """Wait until nobody asks any more. Returns whether it went on until the end: False when nobody got the lock for
        idle_s although somebody waited."""
        self.tell(b'r')
        resting = set()
        last, size = time.monotonic(), self.progress()
        until = last + at_most_s
        while len(resting) < len(self.list) and time.monotonic() < until:
            for client in self.list:
                if client not in resting and client.line(0.005) == 'rested':
                    resting.add(client)
            if self.progress() != size:
                last, size = time.monotonic(), self.progress()
            if time.monotonic() - last > idle_s:
                return False
        return True

    def end(self):
        """How many were still waiting, and how many errors there were."""
        ends = [client.end() for client in self.list]
        return sum(end['waiting'] for end in ends), sum(end['errors'] for end in ends)

    def acquisitions(self):
        """All of them, by the time of acquisition: (held, released, contender, tries)."""
        found = []
        for client in self.list:
            if os.path.exists(client.records):
                with open(client.records, 'rb') as file:
                    data = file.read()
                found += [(held, released, contender, tries) for contender, tries, _, held, released
                          in RECORD.iter_unpack(data[:len(data) // RECORD.size * RECORD.size])]
        return sorted(found)
