"""The candidates of one election, and the file in which their leaders note that they act."""
import contextlib
import fcntl
import os
import signal
import subprocess
import time

from figures import RECORD, acts_in
from processes import end, end_orphans, family, start

SEATS = 3


def wait_for(condition, seconds):
    """What the condition returns as soon as that is true; None when it does not become true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.004)
    return None


class Records:
    """What leaders have noted. They act as long as this process holds a lock on the file."""

    def __init__(self, path):
        self.path = path
        self.held = open(path, 'wb')
        fcntl.flock(self.held, fcntl.LOCK_EX)

    def all(self):
        with open(self.path, 'rb') as file:
            return acts_in(file.read())

    def last(self):
        """The last of them, or None."""
        with open(self.path, 'rb') as file:
            whole = os.fstat(file.fileno()).st_size // RECORD.size
            file.seek(max(0, whole - 1) * RECORD.size)
            return next(iter(acts_in(file.read(RECORD.size))), None)

    def clear(self):
        os.truncate(self.path, 0)

    def remove(self):
        self.held.close()
        os.unlink(self.path)


class Candidate:
    def __init__(self, number, commands, log):
        """commands: its own, and maybe another one that reads what it prints."""
        self.number = number
        self.process = start(commands[0], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if commands[1:] else log,
                             stderr=log)
        self.reader = start(commands[1], stdin=self.process.stdout, stdout=log, stderr=log) if commands[1:] else None
        if self.reader:
            self.process.stdout.close()

    def signal(self, number):
        """To its own process, and to nothing that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def signal_group(self, number):
        """What a terminal or a service manager does: also to what it has started, and to the reader."""
        for process in filter(None, (self.reader, self.process)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    def family(self):
        return family(self.process.pid) + (family(self.reader.pid) if self.reader else [])

    def ended(self):
        return self.process.poll() is not None

    def end(self):
        for process in filter(None, (self.process, self.reader)):
            end(process)


class Election:
    """Three seats, and the candidates on them."""

    def __init__(self, system, name, folder):
        self.system, self.name = system, name
        self.records = Records(os.path.join(folder, 'records'))
        self.log = open(os.path.join(folder, 'candidates.log'), 'wb+')
        self.candidates = []
        self.count = 0  # how many there have been

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for candidate in self.candidates:
            candidate.end()
        end_orphans()
        self.log.close()
        self.records.remove()

    def fill(self):
        """Put new candidates on the seats of those that have ended. Returns how many had."""
        gone = [candidate for candidate in self.candidates if candidate.ended()]
        for candidate in gone:
            self.remove(candidate)
        while len(self.candidates) < SEATS:
            self.count += 1
            commands = self.system.commands(self.name, self.count, self.records.path)
            self.candidates.append(Candidate(self.count, commands, self.log))
        return len(gone)

    def remove(self, candidate):
        candidate.end()
        self.candidates.remove(candidate)
        end_orphans()

    def last_words(self):
        """The last line that a candidate has printed."""
        self.log.seek(0)
        return self.log.read().decode(errors='replace').rstrip().rsplit('\n', 1)[-1]

    def leader(self):
        """Who acted last, if that is one of the candidates."""
        last = self.records.last()
        return next((candidate for candidate in self.candidates if last and candidate.number == last.candidate), None)
