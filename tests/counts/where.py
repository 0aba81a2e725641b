#!/usr/bin/env python3
"""Says where the instructions of a cycle are: `where.py PROGRAM [WORKLOAD...]`, in Markdown.

PROGRAM is test_counts, built as it is released and with debug information. A row is a folder of src/, or a library beneath
it. Code that the compiler has put into a function of another file counts for the file that it is from.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

import run

# What callgrind_annotate says of each function: how many, the file, the function, and the object.
LINE = re.compile(r'^ *([\d,]+) .*? (\S+):(\S+)(?: \[(.*)\])?$')

WORKLOADS = ['plain-64', 'plain-1', 'fenced-64']


def place(path, thing):
    """The folder of a file of ours, or the library that has the function."""
    ours = re.search(r'/src/(\w+)/[\w.]+$', path)
    if ours:
        return f'src/{ours.group(1)}'
    if '/tests/' in path:
        return 'tests/counts, in place of the clock and of random bytes'
    library = re.match(r'lib(\w+)', os.path.basename(thing or ''))
    return {'redlock': 'src, inlined from system headers'}.get(library.group(1), f'lib{library.group(1)}') \
        if library else 'other'


def instructions_by_place(program, workload):
    with tempfile.TemporaryDirectory() as folder:
        profile = run.callgrind(program, workload, folder)
        text = run.ask(['callgrind_annotate', '--threshold=100', '--show-percs=no', '--auto=no', profile],
                       stdin=subprocess.DEVNULL)
    found = collections.Counter()
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            found[place(match.group(2), match.group(4))] += int(match.group(1).replace(',', ''))
    return found


def print_table(program, workload):
    found = instructions_by_place(program, workload)
    cycles = run.sums_of(run.ask([program, workload]))['cycles']
    total = sum(found.values())
    print(f'| {workload}: {total / cycles:,.0f} instructions of a cycle | | share |\n| --- | ---: | ---: |')
    for name, n in found.most_common():
        print(f'| {name} | {n / cycles:,.0f} | {100 * n / total:.0f} % |')
    print()


def main():
    program, *workloads = sys.argv[1:]
    for workload in workloads or WORKLOADS:
        print_table(program, workload)


if __name__ == '__main__':
    main()
