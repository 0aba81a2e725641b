"""User-space instructions of a cycle: callgrind counts them, so that a busy machine does not change them.

Two lengths of a run are counted, and the difference is divided by that of the cycles, so that the start does not count.
"""
import os
import re
import subprocess

import processes
from figures import judged
from trials import command

LENGTHS = 2000, 6000
GOALS = {64: 5000, 1: 8000}


def counted(case, cycles, fleet, args):
    printed = subprocess.run(
        ['valgrind', '--tool=callgrind', f'--callgrind-out-file={os.path.join(fleet.folder, "callgrind")}',
         *command(case, args), '--in-flight', str(case.in_flight), '--warmup', '0', '--cycles', str(cycles),
         *fleet.addresses(case)], check=True, capture_output=True, text=True, preexec_fn=processes.die_with_parent).stderr
    fleet.sweep()
    return int(re.search(r'Collected : (\d+)', printed).group(1))


def count(case, fleet, args):
    few, many = LENGTHS
    found = (counted(case, many, fleet, args) - counted(case, few, fleet, args)) / (many - few)
    return {'place': case.place, 'client': case.client, 'in_flight': case.in_flight, 'instructions': found}


def goals_of(runs):
    found = {run['in_flight']: run['instructions'] for run in runs if run['client'] == 'libredlock'}
    return [judged(f'instructions per cycle, {in_flight} in flight', '<=', bound, (found[in_flight],) * 3)
            for in_flight, bound in GOALS.items()]
