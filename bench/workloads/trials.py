"""One run of one case: start the client, do to a master what is to be done, and read the figures."""
import contextlib
import json
import os
import subprocess
import time

import newcomers
import processes
from fleet import DELAY_MS, wait_until
from plans import BEFORE, NEWCOMERS, SAME_FLOOR

HERE = os.path.dirname(os.path.abspath(__file__))
SETTLE_S = 2.0  # a client learns by timeouts that a master has stopped
PROGRAMS = {SAME_FLOOR: 'bench-floor-same', 'floor': 'bench-floor', 'libredlock': 'bench-cycle'}


def build_of(case, args):
    return args.before if case.client.startswith(BEFORE) else args.build


def command(case, args):
    """Without the options of time and the masters."""
    client = case.client.removeprefix(BEFORE)
    if client.startswith('npm '):
        return ['node', os.path.join(HERE, 'cycle.mjs'), args.npm, client[len('npm '):]]
    program = PROGRAMS.get(client) or PROGRAMS[client.split(',')[0]]
    return [os.path.join(build_of(case, args), 'bench', program), *case.options]


def why_not(client, args):
    """Why a client cannot run here; None if it can."""
    if client.startswith('npm ') and not args.npm:
        return 'node or npm is missing, or the library could not be installed'
    return None


@contextlib.contextmanager
def stopped_once_busy(master):
    """Stops the master when a client uses it."""
    before = master.calls().get('set', 0)
    wait_until(lambda: master.calls().get('set', 0) > before, 30, 'the client')
    master.stop()
    try:
        yield
    finally:
        master.go_on()


def started(case, uris, args):
    warmup = args.warmup + (SETTLE_S if case.trouble else 0)
    return processes.start([*command(case, args), '--in-flight', str(case.in_flight), '--seconds', str(args.seconds),
                            '--warmup', str(warmup), *uris], stdout=subprocess.PIPE, text=True)


def said(process):
    """What the client prints in the end, as a dictionary."""
    try:
        line = process.communicate(timeout=120)[0]
    finally:
        processes.end(process)
    if process.returncode:
        raise RuntimeError(f'{process.args[0]} failed')
    return json.loads(line)


def undisturbed(case, fleet, args):
    cycles, cpu = fleet.work(case.masters)
    run = said(started(case, fleet.addresses(case), args))
    left = fleet.keys_left(case.in_flight)
    cycles_after, cpu_after = fleet.work(case.masters)
    others = sum(int(word) for word in case.options if word.isdigit())
    run['masters_cpu_us'] = None if others else (cpu_after - cpu) * 1e6 / (cycles_after - cycles)
    return run | {'keys_left': left}


def disturbed(case, fleet, args):
    """The last master is reached through bench-distance."""
    with fleet.distant(fleet.addresses(case), DELAY_MS if case.trouble == 'slow' else 0) as uris:
        process = started(case, uris, args)
        with stopped_once_busy(fleet.masters[case.masters - 1]) if case.trouble == 'stopped' else contextlib.nullcontext():
            run = said(process)
    time.sleep(0.2)  # until the last master has done what was sent to it
    return run


def way_of(case):
    if case.client.removeprefix(BEFORE) == NEWCOMERS:
        return lambda case, fleet, args: newcomers.contend(case, fleet, args, build_of(case, args))
    return disturbed if case.trouble else undisturbed


def trial(case, fleet, args):
    run = way_of(case)(case, fleet, args)
    fleet.sweep()
    return run | {'place': case.place, 'client': case.client, 'in_flight': case.in_flight}
