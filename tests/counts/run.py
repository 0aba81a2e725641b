#!/usr/bin/env python3
"""Counts what cycles of the library take, and compares the counts with bounds.toml.

    run.py [--instructions] [--update] PROGRAM [WORKLOAD...]

PROGRAM is test_counts. --instructions has valgrind count these, too: only in a build as it is
released, for which the bounds are. --update writes the counts into bounds.toml.

A count above its bound fails. Beside one that is below, a comment says that the bound can be lower.
"""
import argparse
import concurrent.futures
import decimal
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

BOUNDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'bounds.toml')

# How many masters there are: these counts are those of each.
MASTERS = 5
OF_EACH_MASTER = ('commands', 'sent', 'received')

METRICS = ('allocations', 'syscalls', *OF_EACH_MASTER, 'instructions')

# What another compiler than that of the bounds may need more.
MARGIN = decimal.Decimal('1.1')

# How many instructions a copy of some bytes takes depends on their addresses, and those of the stack
# depend on the environment: by less than this.
ADDRESSES = decimal.Decimal('1.001')

# libc has several versions of memcpy() and the like, and takes the one for the processor. These are
# names of glibc 2.33 and newer.
TUNABLES = 'glibc.cpu.hwcaps=-AVX2,-AVX,-ERMS,-AVX512F,-AVX512VL'


# ---- counting ----

def ask(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)
    if done.returncode != 0:
        raise RuntimeError(f'{" ".join(command)}: status {done.returncode}: {done.stderr}')
    return done.stdout


def sums_of(text):
    return {name: int(n) for name, n in (line.split() for line in text.splitlines())}


def built_as(program):
    return dict(line.split(': ', 1) for line in ask([program, '--built']).splitlines())


def callgrind(program, workload, folder):
    """The profile of the one process that counts: a file for each, and only one has a count."""
    at_start = 'no' if 'instrumented' in built_as(program) else 'yes'
    ask(['valgrind', '--tool=callgrind', '--toggle-collect=rig_counted_turn', f'--instr-atstart={at_start}',
         f'--callgrind-out-file={folder}/%p', program, workload],
        env={**os.environ, 'GLIBC_TUNABLES': TUNABLES})
    return max(glob.glob(f'{folder}/*'), key=total_of)


def total_of(profile):
    with open(profile) as file:
        return max(map(int, re.findall(r'^totals: (\d+)', file.read(), re.MULTILINE)), default=0)


def count_instructions(program, workload):
    with tempfile.TemporaryDirectory() as folder:
        return total_of(callgrind(program, workload, folder))


def per_cycle(sums, metric):
    """Rounded up to two digits behind the point."""
    n = decimal.Decimal(sums[metric]) / sums['cycles']
    if metric in OF_EACH_MASTER:
        n /= MASTERS
    return n.quantize(decimal.Decimal('0.01'), decimal.ROUND_UP).normalize()


def count(program, workload, with_instructions):
    """A dictionary of what could be counted."""
    sums = sums_of(ask([program, '--syscalls', workload]))
    if with_instructions:
        sums['instructions'] = count_instructions(program, workload)
    return {metric: per_cycle(sums, metric) for metric in METRICS if metric in sums}


# ---- bounds ----

def read_bounds():
    with open(BOUNDS, 'rb') as file:
        return tomllib.load(file, parse_float=decimal.Decimal)


def written(number):
    return f'{number:f}'


def update(rows, counts):
    """Only the numbers change."""
    with open(BOUNDS) as file:
        parts = re.split(r'(?m)^(?=\[\[workload\]\])', file.read())
    for i, row in enumerate(rows, 1):
        for metric, n in counts.get(row['name'], {}).items():
            parts[i] = re.sub(rf'(?m)^{metric} = .*$', f'{metric} = {written(n)}', parts[i])
    with open(BOUNDS, 'w') as file:
        file.write(''.join(parts))


# ---- comparing ----

class Report:
    """TAP."""

    def __init__(self):
        self.claims = 0
        self.failed = 0

    def claim(self, text, holds=True, skip=None):
        self.claims += 1
        self.failed += not holds
        print(f'{"ok" if holds else "not ok"} {self.claims} - {text}'
              + (f' # SKIP {skip}' if skip else ''))

    def compare(self, name, metric, n, bound):
        self.claim(f'{name}: {written(n)} {metric}, at most {written(bound)}', n <= bound)
        if n > bound:
            print('# If the change is worth it, `scripts/counts --update` writes the new bounds.')
        elif n * ADDRESSES < bound / ADDRESSES:
            print('# Lower the bound: `scripts/counts --update`.')

    def finish(self):
        print(f'1..{self.claims}')
        return 1 if self.failed else 0


def other_openssl(row, built):
    """Why a row that depends on OpenSSL does not apply here, or None."""
    version = built.get('openssl')
    if row.get('openssl', version) != version:
        return f'the bounds are for OpenSSL {row["openssl"]}, and this is {version}'
    return None


def why_not(metric, built, table, wanted):
    if metric != 'instructions':
        return f'{metric} cannot be counted here'
    if not wanted:
        return 'only in a build as it is released: scripts/counts'
    if built['processor'] != table['processor']:
        return f'the bounds are for {table["processor"]}'
    return 'valgrind is not installed'


def compare_row(report, row, counted, missing, margin, skip):
    for metric in METRICS:
        if metric not in row:
            continue
        if skip or metric not in counted:
            report.claim(f'{row["name"]}: {metric}', skip=skip or missing(metric))
            continue
        bound = decimal.Decimal(row[metric])
        if metric == 'instructions':
            bound = (bound * margin).quantize(decimal.Decimal('0.01'))
        report.compare(row['name'], metric, counted[metric], bound)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--instructions', action='store_true')
    parser.add_argument('--update', action='store_true')
    parser.add_argument('program')
    parser.add_argument('workloads', nargs='*')
    args = parser.parse_args()

    table = read_bounds()
    built = built_as(args.program)
    known = ask([args.program, '--list']).split()
    names = args.workloads or known
    with_instructions = (args.instructions and built['processor'] == table['processor']
                         and shutil.which('valgrind') is not None)
    margin = ADDRESSES if built['compiler'] == table['compiler'] else MARGIN

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(names, pool.map(
            lambda name: count(args.program, name, with_instructions), names)))
    if args.update:
        update(table['workload'], counts)
        table = read_bounds()

    report = Report()
    if margin == MARGIN and with_instructions:
        print(f'# The bounds of instructions are for {table["compiler"]}; this is'
              f' {built["compiler"]}, which may need {MARGIN} of that.')
    for row in table['workload']:
        if row['name'] in counts:
            compare_row(report, row, counts[row['name']],
                        lambda metric: why_not(metric, built, table, args.instructions), margin,
                        other_openssl(row, built))
    rows = {row['name'] for row in table['workload']}
    for name in names:
        if name not in rows:
            report.claim(f'{name}: has a row in bounds.toml', False)
    return report.finish()


if __name__ == '__main__':
    sys.exit(main())
