"""New processes that contend for one lock: each connects, waits for the lock, holds it, and ends.

`redlock lock` runs true(1) under the lock. As many processes as the case says run at any time: when one has ended, the next
one starts. A master that is stopped takes their connections, because the kernel does that, and answers none of them.
"""
import contextlib
import os
import select
import subprocess
import time

import processes
from fleet import KEYS
from masters import stopped

LONGER = 3  # than the other runs: starting a process takes much longer than a cycle


def started(fleet, case, build):
    environment = {name: value for name, value in os.environ.items() if not name.startswith('REDLOCK_')}
    nodes = [f'--nodes={",".join(fleet.addresses(case))}', '--quarantine=off']
    return processes.start([os.path.join(build, 'src/cli/redlock'), 'lock', KEYS.format(0), *nodes, '--wait=10s', '--quiet',
                            '--', 'true'], env=environment, stdout=subprocess.DEVNULL)


class Crowd:
    """The processes that run."""

    def __init__(self, fleet, case, build):
        self.start = lambda: started(fleet, case, build)
        self.running = {}  # by the number of a file that is ready when the process has ended
        self.ended = select.poll()
        for _ in range(case.in_flight):
            self.add()

    def add(self):
        process = self.start()
        file = os.pidfd_open(process.pid)
        self.running[file] = process
        self.ended.register(file, select.POLLIN)

    def next_ended(self):
        """Their exit statuses."""
        for file, _ in self.ended.poll():
            process = self.running.pop(file)
            self.ended.unregister(file)
            os.close(file)
            processes.reap(process)
            yield process.returncode

    def end(self):
        for process in self.running.values():
            processes.end(process)
        for file in self.running:
            os.close(file)


def count(crowd, args):
    """How many had the lock in a second, and how many failed at any time."""
    begin = time.monotonic() + args.warmup
    until = begin + LONGER * args.seconds
    had = errors = 0
    while crowd.running:
        for status in crowd.next_ended():
            now = time.monotonic()
            errors += status != 0
            had += status == 0 and begin <= now < until
            if now < until:
                crowd.add()
    return {'cycles': had, 'cycles_per_s': had / (until - begin), 'errors': errors}


def contend(case, fleet, args, build):
    with stopped(fleet.masters[case.masters - 1]) if case.trouble == 'stopped' else contextlib.nullcontext():
        crowd = Crowd(fleet, case, build)
        try:
            found = count(crowd, args)
        finally:
            crowd.end()
    return found | {'keys_left': fleet.keys_left(1)}
