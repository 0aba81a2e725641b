#!/usr/bin/env python3
"""Takes docs/dashboard*.png: `redlock web` in a headless Chromium, with five masters, one of them down.

    docs/pictures/dashboard.py build/src/cli/redlock docs

It needs chromium and redis-server, and the ports 7001 to 7005 and 7777.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import zlib

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tests')
sys.path.insert(0, os.path.join(TESTS, 'page'))
from browser import Browser, find  # noqa: E402

PORTS = range(7001, 7006)
URL = 'http://127.0.0.1:7777/'
HOLD = ['sleep', '1000']
WAIT = ['--wait', '1m', '--', 'true']
SHOWN = '[...document.querySelectorAll("tbody tr, #elections")].some(e => e.textContent.includes("%s"))'
TERMS = [('web-1', 9), ('web-2', 4), ('web-3', 6), ('web-1', 2)]  # who leads for how many seconds, before the last one

# The pictures: name, width, height, colours.
PICTURES = [('dashboard', 1280, 1480, 'light'), ('dashboard-dark', 1280, 660, 'dark'), ('dashboard-narrow', 400, 1150, 'light')]


def server(port, folder):
    return subprocess.Popen(['redis-server', '--port', str(port), '--save', '', '--dir', folder],
                            stdout=subprocess.DEVNULL)


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    sys.exit('it takes too long')


def locks(start, page):
    start('lock', 'nightly-report', '--owner', 'backup on db-1', '--', *HOLD)
    start('lock', 'ledger', '--fence', '--owner', 'app-2', '--ttl', '20s', '--', *HOLD)
    start('lock', 'billing/eu-central-1/tenant-0042/invoice-run', '--owner', 'worker-7f9c4d8b66-x2x9q.billing.internal:8443',
          '--', *HOLD)
    until(lambda: all(page.value(SHOWN % owner) for owner in ['db-1', 'app-2', 'worker']))
    for owner in ['app-1', 'app-3']:
        start('lock', 'ledger', '--fence', '--owner', owner, *WAIT)
    start('lock', 'nightly-report', '--owner', 'db-2', *WAIT)


def leaders(start, page):
    for leader, seconds in TERMS:
        candidate = start('elect', 'scheduler', '--id', leader, '--', *HOLD)
        until(lambda leader=leader: page.value(SHOWN % leader))
        time.sleep(seconds)
        candidate.send_signal(signal.SIGTERM)
        candidate.wait()
    start('elect', 'scheduler', '--id', 'web-2', '--value', '10.0.0.2:8080', '--', *HOLD)
    until(lambda: page.value(SHOWN % '10.0.0.2'))


def paeth(left, up, corner):
    near = left + up - corner
    return min([left, up, corner], key=lambda one: abs(near - one))


GUESSES = [lambda left, up, corner: 0, lambda left, up, corner: left, lambda left, up, corner: up,
           lambda left, up, corner: (left + up) // 2, paeth]


def unfiltered(data, width, size):
    """The rows of a picture without filters, each after a 0 byte; size: bytes per pixel."""
    length, before, rows = width * size, bytes(width * size), []
    for at in range(0, len(data), length + 1):
        guess, row = GUESSES[data[at]], bytearray(data[at + 1:at + 1 + length])
        for i in range(length if data[at] else 0):
            left, corner = (row[i - size], before[i - size]) if i >= size else (0, 0)
            row[i] = (row[i] + guess(left, before[i], corner)) % 256
        before = row
        rows.append(b'\0' + row)
    return b''.join(rows)


def packed(png):
    """The same picture in fewer bytes. Chromium filters the rows, which only helps with photographs."""
    parts, at = [], 8
    while at < len(png):
        length = int.from_bytes(png[at:at + 4], 'big')
        parts.append((png[at + 4:at + 8], png[at + 8:at + 8 + length]))
        at += length + 12
    head = parts[0][1]
    data = zlib.decompress(b''.join(body for kind, body in parts if kind == b'IDAT'))
    data = unfiltered(data, int.from_bytes(head[:4], 'big'), {2: 3, 6: 4}[head[9]])
    kept = [(b'IHDR', head), (b'IDAT', zlib.compress(data, 9)), (b'IEND', b'')]
    return png[:8] + b''.join(len(body).to_bytes(4, 'big') + kind + body + zlib.crc32(kind + body).to_bytes(4, 'big')
                              for kind, body in kept)


def take(page, folder):
    for name, width, height, scheme in PICTURES:
        page.prefer(prefers_color_scheme=scheme)
        page.resize(width, height)
        time.sleep(2)
        with open(os.path.join(folder, f'{name}.png'), 'wb') as file:
            file.write(packed(page.picture()))


def play(page, start, servers):
    page.resize(1280)
    page.call('Page.navigate', url=URL)
    until(lambda: page.value(SHOWN % 'redis'))
    locks(start, page)
    leaders(start, page)
    servers[3].kill()
    until(lambda: page.value(SHOWN % 'refused'))
    time.sleep(15)


def main(redlock, docs):
    nodes = ' '.join(f'redis://127.0.0.1:{port}' for port in PORTS)
    environment = dict(os.environ, REDLOCK_NODES=nodes, REDLOCK_QUARANTINE='off')
    running = []

    def start(*words):
        running.append(subprocess.Popen([redlock, *words], env=environment, start_new_session=True,
                                        stdout=subprocess.DEVNULL))
        return running[-1]

    with tempfile.TemporaryDirectory() as folder:
        servers = [server(port, folder) for port in PORTS]
        try:
            time.sleep(1)
            start('web', 'nightly-report', 'ledger', 'deploy', 'billing/eu-central-1/tenant-0042/invoice-run', 'scheduler')
            time.sleep(1)
            with Browser(find()) as page:
                play(page, start, servers)
                take(page, docs)
        finally:
            for process in running:
                process.send_signal(signal.SIGTERM)
            for process in running:
                process.wait()
            for process in servers:
                process.kill()
                process.wait()


if __name__ == '__main__':
    main(*sys.argv[1:])
