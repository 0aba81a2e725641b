"""What docs/migrating.md says about other libraries: whether their locks and ours exclude each other.

The libraries are not run. The test sends the commands that they send, with scripts in our own words
that do the same. Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP.
"""
import base64
import hashlib
import os
import socket
import subprocess
import sys
import uuid

for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', folder))
from inside import run_in_sandbox  # noqa: E402
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
MASTERS, QUORUM, TTL_MS = 5, 3, 60000
HELD = 75

DELETE_OURS = "local ours = redis.call('GET', KEYS[1]) == ARGV[1]; return ours and redis.call('DEL', KEYS[1]) or 0"
EXTEND_OURS = ("local ours = redis.call('GET', KEYS[1]) == ARGV[1]; "
               "return ours and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0")
SET_UNLESS_OTHERS = ("local has = redis.call('GET', KEYS[1]); if has and has ~= ARGV[1] then return false end; "
                     "return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])")
ADD_UNLESS_OTHERS = ("if redis.call('TYPE', KEYS[1]).ok == 'string' or redis.call('EXISTS', KEYS[1]) == 1 then "
                     "return 0 end; redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]); "
                     "return redis.call('PEXPIRE', KEYS[1], ARGV[2])")
REMOVE_OURS = ("if redis.call('TYPE', KEYS[1]).ok == 'string' then return 0 end; "
               "return redis.call('ZREM', KEYS[1], ARGV[1])")
STILL_OURS = ("if redis.call('TYPE', KEYS[1]).ok == 'string' or not redis.call('ZSCORE', KEYS[1], ARGV[1]) then "
              "return 0 end; return redis.call('PEXPIRE', KEYS[1], ARGV[2])")


class Failed(Exception):
    """The server replied with an error."""


class Connection:
    def __init__(self, number):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(os.environ['REDLOCK_SANDBOX'], f'{number}.sock'))
        self.file = self.socket.makefile('rb')

    def call(self, *words):
        words = [str(word).encode() for word in words]
        self.socket.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(w), w) for w in words))
        return self.reply()

    def reply(self):
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b'-':
            raise Failed(rest.decode())
        if kind == b'$':
            return None if rest == b'-1' else self.file.read(int(rest) + 2)[:-2]
        return int(rest) if kind == b':' else rest

    def script(self, text, key, *arguments):
        """Run a script by its hash, or in full if the server does not have it yet."""
        try:
            return self.call('EVALSHA', hashlib.sha1(text.encode()).hexdigest(), 1, key, *arguments)
        except Failed as error:
            assert str(error).startswith('NOSCRIPT'), error
            return self.call('EVAL', text, 1, key, *arguments)


class Library:
    """Sets a string in one command, and deletes and extends it by scripts: redlock-py, pottery, redsync."""
    new_value = staticmethod(lambda: str(uuid.uuid4()))
    key = '{}'
    takes, deletes, extends = None, DELETE_OURS, EXTEND_OURS

    def __init__(self, name):
        self.name = self.key.format(name)
        self.value = self.new_value()
        self.masters = [Connection(number) for number in range(1, MASTERS + 1)]

    def count(self, *words):
        """On how many masters the script succeeds."""
        return sum(master.script(*words[:1], self.name, *words[1:]) not in (None, 0) for master in self.masters)

    def acquire(self):
        if self.takes:
            return self.count(self.takes, self.value, TTL_MS)
        return sum(master.call('SET', self.name, self.value, 'PX', TTL_MS, 'NX') is not None
                   for master in self.masters)

    def release(self):
        return self.count(self.deletes, self.value)

    def extend(self):
        return self.count(self.extends, self.value, TTL_MS)


class Redsync(Library):
    new_value = staticmethod(lambda: base64.b64encode(os.urandom(16)).decode())


class RedlockPy(Library):
    new_value = staticmethod(lambda: base64.b32encode(os.urandom(14)).decode()[:22])


class Pottery(Library):
    key = 'redlock:{}'


class RedlockRb(Library):
    takes = extends = SET_UNLESS_OTHERS


class OldSymfony(Library):
    """Before 5.2."""
    new_value = staticmethod(lambda: base64.b64encode(os.urandom(32)).decode())
    takes = SET_UNLESS_OTHERS


class NewSymfony(Library):
    """A sorted set, since 5.2."""
    new_value = staticmethod(OldSymfony.new_value)
    takes, deletes, extends = ADD_UNLESS_OTHERS, REMOVE_OURS, STILL_OURS


def redlock(command, key, *words):
    """The exit status and the output."""
    done = subprocess.run([REDLOCK, command, key, '--node-timeout', '20s', *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout.decode().strip()


def same(is_value, should):
    return [] if is_value == should else [f'{is_value!r}, not {should!r}']


def theirs_first(lock, *options):
    """They hold the lock, extend it and release it; we get it only then."""
    ours = ('acquire', lock.name, '--no-wait', '--ttl', '60s', *options)
    found = same(lock.acquire(), MASTERS) + same(redlock(*ours), (HELD, ''))
    found += same(lock.extend(), MASTERS) + same(redlock(*ours), (HELD, ''))
    found += same(lock.release(), MASTERS)
    status, text = redlock(*ours)
    found += same(status, 0)
    return found + same(redlock('release', lock.name, '--token', text.split('\n')[0])[0], 0)


def ours_first(lock, *options):
    """While we hold the lock, they cannot acquire, extend or release it. After our release they can."""
    status, text = redlock('acquire', lock.name, '--no-wait', '--ttl', '60s', *options)
    token = text.split('\n')[0]
    found = same(status, 0) + same((lock.acquire(), lock.extend(), lock.release()), (0, 0, 0))
    found += same({master.call('GET', lock.name) for master in lock.masters}, {token.encode()})
    found += same(redlock('extend', lock.name, '--token', token)[0], 0)
    found += same(redlock('release', lock.name, '--token', token)[0], 0)
    return found + same((lock.acquire(), lock.release()), (MASTERS, MASTERS))


def few_of_theirs(lock):
    """Keys that they have on a minority keep nobody out."""
    for master in lock.masters[:QUORUM - 1]:
        master.call('SET', lock.name, 'theirs', 'NX', 'PX', TTL_MS)
    status, token = redlock('acquire', lock.name, '--no-wait', '--ttl', '60s')
    found = same(status, 0) + same(redlock('release', lock.name, '--token', token)[0], 0)
    found += same([master.call('GET', lock.name) for master in lock.masters],
                  [b'theirs'] * (QUORUM - 1) + [None] * (MASTERS - QUORUM + 1))
    for master in lock.masters:
        master.call('DEL', lock.name)
    return found


def test(tap):
    for n, library in enumerate((Redsync, RedlockPy, Pottery, RedlockRb, OldSymfony, NewSymfony)):
        for options in ((), ('--fence',)):
            how = f'{library.__name__}{" and a fencing token" if options else ""}'
            tap.claim(f'{how}: while they hold the lock, we do not get it', theirs_first(library(f'a{n}'), *options))
            tap.claim(f'{how}: while we hold it, they do not', ours_first(library(f'b{n}'), *options))
    tap.claim('their keys on a minority keep nobody out, and stay untouched', few_of_theirs(Redsync('few')))

    class Careless(Redsync):
        deletes = "return redis.call('DEL', KEYS[1])"
    tap.claim('fires: a library that deletes what is not its own', [] if ours_first(Careless('e')) else ['nothing'])


def main():
    run_in_sandbox()
    tap = Tap()
    test(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
