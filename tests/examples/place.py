"""A place for a story: a folder, a copy of an example, keys of its own, and the processes started.

Stories return complaints, as in lib.py. Stories that wait for the end of a ttl run at the same time:
each has a key prefix of its own.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

from lib import HERE

sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from inside import run_in_sandbox  # noqa: E402
from until import BOUND_S, until  # noqa: E402

EXAMPLES = os.path.normpath(os.path.join(HERE, '..', '..', 'docs', 'examples'))
REDLOCK = os.environ.get('REDLOCK', '')

# A process that one thread starts has for a moment the files that another thread writes, and what is
# open for writing cannot be executed: so one of both at a time.
WRITES_OR_STARTS = threading.Lock()


def nodes():
    return os.environ['REDLOCK_NODES'].split()


def command(node, text):
    """The reply of a master to a command that has no spaces in its words."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(node[len('unix://'):])
        client.sendall(f'{text}\r\n'.encode())
        return client.recv(65536).decode()


def delete(key):
    for node in nodes():
        command(node, f'DEL {key}')


class Place:
    """`changes` are (file, old text, new text): bugs for the copy."""

    def __init__(self, example, *changes):
        self.example = example
        self.changes = changes
        self.processes = []

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='redlock-test-')
        self.examples = os.path.join(self.path, 'example')
        with WRITES_OR_STARTS:
            shutil.copytree(os.path.join(EXAMPLES, self.example), self.examples)
        for file, old, new in self.changes:
            text = self.read('example', file)
            assert text.count(old) == 1, f'{file} says {text.count(old)} times: {old}'
            self.write(text.replace(old, new), 'example', file)
        # So long that a master that runs answers in time on a busy machine.
        self.environment = dict(os.environ, REDLOCK_KEY_PREFIX=os.path.basename(self.path) + ':',
                                REDLOCK_NODE_TIMEOUT='20s')
        self.environment['PATH'] = os.path.dirname(REDLOCK) + os.pathsep + os.environ['PATH']
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
                process.send_signal(signal.SIGCONT)
        for process in self.processes:
            process.communicate()
        shutil.rmtree(self.path)

    def file(self, *names):
        return os.path.join(self.path, *names)

    def read(self, *names):
        with open(self.file(*names), encoding='utf-8') as file:
            return file.read()

    def write(self, text, *names):
        with WRITES_OR_STARTS, open(self.file(*names), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.file(*names)

    def script(self, text, name='cmd'):
        """A command of the story: a shell script in its folder."""
        path = self.write('#!/bin/sh\ncd "$(dirname "$0")" || exit\n' + text, name)
        os.chmod(path, 0o755)
        return path

    def lines(self, name):
        return self.read(name).split('\n')[:-1] if os.path.exists(self.file(name)) else []

    def start(self, *command, **variables):
        with WRITES_OR_STARTS:
            process = subprocess.Popen(command, env=dict(self.environment, **variables),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def end(self, process):
        """Its exit status and all that it has printed."""
        out, err = process.communicate(timeout=BOUND_S)
        return process.returncode, out + err

    def status(self, key):
        """What `redlock status` says about the key."""
        return json.loads(self.end(self.start(REDLOCK, 'status', '--json', key))[1])[0]

    def until_waiting(self, key, number):
        until(lambda: self.status(key)['waiters'] == number, f'{number} wait for {key}')

    def prefixed(self, key):
        return self.environment['REDLOCK_KEY_PREFIX'] + key

    def kill_holder(self, key):
        """kill -9 for the redlock that holds the lock: its default owner text is HOST:PID."""
        os.kill(int(self.status(key)['owner'].split(':')[-1]), signal.SIGKILL)


def is_dead(pid):
    return not os.path.exists(f'/proc/{pid}')


def tell_all(tap, stories):
    """(claim, function without arguments) each: they run at the same time."""
    with ThreadPoolExecutor(len(stories)) as pool:
        results = [(claim, pool.submit(story)) for claim, story in stories]
        for claim, result in results:
            tap.claim(claim, result.result())


def fires(tap, claim, complaints):
    tap.claim(f'fires: {claim}', [] if complaints else ['nothing was noticed'])


def main(run, masters=3):
    """Runs itself on the masters of a sandbox."""
    run_in_sandbox('-n', str(masters))
    sys.exit(run())
