#!/usr/bin/env python3
"""Run each script by redis-cli, as a reader would: `test_eval.py SOURCE_FOLDER BUILD_FOLDER`.

The text that the build made of a script is run by `redis-cli --eval NAME.lua KEY... , ARGUMENT...`, on a
server of its own. Each answer that the top of a script's file promises must be seen at least once.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lint'))
from tap import Tap, skip_all  # noqa: E402  (beside the lints)

SERVER = shutil.which('redis-server') or shutil.which('valkey-server')
CLIENT = shutil.which('redis-cli') or shutil.which('valkey-cli')

NOW = r'"\d{16}"'
OTHERS = r'"other"'
SET_A, SET_B = ['SET a me PX 90000', 'SET b me PX 90000']
TAKEN_B = 'SET b other'
LIST = 'a:redlock-waiting'
FULL = 'EVAL "for i = 1, 1024 do redis.call(\'ZADD\', KEYS[1], i, i) end" 1 ' + LIST

RESERVED = 'for:7f:x'
LIFE = 'EVAL "return redis.call(\'PTTL\', KEYS[1]) <= 9000 and 1 or 0" 1 a'

ENTRY = 'EVAL "return table.concat(redis.call(\'XRANGE\', KEYS[1], \'-\', \'+\')[1][2], \' \')" 1 s'
AUDIT = ' s 9 event x id 7f'
SPOILT = 'SET s string'
ADD_A = 'XADD s 5-0 event lost id 7f owner me ttl 60 fence 3 key z key a other x'
ADD_B = 'XADD s 6-7 event x key b'
ADD_GIVEN = 'XADD s 5-0 event given to you key a'
NOT_ADDED = r'1\) \(error\) WRONGTYPE .*\n2\) '

ALL_RIGHTS = {'ACL SETUSER default +@all': 'OK'}

# Which answer; commands that are run before; keys and arguments; what redis-cli prints (a regular
# expression); commands that are run afterwards, and what they must print.
CASES = {
    'release': [
        ('2', [SET_A, f'ZADD {LIST} 5 x 6 live 7 y'], 'a , me x', r'\(integer\) 2',
         {f'ZRANGE {LIST} 0 -1': 'y', 'EXISTS a': '0'}),
        ('1', [SET_A, f'ZADD {LIST} 6 live'], 'a , me -', r'\(integer\) 1',
         {f'ZRANGE {LIST} 0 -1': 'live', 'EXISTS a': '0'}),
        ('2', [SET_A, f'ZADD {LIST} 6 live'], 'a , me', r'\(integer\) 2',
         {f'EXISTS {LIST} a': '0'}),
        ('2', [SET_A, SET_B, 'ZADD b:redlock-waiting 6 live'], 'a b , me', r'\(integer\) 2',
         {'EXISTS a b': '0'}),
        ('1', [SET_A, f'ZADD {LIST} 6 x'], 'a , me ', r'\(integer\) 1', {f'EXISTS {LIST}': '0'}),
        ('0', [f'ZADD {LIST} 6 live'], 'a , me ', r'\(integer\) 0', {f'EXISTS {LIST}': '0'}),
        ('-1', ['SET a other', f'ZADD {LIST} 6 live 7 x'], 'a , me x', r'\(integer\) -1',
         {f'ZRANGE {LIST} 0 -1': 'live'}),
        ('1', [SET_A, f'SET {LIST} x'], 'a , me x', r'\(integer\) 1', {'EXISTS a': '0'}),
        ('1', [SET_A, SET_B], 'a b , me', r'\(integer\) 1', {'EXISTS a b': '0'}),
        ('0', [SET_A], 'a b , me', r'\(integer\) 0', {'EXISTS a b': '0'}),
        ('-1', [SET_A, TAKEN_B], 'a b , me', r'\(integer\) -1', {'EXISTS a': '0', 'GET b': 'other'}),
        ('-ERR', [SET_A, 'SADD b x'], 'b a , me', r'\(error\) WRONGTYPE .*', {'EXISTS a': '0'}),
        ('-1', [TAKEN_B, SET_A, 'SADD c x'], 'b c a , me', r'\(integer\) -1', {'EXISTS a': '0'}),
        ('2', [SET_A, f'ZADD {LIST} 7 live'], 'a , me ' + AUDIT, r'\(integer\) 2',
         {ENTRY: 'event x id 7f key a', f'EXISTS {LIST}': '0'}),
        ('-1', [SET_A, TAKEN_B, f'ZADD {LIST} 7 live'], 'a b , me -' + AUDIT, r'\(integer\) -1',
         {ENTRY: 'event x id 7f key a key b', f'EXISTS {LIST}': '1'}),
        ('0', [], 'a , me ' + AUDIT, r'\(integer\) 0', {'EXISTS s': '0'}),
        ('0', [], 'a , me ' + AUDIT.replace('x', 'lost'), r'\(integer\) 0',
         {ENTRY: 'event lost id 7f key a'}),
        ('{error, answer}', [SET_A, SPOILT], 'a , me ' + AUDIT, NOT_ADDED + r'\(integer\) 1',
         {'EXISTS a': '0'}),
        ('{error, answer}', [SET_A, 'SADD b x', SPOILT], 'a b , me ' + AUDIT,
         NOT_ADDED + r'\(error\) WRONGTYPE .*', {'EXISTS a': '0'}),
    ],
    'hand_over': [
        ('2', [SET_A, f'ZADD {LIST} 5 x 6 live'], f'a , me x {RESERVED} 9000', r'\(integer\) 2',
         {f'ZRANGE {LIST} 0 -1': 'live', 'GET a': RESERVED, LIFE: '1'}),
        ('1', ['SET a me PX 3000', f'ZADD {LIST} 5 x 6 y'], f'a , me x {RESERVED} 9000',
         r'\(integer\) 1', {f'ZRANGE {LIST} 0 -1': 'y', 'GET a': RESERVED, 'EVAL "return '
         'redis.call(\'PTTL\', KEYS[1]) <= 3000 and 1 or 0" 1 a': '1'}),
        ('1', [SET_A, SET_B], f'a b , me  {RESERVED} 9000', r'\(integer\) 1',
         {'GET a': RESERVED, 'GET b': RESERVED}),
        ('0', [SET_A], f'a b , me  {RESERVED} 9000', r'\(integer\) 0',
         {'GET a': RESERVED, 'EXISTS b': '0'}),
        ('0', [f'ZADD {LIST} 5 x 6 live'], f'a , me x {RESERVED} 9000', r'\(integer\) 0',
         {f'EXISTS {LIST} a': '0'}),
        ('-1', [SET_A, TAKEN_B], f'a b , me  {RESERVED} 9000', r'\(integer\) -1',
         {'GET a': RESERVED, 'GET b': 'other'}),
        ('-ERR', [SET_A, 'SADD b x'], f'b a , me  {RESERVED} 9000', r'\(error\) WRONGTYPE .*',
         {'GET a': RESERVED}),
        ('2', [SET_A, f'ZADD {LIST} 6 live', 'CONFIG SET maxmemory 1'], f'a , me  {RESERVED} 9000',
         r'\(integer\) 2', {'CONFIG SET maxmemory 0': 'OK', 'EXISTS a': '0'}),
        ('2', [SET_A, f'ZADD {LIST} 7 live'], f'a , me  {RESERVED} 9000' + AUDIT, r'\(integer\) 2',
         {ENTRY: 'event x id 7f key a', 'GET a': RESERVED}),
        ('-1', [SET_A, TAKEN_B], f'a b , me  {RESERVED} 9000' + AUDIT, r'\(integer\) -1',
         {ENTRY: 'event x id 7f key a key b', 'GET a': RESERVED}),
        ('0', [], f'a , me  {RESERVED} 9000' + AUDIT, r'\(integer\) 0', {'EXISTS s a': '0'}),
        ('-1', ['SET a other'], f'a , me  {RESERVED} 9000' + AUDIT, r'\(integer\) -1',
         {'EXISTS s': '0'}),
        ('{error, answer}', [SET_A, SPOILT], f'a , me  {RESERVED} 9000' + AUDIT,
         NOT_ADDED + r'\(integer\) 1', {'GET a': RESERVED}),
        ('{error, answer}', [SET_A, 'SADD b x', SPOILT], f'a b , me  {RESERVED} 9000' + AUDIT,
         NOT_ADDED + r'\(error\) WRONGTYPE .*', {'GET a': RESERVED}),
    ],
    'wait': [
        ("{0, -2, ''}", [f'ZADD {LIST} 5 x 6 us 7 live'], 'a b , us 9 0 9000',
         r'1\) \(integer\) 0\n2\) \(integer\) -2\n3\) ""', {f'ZRANGE {LIST} 0 -1': 'live'}),
        ('{place, left, value}', ['SET a other', f'ZADD {LIST} 5 x'], 'a , us 9 0 9000',
         r'1\) \(integer\) 2\n2\) \(integer\) -1\n3\) "other"', {f'ZRANGE {LIST} 0 -1': 'x\nus'}),
        ('{place, left, value}', ['SADD b m', f'ZADD {LIST} 5 x'], 'a b , us 9 0 9000',
         r'1\) \(integer\) 1\n2\) \(integer\) -1\n3\) ""', {'ZRANGE b:redlock-waiting 0 -1': 'us'}),
        ('{place, left, value}', [f'ZADD {LIST} 5 live 6 x'], 'a , us 9 0 9000',
         r'1\) \(integer\) 2\n2\) \(integer\) -2\n3\) ""', {f'ZRANGE {LIST} 0 -1': 'x\nus'}),
        ('{place, left, value}', [f'ZADD {LIST} 5 live'], 'a , us 9 1 9000',
         r'1\) \(integer\) 2\n2\) \(integer\) -2\n3\) ""', {f'ZRANGE {LIST} 0 -1': 'live\nus'}),
        ('{-1, left, value}', ['SET a other', FULL], 'a , us 9 0 9000',
         r'1\) \(integer\) -1\n2\) \(integer\) -1\n3\) "other"', {f'ZCARD {LIST}': '1024'}),
        ('-ERR', ['SET a other', f'SET {LIST} x'], 'a , us 9 0 9000', r'\(error\) .*WRONGTYPE .*',
         {f'GET {LIST}': 'x'}),
    ],
    'leave': [
        ('1', [f'ZADD {LIST} 5 us 6 live 7 y'], 'a b , us', r'\(integer\) 1',
         {f'ZRANGE {LIST} 0 -1': 'y'}),
        ('0', [SET_A, f'ZADD {LIST} 5 us 6 live'], 'a b , us', r'\(integer\) 0',
         {f'ZRANGE {LIST} 0 -1': 'live'}),
        ('0', [f'SET {LIST} x'], 'a , us', r'\(integer\) 0', {f'GET {LIST}': 'x'}),
    ],
    'set_all': [
        ('1', [SET_A], 'a b , me 60000', r'\(integer\) 1', {'GET a': 'me', 'GET b': 'me'}),
        ('2', [SET_A, SET_B], 'a b , me 60000 7', r'\(integer\) 2', {'GET a:redlock-fence': '7'}),
        ('a value', [TAKEN_B], 'a b , me 60000', OTHERS, {'EXISTS a': '0'}),
        ('a value', [TAKEN_B, 'SADD c x'], 'a b c , me 60000', OTHERS, {'EXISTS a': '0'}),
        ('1', [SET_A], 'a b , me 60000  ' + AUDIT, r'\(integer\) 1',
         {ENTRY: 'event x id 7f key a key b', 'EXISTS a:redlock-fence': '0'}),
        ('2', [SET_A, SET_B], 'a b , me 60000  ' + AUDIT, r'\(integer\) 2', {'EXISTS s': '0'}),
        ('a value', [TAKEN_B], 'a b , me 60000  ' + AUDIT, OTHERS, {'EXISTS s': '0'}),
        ('{error, answer}', [SPOILT], 'a b , me 60000  ' + AUDIT, NOT_ADDED + r'\(integer\) 1',
         {'GET a': 'me', 'GET b': 'me'}),
    ],
    'keep': [
        ('1', [SET_A, SET_B], 'a b , me 60000 7', r'\(integer\) 1', {'GET b:redlock-fence': '7'}),
        ('0', [SET_B], 'a b , me 60000', r'\(integer\) 0', {'EXISTS a': '0'}),
        ('a value', [SET_A, TAKEN_B], 'a b , me 60000', OTHERS, {'GET b': 'other'}),
        ('1', [SET_A], 'a , me 60000 ' + AUDIT, r'\(integer\) 1',
         {ENTRY: 'event x id 7f key a', 'EXISTS a:redlock-fence': '0'}),
        ('0', [SET_B], 'a b , me 60000 ' + AUDIT, r'\(integer\) 0', {'EXISTS s': '0'}),
        ('{error, answer}', [SET_A, SPOILT], 'a , me 60000 ' + AUDIT,
         NOT_ADDED + r'\(integer\) 1', {}),
    ],
    'keep_all': [
        ('digits', [SET_A, SET_B, 'SET c it PX 90000'], 'a b c , 60000 1 me me it', '"111"', {}),
        ('digits', [SET_A, TAKEN_B, 'SADD c x', 'SET d it'], 'a b c no d , 60000 1 me me me me it',
         '"10001"', {'GET b': 'other', 'EXISTS no': '0'}),
        ('digits', [SET_A, SET_B, 'SET d it PX 90000'], 'a b c d , 60000 2 me it 7 8', '"10"',
         {'GET b:redlock-fence': '7', 'EXISTS c d:redlock-fence': '0'}),
        ('digits', [SET_A, 'SET b it PX 90000', 'SET a:redlock-fence 9'], 'a b , 60000 1 me it 7 8',
         '"11"', {'GET a:redlock-fence': '9', 'GET b:redlock-fence': '8'}),
        ('digits', [SET_A, TAKEN_B, 'SADD c x', 'ACL SETUSER default -mget'],
         'a b c no , 60000 1 me me me me', '"1000"', ALL_RIGHTS),
    ],
    'vote': [
        ('{counter, 1}', ['SET b:redlock-fence 9', 'SET mark xyz'], 'a b , me 60000 5 mark xy',
         r'1\) \(integer\) 10\n2\) \(integer\) 1', {'GET a:redlock-fence': '10', 'GET b': 'me'}),
        ('{counter, 0}', ['SET mark xyz'], 'a , me 60000 5 mark y',
         r'1\) \(integer\) 5\n2\) \(integer\) 0', {'GET a': 'me'}),
        ('2', [SET_A], 'a b , me 60000 5  ', r'\(integer\) 2', {'EXISTS b': '0'}),
        ('a value', [TAKEN_B], 'a b , me 60000 5  ', OTHERS, {'EXISTS a': '0'}),
        ('-FENCE', [f'SET a:redlock-fence {2 ** 53 - 1}'], 'a , me 60000 5  ',
         r'\(error\) FENCE .*', {'EXISTS a': '0'}),
        ('-FENCE', ['LPUSH a:redlock-fence x'], 'a , me 60000 5  ',
         r'\(error\) FENCE the counter .*', {'EXISTS a': '0', 'LLEN a:redlock-fence': '1'}),
        ('{counter, 1}', [], 'a b , me 60000 5   ' + AUDIT, r'1\) \(integer\) 5\n2\) \(integer\) 1',
         {ENTRY: 'event x id 7f fence 5 key a key b'}),
        ('2', [SET_A], 'a , me 60000 5   ' + AUDIT, r'\(integer\) 2', {'EXISTS s': '0'}),
        ('{error, answer}', [SPOILT], 'a , me 60000 5   ' + AUDIT,
         NOT_ADDED + r'1\) \(integer\) 5\n   2\) \(integer\) 1', {'GET a': 'me'}),
    ],
    'adopt': [
        ('{counter, 1}', [SET_A, SET_B, 'SET b:redlock-fence 9'], 'a b , me 99000 5  ',
         r'1\) \(integer\) 10\n2\) \(integer\) 1', {'GET a:redlock-fence': '10', 'GET b': 'me'}),
        ('{counter, 0}', [SET_A, 'SET mark xyz'], 'a , me 60000 5 mark y',
         r'1\) \(integer\) 5\n2\) \(integer\) 0', {'GET a': 'me'}),
        ('0', [SET_A], 'a b , me 60000 5  ', r'\(integer\) 0',
         {'EXISTS b': '0', 'EXISTS a:redlock-fence': '0'}),
        ('a value', [SET_A, TAKEN_B], 'a b , me 60000 5  ', OTHERS, {'EXISTS a:redlock-fence': '0'}),
        ('-FENCE', [SET_A, f'SET a:redlock-fence {2 ** 53 - 1}'], 'a , me 60000 5  ',
         r'\(error\) FENCE .*', {'GET a': 'me'}),
        ('-FENCE', [SET_A, 'LPUSH a:redlock-fence x'], 'a , me 60000 5  ',
         r'\(error\) FENCE the counter .*', {'LLEN a:redlock-fence': '1'}),
        ('{counter, 1}', [SET_A], 'a , me 60000 5  ' + AUDIT,
         r'1\) \(integer\) 5\n2\) \(integer\) 1', {ENTRY: 'event x id 7f fence 5 key a'}),
        ('0', [], 'a , me 60000 5  ' + AUDIT, r'\(integer\) 0', {'EXISTS s': '0'}),
        ('{error, answer}', [SET_A, SPOILT], 'a , me 60000 5  ' + AUDIT,
         NOT_ADDED + r'1\) \(integer\) 5\n   2\) \(integer\) 1', {'GET a:redlock-fence': '5'}),
    ],
    'confirm': [
        ('1', [SET_A, SET_B], 'a b , me 7', r'\(integer\) 1', {'GET b:redlock-fence': '7'}),
        ('0', [SET_A], 'a b , me 7', r'\(integer\) 0', {'EXISTS a:redlock-fence': '0'}),
        ('0', [SET_A, 'SET a:redlock-fence 8'], 'a , me 7', r'\(integer\) 0',
         {'GET a:redlock-fence': '8'}),
    ],
    'swap': [
        ('1 or more', [SET_A], 'a , new me', r'\(integer\) [89]\d{4}', {'GET a': 'new'}),
        ('0', [], 'a , new me', r'\(integer\) 0', {'EXISTS a': '0'}),
        ('-1', ['SET a me'], 'a , new me', r'\(integer\) -1', {'GET a': 'me'}),
        ('a value', ['SET a other PX 90000'], 'a , new me', OTHERS, {'GET a': 'other'}),
        ('a value', ['SET a new PX 90000'], 'a , new me', '"new"', {'GET a': 'new'}),
        ('1 or more', [SET_A], 'a , new me' + AUDIT, r'\(integer\) [89]\d{4}',
         {ENTRY: 'event x id 7f key a'}),
        ('0', [], 'a , new me' + AUDIT, r'\(integer\) 0', {'EXISTS s': '0'}),
        ('{error, answer}', [SET_A, SPOILT], 'a , new me' + AUDIT,
         NOT_ADDED + r'\(integer\) [89]\d{4}', {'GET a': 'new'}),
    ],
    'history': [
        ('{next, oldest, there, ...}', [], 's , a + - 9 9', r'1\) ""\n2\) ""\n3\) \(integer\) 0', {}),
        ('{next, oldest, there, ...}', [ADD_A, ADD_B], 's , a + - 9 9',
         r'1\) ""\n 2\) "5-0"\n 3\) \(integer\) 1\n 4\) "5-0"\n 5\) "lost"\n 6\) "7f"\n 7\) "me"\n'
         r' 8\) ""\n 9\) "3"\n10\) "60"', {}),
        ('{next, oldest, there, ...}', [ADD_GIVEN], 's , a + - 9 9',
         r'(.|\n)* 5\) "given"\n 6\) ""\n 7\) ""\n 8\) "you"\n 9\) ""\n10\) ""', {}),
        ('{next, oldest, there, ...}', [ADD_A, ADD_B], 's , a + - 1 9',
         r'1\) "6-6"\n2\) "6-7"\n3\) \(integer\) 1', {}),
        ('{next, oldest, there, ...}', [ADD_A, ADD_B], 's , a 6-6 - 1 9',
         r'1\) "4"\n 2\) "5-0"\n 3\) \(integer\) 1\n(.|\n)*"lost"(.|\n)*', {}),
        ('{next, oldest, there, ...}', [ADD_A, ADD_B], 's , b + - 9 1',
         r'1\) "6-6"\n 2\) "6-7"\n(.|\n)*"x"(.|\n)*', {}),
        ('{next, oldest, there, ...}', [ADD_A, ADD_B], 's , a + 6 9 9',
         r'1\) ""\n2\) "6-7"\n3\) \(integer\) 1', {}),
        ('-ERR', [SPOILT], 's , a + - 9 9', r'\(error\) .*WRONGTYPE .*', {}),
    ],
    'incarnation': [
        ('{value, now}', [], 'i , run 7f 0 0 ', rf'1\) "run 7f \d+"\n2\) {NOW}', {'EXISTS i': '1'}),
        ('{value, now}', ['SET i "run aa 5"'], 'i , run 7f 0 0 ', rf'1\) "run aa 5"\n2\) {NOW}', {}),
        ('{value, now}', ['SET i "old aa 5"'], 'i , run 7f 0 0 ', rf'1\) "run aa \d{{16}}"\n2\) {NOW}', {}),
        ('{value, now}', ['SET i "old aa 5"'], 'i , run 7f 1 9 ', rf'1\) "run aa 9"\n2\) {NOW}',
         {'GET i': 'run aa 9'}),
        ('{value, now, record}', ['SET m text'], 'i , run 7f 0 0 m',
         rf'1\) "run 7f \d+"\n2\) {NOW}\n3\) "text"', {}),
        ('{value, now, record}', [], 'i , run 7f 0 0 m', rf'1\) "run 7f \d+"\n2\) {NOW}\n3\) \(nil\)',
         {'EXISTS m': '0'}),
        ('{value, now, record}', ['LPUSH m x'], 'i , run 7f 0 0 m',
         rf'1\) "run 7f \d+"\n2\) {NOW}\n3\) \(error\) WRONGTYPE .*', {'EXISTS i': '1'}),
        ('{value, now, record}', ['ACL SETUSER default resetkeys ~i'], 'i , run 7f 0 0 m',
         rf'1\) "run 7f \d+"\n2\) {NOW}\n3\) \(error\) .*', {'ACL SETUSER default allkeys': 'OK'}),
    ],
    'masters': [
        ('{value, now}', [], 'm , 1 0a ', rf'1\) "1 0a \d{{16}}\\n"\n2\) {NOW}', {'EXISTS m': '1'}),
    ],
    'upkeep': [
        ('0', [], 'a ,', r'\(integer\) 0', {}),
        ('command', ['ACL SETUSER default -pexpire -del'], 'a ,', '"PEXPIRE"', ALL_RIGHTS),
        ('command', ['ACL SETUSER default -pttl'], 'a ,', '"PTTL"', ALL_RIGHTS),
        ('command', ['ACL SETUSER default -del'], 'a ,', '"DEL"', ALL_RIGHTS),
        ('0', ['ACL SETUSER default -time'], 'a ,', r'\(integer\) 0', ALL_RIGHTS),
        ('0', ['CONFIG SET maxmemory 1'], 'a ,', r'\(integer\) 0', {'CONFIG SET maxmemory 0': 'OK'}),
        ('-ERR', [], 'a ,', r'\(error\) ERR .* Redis 3\.2 .*', {}),
    ],
}

# Only servers that are too old to test with give these answers.
NOT_TRIED = {('upkeep', '-ERR')}


class Server:
    """On a unix socket, with nothing on disk. Somebody listens to the channel "live"."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='redlock-test-')
        self.socket = os.path.join(self.folder, 's')
        self.process = subprocess.Popen(
            [SERVER, '--port', '0', '--unixsocket', self.socket, '--dir', self.folder, '--save', ''],
            stdout=subprocess.DEVNULL)
        while self.client('PING') != 'PONG':
            if self.process.poll() is not None:
                raise AssertionError('the server does not start')
            time.sleep(0.01)
        self.listener = subprocess.Popen([CLIENT, '-s', self.socket, 'SUBSCRIBE', 'live'],
                                         stdout=subprocess.DEVNULL)
        while self.client('PUBSUB', 'NUMSUB', 'live') != 'live\n1':
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        for process in (self.listener, self.process):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder)

    def client(self, *words):
        done = subprocess.run([CLIENT, '-s', self.socket, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        return done.stdout.strip()

    def command(self, line):
        """Runs a command line; quotes join words."""
        return self.client(*(word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)))

    def run(self, path, words):
        """Two blanks stand for an empty argument each."""
        return self.client('--no-raw', '--eval', path, *words.split(' '))


def promised(path):
    """The answers that the top of a script's file lists."""
    with open(path, encoding='ascii') as file:
        head = file.read().split('\n\n', 1)[0] + '\n'
    block = re.search(r'^-- Answers(  .*\n(?:--   .*\n)*)', head, re.MULTILINE)
    lines = block.group(1).replace('\n--', '\n').splitlines() if block else []
    return {re.match(r' +(\S.*?)  +\S', line).group(1) for line in lines}


def missing(sources, cases):
    """What is promised and not tried, or tried and not promised."""
    for path in sorted(glob.glob(os.path.join(sources, '*.lua'))):
        name = os.path.splitext(os.path.basename(path))[0]
        tried = {case[0] for case in cases.get(name, [])}
        for answer in promised(path) ^ tried:
            yield f'{name}.lua: promised or tried, and not both: {answer}'


def complaints(server, path, before, words, answer, after):
    server.client('FLUSHALL')
    for line in before:
        server.command(line)
    got = server.run(path, words)
    if not re.fullmatch(answer, got):
        yield f'answered {got!r}'
    for line, value in after.items():
        if server.command(line) != value:
            yield f'{line}: {server.command(line)!r} and not {value!r}'


def main(sources, built):
    if not SERVER or not CLIENT:
        skip_all('there is no redis-server or no redis-cli')
    tap = Tap()
    tap.claim('every answer that is promised is tried', missing(sources, CASES))
    tap.fires('an answer that is not tried', missing(sources, {**CASES, 'keep_all': []}), 'digits')
    with Server() as server:
        for name, cases in CASES.items():
            path = os.path.join(built, f'{name}.lua')
            for which, *case in cases:
                if (name, which) not in NOT_TRIED:
                    tap.claim(f'{name} answers {which}: {case[1]}', complaints(server, path, *case))
        release = os.path.join(built, 'release.lua')
        tap.fires('another answer', complaints(server, release, [], 'a , me', r'\(integer\) 1', {}),
                  'answered')
        tap.fires('another state', complaints(server, release, [TAKEN_B], 'b , me', '.*',
                                              {'EXISTS b': '0'}), 'EXISTS b')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
