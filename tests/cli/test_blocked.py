"""redlock with a stderr that takes no line: the lock is renewed all the same, and the end is not delayed.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP. A test waits for a
condition: what a master says of the key, or the end of a process.
"""
import fcntl
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time

for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', folder))
from inside import run_in_sandbox  # noqa: E402
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
PATIENCE_S = 60
F_SETPIPE_SZ = 1031
RENEWALS = 2


class Master:
    """The first master."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(os.environ['REDLOCK_SANDBOX'], '1.sock'))

    def pttl(self, key):
        self.socket.sendall(f'PTTL {key}\r\n'.encode())
        return int(self.socket.recv(64)[1:])


def full(fd):
    """Fills a file until it takes nothing more, and makes it blocking again."""
    os.set_blocking(fd, False)
    try:
        while True:
            os.write(fd, b'x' * 512 + b'\n')
    except BlockingIOError:
        os.set_blocking(fd, True)
    return fd


def full_pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
    return reader, full(writer)


def full_socket():
    reader, writer = socket.socketpair()
    return reader.detach(), full(writer.detach())


def stopped_terminal():
    """A terminal after Ctrl-S."""
    reader, writer = pty.openpty()
    os.write(reader, b'\x13')
    return reader, writer


KINDS = {'a full pipe': full_pipe, 'a full socket': full_socket,
         'a terminal after Ctrl-S': stopped_terminal}


class Holder:
    """A command that runs under redlock, whose stderr is blocked from the start."""
    all = []

    def __init__(self, kind, *words):
        self.key = kind.replace(' ', '-')
        self.reader, writer = KINDS[kind]()
        self.process = subprocess.Popen(
            [REDLOCK, words[0], self.key, '--ttl', '6s', '--node-timeout', '20s', '--trace',
             *words[1:], '--', 'sh', '-c', 'echo runs; exec sleep 600'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, start_new_session=True)
        Holder.all.append(self.process)
        os.close(writer)

    def runs(self):
        """Whether its command has begun."""
        return bool(select.select([self.process.stdout], [], [], PATIENCE_S)[0])

    def renewals(self, master, wanted):
        """Whether the key was renewed so often before its command ended."""
        end, seen, last = time.monotonic() + PATIENCE_S, 0, 1 << 40
        while seen < wanted and self.process.poll() is None and time.monotonic() < end:
            left = master.pttl(self.key)
            seen += left > last + 500
            last = left
            time.sleep(0.01)
        return seen >= wanted

    def stop(self):
        """Ends it, with nobody reading its stderr. Returns its status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def close(self):
        self.process.stdout.close()
        os.close(self.reader)


def blocked(tap, command):
    master = Master()
    for kind, holder in [(kind, Holder(kind, command)) for kind in KINDS]:
        tap.claim(f'{command} on {kind} runs its command and renews',
                  [] if holder.runs() and holder.renewals(master, RENEWALS)
                  else [f'its status is {holder.process.poll()}'])
        status = holder.stop()
        tap.claim(f'{command} on {kind} ends as its command does', [] if status == 143 else [status])
        tap.claim(f'{command} on {kind} gives the key back',
                  [] if master.pttl(holder.key) == -2 else ['it is there'])
        holder.close()


def broken(tap):
    """A stderr that fails is no trouble."""
    reader, writer = os.pipe()
    os.close(reader)
    for name, fd in [('a full disk', os.open('/dev/full', os.O_WRONLY)), ('nobody', writer)]:
        process = subprocess.run([REDLOCK, 'lock', 'k', '--trace', '--', 'sh', '-c', 'exit 7'],
                                 stdin=subprocess.DEVNULL, stderr=fd, check=False)
        os.close(fd)
        tap.claim(f'lock with {name} at the other end of stderr runs its command',
                  [] if process.returncode == 7 else [process.returncode])


def unblocked(tap):
    """What was not written while the terminal was stopped comes when it goes on."""
    holder = Holder('a terminal after Ctrl-S', 'lock')
    holder.runs()
    os.write(holder.reader, b'\x11')
    text = b''
    while b'HOLDS' not in text:
        assert select.select([holder.reader], [], [], PATIENCE_S)[0], text
        text += os.read(holder.reader, 4096)
    tap.claim('lock on a terminal says after Ctrl-Q what it has to say', [])
    status = holder.stop()
    tap.claim('and ends as its command does', [] if status == 143 else [status])
    holder.close()


def main():
    run_in_sandbox()
    tap = Tap()
    try:
        blocked(tap, 'lock')
        blocked(tap, 'elect')
        broken(tap)
        unblocked(tap)
    finally:
        for process in Holder.all:
            process.kill()
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
