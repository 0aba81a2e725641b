"""Real masters and programs under drawn faults, judged by their history (README.md); scripts/chaos runs it.

Sections of some minutes follow each other until the time is over, with five, three and seven masters in turn. Each is
judged when it has ended, and its folder is deleted if nothing was found. Everything runs in namespaces of its own,
which end with this process.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import faults  # noqa: E402
from network import begin_inside  # noqa: E402
from section import Section  # noqa: E402

# What each sabotage of a client must make the judge say.
SABOTAGES = {
    'long': 'exclusion', 'old-fence': 'fencing', 'no-fence-check': 'register', 'lost-update': 'updates',
    'mute': 'answered', 'leave-key': 'left', 'leave-process': 'process', 'leak-descriptors': 'flat',
    'leak-memory': 'flat', 'queue-breaker': 'queue',
}


@dataclass
class Build:
    """The programs of one build of the library."""
    name: str
    client: str
    redlock: str
    environment: dict = field(default_factory=dict)


def read_options():
    parser = argparse.ArgumentParser(prog='scripts/chaos', description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--minutes', type=float, default=60, help='for how long (60)')
    parser.add_argument('--seed', type=int, default=int(time.time()), help='what is drawn depends on it')
    parser.add_argument('--section', type=int, help='only the section with this number')
    parser.add_argument('--section-minutes', type=float, default=4, help='how long a section has faults (4)')
    parser.add_argument('--calm-seconds', type=float, default=20, help='how long one has none at its end (20)')
    parser.add_argument('--masters', type=int, help='so many, and not 5, 3 and 7 in turn')
    parser.add_argument('--outside', default='', help='also faults outside the model, of: ' + ','.join(faults.OUTSIDE))
    parser.add_argument('--sabotage', help='NAME or all: a client that breaks a rule, which the judge must find, of: '
                        + ', '.join(SABOTAGES))
    parser.add_argument('--no-faults', action='store_true', help='no faults at all')
    parser.add_argument('--keep', metavar='FOLDER', help='keep all histories there')
    parser.add_argument('--server', action='append', default=[], metavar='VERSION=PATH', help='a server to use')
    parser.add_argument('--build', action='append', default=[], metavar='NAME=CLIENT=REDLOCK=LIBRARIES',
                        help='another build of the library, beside this one')
    for name in ('client', 'work', 'proxy', 'shim', 'redlock'):
        parser.add_argument('--' + name, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.outside = [kind for kind in options.outside.split(',') if kind]
    for kind in options.outside:
        if kind not in faults.OUTSIDE:
            parser.error(f'no such fault: {kind}; there are {", ".join(faults.OUTSIDE)}')
    if options.sabotage not in (None, 'all', *SABOTAGES):
        parser.error(f'no such sabotage: {options.sabotage}; there are all, {", ".join(SABOTAGES)}')
    return options


def find_builds(options):
    builds = [Build('this', options.client, options.redlock)]
    for text in options.build:
        name, client, redlock, libraries = text.split('=')
        builds.append(Build(name, client, redlock, {'LD_LIBRARY_PATH': libraries}))
    return builds


def find_servers(options):
    """(version, path), the oldest first."""
    found = []
    for text in options.server:
        version, path = text.split('=', 1)
        found.append((tuple(map(int, version.split('-')[-1].split('.')[:2])), path))
    return sorted(found)


class Judged:
    """The figures of all sections together."""

    def __init__(self):
        self.sections = self.violations = 0
        self.figures, self.faults = collections.Counter(), collections.Counter()

    def add(self, section, said):
        self.sections += 1
        self.violations += len(said['violations'])
        self.figures.update(said['figures'])
        self.faults.update(section.struck)

    def show(self, options):
        for title, counts in (('', self.figures), ('fault ', self.faults)):
            for name, count in sorted(counts.items()):
                print(f'  {title + name:36} {count:10,}')
        calls = sum(count for name, count in self.figures.items() if name.startswith('calls '))
        print(f'seed {options.seed}: {self.sections} sections, {self.figures["holds"]:,} locks held, {calls:,} calls, '
              f'{sum(self.faults.values()):,} faults, {self.violations} violations')


def judge(folder):
    ended = subprocess.run([sys.executable, '-B', os.path.join(HERE, 'judge.py'), '--json', folder],
                           stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, 1):
        sys.exit(f'chaos: the judge ended with {ended.returncode}')
    return json.loads(ended.stdout)


def run_section(options, number, folder):
    path = os.path.join(folder, f'{options.seed}-{number}')
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    programs = {'proxy': options.proxy, 'shim': options.shim, 'work': options.work}
    section = Section(options, number, path, programs, find_servers(options), find_builds(options))
    print(f'{section}\n  history: {path}', flush=True)
    try:
        section.run()
    finally:
        section.end()
    said = judge(path)
    for line in said['violations']:
        print(f'  {"expected: " if options.sabotage else ""}VIOLATION {line}')
    print(f'  {sum(section.struck.values())} faults, {len(said["violations"])} violations', flush=True)
    return section, said, path


def run_all(options, folder):
    judged, until = Judged(), time.monotonic() + options.minutes * 60
    number = options.section or 0
    while judged.sections == 0 or options.section is None and time.monotonic() + options.section_s < until:
        section, said, path = run_section(options, number, folder)
        judged.add(section, said)
        number += 1
        if said['violations']:
            print(f'  repeat: scripts/chaos --seed {options.seed} --section {number - 1}; history: {path}')
        elif not options.keep:
            shutil.rmtree(path)
    judged.show(options)
    return judged.violations == 0


def run_sabotages(options, folder):
    names = list(SABOTAGES) if options.sabotage == 'all' else [options.sabotage]
    found = 0
    for name in names:
        options.sabotage, options.no_faults, options.section_s = name, True, 50
        _, said, path = run_section(options, 0, folder)
        fired = {line.split(':')[0] for line in said['violations']}
        is_found = SABOTAGES[name] in fired
        found += is_found
        print(f'sabotage {name}: {SABOTAGES[name]} {"found" if is_found else "NOT FOUND"}; fired: {sorted(fired)}',
              flush=True)
        if not options.keep:
            shutil.rmtree(path)
    print(f'{len(names)} sabotages, {found} found')
    return found == len(names)


def main():
    options = read_options()
    begin_inside()
    options.section_s = options.section_minutes * 60
    folder = options.keep or tempfile.mkdtemp(prefix='redlock-chaos-')
    os.makedirs(folder, exist_ok=True)
    good = (run_sabotages if options.sabotage else run_all)(options, folder)
    if good and not options.keep:
        shutil.rmtree(folder)
    sys.exit(0 if good else 1)


main()
