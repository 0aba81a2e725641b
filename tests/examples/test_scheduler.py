#!/usr/bin/env python3
"""The example that spreads jobs over workers, on the masters of a sandbox.
$REDLOCK: the command. $EXAMPLE: the example."""
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

from lib import Tap, run_in_sandbox, wrong

EXAMPLE = os.environ['EXAMPLE']
JOBS = range(100)
WORKERS = 10


def start(folder, threads):
    return subprocess.Popen([EXAMPLE, folder, str(threads)], stdout=subprocess.PIPE, text=True)


def read_all(processes):
    """The lines of each, read at the same time."""
    lines = [[] for _ in processes]
    readers = [threading.Thread(target=mine.extend, args=(process.stdout,))
               for mine, process in zip(lines, processes)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return [line for mine in lines for line in mine]


def count(lines, what):
    """How often each job, and how many by each worker."""
    found = [re.fullmatch(rf'(\S+) {what} (\d+)\n', line) for line in lines]
    found = [(one[1], int(one[2])) for one in found if one]
    return collections.Counter(job for _, job in found), collections.Counter(name for name, _ in found)


def not_once(counter, what):
    return [f'job {job} was {what} {counter[job]} times' for job in JOBS if counter[job] != 1]


def results(folder):
    names = sorted(name for name in os.listdir(folder) if not name.startswith('draft-'))
    return wrong('the results', names, sorted(f'result-{job}' for job in JOBS))


def undisturbed(processes, threads):
    """Each job begins once and is done once."""
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        running = [start(folder, threads) for _ in range(processes)]
        lines = read_all(running)
        statuses = [process.wait() for process in running]
        begun, _ = count(lines, 'begins')
        done, by_worker = count(lines, 'has done')
        return (wrong('the exit statuses', statuses, [0] * processes) + not_once(begun, 'begun') +
                not_once(done, 'done') + results(folder) +
                wrong('several had work', len(by_worker) > 1, True))


def one_is_killed():
    """Its job begins twice, and is done once."""
    with tempfile.TemporaryDirectory(prefix='redlock-test-') as folder:
        running = [start(folder, 1) for _ in range(WORKERS)]
        victim = running[0]
        first = [victim.stdout.readline()]
        victim.send_signal(signal.SIGKILL)
        lines = first + read_all(running)
        statuses = [process.wait() for process in running]
        begun, _ = count(lines, 'begins')
        done, _ = count(lines, 'has done')
        # The result may have appeared just before the kill, without the line that says so.
        twice = [job for job in JOBS if begun[job] > 1]
        return (wrong('the exit statuses', statuses, [-signal.SIGKILL] + [0] * (WORKERS - 1)) +
                wrong(f'at most one job begins twice: {twice}', len(twice) <= 1, True) +
                wrong('jobs done twice', [job for job in JOBS if done[job] > 1], []) +
                wrong('jobs that never began', [job for job in JOBS if not begun[job]], []) +
                results(folder))


def main():
    tap = Tap()
    tap.claim('ten threads: each job is done once', undisturbed(1, WORKERS))
    tap.claim('ten processes: each job is done once', undisturbed(WORKERS, 1))
    tap.claim('ten processes, and one is killed: each job has one result', one_is_killed())
    tap.fires('a job that was done twice', not_once(collections.Counter([*JOBS, 7]), 'done'), 'job 7')
    tap.fires('a job that was not done', not_once(collections.Counter(JOBS[1:]), 'done'), 'job 0')
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main())
