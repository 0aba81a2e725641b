"""A holder that dies, and very many waiters."""
import random
import time

from clients import Clients
from counters import Counters

WAITING = 7
KEY = 'bench:handover'
HOLD_US = '3600000000'  # an hour: until it is killed


def majority_of(masters):
    return len(masters) // 2 + 1


def wait_until(condition, seconds, what):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError(f'{what}: not within {seconds} s')
        time.sleep(0.002)


def held(masters, key):
    return sum(master.ask('EXISTS', key) == 1 for master in masters) >= majority_of(masters)


def key_end_ns(masters):
    """When a majority of the masters will have no key any more, within a millisecond."""
    ends = sorted(time.monotonic_ns() + max(0, master.ask('PTTL', KEY)) * 1000000 for master in masters)
    return ends[majority_of(masters) - 1]


def death(kind, masters, uris, folder):
    """Milliseconds from the key's end to the next owner; None when there was none in time."""
    for master in masters:
        master.ask('FLUSHALL')
    with Clients(folder) as clients:
        holder = clients.start(kind.command(WAITING, '--hold-us', HOLD_US, '--ttl-ms', 1000), uris)
        for i in range(WAITING):
            clients.start(kind.command(WAITING, '--first', i + 1), uris)
        clients.ready()
        holder.tell(b'g')
        wait_until(lambda: held(masters, KEY), 5, 'the first owner')
        for client in clients.list[1:]:
            client.tell(b'g')
        time.sleep(random.uniform(0.3, 0.5))
        holder.kill()
        end = key_end_ns(masters)
        try:
            wait_until(lambda: clients.progress() > 0, 10, 'the next owner')
        except RuntimeError:
            return None
        return (clients.acquisitions()[0][0] - end) / 1e6


def deaths(kind, masters, uris, folder, times):
    return [death(kind, masters, uris, folder) for _ in range(times)]


def waiters(kind, masters, uris, folder, seconds, count=10000, keys=100):
    """What very many waiters of one process cost while another process holds all of the keys."""
    for master in masters:
        master.ask('FLUSHALL')
    shared = ['--keys', keys, '--managers', 1, '--hold-us', HOLD_US, '--ttl-ms', 300000]
    with Clients(folder) as clients:
        holder = clients.start(kind.command(keys, *shared, '--contenders', keys), uris)
        holder.expect('ready', 60)
        holder.tell(b'g')
        wait_until(lambda: all(held(masters, f'{KEY}:{i}') for i in range(keys)), 10, 'the holder')
        waiting = clients.start(kind.command(count, *shared, '--contenders', count), uris)
        waiting.expect('ready', 60)
        waiting.tell(b'g')
        time.sleep(3)  # until all of them have asked, and know that they wait
        counters, before, begin = Counters(masters), waiting.cpu_s(), time.monotonic()
        time.sleep(seconds)
        took, cpu, work = time.monotonic() - begin, waiting.cpu_s() - before, counters.since(kind.family)
        left = waiting.end()['waiting']
    return {'waiters': count, 'keys': keys, 'still_waiting': left, 'seconds': took, 'cpu_share': cpu / took,
            'master_cpu_share': work['cpu_s'] / took, 'sent_per_s': work['sent'] / took}
