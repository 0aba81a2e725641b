#!/usr/bin/env python3
"""Shows that the tests find every known bug of table.toml.

    run.py [--build DIR] [--jobs J] [--seeds N] [--patience SECONDS] [--only NAME...]
           [--by TEST...] [--minutes N] [--list]

Each job has a copy of the source tree below DIR (build-test/mutants), and a build of that copy; both
stay for the next run. First, without any bug, all the tests that the table names must pass. Then,
for each mutant: put it into the copy, build what its tests need, run them (at the same time: most
of them wait more than they compute), and take it out again.
Every one of its tests must fail. "sim" among them is the simulator, which hunts through the seeds 1
to N. A mutant that does not build is not killed but broken. --by tries other tests than those of
the table. --minutes N begins no mutant after so long; which ones come first is drawn each time.

The last line is "M mutants, K killed", the exit status 0 if M is K.
"""
import argparse
import concurrent.futures
import os
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time

import mutate
import shadow

ROOT = mutate.ROOT
sys.path.insert(0, os.path.join(ROOT, 'tests', 'lib'))
import builds  # noqa: E402  (what all tests share)

# Quick to build: the tests must find the bug, not the compiler.
OPTIONS = ['-Dbuildtype=plain', '-Dbench=false', '-Dtests=true', '-Dwerror=false']

# MALLOC_PERTURB_ overwrites freed memory, as under meson. And Python must not load a module that
# was compiled with another bug in it.
ENVIRONMENT = {'MALLOC_PERTURB_': '85', 'PYTHONDONTWRITEBYTECODE': '1'}

def hurried(seconds):
    """A shorter timeout than on a slow machine: a mutant may make a test wait for something that
    never comes."""
    return {'CK_DEFAULT_TIMEOUT': str(seconds), 'CLI_TEST_TRIES': str(30 * seconds)}


# So many tests of one build run at a time.
AT_A_TIME = 4

# So far the simulator goes without any bug: whether it finds nothing is what the test "sim" is for.
SOUND_SEEDS = 200

# A program with a bug in it may crash: that is found, too. Not SIGKILL, which is the system's.
CRASHES = [-number for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE,
                                  signal.SIGILL)]

# contain.py ends everything that a test has started.
CONTAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'contain.py')


class Broken(Exception):
    """No test has failed: configuring, building or starting went wrong."""


def must(command, lock):
    """Runs a command that may write to a build, and holds the lock of the build meanwhile."""
    done = subprocess.run(command, pass_fds=[lock.fileno()], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        tail = '\n'.join(done.stdout.splitlines()[-12:])
        raise Broken(f'{" ".join(command[:3])} ... failed:\n{tail}')


# ---- running one test ----

class Result:
    def __init__(self, failed, detail):
        self.failed = failed
        self.detail = detail  # what there is to say besides its name: the seed, a hang


def end(process):
    """Kills the test; contain.py then kills everything that it has started."""
    process.terminate()
    process.wait()


def run_tap(command, env, timeout, folder=None):
    """Runs a test program in a folder, up to the first test that fails."""
    process = subprocess.Popen([sys.executable, '-B', CONTAIN, *command], env=env, cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, errors='replace',
                               start_new_session=True)
    hangs = threading.Event()
    watch = threading.Timer(timeout, lambda: (hangs.set(), end(process)))
    watch.start()
    said, failed = 0, False
    for line in process.stdout:
        said += line.startswith('ok ')
        if line.startswith(('not ok', 'Bail out!')):
            failed = True
            break
    watch.cancel()
    if failed:
        end(process)
    process.stdout.close()
    status = process.wait()
    if hangs.is_set():
        return Result(True, 'hangs')
    if not failed and status == 0 and said == 0:
        raise Broken(f'{command[0]} ran no test')
    return Result(failed or status != 0, '')


def run_sim(command, env, seeds, timeout):
    try:
        done = subprocess.run([*command, '--hunt', str(seeds)], env=env, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors='replace')
    except subprocess.TimeoutExpired:
        return Result(True, 'hangs')
    last = (done.stdout.strip().splitlines() or [''])[-1]
    caught = re.fullmatch(r'caught by seed (\d+): (.*)', last)
    if done.returncode == 1 and caught:
        return Result(True, f'seed {caught.group(1)}')
    if done.returncode in CRASHES:
        return Result(True, f'crash by signal {-done.returncode}')
    if done.returncode == 0:
        return Result(False, f'{seeds} seeds')
    raise Broken(f'the simulator ended with {done.returncode}: {last}')


# ---- a build ----

class Build:
    """A copy of the sources, and a build of it."""

    def __init__(self, folder, seeds, patience):
        self.tree = shadow.Tree(os.path.join(folder, 'tree'))
        self.folder = os.path.join(folder, 'build')
        self.known = builds.Build(self.folder)
        self.seeds = seeds
        self.hurried = hurried(patience)

    def prepare(self):
        if not self.tree.claim():
            raise Broken(f'another run is using {self.folder}')
        self.tree.follow(ROOT)
        again = os.path.exists(os.path.join(self.folder, 'build.ninja'))
        must(['meson', 'setup', *(['--reconfigure'] if again else []), self.folder,
              self.tree.folder, *OPTIONS], self.tree.lock)

    def changed(self, row):
        """Inside the with block the build has the bug."""
        return self.tree.changed(row['file'], mutate.mutated(row, self.tree.folder))

    def test(self, killer):
        """Meson's description of a test: "suite:case" is a part of the test "suite"."""
        try:
            return self.known.test(killer.split(':')[0])
        except builds.Missing as problem:
            raise Broken(str(problem))

    def sim(self):
        """The program of the simulator; None in a tree without it."""
        return self.known.program('redlock-sim')

    def make(self, killers):
        files = self.known.files_of([self.test(killer) for killer in killers if killer != 'sim'])
        if 'sim' in killers:
            files.append(os.path.relpath(self.sim(), self.folder))
        must(['ninja', '-C', self.folder, '-j', '2', *files], self.tree.lock)

    def run(self, killer, seeds=None):
        if killer == 'sim':
            return run_sim([self.sim()], os.environ, seeds or self.seeds, 600)
        test = self.test(killer)
        env = {**os.environ, **ENVIRONMENT, **self.hurried, **test['env']}
        if ':' in killer:
            env['CK_RUN_CASE'] = killer.split(':')[1]
        return run_tap(test['cmd'], env, test['timeout'], self.folder)


def run_all(build, killers, seeds=None):
    """Pairs of a test and its result; the result of a test that could not run is a Broken."""
    def one(killer):
        try:
            return killer, build.run(killer, seeds) if seeds else build.run(killer)
        except Broken as problem:
            return killer, problem

    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(one, killers))


# ---- judging ----

def killers_of(row, with_sim):
    """The tests that must kill a mutant, if this tree has them."""
    return [killer for killer in row['killed_by'] if killer != 'sim' or with_sim]


def judge(build, row, with_sim):
    """(killed, message)"""
    killers = killers_of(row, with_sim)
    if not killers:
        return False, 'only the simulator can kill it, and this tree has no simulator'
    try:
        with build.changed(row):
            build.make(killers)
            results = run_all(build, killers)
    except mutate.Problem as problem:
        return False, str(problem)
    except Broken as problem:
        return False, f'does not build: {problem}'
    for killer, result in results:
        if isinstance(result, Broken):
            return False, f'does not run: {killer}: {result}'
    killed = [killer + (f', {result.detail}' if result.detail else '')
              for killer, result in results if result.failed]
    alive = [killer + (f' ({result.detail})' if result.detail else '')
             for killer, result in results if not result.failed]
    if alive:
        return False, f'SURVIVED {"; ".join(alive)}'
    return True, f'killed by {"; ".join(killed)}'


class Report:
    """Prints a line for each mutant of several jobs."""

    def __init__(self, mutants):
        self.lock = threading.Lock()
        self.mutants = mutants
        self.killed = 0
        self.left = 0

    def line(self, text):
        head, *rest = text.splitlines()
        with self.lock:
            print(head)
            for more in rest:
                print(f'# {more}')
            sys.stdout.flush()

    def mutant(self, row, killed, text, seconds):
        with self.lock:
            self.killed += killed
        head, *rest = text.splitlines()
        head = f'{row["rule"]} {row["name"]}: {head} ({seconds:.1f} s)'
        if not killed:
            rest.append(f'repeat: python3 -B tests/mutants/run.py --only {row["name"]}')
        self.line('\n'.join([head, *rest]))

    def not_tried(self):
        with self.lock:
            self.left += 1

    def finish(self, good):
        left = f', {self.left} not tried' if self.left else ''
        print(f'{self.mutants} mutants, {self.killed} killed{left}', flush=True)
        return 0 if good and self.killed + self.left == self.mutants else 1


def in_parallel(builds, items, work):
    """Calls work(build, item) for each item; each build works on one item at a time."""
    line = queue.Queue()
    for item in items:
        line.put(item)

    def job(build):
        while True:
            try:
                item = line.get_nowait()
            except queue.Empty:
                return
            work(build, item)

    jobs = [threading.Thread(target=job, args=(build,)) for build in builds]
    for one in jobs:
        one.start()
    for one in jobs:
        one.join()


def sound(builds, killers_in):
    """Prepares the builds for the tests that killers_in(build) names. Returns what fails without any
    bug ('' when nothing does), and whether the tree has a simulator."""
    wrong = []

    def check(build, killers):
        for killer, result in run_all(build, killers, SOUND_SEEDS):
            if isinstance(result, Broken):
                wrong.append(str(result))
            elif result.failed:
                wrong.append(f'{killer} fails without any bug')

    try:
        builds[0].prepare()
        with_sim = builds[0].sim() is not None
        killers = killers_in(builds[0])
        builds[0].make(killers)
        for build in builds[1:]:
            build.prepare()
            build.make(killers)
    except Broken as problem:
        return str(problem), False
    in_parallel(builds, [killers[i::len(builds)] for i in range(len(builds))], check)
    return '; '.join(wrong), with_sim


def run(rows, options):
    report = Report(len(rows))
    builds = [Build(os.path.join(os.path.abspath(options.build), str(i + 1)), options.seeds,
                    options.patience)
              for i in range(options.jobs)]
    wrong, with_sim = sound(builds, lambda build: sorted(
        {killer for row in rows for killer in killers_of(row, build.sim() is not None)}))

    until = time.monotonic() + 60 * options.minutes if options.minutes else float('inf')

    def work(build, row):
        begun = time.monotonic()
        if begun > until:
            report.not_tried()
            return
        killed, text = judge(build, row, with_sim)
        report.mutant(row, killed, text, time.monotonic() - begun)

    report.line(wrong or 'without any bug the tests pass')
    if not wrong:
        # The slow mutants are at the end of the table.
        in_parallel(builds, random.sample(rows, len(rows)) if options.minutes else rows[::-1], work)
    return report.finish(not wrong)


def main(args):
    parser = argparse.ArgumentParser(description='Shows that the tests find every known bug.')
    parser.add_argument('--build', metavar='DIR',
                        default=os.path.join(ROOT, 'build-test', 'mutants'))
    parser.add_argument('--jobs', type=int, default=min(3, 2 * (os.cpu_count() or 1)))
    parser.add_argument('--seeds', type=int, default=10000, help='how far the simulator hunts')
    parser.add_argument('--patience', type=int, default=5, metavar='SECONDS',
                        help='how long a test of a program may wait')
    parser.add_argument('--minutes', type=float, metavar='N', help='begin none after so long')
    parser.add_argument('--only', nargs='+', metavar='NAME')
    parser.add_argument('--by', nargs='+', metavar='TEST', help='instead of those of the table')
    parser.add_argument('--list', action='store_true', help='print the table and run nothing')
    options = parser.parse_args(args)
    try:
        rows = mutate.load()
        if options.only:
            rows = [mutate.find(rows, name) for name in options.only]
        if options.by:
            rows = [{**row, 'killed_by': options.by} for row in rows]
    except mutate.Problem as problem:
        print(f'run.py: {problem}', file=sys.stderr)
        return 2
    if options.list:
        for row in rows:
            print(f'{row["rule"]:9} {row["name"]:40} {", ".join(row["killed_by"])}')
        return 0
    return run(rows, options)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
