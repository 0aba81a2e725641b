#!/usr/bin/env python3
"""Takes docs/dashboard.png: `redlock web` in a headless Chromium, with five masters, one of them down.

    docs/pictures/dashboard.py build/src/cli/redlock docs/dashboard.png

It needs chromium and redis-server, and the ports 7001 to 7005.
"""
import base64
import os
import signal
import subprocess
import sys
import tempfile
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tests')
sys.path.insert(0, os.path.join(TESTS, 'page'))
from browser import Browser, find  # noqa: E402

PORTS = range(7001, 7006)
URL = 'http://127.0.0.1:7777/'
HOLD = ['sleep', '1000']
WAIT = ['--wait', '1m', '--', 'true']
ROW = '[...document.querySelectorAll("tbody tr")].some(r => r.textContent.includes("%s"))'


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
    start('lock', 'nightly-report', '--owner', 'db-1', '--', *HOLD)
    start('lock', 'ledger', '--fence', '--owner', 'app-2', '--', *HOLD)
    start('elect', 'web', '--id', 'web-1', '--value', '10.0.0.5:8080', '--', *HOLD)
    until(lambda: all(page.value(ROW % owner) for owner in ['db-1', 'app-2', '10.0.0.5']))
    for owner in ['app-1', 'app-3']:
        start('lock', 'ledger', '--fence', '--owner', owner, *WAIT)
    start('lock', 'nightly-report', '--owner', 'db-2', *WAIT)


def take(page, start, servers, path):
    page.call('Page.navigate', url=URL)
    until(lambda: page.value(ROW % 'redis'))
    locks(start, page)
    time.sleep(2)
    servers[3].kill()
    until(lambda: page.value(ROW % 'refused'))
    time.sleep(2)
    page.call('Emulation.setDeviceMetricsOverride', width=1150, height=1010, deviceScaleFactor=1, mobile=False)
    with open(path, 'wb') as file:
        file.write(base64.b64decode(page.call('Page.captureScreenshot')['data']))


def main(redlock, path):
    nodes = ' '.join(f'redis://127.0.0.1:{port}' for port in PORTS)
    environment = dict(os.environ, REDLOCK_NODES=nodes, REDLOCK_QUARANTINE='off')
    running = []

    def start(*words):
        running.append(subprocess.Popen([redlock, *words], env=environment, start_new_session=True,
                                        stdout=subprocess.DEVNULL))

    with tempfile.TemporaryDirectory() as folder:
        servers = [server(port, folder) for port in PORTS]
        try:
            time.sleep(1)
            start('web', 'nightly-report', 'ledger', 'deploy', 'web')
            time.sleep(1)
            with Browser(find()) as page:
                take(page, start, servers, path)
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
