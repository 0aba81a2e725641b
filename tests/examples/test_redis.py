#!/usr/bin/env python3
"""The Redis example: fence.lua and fence_redis.sh, on a server on a unix socket."""
import os
import re
import shutil
import subprocess
import sys
import time

import lib
from lib import MIDDLE, NEW, OLD, wrong

SERVER = shutil.which('redis-server') or shutil.which('valkey-server')
CLIENT = shutil.which('redis-cli') or shutil.which('valkey-cli')


class Server(lib.Folder):
    """A server with an append-only file: every write is on disk before the answer."""

    def start(self):
        self.socket = os.path.join(self.path, 's')
        self.read = f'sh {self.examples}/fence_redis.sh read n'
        self.write = f'sh {self.examples}/fence_redis.sh write n $((n + 1))'
        self.serve()

    def serve(self):
        self.server = subprocess.Popen(
            [SERVER, '--port', '0', '--unixsocket', self.socket, '--dir', self.path, '--save', '',
             '--appendonly', 'yes', '--appendfsync', 'always'],
            stdout=subprocess.DEVNULL)
        while self.ping() != 'PONG':
            if self.server.poll() is not None:
                raise AssertionError('the server does not start')
            time.sleep(0.01)

    def ping(self):
        """PONG, or the error: while the server reads its file it answers LOADING."""
        return subprocess.run([CLIENT, '-s', self.socket, 'PING'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()

    def stop(self):
        self.server.kill()
        self.server.wait()

    def environment(self, fence):
        return dict(super().environment(fence), DATA=f'{CLIENT} -s {self.socket}')

    def command(self, *words):
        done = subprocess.run([CLIENT, '-s', self.socket, *words], stdout=subprocess.PIPE,
                              text=True, check=True)
        return done.stdout.strip()


def the_fence_is_kept_exactly(it):
    """All sixteen digits are kept."""
    it.run('n=1; {write}', OLD)
    return (wrong('in the hash', it.command('HGET', 'n', 'fence'), str(OLD)) +
            wrong('the next one', it.run('n=2; {write}', MIDDLE)[0], 0) +
            wrong('in the hash', it.command('HGET', 'n', 'fence'), str(MIDDLE)))


def what_is_no_fence_is_refused(it):
    """Also texts that tonumber() accepts."""
    it.run('n=1; {write}', OLD)
    odd = ['nan', '-nan', 'inf', '-1', '1e15', '0x7fffffffffffff', ' 1', '1.5', 'new', str(1 << 53),
           str(1 << 53), '9' * 40]
    return (wrong('odd ones', [it.run('n=6; {write}', fence)[0] for fence in odd], [1] * len(odd)) +
            wrong('none', it.run('n=6; {write}', '')[0] == 0, False) +
            wrong('the number', it.number(), '2'))


def it_says_why(it):
    it.run('n=1; {write}', NEW)
    said = it.run('n=1; {write}', OLD)[2]
    return ([] if re.fullmatch(f'STALE .*{OLD}.*{NEW}', said) else [f'it said {said!r}'])


def killed_and_remembers(it):
    """SIGKILL right after the answer loses nothing."""
    it.run('n=1; {write}', NEW)
    it.stop()
    it.serve()
    return (wrong('an older one', it.run('n=6; {write}', OLD)[0], lib.LOST) +
            wrong('the number', it.number(), '2'))


def a_server_that_is_away_is_no_refusal(it):
    """The exit status distinguishes a lost lock from a broken network."""
    os.rename(it.socket, it.socket + '.away')
    return wrong('the status', it.run('{read}', NEW)[0], 1)


OWN = [the_fence_is_kept_exactly, what_is_no_fence_is_refused, it_says_why, killed_and_remembers,
       a_server_that_is_away_is_no_refusal]

COMPARE = 'if fence < seen then'
STORE = "redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', fence))"
DIGITS = "string.match(ARGV[1] or '', '^%d+$') and tonumber(ARGV[1])"


def main():
    if not SERVER or not CLIENT:
        lib.skip_all('there is no redis-server or no redis-cli')
    tap = lib.Tap()
    lib.good(tap, Server, lib.STORIES + OWN)

    def breaks(story, name, *change):
        lib.broken(tap, Server, story, name, 'fence.lua', *change)

    breaks(lib.sleeper_is_refused, 'no comparison', COMPARE, 'if false then')
    breaks(lib.writing_announces, 'no comparison', COMPARE, 'if false then')
    breaks(lib.all_at_once, 'no comparison', COMPARE, 'if false then')
    breaks(lib.reading_announces, 'reading does not announce', STORE,
           'if ARGV[2] then ' + STORE + ' end')
    breaks(lib.writing_announces, 'the fence is not stored', STORE, '')
    breaks(lib.equal_is_allowed, 'equal is refused', COMPARE, 'if fence <= seen then')
    breaks(the_fence_is_kept_exactly, 'tostring()', STORE,
           STORE.replace("string.format('%.0f', fence)", 'tostring(fence)'))
    breaks(lib.equal_is_allowed, 'tostring()', STORE,
           STORE.replace("string.format('%.0f', fence)", 'tostring(fence)'))
    breaks(what_is_no_fence_is_refused, 'tonumber() decides', DIGITS, 'tonumber(ARGV[1])')
    breaks(what_is_no_fence_is_refused, 'no bound', 'or fence >= 2 ^ 53', '')
    breaks(it_says_why, 'not the one that was seen', ', fence, seen))', ', fence, fence))')
    breaks(killed_and_remembers, 'the fence is not stored', STORE, '')
    lib.broken(tap, Server, a_server_that_is_away_is_no_refusal, 'any failure is a lost lock',
               'fence_redis.sh', 'case $value in STALE*)', 'case $value in *)')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
