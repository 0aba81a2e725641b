#!/usr/bin/env python3
"""Every kind of trial works on real masters: `test_smoke.py BUILD`. Times are not looked at."""
import argparse
import contextlib
import io
import os
import sys
import tempfile
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), *(os.path.join(HERE, '../../tests', name) for name in ('lint', 'lib'))]

import document
import renewals
import run
import trials
from fleet import Fleet
from plans import NEWCOMERS, SAME_FLOOR, Case
from servers import Master, free_port
from tap import Tap

CASES = [Case('1 master', 'floor', 4, masters=1), Case('tcp', 'libredlock', 4, masters=3, transport='tcp'),
         Case('fenced', 'libredlock, fenced', 4, options=('--fenced',)),
         Case('held', 'libredlock', 4, options=('--held', '100')),
         *(Case(trouble, 'libredlock', 4, trouble=trouble) for trouble in ('well', 'stopped', 'slow')),
         *(Case(trouble, NEWCOMERS, 2, trouble=trouble) for trouble in ('well', 'stopped'))]
ASKED = 'set', 'get', 'eval', 'evalsha', 'del', 'delex', 'delifeq', 'exists'


def complaints_of(case, fleet, args):
    result = trials.trial(case, fleet, args)
    bad = [f'{field}: {result[field]}' for field in ('errors', 'keys_left') if result.get(field)]
    return bad if result['cycles'] > 0 else [*bad, 'no cycle']


def asked_by(client, fleet, args):
    """What a master is asked in each cycle, with what scripts call."""
    before = fleet.masters[0].calls()
    cycles = trials.trial(Case('asked', client, 4, masters=3), fleet, args)['cycles']
    after = fleet.masters[0].calls()
    return [name for name in ASKED if after.get(name, 0) - before.get(name, 0) >= cycles > 0]


def same_commands(fleet, args):
    ours, floor = (asked_by(client, fleet, args) for client in ('libredlock', SAME_FLOOR))
    return [] if ours == floor and len(ours) > 1 else [f'libredlock asks {ours}, the floor {floor}']


def renewals_work(fleet, args):
    with mock.patch.object(renewals, 'TTL_MS', 1500):
        found = renewals.keeping(fleet, args, args.build)
    return [] if found['missed'] == 0 and found['renewals_per_s'] > 0 else [found]


def whole_program(fleet, build, folder):
    """The smallest workload, from its command line to the document."""
    page = os.path.join(folder, 'page.md')
    run.write(page, f'{document.BEGIN}\n{document.END}\n')
    with mock.patch.object(sys, 'argv', [
            'run.py', 'fenced', '--build', build, '--server', 'x', '--command', 'scripts/bench fenced', '--plot', folder,
            '--rounds', '1', '--seconds', '0.05', '--warmup', '0', *fleet.uris]), contextlib.redirect_stdout(io.StringIO()):
        status = run.main()
    document.main(page, folder)
    with open(page, encoding='utf-8') as file:
        return [] if status == 0 and 'fenced / plain cycles/s, 64 in flight' in file.read() else [f'status {status}']


def main(build):
    tap = Tap()
    args = argparse.Namespace(build=build, npm=None, warmup=0, seconds=0.05, locks=100, keep=0.6)
    with contextlib.ExitStack() as after, tempfile.TemporaryDirectory() as folder:
        masters = [Master(os.path.join(folder, str(i)), f'port {free_port()}') for i in range(5)]
        for master in masters:
            after.callback(master.end)
        fleet = Fleet([master.uri for master in masters], folder, build)
        with mock.patch.object(trials, 'SETTLE_S', 0.2):
            for case in CASES:
                tap.claim(f'a trial: {case.client}, {case.place}', complaints_of(case, fleet, args))
        tap.claim('the second floor asks what libredlock asks', same_commands(fleet, args))
        tap.claim('locks are held and renewed', renewals_work(fleet, args))
        tap.claim('one renewal after the other', [] if renewals.one_by_one_us(fleet.masters[:5], 1000, 0) > 0 else ['no time'])
        tap.claim('a workload, from the command to the document', whole_program(fleet, build, folder))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
