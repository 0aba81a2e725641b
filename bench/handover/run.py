#!/usr/bin/env python3
"""Let contenders pass one key around, and say how fast, how fairly and at which cost they do.

`scripts/bench handover` starts the masters and this program; bench/README.md says how to read what it prints. Each round
runs every row once, one after the other, so that what changes slowly on the machine hits all of them.
"""
import argparse
import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import scenarios
import table
from clients import Clients
from counters import Counters
from figures import figures, overlaps
from machine import machine
from masters import TROUBLES, Master

PROCESSES = 8  # up to so many contenders are processes; more are in one
IDLE_S = 3     # when nobody gets the lock for so long, who waits is stranded


class Kind:
    """A way to contend: what it is called, whose commands the masters see, and how it is started."""

    def __init__(self, name, family, program, options=lambda contenders: []):
        self.name, self.family, self.program, self.options = name, family, program, options

    def command(self, contenders, *more):
        """For one process, when there are so many contenders in all."""
        return [*self.program, *map(str, [*self.options(contenders), *more])]

    def start(self, clients, contenders, uris):
        fits = (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 100) // (2 * len(uris) + 1)
        each = 1 if contenders <= PROCESSES else min(contenders, fits)
        for first in range(0, contenders, each):
            clients.start(self.command(contenders, '--first', first,
                                       '--contenders', min(each, contenders - first)), uris)


def best_pause_us(contenders, yields):
    """The pause with which the floor changes owner most often. It grows with the number of contenders, which the floor is
    told and no real client knows. Found by trying 45 to 600 microseconds for each contender."""
    each = (80, 150, 300) if yields else (45, 80, 200)
    return contenders * (each[0] if contenders <= 8 else each[1] if contenders <= 64 else each[2])


def floor_of(args, name, yields):
    return Kind(name, 'floor', [os.path.join(args.build, 'bench/handover/handover-floor')],
                lambda contenders: ['--yields', int(yields), '--pause-us', best_pause_us(contenders, yields)])


def kinds_of(args):
    """Those of C, and those of npm."""
    ours = os.path.join(args.build, 'bench/handover/handover-ours')
    own = [Kind('libredlock', 'libredlock', [ours]),
           Kind('libredlock, polling', 'libredlock', [ours], lambda contenders: ['--watch', 0]),
           floor_of(args, 'floor', False), floor_of(args, 'floor, yielding', True)]
    npm = []
    if args.npm:
        for library in ('redlock', 'redlock-universal'):
            for settings in ('default', 'tuned'):
                npm.append(Kind(f'npm {library}, {settings}', library,
                                ['node', os.path.join(HERE, 'contend.mjs'), args.npm, library, settings]))
    return own, npm


def measure(kind, contenders, trouble, victim, masters, args, folder):
    """One run of one row. trouble: what happens to the master `victim` meanwhile, or None."""
    for master in masters:
        master.ask('FLUSHALL')
    running = [master for i, master in enumerate(masters) if trouble != 'stopped' or i != victim]
    with Clients(folder) as clients:
        kind.start(clients, contenders, args.uris)
        clients.ready()
        with TROUBLES[trouble](masters[victim]) if trouble else contextlib.nullcontext():
            clients.tell(b'g')
            time.sleep(args.warmup + (1 if trouble else 0))
            counters, cpu, begin = Counters(running), clients.cpu_s(), time.monotonic_ns()
            time.sleep(args.seconds * (2 if contenders > 100 else 1))
            end, cpu, work = time.monotonic_ns(), clients.cpu_s() - cpu, counters.since(kind.family)
            went_on = clients.rest(IDLE_S, args.drain)
            waiting, errors = clients.end()
        acquisitions = clients.acquisitions()
    return row_of(acquisitions, contenders, begin, end, work, cpu) | {
        'kind': kind.name, 'contenders': contenders, 'trouble': trouble, 'processes': len(clients.list),
        'overlaps': overlaps(acquisitions), 'errors': errors,
        'stranded': 0 if went_on else waiting, 'unserved': waiting if went_on else 0}


def row_of(acquisitions, contenders, begin, end, work, cpu):
    """Figures, with the work of clients and masters for each change of the owner."""
    row = figures(acquisitions, contenders, begin, end)
    each = {'client_cpu_ms': cpu * 1000, 'master_cpu_ms': work['cpu_s'] * 1000, 'sent': work['sent'],
            'inside': work['inside'], 'pushed': work['pushed']}
    return row | {
        'client_cpu_s_per_s': cpu * 1e9 / (end - begin),
        'master_cpu_s_per_s': work['cpu_s'] * 1e9 / (end - begin),
    } | {field: value / row['changes'] if row['changes'] else None for field, value in each.items()}


def plan(own, npm, args):
    """(kind, contenders, what is wrong with a master), in the order of a round."""
    rows = []
    for contenders in args.contenders:
        rows += [(kind, contenders, None) for kind in own]
        if not args.quick or contenders == PROCESSES:
            rows += [(kind, contenders, None) for kind in npm]
    return rows + [(kind, PROCESSES, trouble) for trouble in TROUBLES for kind in own]


def run_rounds(args, own, npm, masters, folder):
    rows = plan(own, npm, args)
    runs = []
    for round_ in range(args.rounds):
        order = rows if round_ % 2 == 0 else rows[::-1]
        for i, (kind, contenders, trouble) in enumerate(order):
            if sys.stderr.isatty():
                print(f'\rround {round_ + 1} of {args.rounds}, {i + 1} of {len(order)}: {kind.name}, {contenders}'
                      f'{"":20}', end='', file=sys.stderr)
            try:
                runs.append(measure(kind, contenders, trouble, round_ % len(masters), masters, args, folder))
            except RuntimeError as error:
                runs.append({'kind': kind.name, 'contenders': contenders, 'trouble': trouble, 'failed': str(error)})
    if sys.stderr.isatty():
        print('\r' + ' ' * 79 + '\r', end='', file=sys.stderr)
    return runs


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', required=True, help='where the programs are')
    parser.add_argument('--npm', help="a folder with npm's libraries")
    parser.add_argument('--server', required=True, help='what its --version says')
    parser.add_argument('--transport', required=True)
    parser.add_argument('--json', help='a file to write')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--rounds', type=int)
    parser.add_argument('--seconds', type=float, help='of each run; twice that for more than 100 contenders')
    parser.add_argument('--warmup', type=float, default=0.5)
    parser.add_argument('--drain', type=float, default=4, help='how long to wait for those who still wait')
    parser.add_argument('--contenders', type=lambda text: [int(word) for word in text.split(',')],
                        default=[2, 8, 64, 512])
    parser.add_argument('--only', choices=['rounds', 'death', 'waiters'])
    parser.add_argument('uris', nargs='+', metavar='URI')
    args = parser.parse_args()
    args.rounds = args.rounds or (1 if args.quick else 5)
    args.seconds = args.seconds or (1.5 if args.quick else 3)
    return args


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no master is left stopped
    masters = [Master(uri) for uri in args.uris]
    own, npm = kinds_of(args)
    about = machine(len(masters), args.server, args.transport) | {'rounds': args.rounds, 'seconds': args.seconds}
    result = {'machine': about}
    with tempfile.TemporaryDirectory() as folder:
        if args.only in (None, 'rounds'):
            result['runs'] = run_rounds(args, own, npm, masters, folder)
        if args.only in (None, 'death'):
            result['deaths'] = {kind.name: scenarios.deaths(kind, masters, args.uris, folder, 3 if args.quick else 10)
                                for kind in own}
        if args.only in (None, 'waiters'):
            result['waiters'] = scenarios.waiters(own[0], masters, args.uris, folder, 3 if args.quick else 10)
    table.print_all(result)
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump(result, file, indent=1)
            file.write('\n')
    wrong = table.faults(result)
    for sentence in wrong:
        print(f'WRONG: {sentence}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
