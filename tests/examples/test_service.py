#!/usr/bin/env python3
"""The example of a service with a libevent loop of its own, on the masters of a sandbox.
$REDLOCK: the command. $EXAMPLE: the example."""
import os
import re
import signal
import socket

import place
from lib import Tap, wrong
from place import BOUND_S, Place, until

EXAMPLE = os.environ['EXAMPLE']
CLIENTS = 4


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout=BOUND_S)
        self.answers = self.socket.makefile('r')

    def send(self, line):
        self.socket.sendall(f'{line}\n'.encode())

    def hang_up(self):
        self.answers.close()
        self.socket.close()


class Services(Place):
    """Any number of services, and clients of them. Keys have no prefix: a job's name is the story's."""

    def __init__(self):
        super().__init__('guard')
        self.clients = []

    def __enter__(self):
        super().__enter__()
        del self.environment['REDLOCK_KEY_PREFIX']
        self.job = os.path.basename(self.path)
        self.key = f'job:{self.job}'
        return self

    def __exit__(self, *error):
        for client in self.clients:
            client.hang_up()
        super().__exit__(*error)

    def service(self):
        process = self.start(EXAMPLE, '0')
        process.port = int(re.fullmatch(r'port (\d+)\n', process.stdout.readline())[1])
        return process

    def client(self, service, line=None):
        client = Client(service.port)
        self.clients.append(client)
        if line:
            client.send(line)
        return client

    def held_by_another(self):
        holder = self.start(place.REDLOCK, 'lock', self.key, '--', 'sleep', '60')
        until(lambda: self.status(self.key)['held'], 'it is held')
        return holder

    def stop(self, process):
        process.terminate()
        return self.end(process)


def times(lines):
    """(begin, end) of each job in the order in which they began."""
    found = re.findall(r'begins (\d+)\n\S+ ends (\d+)', lines)
    return sorted((int(begin), int(end)) for begin, end in found)


def overlaps(jobs):
    return [f'{one} and {other}' for one, other in zip(jobs, jobs[1:]) if other[0] < one[1]]


def one_at_a_time():
    """Two services, four clients each, one job: it is done eight times, never twice at once."""
    with Services() as it:
        services = [it.service(), it.service()]
        clients = [it.client(service, it.job) for service in services for _ in range(CLIENTS)]
        answers = {client.answers.readline() for client in clients}
        ended = [it.stop(service) for service in services]
        jobs = sorted(job for _, said in ended for job in times(said))
        return (wrong('answers', answers, {f'{it.job} is done\n'}) +
                wrong('exit statuses', [status for status, _ in ended], [0, 0]) +
                wrong('jobs', len(jobs), 2 * CLIENTS) + overlaps(jobs))


def the_loop_goes_on():
    """While a client waits for its lock, the timer runs, and others are served."""
    with Services() as it:
        service = it.service()
        holder = it.held_by_another()
        waiting = it.client(service, it.job)
        it.until_waiting(it.key, 1)
        asks = it.client(service)
        beats = set()
        while len(beats) < 3:
            asks.send('?')
            beats.add(asks.answers.readline())
        asks.send('?metrics')
        metrics = ''
        while not metrics.startswith('redlock_record_masters '):
            metrics = asks.answers.readline()
        asks.send(f'{it.job}-other')
        other = asks.answers.readline()
        it.stop(holder)
        done = waiting.answers.readline()
        return (wrong('another job', other, f'{it.job}-other is done\n') +
                wrong('the one that waited', done, f'{it.job} is done\n') +
                wrong('the exit status', it.stop(service)[0], 0))


def clients_go_away():
    """While it waits: nobody waits any more. While its job runs: the lock is free."""
    with Services() as it:
        service = it.service()
        holder = it.held_by_another()
        waiting = it.client(service, it.job)
        it.until_waiting(it.key, 1)
        waiting.hang_up()
        it.until_waiting(it.key, 0)
        it.stop(holder)
        works = it.client(service, it.job)
        began = service.stdout.readline()
        works.hang_up()
        until(lambda: it.status(it.key)['held'] is False, 'it is free')
        return (wrong('begins', 'begins' in began, True) +
                wrong('the exit status', it.stop(service)[0], 0))


def stopped_at_work():
    """SIGTERM: with one at work, one that waits and one that does nothing it ends, and nothing is held."""
    with Services() as it:
        service = it.service()
        clients = [it.client(service, it.job), it.client(service, it.job), it.client(service)]
        began = service.stdout.readline()
        status = it.stop(service)[0]
        ends = [client.answers.read() for client in clients]
        return (wrong('begins', 'begins' in began, True) + wrong('the exit status', status, 0) +
                wrong('the third one', ends[2], '') +
                wrong('held', it.status(it.key)['held'], False) +
                wrong('waiters', it.status(it.key)['waiters'], 0))


def lost():
    """The service is stopped at work until the lock is over: the client is told, the next job works.

    A job may end before the signal comes: then the next one is stopped."""
    with Services() as it:
        service = it.service()
        client = it.client(service)
        answer = f'{it.job} is done\n'
        while answer == f'{it.job} is done\n':
            client.send(it.job)
            while 'begins' not in service.stdout.readline():
                pass
            service.send_signal(signal.SIGSTOP)
            until(lambda: it.status(it.key)['held'] is False, 'the lock is over')
            service.send_signal(signal.SIGCONT)
            answer = client.answers.readline()
        client.send(it.job)
        following = client.answers.readline()
        return (wrong(f'the answer: {answer}', answer.startswith(f'{it.job} has lost its lock: '), True) +
                wrong('the next', following, f'{it.job} is done\n') +
                wrong('the exit status', it.stop(service)[0], 0))


def run():
    tap = Tap()
    place.tell_all(tap, [
        ('two services, one job at a time', one_at_a_time),
        ('the loop goes on while a lock is waited for', the_loop_goes_on),
        ('clients that go away', clients_go_away),
        ('SIGTERM at work', stopped_at_work),
        ('a job whose lock is lost', lost)])
    tap.fires('two jobs at once', overlaps([(1, 5), (4, 7)]), '(4, 7)')
    return tap.finish()


if __name__ == '__main__':
    place.main(run)
