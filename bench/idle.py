#!/usr/bin/env python3
"""What elections cost a master while nothing happens: `idle.py BUILD SERVER [SECONDS]`, 60 by default.

Three masters on TCP; SERVER is a redis-server or valkey-server. A leader, two candidates and an observer run with the default
ttl, each as a process of `redlock elect`. MONITOR says which commands each of them sends to one master; what a script does
there is counted apart. The second candidate is behind the first one in the wait queue."""
import contextlib
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter

import processes
from masters import Master

WHO = ['leader', 'first candidate', 'second candidate', 'observer']
CALM_S = 25  # after the last one has started: locks of its first rounds have ended by then
LINE = re.compile(r'\+[\d.]+ \[\d+ (\S+)\] "(\w+)"')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def start(running, command):
    running.append(processes.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def start_master(running, server, folder):
    port = free_port()
    start(running, [server, '--port', str(port), '--save', '', '--appendonly', 'no', '--dir', folder])
    for _ in range(200):
        with contextlib.suppress(OSError):
            return Master(f'redis://127.0.0.1:{port}'), f'redis://127.0.0.1:{port}'
        time.sleep(0.05)
    raise RuntimeError(f'{server} does not listen')


def peers(master):
    return set(re.findall(r' addr=(\S+)', master.ask('CLIENT', 'LIST')))


def start_candidates(running, build, master, uris):
    """{address: who}"""
    who, known = {}, peers(master)
    for name in WHO:
        what = ['--observe'] if name == 'observer' else ['--', 'sleep', '100000']
        start(running, [f'{build}/src/cli/redlock', 'elect', 'idle', '--nodes', ' '.join(uris), '--quarantine', 'lenient',
                        *what])
        time.sleep(2)
        now = peers(master)
        who |= {address: name for address in now - known}
        known = now
    return who


def watch(uri, seconds):
    """Yields (address, command) of each; the address of what a script does is 'lua'."""
    monitor = Master(uri)
    monitor.ask('MONITOR')
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = LINE.match(monitor.file.readline().decode(errors='replace'))
        if found:
            yield found.groups()


def report(counts, in_scripts, seconds):
    for name in WHO:
        commands = counts[name]
        text = ', '.join(f'{command} {n / seconds:.2f}' for command, n in commands.most_common())
        print(f'{name:17} {sum(commands.values()) / seconds:5.2f} commands/s, and '
              f'{in_scripts[name] / seconds:.2f} in scripts ({text})')


def measure(running, build, server, seconds):
    with tempfile.TemporaryDirectory() as folder:
        masters = [start_master(running, server, folder) for _ in range(3)]
        who = start_candidates(running, build, masters[0][0], [uri for _, uri in masters])
        counts, in_scripts, last = {name: Counter() for name in WHO}, Counter(), None
        time.sleep(CALM_S)
        for address, command in watch(masters[0][1], seconds):
            if address == 'lua':
                in_scripts[last] += 1
            else:
                last = who.get(address)
                counts.setdefault(last, Counter())[command.upper()] += 1
        report(counts, in_scripts, seconds)


def main(build, server, seconds='60'):
    running = []
    try:
        measure(running, build, server, float(seconds))
    finally:
        for process in reversed(running):
            processes.end(process)


if __name__ == '__main__':
    main(*sys.argv[1:])
