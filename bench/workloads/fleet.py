"""The masters of a workload: how a client reaches them, what happens to one of them, and what is left on them."""
import contextlib
import itertools
import os
import time

import processes
from masters import Master

DELAY_MS = 100
KEYS = 'bench:lock:{:06d}'


class Fleet:
    """uris: unix sockets of masters that listen on a port, too."""

    def __init__(self, uris, folder, build):
        self.masters = [Master(uri) for uri in uris]
        self.uris, self.folder = uris, folder
        self.program = os.path.join(build, 'bench/workloads/bench-distance')
        self.number = itertools.count()

    def addresses(self, case):
        """What the client is given, when nothing is wrong."""
        if case.transport == 'unix':
            return self.uris[:case.masters]
        return [f"redis://127.0.0.1:{master.info('server')['tcp_port']}" for master in self.masters[:case.masters]]

    @contextlib.contextmanager
    def distant(self, uris, delay_ms):
        """The URIs, the last one of them as that of a program that passes all on. Without a delay too, so that what this
        program costs is on both sides of a comparison."""
        path = os.path.join(self.folder, f'distance-{next(self.number)}')
        process = processes.start([self.program, path, uris[-1][len('unix://'):], str(delay_ms)])
        try:
            wait_until(lambda: os.path.exists(path), 5, 'bench-distance')
            yield [*uris[:-1], f'unix://{path}']
        finally:
            processes.end(process)

    def work(self, masters):
        """Cycles that masters have seen, by their releases, and CPU seconds, so far."""
        calls = [master.calls() for master in self.masters[:masters]]
        deleted = sum(counts.get(name, 0) for counts in calls for name in ('del', 'delex', 'delifeq', 'unlink'))
        return deleted / masters, sum(processes.cpu_s(master.pid) for master in self.masters[:masters])

    def keys_left(self, in_flight):
        """Keys of cycles. What was sent last is given time to be done."""
        keys = [KEYS.format(i) for i in range(in_flight)]
        for pause in (0, 0.01, 0.1, 0.4):
            time.sleep(pause)
            left = sum(master.ask('EXISTS', *keys) for master in self.masters)
            if not left:
                break
        return left

    def sweep(self):
        for master in self.masters:
            master.ask('FLUSHALL')


def wait_until(condition, seconds, what):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError(f'{what}: not within {seconds} s')
        time.sleep(0.005)
