#!/usr/bin/env python3
"""Let three candidates elect a leader, do something to it, and say when the next one acts and whether two ever did.

`scripts/bench election` starts the masters and this program; bench/README.md says how to read what it prints. Each round
does everything once with each program, one after the other, so that what changes slowly on the machine hits all of them.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import table
from candidates import Election
from machine import machine
from masters import Master
from processes import adopt_orphans
from servers import JARS, Etcd, ZooKeeper, minority_stopped
from systems import Curator, Deaf, EtcdElect, EtcdLock, Redlock
from trials import trial

DEAF = 'redlock elect (CMD ignores SIGTERM)'
REDLOCK = {'redlock elect': 'elect', 'redlock lock': 'lock', DEAF: 'elect'}
DEFAULT = ['redlock elect', DEAF, EtcdLock.name, EtcdElect.name, Curator.name]
LEAST_TTL_S = 2  # of etcd, with its usual settings


class Field:
    """The programs that take part. `left_out` says why others do not."""

    def __init__(self, args, stack, folder):
        self.args, self.stack, self.folder = args, stack, folder
        self.rest = (os.path.join(args.build, 'bench/election/election-act'), args.ttl)
        self.systems, self.versions, self.left_out = [], [], ['consul: Debian has no package of it']
        self.add_redlock()
        self.add_etcd()
        self.add_curator()

    def add_redlock(self):
        program = os.path.join(self.args.build, 'src/cli/redlock')
        pids = [Master(uri).pid for uri in self.args.uris]
        for name in filter(REDLOCK.get, self.args.systems):
            if subprocess.run([program, REDLOCK[name], '--help'], capture_output=True).returncode == 0:
                system = Deaf if name == DEAF else Redlock
                self.systems.append(system(REDLOCK[name], program, self.args.uris, pids, *self.rest))
            else:
                self.left_out.append(f'{name}: this build has no such command')

    def add_etcd(self):
        wanted = [system for system in (EtcdLock, EtcdElect) if system.name in self.args.systems]
        if wanted:
            etcd = self.stack.enter_context(Etcd(self.folder))
            self.versions.append(etcd.version())
            self.systems += [system(etcd, *self.rest) for system in wanted]

    def add_curator(self):
        if Curator.name not in self.args.systems:
            return
        if shutil.which('javac') and os.path.exists(os.path.join(JARS, 'curator-recipes.jar')):
            zookeeper = self.stack.enter_context(ZooKeeper(self.folder))
            self.versions.append(zookeeper.version())
            self.systems.append(Curator(zookeeper, *self.rest))
        else:
            self.left_out.append(f'{Curator.name}: javac or libcurator-recipes-java is missing')


def say(text):
    if sys.stderr.isatty():
        print(f'\r{text:79}\r' if not text else f'\r{text:79}', end='', file=sys.stderr, flush=True)


def measure(system, events, about, folder, ttl_s):
    """One election in which all of the events happen. about: which round, and which trouble."""
    name = f"bench-election-{about['round']}-{about['trouble'] or 'up'}"
    patience_s = 2 * system.ttl_s + 10
    with Election(system, name, folder) as election:
        for event in events:
            try:
                yield about | trial(election, event, ttl_s, patience_s)
            except RuntimeError as error:
                yield about | {'trial': event, 'failed': f'{error}; {election.last_words()}'}
                return


def rounds(args, systems, folder):
    trials = []
    for number in range(args.rounds):
        for trouble in (None, 'stopped'):
            for system in systems if number % 2 == 0 else systems[::-1]:
                say(f'round {number + 1} of {args.rounds}: {system.name}' + (', a minority stopped' if trouble else ''))
                about = {'system': system.name, 'round': number, 'trouble': trouble}
                events = system.events(first=number == 0 and not trouble)
                with minority_stopped(system.pids, number) if trouble else contextlib.nullcontext():
                    trials += measure(system, events, about, folder, args.ttl)
    say('')
    return trials


def arguments():
    known = [*REDLOCK, EtcdLock.name, EtcdElect.name, Curator.name]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', required=True, help='where the programs are')
    parser.add_argument('--server', required=True, help='what its --version says')
    parser.add_argument('--transport', required=True)
    parser.add_argument('--json', help='a file to write')
    parser.add_argument('--rounds', type=int, default=20)
    parser.add_argument('--ttl', type=int, default=3, help='in seconds')
    parser.add_argument('--systems', type=lambda text: text.split(','), default=DEFAULT, help=f'of: {",".join(known)}')
    parser.add_argument('uris', nargs='+', metavar='URI')
    args = parser.parse_args()
    unknown = [name for name in args.systems if name not in known]
    if unknown:
        parser.error(f'unknown: {", ".join(unknown)}; there are {", ".join(known)}')
    if args.ttl < LEAST_TTL_S:
        parser.error(f'--ttl: etcd makes leases of at least {LEAST_TTL_S} s')
    return args


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left, and no master is left stopped
    adopt_orphans()
    about = machine(len(args.uris), args.server, args.transport) | {'rounds': args.rounds, 'ttl_s': args.ttl}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        field = Field(args, stack, folder)
        about |= {'versions': field.versions}
        result = {'machine': about, 'left_out': field.left_out,
                  'remarks': [system.remark for system in field.systems if system.remark],
                  'trials': rounds(args, field.systems, folder)}
        ours = [system.name for system in field.systems if system.ours]
    table.print_all(result)
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump(result, file, indent=1)
            file.write('\n')
    wrong = table.faults(result['trials'], ours)
    for sentence in wrong:
        print(f'WRONG: {sentence}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
