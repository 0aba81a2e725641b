"""What locks cost that are held and renewed: memory, the client's CPU, the masters' CPU, and locks that were missed.

What a renewal costs the masters is compared with one EVALSHA for each lock, of the least script that renews one. It is
measured with as many keys, at the same pace, by a client that sends PACKET of them together.
"""
import json
import os
import subprocess
import time

import processes
from figures import judged
from masters import encode

SCRIPT = ("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end "
          'return 0')
TOKEN = '0' * 40
PACKET = 100
TTL_MS = 30000


def packets(count, *words):
    """The same command for each key."""
    keys = [f'held:{i:027d}' for i in range(count)]
    return [[encode(*(key if word is None else word for word in words)) for key in keys[first:first + PACKET]]
            for first in range(0, count, PACKET)]


def cpu_s(masters):
    return sum(processes.cpu_s(master.pid) for master in masters)


def one_by_one_us(masters, count, seconds):
    """CPU time of a master for each renewal, one EVALSHA for each lock. The renewals take so many seconds: a master that
    has nothing to do between two packets needs longer for each."""
    shas = {master.ask('SCRIPT', 'LOAD', SCRIPT) for master in masters}
    for packet in packets(count, 'SET', None, TOKEN, 'PX', '600000'):
        for master in masters:
            master.ask_all(packet)
    work = packets(count, 'EVALSHA', *shas, '1', None, TOKEN, '600001')
    before, begin = cpu_s(masters), time.monotonic()
    for i, packet in enumerate(work):
        time.sleep(max(0, begin + seconds * i / len(work) - time.monotonic()))
        for master in masters:
            if master.ask_all(packet) != [1] * len(packet):
                raise RuntimeError('a renewal did not renew')
    spent = cpu_s(masters) - before
    for master in masters:
        master.ask('FLUSHALL')
    return spent * 1e6 / count / len(masters)


def renewed(masters):
    """Renewals that masters have made, and CPU seconds, so far."""
    return sum(master.calls().get('pexpire', 0) for master in masters), cpu_s(masters)


def keeping(fleet, args, build):
    """Hold the locks, let a first renewal of each pass, and look at the next ones."""
    settle, seconds = TTL_MS / 3000, args.keep
    process = processes.start([os.path.join(build, 'bench/bench-held'), '--ttl-ms', str(TTL_MS), '--settle', str(settle),
                               '--seconds', str(seconds), str(args.locks), *fleet.uris[:5]],
                              stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != 'begin\n':
            raise RuntimeError('bench-held failed')
        count, cpu = renewed(fleet.masters)
        line = process.stdout.readline()
        count_after, cpu_after = renewed(fleet.masters)
    finally:
        process.stdout.close()
        processes.end(process)
    fleet.sweep()
    run = json.loads(line)
    renewals = count_after - count
    return {'locks': args.locks, 'ttl_ms': TTL_MS, 'seconds': run['seconds'], 'missed': run['missed'],
            'client_cpu_share': run['cpu_s'] / run['seconds'], 'renewals_per_s': renewals / run['seconds'],
            'renewal_us': (cpu_after - cpu) * 1e6 / renewals if renewals else None}


# The number of acquires at once.
BURST = 20000


def memory(fleet, build, locks, *how):
    """Bytes for each lock, with the ttl so long that none is renewed meanwhile."""
    line = subprocess.run([os.path.join(build, 'bench/bench-held'), *how, str(locks), *fleet.uris[:5]],
                          check=True, capture_output=True, text=True, preexec_fn=processes.die_with_parent).stdout
    fleet.sweep()
    return json.loads(line)['bytes_per_lock']


def after_burst(fleet, args, build):
    """None: bench-held of an older build cannot measure it."""
    try:
        return memory(fleet, build, BURST, '--at-once', str(BURST))
    except subprocess.CalledProcessError:
        if build != args.before:
            raise
        return None


def measure(fleet, args, build):
    result = keeping(fleet, args, build)
    one = one_by_one_us(fleet.masters[:5], args.locks, TTL_MS / 3000)
    return result | {'bytes_per_lock': memory(fleet, build, args.locks), 'one_by_one_us': one,
                     'bytes_after_burst': after_burst(fleet, args, build)}


def goals_of(result):
    def goal(title, bound, value):
        return judged(title, '<=', bound, None if value is None else (value, value, value))
    renewal = result['renewal_us']
    what = f"{result['locks']:,} held, ttl {result['ttl_ms'] // 1000} s"
    return [goal(f'{what}: resident bytes per lock', 800, result['bytes_per_lock']),
            goal(f'{BURST:,} acquired at once: resident bytes per lock', 1000, result['bytes_after_burst']),
            goal(f'{what}: client CPU, share of a core', 0.05, result['client_cpu_share']),
            goal(f"{what}: masters' CPU per renewal / one EVALSHA per lock", 0.34,
                 renewal and renewal / result['one_by_one_us']),
            goal(f'{what}: locks missed', 0, result['missed'])]


def in_words(result):
    renewal = result['renewal_us']
    burst = f", {result['bytes_after_burst']:,.0f} after a burst of {BURST:,}" if result.get('bytes_after_burst') else ''
    return (f"{result['locks']:,} locks held, ttl {result['ttl_ms'] // 1000} s: {result['bytes_per_lock']:,.0f} bytes per lock"
            f"{burst}; "
            f"client {result['client_cpu_share']:.1%} of a core; {result['renewals_per_s']:,.0f} renewals/s on all masters, "
            f"{'-' if renewal is None else f'{renewal:.2f}'} µs of a master per renewal (one EVALSHA per lock: "
            f"{result['one_by_one_us']:.2f} µs); {result['missed']} locks missed")
