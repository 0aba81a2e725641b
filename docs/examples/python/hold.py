#!/usr/bin/env python3
"""hold.py - work under a lock in Python, by `redlock hold`: no library but Python's own.

    hold.py KEY STEPS SECONDS    do STEPS steps of SECONDS each, while holding the lock KEY

`redlock hold` runs beside this program and renews the lock. When this program ends, however it
ends, the kernel closes the pipe, and the lock is released. Copy the class Lock, and what is above it.
"""
import json
import os
import subprocess
import sys
import threading
import time
import weakref


class NotAcquired(Exception):
    """Somebody else has the lock, or no majority of the masters answers: redlock has said which."""


class Lost(Exception):
    """The lock has ended: somebody else may have it."""


LOCKS = weakref.WeakSet()


def leave_locks():
    """Runs in a child of os.fork() or multiprocessing: its copy of the pipe would keep the lock."""
    for lock in LOCKS:
        lock.process.stdin.close()
        lock.deadline_us = 0


os.register_at_fork(after_in_child=leave_locks)


class Lock:
    """A lock for a `with` block.

    Before each step that needs the lock, call check() with the longest time that the step may take.
    """

    def __init__(self, *keys, options=()):
        self.command = ['redlock', 'hold', '--json', *options, '--', *keys]

    def __enter__(self):
        self.deadline_us = 0
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        LOCKS.add(self)
        try:
            self._await()
            self.reader = threading.Thread(target=self._read, daemon=True)
            self.reader.start()
        except BaseException:  # Ctrl-C, for example: redlock must not go on waiting
            self.process.stdin.close()
            raise
        return self

    def _await(self):
        line = self.process.stdout.readline()
        if not line:
            raise NotAcquired(f'redlock hold exited with {self.process.wait()}')
        first = json.loads(line)
        self.token, self.fencing_token = first['token'], first['fencing_token']
        self.deadline_us = first['deadline_us']

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            self.deadline_us = event['deadline_us'] or 0
            if event['event'] in ('trouble', 'lost'):
                print(event['event'], event['reason'], file=sys.stderr)
        self.deadline_us = 0  # the end of the pipe: nobody renews the lock any more

    def check(self, seconds=0.0):
        """Raises Lost if the lock is not valid for so many seconds."""
        now_us = time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6
        if now_us + seconds * 1e6 >= self.deadline_us:
            raise Lost

    def __exit__(self, kind, *_):
        if kind is Lost:
            self.process.kill()  # it may hang
        self.process.stdin.close()
        self.reader.join()
        self.process.stdout.close()
        if self.process.wait() != 0 and kind is None:
            raise Lost  # with any other status the lock may have ended before the block did


def main(key, steps, seconds):
    with Lock(key, options=['--no-wait', '--fence']) as lock:
        for step in range(int(steps)):
            lock.check(float(seconds))
            time.sleep(float(seconds))
            print(f'step {step} with the fencing token {lock.fencing_token}', flush=True)
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main(*sys.argv[1:]))
    except NotAcquired as error:
        sys.exit(str(error))
    except Lost:
        sys.exit('the lock was lost')
