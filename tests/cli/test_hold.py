"""redlock hold: holds a lock for the program that started it, and tells it what happens.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP. A test waits for a
condition: a line of redlock hold, what a master says of the key, or the end of a process.
"""
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', folder))
from inside import run_in_sandbox  # noqa: E402
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
PATIENCE_S = 60
F_SETPIPE_SZ = 1031
FIELDS = {'event': str, 'valid_ms': int, 'deadline_us': (int, type(None)),
          'reason': (str, type(None)), 'fencing_token': (int, type(None)),
          'token': (str, type(None))}


def until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


# --- masters ---

def master(number, *words):
    """A master's reply to a command, without the first byte."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.join(os.environ['REDLOCK_SANDBOX'], f'{number}.sock'))
        connection.sendall(' '.join(words).encode() + b'\r\n')
        return connection.recv(4096).decode()[1:].strip()


def delete(key):
    for number in range(1, 6):
        master(number, 'DEL', key)


def holders(key):
    return sum(master(number, 'EXISTS', key) == '1' for number in range(1, 6))


def is_free(key):
    return until(lambda: holders(key) == 0)


def is_waited_for():
    return any(master(number, 'ZCARD', 'k:redlock-waiting') == '1' for number in range(1, 6))


def send(sign, *numbers):
    for number in numbers:
        with open(os.path.join(os.environ['REDLOCK_SANDBOX'], f'{number}.pid'), encoding='ascii') as file:
            os.kill(int(file.read()), sign)


# --- redlock hold ---

class Hold:
    """redlock hold with a pipe at each end, unless the test has others."""
    all = []

    def __init__(self, *words, patient=True, **files):
        timeout = ['--node-timeout', '20s'] if patient else []
        self.process = subprocess.Popen([REDLOCK, 'hold', *words, *timeout], text=True,
                                        **{'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE,
                                           'stderr': subprocess.PIPE, **files})
        Hold.all.append(self.process)

    def line(self):
        """The next line, split; [] at the end of the output."""
        return self.process.stdout.readline().split()

    def until_event(self, *wanted):
        """The next line with one of these events, or the line that came instead."""
        while True:
            words = self.line()
            if not words or words[0] not in ('acquired', 'renewed', 'shortened') or words[0] in wanted:
                return words

    def end(self):
        """Close stdin if it is still open; the rest of the output, and the exit status."""
        if self.process.stdin:
            self.process.stdin.close()
        return self.wait()

    def wait(self):
        rest = self.process.stdout.read() if self.process.stdout else ''
        return rest, self.process.wait(PATIENCE_S)

    def said(self):
        return self.process.stderr.read()


def same(is_value, should):
    return [] if is_value == should else [f'{is_value!r}, not {should!r}']


def has(text, part):
    return [] if part in text else [f'{text!r} does not contain {part!r}']


# --- the tests ---

def life(tap):
    hold = Hold('k', '--ttl', '9s', '--owner', 'two words')
    first, token = hold.process.stdout.readline().split(' token=')
    tap.claim('it reports that it has acquired the lock', same(first.split()[0], 'acquired'))
    tap.claim('with the token, which every master soon has',
              same(until(lambda: all(token.strip() in master(n, 'GET', 'k') for n in range(1, 6))), True))
    fields = dict(word.split('=') for word in first.split()[1:])
    left = int(fields['deadline_us']) - time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6
    tap.claim('and the deadline, by CLOCK_BOOTTIME', [] if left < 9e6 else [left])
    for n in (1, 2):
        tap.claim(f'it renews the lock and says so ({n})', same(hold.until_event('renewed')[0], 'renewed'))
    other = Hold('k', '--no-wait')
    tap.claim('nobody else gets it: exit status 75', same((other.process.wait(PATIENCE_S),
                                               other.process.stdout.read()), (75, '')))
    other.end()
    rest, status = hold.end()
    tap.claim('it releases the lock when its stdin is closed', same(rest.splitlines()[-1:], ['released valid_ms=0']))
    tap.claim('and exits with 0', same(status, 0))
    tap.claim('the lock is free then', same(is_free('k'), True))
    hold = Hold('k', 'l')
    hold.line()
    hold.process.stdin.write('what nobody reads\n')
    hold.process.stdin.flush()
    tap.claim('several keys are one lock', same((holders('k') > 2, holders('l') > 2), (True, True)))
    hold.end()
    tap.claim('and are released together', same((is_free('k'), is_free('l')), (True, True)))


def check_schema(text):
    found = []
    for line in text.splitlines():
        event = json.loads(line)
        found += same(list(event), list(FIELDS))
        found += [f'{name}: {value!r}' for name, value in event.items()
                  if not isinstance(value, FIELDS[name])]
    return found


def schema(tap):
    hold = Hold('k', '--json', '--fence', '--ttl', '9s')
    lines = [hold.process.stdout.readline() for _ in range(2)]
    text = ''.join(lines) + hold.end()[0]
    tap.claim('each line of --json is an object with the same fields', check_schema(text))
    events = [json.loads(line) for line in text.splitlines()]
    tap.claim('from acquired to released', same((events[0]['event'], events[-1]['event']),
                                                ('acquired', 'released')))
    tap.claim('--fence gets a fencing token', [] if events[0]['fencing_token'] > 0 else [events[0]])
    tap.claim('the lock is no longer valid then', same((events[-1]['valid_ms'], events[-1]['deadline_us']), (0, None)))


def signals(tap):
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        hold = Hold('k')
        hold.line()
        hold.process.send_signal(sign)
        rest, status = hold.wait()
        tap.claim(f'{sign.name} releases the lock', same(rest, 'released valid_ms=0\n') + same(is_free('k'), True))
        tap.claim(f'and exits with {128 + sign}', same(status, 128 + sign))
        hold.end()
    hold = Hold('k', '--ttl', '3s')
    hold.line()
    hold.process.kill()
    tap.claim('when it is killed, the program reads the end of the output', same(hold.wait()[1], -signal.SIGKILL))
    tap.claim('and the lock stays until its ttl has passed', same(is_free('k'), True))
    hold.end()


PROGRAM = '''
import subprocess, sys
hold = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
sys.stdout.buffer.write(hold.stdout.readline())
sys.stdout.flush()
hold.stdout.readline()
hold.wait()
'''


def dead_program(tap):
    program = subprocess.Popen([sys.executable, '-c', PROGRAM, REDLOCK, 'hold', 'k', '--ttl', '60s'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    Hold.all.append(program)
    tap.claim('a program has the lock', same(program.stdout.readline().split()[0], 'acquired'))
    program.kill()
    tap.claim('when it is killed, the lock is released long before its ttl ends', same(is_free('k'), True))
    program.wait()
    program.stdout.close()
    tap.claim('redlock reports that, and nothing else', same(program.stderr.read(), "redlock: released 'k'\n"))
    program.stderr.close()


class Example:
    """The example of `redlock hold --help`, with steps that wait for a file."""

    def __init__(self, folder, *options):
        text = subprocess.run([REDLOCK, 'hold', '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout
        text = text.split('example in bash:\n')[1].split('\n\n')[0]
        assert 'nightly --no-wait' in text
        self.folder = folder
        for name in ('first.sh', 'second.sh'):
            path = os.path.join(folder, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(f'#!/bin/sh\necho {name}; while ! [ -e go ]; do sleep 0.02; done\n')
            os.chmod(path, 0o755)
        text = text.replace('nightly --no-wait', ' '.join(('nightly --no-wait --node-timeout 20s', *options)))
        with open(os.path.join(folder, 'said'), 'w', encoding='utf-8') as said:
            self.process = subprocess.Popen(
                ['bash', '-c', text], stdout=subprocess.PIPE, stderr=said, text=True, cwd=folder,
                env={**os.environ, 'PATH': os.path.dirname(REDLOCK) + ':' + os.environ['PATH']})
        Hold.all.append(self.process)

    def said(self):
        with open(os.path.join(self.folder, 'said'), encoding='utf-8') as file:
            return file.read()

    def go(self):
        with open(os.path.join(self.folder, 'go'), 'w', encoding='utf-8'):
            pass

    def end(self):
        return self.process.communicate(timeout=PATIENCE_S)[0].split()


def example(tap):
    if shutil.which('bash') is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        it = Example(folder)
        until(lambda: holders('nightly') > 2)
        other = Example(folder)
        tap.claim('in bash: without the lock no step runs, and the exit status is 75',
                  same((other.end(), other.process.returncode), ([], 75)))
        tap.claim('in bash: only redlock says why', has(other.said(), 'is held by') +
                  same('redirect' in other.said(), False))
        it.go()
        tap.claim('in bash: with the lock each step runs', same(it.end(), ['first.sh', 'second.sh', 'done']))
        tap.claim('in bash: then the lock is free', same(is_free('nightly'), True))
        os.remove(os.path.join(folder, 'go'))
        it = Example(folder, '--ttl', '5s')
        until(lambda: holders('nightly') > 2)
        until(lambda: delete('nightly') or 'is lost' in it.said())
        it.go()
        tap.claim('in bash: after a loss the next step does not run', same(it.end(), ['first.sh']))


def losses(tap):
    hold = Hold('k', '--ttl', '5s')
    hold.line()
    until(lambda: delete('k') or hold.process.poll() is not None)
    rest, status = hold.wait()
    tap.claim('a lock whose keys are gone is lost', same(rest.splitlines()[-1:], ['lost valid_ms=0 reason=keys_gone']))
    tap.claim('which gives 76', same(status, 76))
    tap.claim('and says so', has(hold.said(), "the lock 'k' is lost"))
    hold = Hold('k', '--ttl', '100s')
    hold.line()
    delete('k')
    rest, status = hold.end()
    tap.claim('even if nobody noticed before the end',
              same(rest.splitlines()[-1:], ['lost valid_ms=0 reason=keys_gone']))
    tap.claim('which gives 76, too', same(status, 76))
    hold = Hold('k', '--ttl', '60s', '--max-hold', '5s')
    valid_ms = int(hold.line()[1].removeprefix('valid_ms='))
    tap.claim('--max-hold shortens a longer ttl', [] if valid_ms <= 5000 else [valid_ms])
    tap.claim('--max-hold causes trouble', has(' '.join(hold.until_event()), 'trouble'))
    tap.claim('and then a loss', same(hold.until_event(), ['lost', 'valid_ms=0', 'reason=limit']))
    tap.claim('which gives 76 as well', same(hold.wait()[1], 76))


def suspended(tap):
    hold = Hold('k', '--ttl', '3s')
    hold.line()
    hold.process.send_signal(signal.SIGSTOP)
    tap.claim('while redlock is stopped, the lock ends', same(is_free('k'), True))
    hold.process.send_signal(signal.SIGCONT)
    tap.claim('it is lost then', same(hold.until_event(), ['lost', 'valid_ms=0', 'reason=suspended']))
    tap.claim('which gives 76', same(hold.wait()[1], 76))


def trouble(tap):
    hold = Hold('k', '--ttl', '24s', '--node-timeout', '1s', patient=False)
    hold.line()
    send(signal.SIGSTOP, 1, 2, 3)
    words = hold.until_event()
    tap.claim('without a majority it reports trouble', same([words[0], words[-1]], ['trouble', 'reason=no_majority']))
    send(signal.SIGCONT, 1, 2, 3)
    words = hold.until_event('recovered')
    tap.claim('and when the masters are back, that it is over', same(words[0], 'recovered'))
    send(signal.SIGSTOP, 1, 2, 3)
    rest, status = hold.end()
    send(signal.SIGCONT, 1, 2, 3)
    tap.claim('a release that no majority confirms is reported',
              same(rest.splitlines()[-1:], ['released valid_ms=0 reason=no_majority']) + same(status, 0))
    tap.claim('and sent again before it exits', same(is_free('k'), True))


def waiting(tap):
    holder = Hold('k')
    holder.line()
    waiter = Hold('k')
    until(is_waited_for)
    tap.claim('it waits, and gives up when stdin is closed: exit status 75', same(waiter.end(), ('', 75)))
    tap.claim('and says so', has(waiter.said(), "gave up waiting for 'k' after standard input was closed"))
    waiter = Hold('k')
    until(is_waited_for)
    holder.end()
    tap.claim('the one that waits gets the lock', same(waiter.line()[0], 'acquired'))
    tap.claim('and ends like any other', same(waiter.end()[1], 0))


def full_pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b'x' * 512)
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


def renewals(key, wanted):
    """Whether the key is set, and then renewed `wanted` times."""
    end, seen, last = time.monotonic() + PATIENCE_S, 0, 1 << 40
    while seen < wanted and time.monotonic() < end:
        left = int(master(1, 'PTTL', key))
        seen += left > last + 500
        last = left if left > 0 else 1 << 40
        time.sleep(0.01)
    return seen >= wanted


def slow_reader(tap):
    reader, writer = full_pipe()
    hold = Hold('k', '--ttl', '6s', stdout=writer)
    os.close(writer)
    tap.claim('the lock is renewed even if nobody reads its output', same(renewals('k', 2), True))
    tap.claim('and released', same(hold.end()[1], 0) + same(is_free('k'), True))
    os.close(reader)


def no_reader(tap):
    hold = Hold('k')
    hold.line()
    hold.process.stdout.close()
    tap.claim('when the reader is gone, it exits with 70', same(hold.process.wait(PATIENCE_S), 70))
    tap.claim('and the lock is released', same(is_free('k'), True))
    tap.claim('it says why', has(hold.said(), 'cannot write to stdout: Broken pipe'))
    hold.process.stdin.close()
    for what, file in (('a full disk', os.open('/dev/full', os.O_WRONLY)),
                       ('a file that is not for writing', os.open('/dev/null', os.O_RDONLY))):
        hold = Hold('k', stdout=file)
        os.close(file)
        tap.claim(f'stdout is {what}: exit status 70', same(hold.process.wait(PATIENCE_S), 70))
        tap.claim('with no lock left', same(is_free('k'), True))
        hold.process.stdin.close()
    holder = Hold('k')
    holder.line()
    waiter = Hold('k')
    until(is_waited_for)
    waiter.process.stdout.close()
    tap.claim('it exits with 70 while it waits, too', same(waiter.process.wait(PATIENCE_S), 70))
    waiter.process.stdin.close()
    holder.end()


def ends_of_pipes(tap):
    for what in (os.devnull, __file__):
        with open(what, encoding='utf-8') as file:
            hold = Hold('k', stdin=file)
            tap.claim(f'stdin must not be {os.path.basename(what)}: exit status 64', same(hold.wait(), ('', 64)))
            tap.claim('and it says what it must be', has(hold.said(), 'must be a pipe, a socket or a terminal'))
    ours, its = socket.socketpair()
    hold = Hold('k', stdin=its, stdout=its)
    its.close()
    file = ours.makefile()
    tap.claim('one socket may be both stdin and stdout', same(file.readline().split()[0], 'acquired'))
    ours.shutdown(socket.SHUT_WR)
    tap.claim('when the other end closes it, that is the end of stdin', same(hold.process.wait(PATIENCE_S), 0)
              + same(file.readlines()[-1:], ['released valid_ms=0\n']))
    file.close()
    ours.close()


def main():
    run_in_sandbox()
    tap = Tap()
    try:
        for story in (life, schema, signals, dead_program, example, losses, suspended, waiting, slow_reader,
                      no_reader, ends_of_pipes, trouble):
            story(tap)
    finally:
        send(signal.SIGCONT, 1, 2, 3)
        for process in Hold.all:
            process.kill()
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
