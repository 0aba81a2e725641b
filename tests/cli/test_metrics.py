"""redlock exporter, and --metrics of lock and elect: what Prometheus reads there.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP.
"""
import atexit
import http.client
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from inside import run_in_sandbox  # noqa: E402
from prometheus import Page  # noqa: E402
from servers import Client  # noqa: E402
from tap import Tap  # noqa: E402

EXAMPLES = os.path.join(HERE, '..', '..', 'docs', 'examples')
REDLOCK = os.environ['REDLOCK']
PATIENT = ['--node-timeout', '20s']
PATIENCE_S = 60
ODD = 'a"b\\c\x1b\xe4'
GOOD = ('# HELP h_seconds x\n# TYPE h_seconds histogram\nh_seconds_bucket{le="1"} 1\n'
        'h_seconds_bucket{le="+Inf"} 2\nh_seconds_sum 3.5\nh_seconds_count 2\n'
        '# HELP c_total x\n# TYPE c_total counter\nc_total{a="\\"\\\\"} 1\n')


class Served:
    """A command that serves metrics; its standard input is open until it ends."""

    def __init__(self, *words):
        self.process = subprocess.Popen([REDLOCK, *words], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.process.kill)  # does nothing once it was waited for
        self.url = None
        for line in self.process.stderr:
            found = re.search(r'serves (http://\S+)', line)
            if found:
                self.url = found.group(1)
                break
        assert self.url, f'{words} serves nothing'

    def page(self):
        with urllib.request.urlopen(self.url, timeout=PATIENCE_S) as answer:
            return answer.headers, Page(answer.read().decode())

    def until(self, name, value, /, **labels):
        """The page once it has this sample; the last page when that never comes."""
        end = time.monotonic() + PATIENCE_S
        while True:
            page = self.page()[1]
            if page.value(name, **labels) == value or time.monotonic() > end:
                return page
            time.sleep(0.02)

    def ask(self, path):
        """(status, text) of another page, and when it was asked for."""
        asked = time.monotonic()
        try:
            with urllib.request.urlopen(self.url.replace('/metrics', path), timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode(), asked
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode(), asked

    def leads(self):
        """The reply once it leads, and until when a program may act, by our clock."""
        end = time.monotonic() + PATIENCE_S
        while True:
            status, text, asked = self.ask('/leader')
            if status == 200 or time.monotonic() > end:
                reply = json.loads(text)
                return reply, asked + (reply['left_seconds'] or 0)
            time.sleep(0.02)

    def end(self):
        """Its end by a signal, or because its CMD has ended; returns the status and stdout."""
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out


def has(page, wanted):
    yield from page.mistakes
    for name, labels, value in wanted:
        if page.value(name, **labels) != value:
            yield f'{name}{labels} is {page.value(name, **labels)}, not {value}'


def an_exporter(tap):
    it = Served('exporter', 'k', ODD, '-v', '--listen', '127.0.0.1:0', *PATIENT)
    odd = {'key': 'a"b\\c\\x1b\xe4'}
    tap.claim('it listens on the loopback interface',
              [] if it.url.startswith('http://127.0.0.1:') else [it.url])
    it.until('redlock_lock_held', 0, **odd)
    page = it.until('redlock_lock_held', 0, key='k')
    masters = [dict(key)['master'] for name, key in page.samples if name == 'redlock_master_votes']
    tap.claim('the state of each master and of each key is there', has(page, [
        ('redlock_masters', {}, 5), ('redlock_quorum', {}, 3),
        ('redlock_record_state', {'state': 'none'}, 1), ('redlock_record_state', {'state': 'other'}, 0),
        ('redlock_record_epoch', {}, 0), ('redlock_record_masters', {}, 0),
        ('redlock_lock_held', {'key': 'k'}, 0), ('redlock_lock_held', odd, 0),
        *[('redlock_master_votes', {'master': master}, 1) for master in masters],
        *[('redlock_master_state', {'master': master, 'state': 'up'}, 1) for master in masters]]))
    tap.claim('all five masters are there', [] if len(set(masters)) == 5 else masters)
    tap.claim('their round trips are counted',
              [m for m in masters if not page.value('redlock_master_round_trip_seconds_count', master=m)])
    tap.claim('the version of the format is said',
              [] if 'version=0.0.4' in it.page()[0]['Content-Type'] else [str(it.page()[0])])
    other_requests(tap, it)
    promtool(tap, it)
    seen = held_by_another(tap, it)
    tap.claim('an exporter is healthy, and has no /leader',
              [] if [it.ask(path)[0] for path in ('/healthz', '/leader')] == [200, 404] else [it.ask('/leader')])
    it.process.send_signal(signal.SIGTERM)
    status, _ = it.end()
    tap.claim('a signal ends it', [] if status == 128 + signal.SIGTERM else [str(status)])
    return seen


def status_of(url, method='GET'):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method),
                                    timeout=PATIENCE_S) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def other_requests(tap, it):
    wrong = []
    for path, method, wanted in [('/metrics', 'HEAD', 200), ('/', 'GET', 404), ('/metrics/x', 'GET', 404),
                                 ('/metrics', 'POST', 405)]:
        got = status_of(it.url.replace('/metrics', path), method)
        wrong += [] if got == wanted else [f'{method} {path}: {got}']
    host = it.url.split('/')[2]
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
    connection.request('GET', '/metrics', headers={'X-Long': 'x' * 20000})
    got = connection.getresponse().status
    wrong += [] if got >= 400 else [f'headers without an end: {got}']
    tap.claim('other requests are refused', wrong)


def promtool(tap, it):
    tool = shutil.which('promtool')
    if tool is None:
        tap.claim('promtool finds nothing wrong # SKIP there is no promtool', [])
        return
    with urllib.request.urlopen(it.url, timeout=PATIENCE_S) as answer:
        run = subprocess.run([tool, 'check', 'metrics'], input=answer.read(), check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tap.claim('promtool finds nothing wrong', [run.stdout.decode()] if run.stdout or run.returncode else [])


def examples(tap, samples):
    """Alerts and dashboard ask for metrics that there are, with labels that these have."""
    labels = {}
    for name, key in samples:
        labels.setdefault(name, set()).update(label for label, _ in key)
    for name in ['alerts.yml', 'grafana.json']:
        with open(os.path.join(EXAMPLES, name), encoding='utf-8') as file:
            text = file.read()
        used = set(re.findall(r'\bredlock_[a-z_]+', text))
        tap.claim(f'each metric of {name} is served', [f'{metric} is not' for metric in sorted(used - labels.keys())])
    with open(os.path.join(EXAMPLES, 'grafana.json'), encoding='utf-8') as file:
        panels = json.load(file)['panels']
    exprs = [target['expr'] for panel in panels for target in panel['targets']]
    wrong = [f'{metric} has no label {label}' for expr in exprs
             for metric, selector in re.findall(r'(redlock_\w+)\{([^}]*)\}', expr)
             for label in re.findall(r'(\w+)(?:=|!=)', selector)
             if label not in labels.get(metric, set()) | {'instance', 'job'}]
    tap.claim('and each label of its queries', wrong if exprs else ['there is no query'])
    tool = shutil.which('promtool')
    if tool is None:
        tap.claim('promtool accepts the alerts # SKIP there is no promtool', [])
        return
    run = subprocess.run([tool, 'check', 'rules', os.path.join(EXAMPLES, 'alerts.yml')], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tap.claim('promtool accepts the alerts', [run.stdout] if run.returncode else [])


def without_a_ttl(tap):
    """Keys that another program has set: one that never expires, one in 292 million years."""
    for number in range(1, 6):
        master = Client(f"{os.environ['REDLOCK_SANDBOX']}/{number}.sock")
        for words in [('SET', 'never', 'x'), ('SET', 'late', 'x', 'PX', 2 ** 62)]:
            master.send(*words)
            assert master.reply() == 'OK'
        master.close()
    it = Served('exporter', 'never', 'late', '-v', '--listen', '127.0.0.1:0', *PATIENT)
    it.until('redlock_lock_held', 1, key='never')
    page = it.until('redlock_lock_held', 1, key='late')
    tap.claim('a ttl without an end is +Inf', has(page, [
        ('redlock_lock_ttl_seconds', {'key': key}, math.inf) for key in ('never', 'late')]))
    it.process.send_signal(signal.SIGTERM)
    it.end()


def held_by_another(tap, it):
    lock = Served('lock', 'k', '-v', '--metrics', '127.0.0.1:0', *PATIENT, '--',
                  'sh', '-c', 'ls -l /proc/self/fd; read -r end')
    page = lock.until('redlock_held', 1, name='k')
    tap.claim('lock --metrics tells what it holds and has done', has(page, [
        ('redlock_held', {'name': 'k'}, 1), ('redlock_acquires_total', {'outcome': 'acquired'}, 1),
        ('redlock_acquire_wait_seconds_count', {}, 1)]))
    tap.claim('and for how long', [] if 0 < page.value('redlock_held_validity_seconds', name='k') <= 10
              else [str(page.value('redlock_held_validity_seconds', name='k'))])
    seen = dict(page.samples)
    page = it.until('redlock_lock_held', 1, key='k')
    seen.update(page.samples)
    tap.claim('an exporter tells nothing of what it never does',
              [name for name in sorted(page.names()) if re.search('acquire|renew|release|restore|round|lost', name)
               and not name.startswith('redlock_master_')])
    tap.claim('an exporter sees the key that is held', has(page, [('redlock_lock_held', {'key': 'k'}, 1)]))
    lock.process.stdin.close()
    lock.process.stdin = None
    _, out = lock.end()
    tap.claim('CMD inherits no socket', [out] if 'socket:' in out or 'pipe:' not in out else [])
    return seen


def a_leader(tap):
    it = Served('elect', 'e', '-v', '--metrics', '127.0.0.1:0', *PATIENT, '--', 'sh', '-c', 'read -r end')
    page = it.until('redlock_held', 1, name='e')
    tap.claim('elect --metrics tells that it leads, and how often it was lost',
              has(page, [('redlock_held', {'name': 'e'}, 1), ('redlock_locks_lost_total', {}, 0)]))
    it.process.stdin.close()
    it.process.stdin = None
    it.end()
    return page.samples


def candidate(own):
    return Served('elect', 'led', '--id', own, '-v', '--ttl', '4s', '--metrics', '127.0.0.1:0', *PATIENT, '--',
                  'sh', '-c', 'read -r end')


def wrong_reply(reply, name):
    """What is wrong with a reply that says what is held, and for how long."""
    good = (reply['name'] == name and reply['leader'] and reply['left_seconds'] > 0 and
            re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', reply['deadline'] or ''))
    return [] if good else [str(reply)]


def who_leads(tap):
    first = candidate('a')
    reply, _ = first.leads()
    tap.claim('/leader tells the term and the deadline', wrong_reply(reply, 'led') + ([] if reply['term'] > 0 else [str(reply)]))
    second = candidate('b')
    status, text, _ = second.ask('/leader')
    tap.claim('a candidate that waits replies with 503', [] if status == 503 and json.loads(text) == {
        'name': 'led', 'leader': False, 'term': None, 'left_seconds': None, 'deadline': None} else [(status, text)])
    tap.claim('and is healthy', [] if second.ask('/healthz')[:2] == (200, 'ok\n') else [str(second.ask('/healthz'))])
    until = first.leads()[1]
    first.process.send_signal(signal.SIGTERM)
    _, said = first.process.communicate(timeout=PATIENCE_S)
    tap.claim('a leader that resigns keeps its promise', [] if 'promised at /leader' in said else [said])
    after = second.leads()
    tap.claim('nobody else leads before that', [] if time.monotonic() >= until else [str(after)])
    third = candidate('c')
    until = second.leads()[1]
    second.process.kill()
    second.process.communicate(timeout=PATIENCE_S)
    after = third.leads()
    tap.claim('nor if the leader is killed', [] if time.monotonic() >= until else [str(after)])
    third.process.send_signal(signal.SIGTERM)
    third.process.communicate(timeout=PATIENCE_S)


def own_ip():
    """An address of this machine that is not a loopback address, or None. This sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))
        except OSError:
            return None
        ip = probe.getsockname()[0]
        return None if ip.startswith('127.') else ip


def who_is_asked(tap):
    """The program beside a leader dies, and asks no more."""
    first = Served('elect', 'asked', '--id', 'a', '-v', '--ttl', '6s', '--asked-within', '1500ms', '--metrics',
                   '127.0.0.1:0', *PATIENT)
    began = next(said for said in first.process.stderr if re.search('waiting for a program|candidate for', said))
    state = subprocess.run([REDLOCK, 'status', 'asked'], text=True, stdout=subprocess.PIPE).stdout
    tap.claim('--asked-within: a candidate that nobody asks does not campaign',
              [] if 'waiting for a program that asks /leader' in began and ': free' in state else [began, state])
    reply, until = first.leads()
    tap.claim('one that is asked leads', wrong_reply(reply, 'asked'))
    second = Served('elect', 'asked', '--id', 'b', '-v', '--ttl', '6s', '--metrics', '127.0.0.1:0', *PATIENT)
    page = second.until('redlock_held', 1, name='asked')
    tap.claim('when nobody asks any more, another candidate leads, but not before the last deadline',
              [*has(page, [('redlock_held', {'name': 'asked'}, 1)]), *([] if time.monotonic() >= until else ['too soon'])])
    first.process.send_signal(signal.SIGTERM)
    _, said = first.process.communicate(timeout=PATIENCE_S)
    tap.claim('and the former leader says why',
              [] if 'nobody has asked /leader for 1.5 s' in said and ': nobody asks /leader' in said else [said])
    second.process.send_signal(signal.SIGTERM)
    second.process.communicate(timeout=PATIENCE_S)


def asked_from_elsewhere(tap):
    """A client here connects from the address that it asks. With an address that is not loopback it counts as remote."""
    claim, ip = 'a remote client gets no deadline, and delays nobody', own_ip()
    if ip is None:
        tap.claim(f'{claim} # SKIP the machine has no other address', [])
        return
    it = Served('elect', 'far', '--id', 'a', '-v', '--metrics', '0.0.0.0:0', *PATIENT)
    port = it.url.split(':')[2].split('/')[0]
    it.url = f'http://{ip}:{port}/metrics'
    it.until('redlock_held', 1, name='far')
    status, text, _ = it.ask('/leader')
    reply = json.loads(text)
    good = status == 200 and reply['leader'] and reply['term'] > 0 and reply['left_seconds'] is reply['deadline'] is None
    it.process.send_signal(signal.SIGTERM)
    _, said = it.process.communicate(timeout=PATIENCE_S)
    tap.claim(claim, [] if good and 'promised at /leader' not in said else [text, said])
    it = Served('elect', 'near', '--id', 'a', '-v', '--metrics', '[::]:0', *PATIENT)
    it.url = f'http://127.0.0.1:{it.url.split("]:")[1].split("/")[0]}/metrics'
    reply = it.leads()[0]
    tap.claim('redlock that listens for IPv6 knows a local client by IPv4, too', wrong_reply(reply, 'near'))
    it.process.send_signal(signal.SIGTERM)
    it.process.communicate(timeout=PATIENCE_S)


def who_holds(tap):
    lock = Served('lock', 'relied', '-v', '--fence', '--ttl', '60s', '--metrics', '127.0.0.1:0', *PATIENT, '--', 'sh', '-c',
                  'read -r end')
    reply, _ = lock.leads()
    tap.claim('/leader of a lock tells its fencing token and deadline', wrong_reply(reply, 'relied') +
              ([] if reply['term'] > 0 else [str(reply)]))
    lock.process.stdin.close()
    lock.process.stdin = None
    _, said = lock.process.communicate(timeout=PATIENCE_S)
    state = subprocess.run([REDLOCK, 'status', 'relied'], text=True, stdout=subprocess.PIPE).stdout
    tap.claim('the lock is kept until the deadline', [] if 'promised at /leader' in said and ': held ' in state else [said, state])
    lock = Served('lock', 'unasked', '-v', '--metrics', '127.0.0.1:0', *PATIENT, '--', 'sh', '-c', 'read -r end')
    lock.until('redlock_held', 1, name='unasked')
    lock.process.stdin.close()
    lock.process.stdin = None
    _, said = lock.process.communicate(timeout=PATIENCE_S)
    tap.claim('but not if nobody has asked', [] if "released 'unasked'" in said else [said])


def of_a_file():
    """The samples of --metrics-file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'k.prom')
        subprocess.run([REDLOCK, 'lock', 'k', *PATIENT, '--metrics-file', path, '--', 'true'], check=True,
                       timeout=PATIENCE_S)
        with open(path, encoding='utf-8') as file:
            return Page(file.read()).samples


def refused(tap):
    it = Served('exporter', '-v', '--listen', '127.0.0.1:0', *PATIENT)
    port = it.url.split(':')[2].split('/')[0]
    wrong = []
    for words, wanted in [(['--listen', 'x'], 64), (['--listen', '127.0.0.1'], 64), (['--listen', '1'], 64),
                          (['--listen', '127.0.0.1:65536'], 64), (['--listen', 'somewhere:1'], 64),
                          (['k', 'k'], 64), (['--listen', '127.0.0.1:' + port], 70)]:
        run = subprocess.run([REDLOCK, 'exporter', *words, *PATIENT], check=False, stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        wrong += [] if run.returncode == wanted else [f'{words}: {run.returncode}: {run.stderr}']
    tap.claim('addresses that are wrong or in use are refused', wrong)
    run = subprocess.run([REDLOCK, 'elect', 'e', '--asked-within', '5s', '--', 'true'], check=False,
                         stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    tap.claim('--asked-within wants --metrics', [] if run.returncode == 64 and 'give --metrics' in run.stderr else [run.stderr])
    run = subprocess.run([REDLOCK, 'lock', 'k', '--metrics', '127.0.0.1:' + port, *PATIENT, '--', 'true'], check=False,
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    tap.claim('and the option is named that gives another port',
              [] if 'another port with --metrics' in run.stderr else [run.stderr])
    it.process.send_signal(signal.SIGINT)
    it.end()


def finds(tap, what, text, says):
    mistakes = Page(text).mistakes
    tap.claim(f'fires: {what}', [] if any(says in mistake for mistake in mistakes) else [f'{says!r}: {mistakes}'])


def reader_fires(tap):
    tap.claim('the reader accepts a good page', Page(GOOD).mistakes)
    for what, before, after, says in [
            ('a bucket that is too small', '"+Inf"} 2', '"+Inf"} 0', 'do not grow'),
            ('no last bucket', '"+Inf"', '"5"', '+Inf'),
            ('no sum', 'h_seconds_sum 3.5\n', '', 'no sum'),
            ('a counter without _total', 'c_total', 'c', '_total'),
            ('a quote in a label', '\\"', '"', 'not the format'),
            ('a sample of another family', 'c_total{', 'd_total{', 'outside'),
            ('no number', '} 1\n', '} one\n', 'no number'),
            ('an empty line', '# HELP c', '\n# HELP c', 'not the format')]:
        finds(tap, what, GOOD.replace(before, after), says)
    finds(tap, 'no end of the last line', GOOD[:-1], 'has no end')
    finds(tap, 'a sample that is there twice', GOOD + GOOD.splitlines()[-1] + '\n', 'twice')


def main():
    run_in_sandbox()
    tap = Tap()
    reader_fires(tap)
    seen = an_exporter(tap)
    without_a_ttl(tap)
    seen.update(a_leader(tap))
    who_leads(tap)
    who_is_asked(tap)
    asked_from_elsewhere(tap)
    who_holds(tap)
    seen.update(of_a_file())
    examples(tap, seen)
    refused(tap)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
