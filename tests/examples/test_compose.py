#!/usr/bin/env python3
"""compose.yaml: its masters are fit for locks. $REDLOCK: the command.

What a container would run is run here, on another port and in another folder.
"""
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lint'))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))

from servers import become_server, free_port, until_true  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

FILE = os.path.join(HERE, '..', '..', 'docs', 'examples', 'compose.yaml')
PASSWORD = 'a secret, of course'
VARIABLE = re.compile(r'\$\{REDLOCK_PASSWORD:\?[^}]*\}')


def command_of(service):
    """The words that compose makes of the command, with the value of its variable. A command that is a text
    ends where a shell would end it."""
    words = service['command']
    if isinstance(words, str):
        words = shlex.split(re.split('[;&|<>]', words)[0])
    return [VARIABLE.sub(PASSWORD, word) for word in words]


def has_begun(process, port):
    """Whether the server listens, or has ended: that is for the tests to find."""
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0 or process.poll() is not None


class Masters:
    def __init__(self, services, command_of=command_of):
        self.services = services
        self.command_of = command_of
        self.running = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='redlock-test-')
        try:
            for name, service in self.services.items():
                self.start(name, self.command_of(service))
            for process, port in self.running:
                until_true(lambda p=process, n=port: has_begun(p, n), f'{port} does not listen')
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, name, words, port=None):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        port = port or free_port()
        process = subprocess.Popen([*words, '--bind', '127.0.0.1', '--port', str(port), '--dir', folder],
                                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                   preexec_fn=become_server)
        self.running.append((process, port))

    def healthy(self, test, port):
        """The service's own health check, on our port."""
        shell = test[1].replace('redis-cli', f'redis-cli -p {port}')
        return subprocess.run(['sh', '-c', shell], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def restart_first(self):
        """Ends the first master by SIGTERM, as a container ends, and starts it again. Returns its port."""
        process, port = self.running.pop(0)
        process.terminate()
        process.wait()
        name, service = next(iter(self.services.items()))
        self.start(name, self.command_of(service), port)
        until_true(lambda: has_begun(self.running[-1][0], port), f'{port} does not listen again')
        return port

    def __exit__(self, *_):
        for process, _ in self.running:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder)

    def redlock(self, *words):
        nodes = ','.join(f'redis://127.0.0.1:{port}' for _, port in self.running)
        env = {**os.environ, 'REDLOCK_NODES': nodes, 'REDLOCK_PASSWORD': PASSWORD}
        done = subprocess.run([os.environ['REDLOCK'], *words], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout


def ask(port, *words, user=None, password=PASSWORD):
    """The reply of a master to this user, or to a client that is not logged in."""
    login = ['--user', user, '--pass', password, '--no-auth-warning'] if user else []
    return subprocess.run(['redis-cli', '-p', str(port), *login, *words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout


def losses(masters):
    """A restart keeps a lock that has a fencing token. Only the log can bring it back: nobody renews it."""
    options = ['--username', 'locks', '--quarantine', 'lenient']
    status, token = masters.redlock('acquire', 'fenced', '--fence', '--ttl', '5m', *options)
    if status != 0:
        yield f'acquire: {status}: {token}'
        return
    port = masters.restart_first()
    until_true(lambda: 'LOADING' not in ask(port, 'exists', 'fenced', user='locks'), f'{port} loads its log')
    if ask(port, 'exists', 'fenced', user='locks') != '1\n':
        yield 'the lock is lost'
    if not ask(port, 'ping').startswith('NOAUTH'):
        yield f'anybody gets a reply: {ask(port, "ping")}'


def forgets(services):
    with Masters(services) as masters:
        yield from losses(masters)


def as_it_says():
    """The commands of the head of the file."""
    with open(FILE, encoding='utf-8') as text:
        return [shlex.split(line)[1:] for line in re.findall(r'^# +(redlock .*)$', text.read(), re.M)]


def complaints(services):
    with Masters(services) as masters:
        for (_, port), service in zip(masters.running, services.values()):
            until_true(lambda: masters.healthy(service['healthcheck']['test'], port),
                       f'the master on {port} is not healthy')
        doctor, lock = as_it_says()
        status, said = masters.redlock(*doctor)
        good = re.findall(r'^redis://\S+ +fine .* aof (\w+),', said, re.MULTILINE)
        if status != 0 or good != ['always'] * 5:
            yield f'{doctor}: {status}: {said}'
        status, said = masters.redlock(*lock)
        if (status, said) != (0, 'mine\n'):
            yield f'{lock}: {status}: {said}'


def places(services, volumes):
    ports = [port for service in services.values() for port in service['ports']]
    if len(set(ports)) != 5 or not all(re.fullmatch(r'127\.0\.0\.1:\d+:6379', port) for port in ports):
        yield f'ports: {ports}'
    data = [volume for service in services.values() for volume in service['volumes']]
    if sorted(data) != sorted(f'{name}:/data' for name in volumes) or len(data) != 5:
        yield f'volumes: {data}'


def without(services, *words):
    return {name: {**service, 'command': [word for word in service['command'] if word not in words]}
            for name, service in services.items()}


def as_text(services):
    return {name: {**service, 'command': shlex.join(service['command']).replace("'", '')}
            for name, service in services.items()}


def main():
    try:
        import yaml
    except ImportError:
        skip_all('there is no python3-yaml')
    if not shutil.which('redis-server') or not shutil.which('redis-cli'):
        skip_all('there is no redis-server')
    with open(FILE, encoding='utf-8') as text:
        whole = yaml.safe_load(text)
    services = whole['services']
    tap = Tap()
    tap.claim('five masters, each with a port and a volume of its own', places(services, whole['volumes']))
    tap.claim('the masters are fit for locks, and the user has all rights for them', complaints(services))
    tap.claim('a restart keeps a lock with a fencing token', forgets(services))
    tap.fires('a user that cannot replay the log', forgets(without(services, '+@all')), 'lost')
    tap.fires('masters that may forget locks',
              complaints(without(services, '--appendfsync', 'always')), 'aof everysec')
    doctor, lock = complaints(without(services, '+pexpire'))
    tap.fires('a right that is missing (doctor)', [doctor], 'unusable')
    tap.fires('a right that is missing (lock)', [lock], 'does not vote')
    tap.fires('a command that is a text', list(complaints(as_text(services)))[:1], 'doctor')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
