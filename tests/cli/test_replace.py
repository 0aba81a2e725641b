"""Masters are replaced, added and removed while locks are held, contended for, and a leader is elected.

    test_replace.py [--masters N] [--replace K] [--numbers N,...] [--contenders N] [--holders N]
                    [--ttl T] [--max-ttl T] [--update-lists] [--seed N]

--numbers 5,7,3: after K masters were replaced, masters are added until there are 5, then 7, and removed
until there are 3. Which of them leaves is drawn.

$REDLOCK is the command under test; the output is TAP. Every process has the first list from the beginning
to the end; with --update-lists those that are started later have the present one. The command that makes
the changes always has the present one. Without options the world is small, for the suite. As a comment
the test says how long nobody acquired the lock that is contended for.

When a change is over, the majority is one of other masters. A client that was started in the same moment may
have a bare majority of the former ones, and loses its lock: it is told so, and its command is killed.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'lint'), os.path.join(HERE, '..', 'lib')]
from servers import Master  # noqa: E402
from tap import Tap  # noqa: E402
from until import until  # noqa: E402

REDLOCK = os.environ['REDLOCK']

# Nobody else is there meanwhile: only one can have the file lock `there`, and it ends with its process, also
# with one that is killed. `leads` is another one. Under the contended lock a number is counted up, and the
# time is written down.
COUNT = '''exec 9>> there; flock -n 9 || { echo two holders >> wrong; exit 1; }
n=$(cat count); echo $((n + 1)) > new; mv new count; date +%s.%N >> times'''
LOST = 76  # the exit status of a command whose lock was lost
LEAD = '''exec 9>> leads; flock -n 9 || { echo two leaders >> wrong; exit 1; }
echo led >> leaders; trap 'exit 0' TERM; while :; do sleep 0.05 9>&-; done'''
HOLD = 'echo $REDLOCK_KEY >> held; exec sleep 3600'


class World:
    def __init__(self, folder, options):
        self.folder, self.options, self.made, self.changes = folder, options, 0, 0
        self.random = random.Random(options.seed)
        self.masters = []  # the present ones
        for _ in range(options.masters):
            self.masters.append(self.new_master())
        self.uris = [master.uri for master in self.masters]  # as every client has them
        self.lasting, self.ends, self.done = [], [], False
        self.environment = {**os.environ, 'REDLOCK_NODES': ' '.join(self.uris),
                            'REDLOCK_QUARANTINE': 'lenient', 'REDLOCK_MAX_TTL': options.max_ttl}
        for name, text in (('count', '0\n'), ('times', ''), ('held', ''), ('wrong', ''),
                           ('leaders', '')):
            with open(os.path.join(folder, name), 'w') as file:
                file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read().split('\n')[:-1]

    def start(self, *words, **more):
        return subprocess.Popen([REDLOCK, *words], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **more)

    def lock(self, key, script, *words):
        return self.start('lock', key, '-q', '--ttl', self.options.ttl, *words, '--', 'sh', '-c', script)

    def contend(self):
        """One contender after the other, each a process of its own."""
        while not self.done:
            process = self.lock('contended', COUNT, '--wait', '60s')
            said = process.communicate()[1]
            self.ends.append((process.returncode, said))

    def hold(self):
        for i in range(self.options.holders):
            self.lasting.append((f'lock {i}', self.lock(f'held-{i}', HOLD)))
        until(lambda: len(self.read('held')) == self.options.holders, 'the locks are held')

    def campaign(self):
        for i in range(3):
            self.lasting.append((f'candidate {i}', self.start(
                'elect', 'boss', '--id', f'c{i}', '--ttl', self.options.ttl, '--', 'sh', '-c', LEAD)))
        until(lambda: self.read('leaders'), 'somebody leads')

    def new_master(self):
        self.made += 1
        return Master(os.path.join(self.folder, f'm{self.made}'))

    def change(self, *words):
        """The command is killed twice, and run again. Returns what went wrong."""
        self.changes += 1
        words = ('masters', *words, '--nodes', ' '.join(master.uri for master in self.masters))
        for _ in range(2):
            process = self.start(*words)
            time.sleep(self.random.uniform(0, 0.1) if self.random.random() < 0.7
                       else self.random.uniform(0, 5))
            process.kill()
            process.communicate()
        process = self.start(*words)
        said = process.communicate()[1]
        return [] if process.returncode == 0 else [f'{process.returncode}: {said}']

    def update(self):
        if self.options.update_lists:
            self.uris = [master.uri for master in self.masters]
            self.environment['REDLOCK_NODES'] = ' '.join(self.uris)

    def replace(self, i):
        """Another server takes the place of master i."""
        spare = self.new_master()
        wrong = self.change('replace', self.masters[i].uri, spare.uri)
        self.masters[i].end()
        self.masters[i] = spare
        self.update()
        return wrong

    def add(self):
        spare = self.new_master()
        wrong = self.change('add', spare.uri)
        self.masters.append(spare)
        self.update()
        return wrong

    def remove(self):
        """Any but the first, by which clients with the first list learn of the changes."""
        i = self.random.randrange(1, len(self.masters))
        wrong = self.change('remove', self.masters[i].uri)
        self.masters.pop(i).end()
        self.update()
        return wrong

    def end(self):
        for _, process in self.lasting:
            process.send_signal(signal.SIGTERM)
        for _, process in self.lasting:
            process.communicate()
        for master in self.masters:
            master.end()


def longest_gap(times):
    times = [float(time) for time in times]
    return max((b - a for a, b in zip(times, times[1:])), default=0)


def complain_of_count(counted, acquired, lost):
    """A command that was killed because its lock was lost has counted, or has not."""
    return [] if acquired - lost <= counted <= acquired else [f'{counted} counted, {acquired} acquired']


def complain_of_lasting(world):
    gone = [(name, process) for name, process in world.lasting if process.poll() is not None]
    world.lasting = [(name, process) for name, process in world.lasting if process.poll() is None]
    return [f'{name} ended with {process.returncode}: {process.communicate()[1]}'
            for name, process in gone]


def make_changes(tap, world):
    for i in range(world.options.replace):
        tap.claim(f'master {i} is replaced', world.replace(i))
    for number in world.options.numbers:
        while len(world.masters) != number:
            grows = len(world.masters) < number
            wrong = world.add() if grows else world.remove()
            tap.claim(f'then there are {len(world.masters)} masters', wrong)


def wait_for_count(world):
    counted = int(world.read('count')[0])
    try:
        until(lambda: int(world.read('count')[0]) > counted, 'nobody acquires the lock')
    except TimeoutError as error:
        return [error]
    return []


def judge(tap, world):
    tap.claim('every lock is held, and every candidate is there', complain_of_lasting(world))
    lost = sum(code == LOST for code, _ in world.ends)
    tap.claim('each contender got the lock',
              [f'{code}: {said}' for code, said in world.ends if code not in (0, LOST)][:5])
    tap.claim('at most one lock that was just acquired is lost in a change',
              [said for code, said in world.ends if code == LOST] if lost > world.changes else [])
    tap.claim('never two holders, and never two leaders', world.read('wrong'))
    tap.claim('no update is lost', complain_of_count(int(world.read('count')[0]), len(world.ends), lost))
    print(f'# {len(world.ends)} times acquired, {len(world.read("leaders"))} times elected, '
          f'{lost} times lost and reported; at most '
          f'{longest_gap(world.read("times")):.2f} s from one acquire to the next; '
          f'--seed {world.options.seed}')


def run(tap, world):
    contenders = [threading.Thread(target=world.contend) for _ in range(world.options.contenders)]
    world.ends.append((world.lock('contended', COUNT, '--wait', '60s').wait(), ''))
    world.hold()
    world.campaign()
    for thread in contenders:
        thread.start()
    make_changes(tap, world)
    tap.claim('then the lock is acquired', wait_for_count(world))
    world.done = True
    for thread in contenders:
        thread.join()
    judge(tap, world)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--masters', type=int, default=3)
    parser.add_argument('--replace', type=int, default=2)
    parser.add_argument('--numbers', default=[], type=lambda text: [int(n) for n in text.split(',')])
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 32))
    parser.add_argument('--contenders', type=int, default=3)
    parser.add_argument('--holders', type=int, default=3)
    parser.add_argument('--update-lists', action='store_true')
    parser.add_argument('--ttl', default='8s')
    parser.add_argument('--max-ttl', default='8s')
    tap = Tap()
    folder = tempfile.mkdtemp(prefix='redlock-replace-')
    world = World(folder, parser.parse_args())
    try:
        run(tap, world)
    finally:
        world.done = True
        world.end()
        shutil.rmtree(folder)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
