#!/usr/bin/env python3
"""What masters spend on a cycle when they delete a key by a command of their own, and when by the script.

    bench/native.py BUILD SERVER [--nodes N] [--rounds R] [--seconds S]

SERVER is a Redis from 8.4 on, or a Valkey from 9.0 on. It is started N times as it is, and N times with DELEX and
DELIFEQ renamed away, so that the same library releases by the script there. bench-cycle runs against both in turn. The
CPU is that of all masters, user and system, for each cycle; the clients' is that of bench-cycle.
"""
import argparse
import json
import statistics
import subprocess
import tempfile
import time

import processes
from masters import Master

COMMANDS = 'DELEX', 'DELIFEQ'


def start_server(server, path, *options):
    """Returns the master, or None when the server does not take the options."""
    process = processes.start([server, '--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', *options],
                              stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            return Master(f'unix://{path}')
        except OSError:
            time.sleep(0.01)
    return None


def known_commands(server, folder):
    master = start_server(server, f'{folder}/probe')
    return [command for command in COMMANDS if 'unknown' not in master.ask(command)]


def run(build, masters, uris, in_flight, seconds):
    """The CPU of the masters and of the client for a cycle, in microseconds."""
    before = sum(processes.cpu_s(master.pid) for master in masters)
    said = subprocess.run([f'{build}/bench/bench-cycle', '--in-flight', str(in_flight), '--seconds', str(seconds),
                           '--warmup', '0', *uris], check=True, capture_output=True, text=True).stdout
    figures = json.loads(said)
    spent = sum(processes.cpu_s(master.pid) for master in masters) - before
    return spent * 1e6 / figures['cycles'], figures['cpu_s_per_100k'] * 10


def say(name, pairs):
    """pairs: (by the script, by the command), one for each round."""
    ratios = [after / before for before, after in pairs]
    script, command = (statistics.median(side) for side in zip(*pairs))
    print(f'  {name:8} script {script:6.2f} us   command {command:6.2f} us   ratio {statistics.median(ratios):.2f} '
          f'({min(ratios):.2f} to {max(ratios):.2f})')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build')
    parser.add_argument('server')
    parser.add_argument('--nodes', type=int, default=5)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--seconds', type=float, default=1.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        known = known_commands(args.server, folder)
        if not known:
            raise SystemExit(f'{args.server} knows neither DELEX nor DELIFEQ; name a Redis 8.4 or a Valkey 9.0')
        away = [word for command in known for word in ('--rename-command', command, '')]
        sides = []
        for name, options in ('script', away), ('command', []):
            paths = [f'{folder}/{name}{i}' for i in range(args.nodes)]
            sides.append(([start_server(args.server, path, *options) for path in paths],
                          [f'unix://{path}' for path in paths]))
        for in_flight in 1, 16, 64:
            rounds = [[run(args.build, *side, in_flight, args.seconds) for side in sides] for _ in range(args.rounds)]
            print(f'{in_flight} in flight, {args.nodes} masters, a cycle:')
            say('masters', [[figures[0] for figures in both] for both in rounds])
            say('client', [[figures[1] for figures in both] for both in rounds])


main()
