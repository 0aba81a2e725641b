"""redlock web: what it serves, what it refuses, and that no client harms it or another one.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP.
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from inside import run_in_sandbox  # noqa: E402
from tap import Tap  # noqa: E402
from until import BOUND_S, until  # noqa: E402

REDLOCK = os.environ['REDLOCK']
PAGE = os.path.join(HERE, '..', '..', 'src', 'cli', 'web', 'page')
NASTY = '<script>alert(1)</script>"\'&'


def entry_of(state, name):
    return next((entry for entry in state['keys'] if (entry['status'] or {}).get('key') == name), None)


class Web:
    """A `redlock web` and the commands beside it."""

    def __init__(self, *words, listen='127.0.0.1:0'):
        self.others = []
        self.process = subprocess.Popen([REDLOCK, 'web', '--listen', listen, *words], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().removeprefix('listening on http://').strip('/\n')
        self.port = int(self.url.rpartition(':')[2] or 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [*self.others, self.process]:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=BOUND_S)

    def start(self, *words):
        self.others.append(subprocess.Popen([REDLOCK, *words], stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))

    def ask(self, path, method='GET', **headers):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=BOUND_S)
        connection.request(method, path, headers={'Host': f'localhost:{self.port}', **headers})
        reply = connection.getresponse()
        body = reply.read().decode()
        connection.close()
        return reply, body

    def state(self):
        return json.loads(self.ask('/state')[1])

    def key(self, name):
        return entry_of(self.state(), name)

    def until_key(self, name, holds):
        def check():
            entry = self.key(name)
            return entry if entry and holds(entry) else None
        return until(check, f'what is wanted of {name}')

    def raw(self, data):
        peer = socket.create_connection(('127.0.0.1', self.port), timeout=BOUND_S)
        peer.sendall(data)
        return peer

    def works(self):
        return [] if self.process.poll() is None and self.ask('/state')[0].status == 200 else ['it is gone']


def equal(what, got, wanted):
    return [] if got == wanted else [f'{what}: {got!r}, not {wanted!r}']


def pages(tap, web):
    types = {'/': 'text/html; charset=utf-8', '/state': 'application/json'}
    for name in sorted(os.listdir(PAGE)):
        kind = {'.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8'}.get(os.path.splitext(name)[1])
        types.update({f'/{name}': kind} if kind else {})
    for path, kind in types.items():
        reply, body = web.ask(path)
        tap.claim(f'{path} has its content type', equal(path, (reply.status, reply.getheader('Content-Type')), (200, kind)))
        tap.claim(f'{path} allows nothing from elsewhere',
                  [name for name, word in [('Content-Security-Policy', "default-src 'none'"),
                                           ('X-Content-Type-Options', 'nosniff'),
                                           ('Cross-Origin-Resource-Policy', 'same-origin')]
                   if word not in (reply.getheader(name) or '')])
        reply, nothing = web.ask(path, 'HEAD')
        tap.claim(f'HEAD {path} has headers only', equal(path, (reply.status, nothing), (200, '')))
        if path != '/state':
            tap.claim(f'{path} has no line cut', [] if body.endswith('\n') else [body[-40:]])


def refusals(tap, web):
    rows = [('another host', ('/state',), {'Host': 'evil.example'}, 421),
            ('a host that only begins as ours', ('/state',), {'Host': '127.0.0.1.evil.example:80'}, 421),
            ('another origin', ('/events',), {'Origin': 'http://evil.example'}, 403),
            ('a POST', ('/state', 'POST'), {}, 405),
            ('a DELETE', ('/state', 'DELETE'), {}, 405),
            ('an unknown page', ('/../etc/passwd',), {}, 404),
            ('a large header', ('/',), {'X-Large': 'x' * 40000}, 400)]
    for name, words, headers, status in rows:
        reply, body = web.ask(*words, **headers)
        tap.claim(f'{name} is refused', equal(name, reply.status, status))
        tap.claim(f'{name} is told nothing', [body] if 'masters' in body else [])
    tap.claim('it goes on after these', web.works())


def states(tap, web):
    web.start('lock', 'nightly', '--owner', 'db-1', '--', 'sleep', '1000')
    web.until_key('nightly', lambda entry: entry['status']['owner'] == 'db-1')
    web.start('lock', 'nightly', '--', 'true')
    entry = web.until_key('nightly', lambda entry: entry['status']['waiters'] == 1)
    tap.claim('a lock has a holder, and who waits',
              equal('holding', entry['status']['holding'] >= 2, True) +
              equal('seen_ms', entry['seen_ms'] >= 0, True) + equal('election', entry['election'], False))
    web.start('elect', 'cron', '--id', 'web-1', '--value', 'v', '--', 'sleep', '1000')
    entry = web.until_key('cron', lambda entry: entry['election'] and entry['observed']
                          and entry['observed']['leader'] == 'web-1')
    tap.claim('an election has a leader and a term',
              equal('term', entry['observed']['term'] == entry['status']['term'] > 0, True))
    web.start('lock', NASTY, '--owner', NASTY, '--', 'sleep', '1000')
    entry = web.until_key(NASTY, lambda entry: entry['status']['held'])
    tap.claim('a key and an owner may have any characters', equal('owner', entry['status']['owner'], NASTY))
    state = web.state()
    tap.claim('all masters are listed', equal('masters', [m['state'] for m in state['masters']], ['up'] * 3))
    tap.claim('the state of their record is there',
              equal('record', (state['record']['state'], state['record']['shown_by']), ('none', 0)))
    until(lambda: all(isinstance(m['clock_us'], int) and m['clock_error_us'] > 0
                      for m in web.state()['masters']), 'the clock of each master')
    tap.claim('the clock of each master is known', [])
    tap.claim('the state says when it was made', [] if abs(state['time_ms'] / 1000 - time.time()) < BOUND_S
              else [state['time_ms']])
    led = [event['observed'] for event in state['events'] if event['name'] == 'cron' and event['observed']['leader']]
    tap.claim('the event of a leader has its term',
              equal('observed', led[-1:], [{'key': 'cron', 'known': True, 'leader': 'web-1', 'value': 'v',
                                            'term': entry_of(state, 'cron')['status']['term'],
                                            'broken_by': None, 'broken_ms': None, 'former_leader': None}]))
    tap.claim('the event of a master has no leader', equal('observed', [event['observed'] for event in state['events']
                                                              if event['kind'] == 'master'], [None] * 3))
    tap.claim('what happened is listed',
              [] if any(e['name'] == 'nightly' and 'db-1' in e['text'] for e in state['events']) else
              [state['events']])


def lists(tap):
    """All locks, if somebody asks for them."""
    with Web('--list', 'app:') as web:
        tap.claim('the prefix is in the state', equal('list', web.state()['list']['prefix'], 'app:'))
        web.start('lock', 'app:one', '--owner', 'db-1', '--', 'sleep', '1000')
        web.start('lock', 'other', '--', 'sleep', '1000')

        def one():
            last = json.loads(web.ask('/list')[1])
            return last if last and last['keys'] else None
        last = until(one, 'a list with the lock')
        tap.claim('the locks that begin with the prefix are listed',
                  equal('keys', [(key['key'], key['owner'], key['held']) for key in last['keys']],
                        [('app:one', 'db-1', True)]))
        tap.claim('the list says whether it is complete, and what it cost',
                  equal('complete', last['complete'], True) + equal('more', last['more'], 0) +
                  equal('commands', last['commands'] > 0, True))
        tap.claim('the state says how old it is', equal('asked_ms', web.state()['list']['asked_ms'] >= 0, True))
    with Web('nightly') as web:
        tap.claim('without --list nothing is listed', equal('list', web.state()['list'], None))
        tap.claim('and there is no list', equal('/list', json.loads(web.ask('/list')[1]), None))


def messages(peer):
    """The states of a stream."""
    with peer.makefile('r', encoding='utf-8', newline='') as lines:
        for line in lines:
            if line.startswith('data: '):
                yield json.loads(line[6:])


def streams(tap, web):
    peer = web.raw(b'GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n')
    stream = messages(peer)
    first = next(stream)
    web.start('lock', 'late', '--owner', 'later', '--', 'sleep', '1000')
    end = time.monotonic() + BOUND_S
    seen = next(state for state in stream if time.monotonic() > end or any(
        event['id'] > first['events'][-1]['id'] and event['name'] == 'late' and 'later' in event['text']
        for event in state['events']))
    tap.claim('a stream hears of a new holder', [] if time.monotonic() < end else [seen['events']])
    peers = [web.raw(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n') for _ in range(15)]
    for one in peers:
        one.recv(10)
    tap.claim('one stream too many is refused', equal('status', web.ask('/events')[0].status, 503))
    for one in peers:
        one.close()
    tap.claim('the places are free again', equal('status', until(
        lambda: b' 200 ' in web.raw(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n').recv(30), 'a place'), True))
    peer.close()


def hostile(tap, web):
    asleep = [web.raw(data) for data in [b'', b'GET', b'GET /state HTTP/1.1\r\nHost: local',
                                         b'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n',
                                         b'\x16\x03\x01\x02\x00\x01\x00', b'\0' * 1000]]
    tap.claim('clients that send half a request stop nobody', web.works())
    for data in [b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n', b'GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n' * 50]:
        for _ in range(20):
            web.raw(data).close()
    tap.claim('clients that go away in the middle stop nobody', web.works())
    flood = web.raw(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    flood.setblocking(False)
    try:
        while flood.send(b'x' * 65536):
            pass
    except (BlockingIOError, ConnectionError):
        pass
    with open(f'/proc/{web.process.pid}/status', encoding='utf-8') as file:
        size = next(int(line.split()[1]) for line in file if line.startswith('VmRSS'))
    tap.claim('bytes after a request are not kept', [] if size < 100000 else [f'{size} kB'])
    many = [web.raw(b'') for _ in range(300)]
    tap.claim('300 clients that say nothing keep nobody out', web.works())
    for one in many + asleep + [flood]:
        one.close()
    tap.claim('it goes on after 300 connections', web.works())


class Trickle(threading.Thread):
    """A client that sends a header, a byte at a time, until it is disconnected."""

    def __init__(self, web):
        super().__init__(daemon=True)
        self.peer = web.raw(b'GET /state HTTP/1.1\r\nHost: localhost\r\nX: ')
        self.peer.settimeout(0.2)
        self.start()

    def run(self):
        while True:
            try:
                if self.peer.recv(1) == b'':
                    return
            except TimeoutError:
                pass
            except OSError:
                return
            try:
                self.peer.send(b'x')
            except OSError:
                return


def names(tap):
    with Web('k', '--host', 'locks.example', listen='127.0.0.1:0') as web:
        got = [web.ask('/state', Host=host)[0].status for host in
               ['locks.example', 'LOCKS.example:80', '10.9.8.7:1', socket.gethostname(), 'evil.example']]
        tap.claim('names that were given are answered, and no others', equal('statuses', got, [200] * 4 + [421]))
        tap.claim('who used another name is told what to do', [] if '--host' in web.ask(
            '/state', Host='evil.example')[1] else ['nothing'])
    with Web('k', listen='0.0.0.0:0') as web:
        tap.claim('so it is on all addresses', equal('status', web.ask('/state', Host='evil.example')[0].status, 421))
    for words in [['--host', ''], ['--host', 'http://x'], ['--host', 'x'] * 17]:
        run = subprocess.run([REDLOCK, 'web', *words], text=True, capture_output=True, timeout=BOUND_S, check=False)
        tap.claim(f'{words[:2]} {len(words) // 2} times is refused', equal('status', run.returncode, 64))


def ends(tap):
    with Web('k') as web:
        peer = web.raw(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        peer.recv(10)
        taken = subprocess.run([REDLOCK, 'web', '--listen', f'127.0.0.1:{web.port}'], text=True,
                               capture_output=True, timeout=BOUND_S, check=False)
        tap.claim('a port that is taken gives 70', equal('status', taken.returncode, 70))
        tap.claim('and says what to do', [] if '--listen' in taken.stderr and 'in use' in taken.stderr else [taken.stderr])
        web.process.send_signal(signal.SIGTERM)
        tap.claim('SIGTERM ends it, with a stream open', equal('status', web.process.wait(BOUND_S), 143))
        peer.close()
    for listen in ['7777', 'example.com:80', '127.0.0.1:99999', '::1:80']:
        run = subprocess.run([REDLOCK, 'web', '--listen', listen], text=True, capture_output=True,
                             timeout=BOUND_S, check=False)
        tap.claim(f'--listen {listen} is refused', equal('status', run.returncode, 64))


def main():
    run_in_sandbox('-n', '3')
    tap = Tap()
    with Web('nightly', 'cron', NASTY, 'late') as web:
        slow = Trickle(web)
        for test in [pages, refusals, states, streams, hostile]:
            test(tap, web)
        slow.join(BOUND_S)
        tap.claim('a client that sends a byte now and then is disconnected', ['it is not'] if slow.is_alive() else [])
    lists(tap)
    names(tap)
    ends(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
