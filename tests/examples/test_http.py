#!/usr/bin/env python3
"""The HTTP example: fence_http.py on a free port, and fence_client.py."""
import http.client
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import urllib.parse

import lib
from lib import MIDDLE, NEW, OLD, wrong


class Service(lib.Folder):
    def start(self):
        self.data = os.path.join(self.path, 'data')
        os.mkdir(self.data)
        self.serve()

    def serve(self):
        self.server = subprocess.Popen(
            [sys.executable, '-BS', self.examples + '/fence_http.py', self.data],
            stdout=subprocess.PIPE, text=True)
        self.url = self.server.stdout.readline().strip()
        client = f'{sys.executable} -BS {self.examples}/fence_client.py'
        self.read = f'{client} get {self.url}n'
        self.write = f'echo $((n + 1)) | {client} put {self.url}n'

    def stop(self):
        self.server.kill()
        self.server.communicate()

    def environment(self, fence):
        return dict(super().environment(fence), no_proxy='*')

    def ask(self, method, name, body=None, **headers):
        """The status, the fence in the answer, and the body."""
        where = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=300)
        named = {key.replace('_', '-'): value for key, value in headers.items()}
        connection.request(method, '/' + name, body, named)
        answer = connection.getresponse()
        found = answer.status, answer.getheader('Redlock-Fence'), answer.read().decode()
        connection.close()
        return found

    def put(self, fence, body):
        return self.ask('PUT', 'n', body, Redlock_Fence=str(fence))

    def module(self):
        path = self.examples + '/fence_http.py'
        spec = importlib.util.spec_from_file_location('fence_http', path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def it_says_why(it):
    """412 with both fences, 428 without a fence, 400 for an invalid one; nothing is changed."""
    it.put(NEW, 'new')
    refused = it.put(OLD, 'old')
    odd = ['', '-1', '1.5', 'new', '0x10', '9' * 15 + '_9', str(1 << 53), '9' * 30]
    return (wrong('stale', refused[:2], (412, str(NEW))) +
            ([] if str(OLD) in refused[2] and str(NEW) in refused[2] else [refused[2]]) +
            wrong('none', it.ask('PUT', 'n', 'x')[0], 428) +
            wrong('odd ones', [it.put(fence, 'x')[0] for fence in odd], [400] * len(odd)) +
            wrong('another name', it.ask('PUT', '../n', 'x', Redlock_Fence='1')[0], 404) +
            wrong('reading', it.ask('GET', 'n'), (200, str(NEW), 'new')))


def documents_are_apart(it):
    """The fence of one document does not matter for another."""
    it.put(NEW, 'new')
    return (wrong('another', it.ask('PUT', 'm', 'm', Redlock_Fence=str(OLD))[0], 200) +
            wrong('and', it.ask('GET', 'm'), (200, str(OLD), 'm')))


def killed_and_remembers(it):
    """SIGKILL right after the answer: after a restart the greatest fence and the body are there."""
    it.put(MIDDLE, 'kept')
    it.stop()
    it.serve()
    after = it.put(OLD, 'old')[0], it.ask('GET', 'n')
    it.ask('GET', 'n', Redlock_Fence=str(NEW))
    it.stop()
    it.serve()
    return (wrong('after a PUT', after, (412, (200, str(MIDDLE), 'kept'))) +
            wrong('after a GET', it.put(MIDDLE, 'late')[0], 412))


def half_a_body_is_refused(it):
    """A holder that dies while it sends changes nothing."""
    it.put(OLD, 'whole')
    where = urllib.parse.urlsplit(it.url)
    with socket.create_connection((where.hostname, where.port)) as connection:
        connection.sendall(b'PUT /n HTTP/1.0\r\nRedlock-Fence: %d\r\nContent-Length: 9\r\n\r\nhal'
                           % NEW)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass
    return wrong('afterwards', it.ask('GET', 'n'), (200, str(OLD), 'whole'))


class Watched:
    """The lock of the store; it reports when a thread waits for it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.comes = threading.Event()

    def __enter__(self):
        self.comes.set()
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def nobody_gets_between(it):
    """A has compared when B comes: B waits for the lock; without a lock the test lets B end first."""
    store = it.module().Store(it.path)
    store.lock = Watched()
    load, save = store.load, store.save
    ended = threading.Event()

    def newer():
        store.use('n', NEW, b'new')
        ended.set()
        store.lock.comes.set()

    thread = threading.Thread(target=newer)

    def load_and_wait(name):
        found = load(name)
        if threading.current_thread() is not thread:
            store.lock.comes.clear()
            thread.start()
            store.lock.comes.wait()
        return found

    store.load = load_and_wait
    store.use('n', OLD, b'old')
    thread.join()
    store.load, store.save = load, save
    return wrong('the end', store.load('n'), (NEW, b'new'))


def all_or_nothing(it):
    """Whichever step of saving fails, the file has the old fence and body, or the new ones."""
    module = it.module()
    store = module.Store(it.path)
    found = []
    for step in ('fsync', 'rename'):
        store.save('n', OLD, b'old')
        real = getattr(os, step)

        def fails(*_):
            raise OSError('full')

        setattr(os, step, fails)
        try:
            store.use('n', NEW, b'new')
        except OSError:
            pass
        setattr(os, step, real)
        found.append(store.load('n') in ((OLD, b'old'), (NEW, b'new')))
    os.close(store.descriptor)
    return wrong('each time', found, [True, True])


def one_service_for_a_folder(it):
    """A second service on the folder would not see the comparisons of the first."""
    second = subprocess.Popen([sys.executable, '-B', it.examples + '/fence_http.py', it.data],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = second.stdout.readline()
    second.kill()
    second.communicate()
    return wrong('the second one', line, '')


OWN = [it_says_why, documents_are_apart, killed_and_remembers, half_a_body_is_refused,
       nobody_gets_between, all_or_nothing, one_service_for_a_folder]

COMPARE = 'if fence < seen:'
SAVE = 'if fence > seen or new != old:'
SAFELY = """        with open(path + '.new', 'wb') as file:
            file.write(b'%d\\n' % fence + body)
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + '.new', path)
"""
IN_PLACE = """        with open(path, 'wb', 0) as file:
            file.write(b'%d\\n' % fence)
            os.fsync(file.fileno())
            file.write(body)
"""


def main():
    tap = lib.Tap()
    lib.good(tap, Service, lib.STORIES + OWN)

    def breaks(story, name, *change):
        lib.broken(tap, Service, story, name, 'fence_http.py', *change)

    breaks(lib.sleeper_is_refused, 'no comparison', COMPARE, 'if 0:')
    breaks(lib.writing_announces, 'no comparison', COMPARE, 'if 0:')
    breaks(lib.all_at_once, 'no comparison', COMPARE, 'if 0:')
    breaks(lib.reading_announces, 'reading does not announce', SAVE, 'if body is not None:')
    breaks(lib.equal_is_allowed, 'equal is refused', COMPARE, 'if fence <= seen:')
    breaks(it_says_why, 'a writer without a fence is let in', 'if writes:',
           'if writes and store.use(name, 1 << 53, body) is None:')
    breaks(it_says_why, 'anything is a fence', "not (re.fullmatch('[0-9]{1,16}', text) and",
           'not (text and')
    breaks(documents_are_apart, 'one fence for all', "name = name.group(1)", "name = 'n'")
    breaks(killed_and_remembers, 'the fence is not kept', "b'%d\\n' % fence + body",
           "b'0\\n' + body")
    breaks(half_a_body_is_refused, 'half a body is taken', 'if len(body) != int(length):', 'if 0:')
    breaks(nobody_gets_between, 'no lock', 'with self.lock:', 'if True:')
    breaks(all_or_nothing, 'written in place', SAFELY, IN_PLACE)
    breaks(one_service_for_a_folder, 'two on one folder',
           'fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)', 'pass')
    lib.broken(tap, Service, lib.sleeper_is_refused, 'the client does not tell', 'fence_client.py',
               'LOST if refusal.code == 412 else 1', '0')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
