"""The page of redlock web in a headless Chromium: what it shows, its roles, the keyboard, and no colour needed.

Runs itself in a sandbox. $REDLOCK is the command under test.
The output is TAP.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'cli', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from browser import Browser, find  # noqa: E402
from inside import run_in_sandbox  # noqa: E402
from servers import Client  # noqa: E402
from tap import Tap, skip_all  # noqa: E402
from test_web import NASTY, Web, equal, until  # noqa: E402

REDLOCK = os.environ['REDLOCK']
TURNED = 'a\u202eb\u200bc'
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
    clock = re.compile(r'([+-](?!0\.0)|(?=0\.0))\d+\.\d ms \(\u00b1\d+\.\d\)')
    until(lambda: all(clock.fullmatch(row[4]) for row in rows(page, 'masters')), 'the clock of each master')
    tap.claim('and its clock', [])


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
                                                     ['en', '5 of 5 masters vote \u2013 redlock']))


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


def listed(tap, page):
    """All locks, in order, if they were asked for."""
    tap.claim('without --list there is no table of all locks', equal('hidden', page.value(
        'document.getElementById("listed").hidden'), True))
    with Web('--list', 'all:') as web:
        web.start('lock', 'all:2', '--owner', NASTY, '--', 'sleep', '1000')
        web.start('lock', 'all:1', '--owner', 'db-1', '--', 'sleep', '1000')
        web.start('lock', 'else', '--', 'sleep', '1000')
        page.call('Page.navigate', url=f'http://localhost:{web.port}/')
        until(lambda: len(page.value(TABLE % 'all')) == 2, 'both locks')
        tap.claim('all locks are shown in order', equal('rows', [row[:3] for row in rows(page, 'all')], [
            ['all:1', 'held', 'db-1'], ['all:2', 'held', NASTY]]))
        said = page.value('document.getElementById("list-summary").textContent')
        tap.claim('and what that has cost', [] if re.fullmatch(r'2 locks; listed with \d+ commands in [\d.]+ s\.', said) else [said])
        page.call('Page.navigate', url='about:blank')


LINK = '(document.getElementById("link")?.textContent ?? "")'  # it may be asked before the page is there
DIM = 'Number(getComputedStyle(document.querySelector("main")).opacity) < 1'


def until_said(page, words):
    return until(lambda: words in page.value(LINK), words)


def one_too_many(tap, web, page):
    """The page lets go of its stream, others take all, and it comes back when one of them goes."""
    page.call('Page.navigate', url='about:blank')
    peers = []

    def full():
        peer = web.raw(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        peers.append(peer)
        return b' 503 ' in peer.recv(30)
    until(full, 'all streams')
    page.call('Page.navigate', url=f'http://localhost:{web.port}/')
    until_said(page, 'trying again')
    tap.claim('one page too many says that it is not connected', [])
    for peer in peers:
        peer.close()
    until_said(page, 'Connected.')
    tap.claim('and connects when another one is closed', [])
    page.errors[:] = [error for error in page.errors if '503' not in str(error)]


def hidden(tap, page):
    for number in range(1, 6):
        master = Client(f"{os.environ['REDLOCK_SANDBOX']}/{number}.sock")
        master.send('SET', TURNED, 'theirs')
        assert master.reply() == 'OK'
        master.close()
    row = until_row(page, 'locks', 'a\\u202e', 'held')
    tap.claim('characters that turn or hide text are numbers', equal('key', row[0], 'a\\u202eb\\u200bc'))


def gone(tap, web, page):
    tap.claim('what is new is not dimmed', equal('dim', page.value(DIM), False))
    web.process.terminate()
    until_said(page, 'Not connected')
    tap.claim('it says when it is not connected any more', [])
    tap.claim('and in its title', [] if 'not connected' in page.value('document.title') else [page.value('document.title')])
    tap.claim('and dims what is old', equal('dim', page.value(DIM), True))
    for words in ['Paused. \u26a0 Not connected', '\u26a0 Not connected']:
        page.value('document.getElementById("pause").click()')
        tap.claim(f'the button says no other: {words}', [] if page.value(LINK).startswith(words) else [page.value(LINK)])


def main():
    program = find()
    if not program:
        skip_all('chromium is not installed')
    run_in_sandbox('-n', '5')
    tap = Tap()
    with Web('nightly', 'cron', NASTY, TURNED, 'free') as web, Browser(program) as page:
        page.call('Page.navigate', url=f'http://localhost:{web.port}/')
        until(lambda: len(rows(page, 'masters')) == 5, 'the masters')
        shown(tap, web, page)
        accessible(tap, page)
        keyboard(tap, page)
        without_colour(tap, page)
        hidden(tap, page)
        listed(tap, page)
        page.call('Page.navigate', url=f'http://localhost:{web.port}/')
        until(lambda: len(rows(page, 'masters')) == 5, 'the masters')
        tap.claim('the browser has nothing to complain about', page.errors)
        one_too_many(tap, web, page)
        gone(tap, web, page)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
