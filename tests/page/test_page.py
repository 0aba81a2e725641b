"""The page of redlock web in a headless Chromium: what it shows, its roles, the keyboard, and no colour needed.

Runs itself in a sandbox. $REDLOCK is the command under test; $SCREENSHOT is a file to write, if it is set.
The output is TAP.
"""
import base64
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'cli']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from browser import Browser, find  # noqa: E402
from tap import Tap, skip_all  # noqa: E402
from test_web import NASTY, Web, equal, until  # noqa: E402

REDLOCK = os.environ['REDLOCK']
TABLE = '[...document.querySelectorAll("#%s tbody tr")].map(r => [...r.cells].map(c => c.textContent))'
FOCUS = '(e => e.id || e.getAttribute("aria-label") || e.textContent)(document.activeElement)'


def rows(page, name):
    return page.value(TABLE % name)


def until_row(page, name, *words):
    return until(lambda: next((row for row in rows(page, name) if all(
        any(word in cell for cell in row) for word in words)), None), f'{words} in {name}')


def shown(tap, web, page):
    web.start('lock', 'nightly', '--owner', 'backup on db-1', '--', 'sleep', '1000')
    until_row(page, 'locks', 'nightly', 'backup on db-1')
    web.start('lock', 'nightly', '--owner', 'backup on db-2', '--', 'true')
    web.start('elect', 'cron', '--id', 'web-1', '--value', '10.0.0.5:8080', '--', 'sleep', '1000')
    web.start('lock', NASTY, '--owner', NASTY, '--', 'sleep', '1000')
    until(lambda: any(row[0] == 'nightly' and row[6] == '1' for row in rows(page, 'locks')), 'a waiter')
    tap.claim('a lock is shown with its holder', [])
    tap.claim('an election is shown', equal('row', until_row(page, 'elections', 'web-1')[:3],
                                            ['cron', 'web-1', '10.0.0.5:8080']))
    tap.claim('markup in a key and an owner is text', equal('row', until_row(page, 'locks', NASTY, 'held')[2], NASTY))
    until(lambda: page.value('document.getElementById("events").textContent.includes("held by backup on db-1")'),
          'the event')
    tap.claim('no script came from a name', equal('scripts', page.value('document.scripts.length'), 1))
    masters = rows(page, 'masters')
    tap.claim('each master has its state in words', equal('states', [row[1:3] for row in masters], [['up', 'count']] * 5))
    clocks = [row[4] for row in masters]
    tap.claim('and its clock', [] if all(re.fullmatch(r'[+-]\d+\.\d ms \(\u00b1\d+\.\d\)', clock) for clock in clocks)
              else [clocks])


def accessible(tap, page):
    nodes = page.call('Accessibility.getFullAXTree')['nodes']
    roles = [node['role']['value'] for node in nodes if not node.get('ignored')]
    tap.claim('it has the roles that readers look for', [role for role in
              ['main', 'heading', 'table', 'columnheader', 'rowheader', 'status', 'log', 'button'] if role not in roles])
    unnamed = [node['role']['value'] for node in nodes if not node.get('ignored') and
               node['role']['value'] in ('region', 'button', 'link', 'log', 'columnheader') and
               not node.get('name', {}).get('value')]
    tap.claim('everything of a role has a name', unnamed)
    tap.claim('it has a language and a title', equal('both', page.value('[document.documentElement.lang, document.title]'),
                                                     ['en', 'redlock']))


def keyboard(tap, page):
    order = []
    for _ in range(6):
        page.press('Tab', 9)
        order.append(page.value(FOCUS))
    tap.claim('Tab goes from the top to the bottom', equal('order', order, [
        'Skip to the masters', 'pause', 'Table of masters', 'Table of locks', 'Table of elections', 'events']))
    tap.claim('the focus can be seen', equal('outline', page.value(
        'getComputedStyle(document.activeElement).outlineStyle'), 'solid'))
    page.value('document.getElementById("pause").focus()')
    page.press('Enter', 13)
    tap.claim('Enter pauses', equal('pressed', page.value(
        '[document.getElementById("pause").getAttribute("aria-pressed"), document.getElementById("link").textContent]'),
        ['true', 'Paused.']))
    page.press('Enter', 13)


def without_colour(tap, page):
    """No text has a colour of its own: what is told, is told in words."""
    colours = page.value('[...new Set([...document.querySelectorAll("main *, header *:not(button)")].map('
                         'e => getComputedStyle(e).color))]')
    tap.claim('no meaning is in a colour', equal('colours', len(colours), 1))


def picture(page):
    if 'SCREENSHOT' in os.environ:
        page.call('Emulation.setDeviceMetricsOverride', width=1150, height=1010, deviceScaleFactor=1, mobile=False)
        data = page.call('Page.captureScreenshot')['data']
        with open(os.environ['SCREENSHOT'], 'wb') as file:
            file.write(base64.b64decode(data))


def gone(tap, web, page):
    web.process.terminate()
    until(lambda: 'Not connected' in page.value('document.getElementById("link").textContent'), 'a word about it')
    tap.claim('it says when it is not connected any more', [])


def main():
    program = find()
    if not program:
        skip_all('chromium is not installed')
    if os.environ.get('PAGE_TEST_SANDBOX') != 'yes':
        os.environ['PAGE_TEST_SANDBOX'] = 'yes'
        os.execv(REDLOCK, [REDLOCK, 'sandbox', '-n', '5', '--', sys.executable, '-B', __file__])
    tap = Tap()
    with Web('nightly', 'cron', NASTY, 'free') as web, Browser(program) as page:
        page.call('Page.navigate', url=f'http://localhost:{web.port}/')
        until(lambda: len(rows(page, 'masters')) == 5, 'the masters')
        shown(tap, web, page)
        accessible(tap, page)
        keyboard(tap, page)
        without_colour(tap, page)
        picture(page)
        tap.claim('the browser has nothing to complain about', page.errors)
        gone(tap, web, page)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
