"""The page of redlock web in a headless Chromium: what it shows, its roles, the keyboard, and its connection.

Runs itself in a sandbox. $REDLOCK is the command under test.
The output is TAP.
"""
import os
import re
import subprocess
import sys

from browser import Browser
from reading import LINK, Reader, browser_in_sandbox, kill, tell  # and the folders of the imports below
from tap import Tap
from test_web import NASTY, Web, equal, until

REDLOCK = os.environ['REDLOCK']
TURNED = 'a\u202eb\u200bc'
FOCUS = '(e => e.id || e.getAttribute("aria-label") || e.value || e.className || e.localName)(document.activeElement)'
OLD = 'getComputedStyle(document.querySelector("main")).filter'


def locks(tap, web, page, see):
    web.start('lock', 'nightly', '--owner', 'backup on db-1', '--', 'sleep', '1000')
    see.until_lock('nightly', lambda row: row['holder'] == 'backup on db-1')
    for owner in ['db-2', 'db-3']:
        web.start('lock', 'nightly', '--owner', owner, '--', 'true')
    row = see.until_lock('nightly', lambda row: row['queue'] == '2' and 'does not have the key' not in row['cells'])
    tap.claim('a lock is shown with its holder and its queue', equal('row', (row['state'], row['dots']), ('held', 2)))
    tap.claim('each master that has it says for how long', [
        text for text in row['cells'] if not re.fullmatch(r'has the key, \d+ s left', text)])
    tap.claim('a free one is shown, too', equal('row', see.until_lock('free')['cells'], ['does not have the key'] * 5))
    web.start('lock', NASTY, '--owner', NASTY, '--fence', '--', 'sleep', '1000')
    row = see.until_lock(NASTY, lambda row: row['state'] == 'held')
    tap.claim('markup in a key and an owner is text', equal('holder', row['holder'], NASTY))
    tap.claim('a fencing token is shown', [] if re.fullmatch(r'fencing token \d+', row['number']) else [row])
    until(lambda: 'held by backup on db-1' in see.text('events'), 'the event')
    tap.claim('no script came from a name', equal('scripts', page.value('document.scripts.length'), 1))


def differing(tap, see):
    """What single masters have. The lock is not renewed, so nobody restores the key."""
    subprocess.run([REDLOCK, 'acquire', 'uneven', '--owner', 'cli', '--ttl', '1m'], check=True, stdout=subprocess.DEVNULL)
    tell(2, 'DEL', 'uneven')
    tell(3, 'SET', 'uneven', 'theirs', 'PX', '60000')
    row = see.until_lock('uneven', lambda row: row['kinds'][:3] == ['held', 'free', 'other'])
    tap.claim('a cell says that its master lacks the key', equal('cell', row['cells'][1], 'does not have the key'))
    tap.claim('and that it has it for somebody else', [] if re.fullmatch(
        r'has the key for another holder, \d+ s left', row['cells'][2]) else [row])
    before = min(levels(see, 'uneven'))
    tap.claim('a bar runs down', equal('fallen', until(lambda: max(levels(see, 'uneven')) < before, 'less time'), True))
    tell(2, 'SET', 'uneven-too', 'theirs')
    row = see.until_lock('uneven-too', lambda row: row['kinds'][1] == 'other')
    tap.claim('a key without a majority is held by nobody', equal('row', (row['state'], row['cells'][1]), (
        'free', 'has the key, but no majority does, never expires')))


def levels(see, key):
    """How full the bars of the masters that have the key are, between 0 and 1."""
    return see.page.value(f'''[...document.querySelectorAll("#locks tbody tr")].filter(row =>
        row.querySelector("th .name").textContent === "{key}").flatMap(row => [...row.querySelectorAll("[data-has=held]")])
        .map(box => new DOMMatrix(getComputedStyle(box, "::after").transform).a)''')


def kept(tap, page, see):
    """Rows stay the same elements, so that nobody who reads is thrown out of the table."""
    page.value('[...document.querySelectorAll("tbody tr, td.tile, #events li")].forEach(e => { e.known = true; })')
    left = see.until_lock('nightly')['left']
    see.until_lock('nightly', lambda row: row['left'] != left)
    tap.claim('a state changes what there is, and builds nothing again', equal('new', page.value(
        '[...document.querySelectorAll("tbody tr, td.tile, #events li")].filter(e => !e.known).length'), 0))


def elections(tap, web, page, see):
    web.start('elect', 'cron', '--id', 'web-1', '--value', '10.0.0.5:8080', '--', 'sleep', '1000')
    first = see.until_election(lambda one: one['leader'] == 'web-1')
    tap.claim('an election is shown with its leader, term and value', [] if re.fullmatch(
        r'term \d+value 10\.0\.0\.5:8080', first['sub']) else [first])
    web.others[-1].terminate()
    see.until_election(lambda one: one['leader'] == 'nobody')
    web.start('elect', 'cron', '--id', 'web-2', '--', 'sleep', '1000')
    see.until_election(lambda one: one['leader'] == 'web-2')
    see.open(web)
    one = see.until_election(lambda one: one['leader'] == 'web-2' and len(one['parts']) >= 3)
    tap.claim('the line of time has each term, also after the page was loaded again',
              equal('parts', one['parts'][-3:], ['web-1', 'nobody', 'web-2']))
    tap.claim('terms that follow each other differ', equal('kinds', len(set(one['kinds'][-3:])), 3))
    tap.claim('the line is described', [] if re.fullmatch(r'\d+ changes of the leader since [\d:]{8}', one['line']) else [one])
    page.value('document.querySelector("#elections summary").click()')
    words = until(lambda: page.value('[...document.querySelectorAll("#elections details li")].map(e => e.textContent)'), 'words')
    tap.claim('the terms are there in words, too', [] if re.search(r'web-2term \d+, for \d+ s', words[0]) else words)
    page.value('document.querySelector("#elections summary").click()')


def masters(tap, see):
    found = see.masters()
    tap.claim('each master has its state in words', equal('states', [(row['state'], row['vote']) for row in found],
                                                         [('up', 'votes')] * 5))
    clock = re.compile(r'([+-](?!0\.0)|(?=0\.0))\d+\.\d ms \(\u00b1\d+\.\d\)')
    until(lambda: all(clock.fullmatch(row['clock']) for row in see.masters()), 'the clock of each master')
    tap.claim('and its clock', [])
    found = until(lambda: [row for row in see.masters() if row['spark'].count('L') > 1 and row['said']], 'lines')
    tap.claim('its round trips are a line, with a figure and a text', [] if all(
        re.fullmatch(r'[\d.]+ ms', row['rtt']) and row['said'].startswith('between ') for row in found) else found)
    tap.claim('all is well', equal('headline', (see.text('headline'), see.text('summary')),
                                   ('All is well', '5 of 5 masters vote, quorum 3: 2 more may fail')))


def accessible(tap, page):
    nodes = page.call('Accessibility.getFullAXTree')['nodes']
    nodes = [node for node in nodes if not node.get('ignored')]
    roles = [node['role']['value'] for node in nodes]
    tap.claim('it has the roles that readers look for', [role for role in [
        'main', 'heading', 'table', 'row', 'columnheader', 'rowheader', 'cell', 'status', 'log', 'button', 'image',
        'searchbox'] if role not in roles])
    unnamed = [node['role']['value'] for node in nodes if node['role']['value'] in (
        'region', 'button', 'link', 'log', 'columnheader', 'table', 'image', 'searchbox', 'combobox')
        and not node.get('name', {}).get('value')]
    tap.claim('everything of a role has a name', unnamed)
    tap.claim('it has a language and a title', equal('both', page.value('[document.documentElement.lang, document.title]'),
                                                     ['en', '5 of 5 masters vote \u2013 redlock']))


def keyboard(tap, page):
    page.value('document.activeElement.blur(), getSelection().removeAllRanges(), scrollTo(0, 0)')
    order = []
    while len(order) < 99 and order[-1:] != ['events']:
        page.press('Tab', 9)
        order.append(page.value(FOCUS))
    tap.claim('Tab goes from the top to the bottom', equal('order', [one for one in order if one != 'name'], [
        'skip', *['a'] * 4, 'pause', 'locks-grid', 'span', 'summary', 'Table of masters', 'master', 'lock',
        'election', 'events-filter', 'events']))
    tap.claim('the focus can be seen', equal('outline', page.value(
        'getComputedStyle(document.activeElement).outlineStyle'), 'solid'))
    page.value('document.getElementById("pause").focus()')
    page.press('Enter', 13)
    tap.claim('Enter pauses', equal('pressed', page.value(
        f'[document.getElementById("pause").getAttribute("aria-pressed"), {LINK}]'), ['true', 'Paused.']))
    page.press('Enter', 13)


def filters(tap, page, see):
    every = see.events()
    page.value('document.querySelector("#kinds [value=election]").focus()')
    page.press('Enter', 13)
    chosen = see.events()
    tap.claim('events are filtered by kind', equal('kinds', {event[0] for event in chosen}, {'election'}))
    tap.claim('the filter says how many it shows', equal('count', see.text('events-count'), f'{len(chosen)} of {len(every)}'))
    page.value('document.getElementById("events-filter").focus()')
    page.write('WEB-2')
    tap.claim('and by text', [event for event in see.events() if 'web-2' not in event[2]] or
              ([] if see.events() else ['no event']))
    page.write(' and no such thing')
    tap.claim('that there is none is said', equal('empty', (see.events(), see.text('no-events')), ([], 'No event is like this.')))
    page.value('(e => { e.value = ""; e.dispatchEvent(new Event("input")); })(document.getElementById("events-filter"))')
    page.value('document.querySelector("#kinds [value=election]").click()')
    tap.claim('without a filter all are there again', equal('events', len(see.events()) >= len(every), True))


def hidden(tap, see):
    for number in range(1, 6):
        assert tell(number, 'SET', TURNED, 'theirs') == 'OK'
    row = see.until_lock('a\\u202eb\\u200bc', lambda row: row['state'] == 'held')
    tap.claim('characters that turn or hide text are numbers', equal('left', row['left'], 'never expires'))


def listed(tap, page, see):
    """All locks, in order, if they were asked for."""
    tap.claim('without --list there is no table of all locks', equal('hidden', page.value(
        'document.getElementById("listed").hidden'), True))
    with Web('--list', 'all:') as web:
        web.start('lock', 'all:2', '--owner', NASTY, '--', 'sleep', '1000')
        web.start('lock', 'all:1', '--owner', 'db-1', '--', 'sleep', '1000')
        web.start('lock', 'else', '--', 'sleep', '1000')
        see.open(web)
        until(lambda: len(see.locks('all')) == 2, 'both locks')
        tap.claim('all locks are shown in order', equal('rows', [(row['key'], row['state'], row['holder']) for row in
                                                                 see.locks('all')],
                                                        [('all:1', 'held', 'db-1'), ('all:2', 'held', NASTY)]))
        said = see.text('list-summary')
        tap.claim('and what that has cost', [] if re.fullmatch(r'2 locks; listed with \d+ commands in [\d.]+ s\.', said) else [said])
        page.value('document.getElementById("list-filter").focus()')
        page.write('DB-1')
        tap.claim('they can be filtered', equal('rows', [row['key'] for row in see.locks('all')], ['all:1']))
        page.call('Page.navigate', url='about:blank')


def one_too_many(tap, web, page, see):
    """The page lets go of its stream, others take all, and it comes back when one of them goes."""
    page.call('Page.navigate', url='about:blank')
    peers = []

    def full():
        peer = web.raw(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        peers.append(peer)
        return b' 503 ' in peer.recv(30)
    until(full, 'all streams')
    page.call('Page.navigate', url=f'http://localhost:{web.port}/')
    see.until_said('trying again')
    tap.claim('one page too many says that it is not connected', [])
    for peer in peers:
        peer.close()
    see.until_said('Connected.')
    tap.claim('and connects when another one is closed', [])
    page.errors[:] = [error for error in page.errors if '503' not in str(error)]


def failing(tap, see):
    """Masters that do not reply: first one, then too many."""
    kill(4)
    see.until_text('headline', 'Locks work, but a master does not vote')
    see.until_text('troubles', 'Connection refused')
    row = see.until_lock('nightly', lambda row: row['kinds'][3] == 'none')
    tap.claim('a master that does not reply is named, with the reason', [] if row['cells'][3].startswith('no reply: ') else [row])
    found = see.masters()[3]
    tap.claim('its row says the same', [] if found['state'].startswith('down for ') and found['vote'] == 'no vote' else [found])
    for number in (2, 3):
        kill(number)
    see.until_text('headline', 'No lock can be acquired')
    row = see.until_lock('nightly', lambda row: row['state'] == 'not known')
    tap.claim('without a majority the holder is not known', [] if 'it is not known who holds it' in row['cells'][0] else [row])
    see.until_text('locks-count', '0 of 7 held, 7 not known')
    see.until_text('troubles', '7 locksit is not known who holds them')
    tap.claim('that is said once for all', [])
    tap.claim('who leads is not known either, and the line shows since when', equal('parts', see.until_election(
        lambda one: one['parts'][-1] == 'not known')['leader'], '\u26a0 not known'))


def gone(tap, web, page, see):
    tap.claim('what is new has its colours', equal('filter', page.value(OLD), 'none'))
    web.process.terminate()
    see.until_said('Not connected')
    tap.claim('it says when it is not connected any more', [])
    tap.claim('and in its title', [] if 'not connected' in page.value('document.title') else [page.value('document.title')])
    tap.claim('what is old has none', equal('filter', page.value(OLD), 'grayscale(1)'))
    for words in ['Paused. \u26a0 Not connected', '\u26a0 Not connected']:
        page.value('document.getElementById("pause").click()')
        tap.claim(f'the button says no other: {words}', [] if page.value(LINK).startswith(words) else [page.value(LINK)])


def remembered(tap, page):
    """What the page keeps of an election. It is told what a server might say."""
    page.value('import("/terms.js").then(module => { window.terms = module; }), 0')
    until(lambda: page.value('Boolean(window.terms)'), 'the module')
    tell_terms = '''terms.learnTerms({keys: [], time_ms: 0, events: %s.map(([id, term]) => ({id, time_ms: 1e12 + term,
        name: "x", observed: {known: true, leader: "l" + term, value: null, term}}))}), terms.termsOf("x")'''
    terms = page.value(tell_terms % [[1000000 + number, number] for number in range(1, 101)])
    tap.claim('of many terms the last 60 are kept', equal('terms', [term['term'] for term in terms], list(range(41, 101))))
    terms = page.value(tell_terms % [[1, 200]])[-2:]
    tap.claim('while a server was away it is not known who led', equal(
        'terms', [(term['known'], term['from'] - 10 ** 12) for term in terms], [(False, 100), (True, 200)]))


def main():
    program = browser_in_sandbox()
    tap = Tap()
    with Web('nightly', 'cron', NASTY, TURNED, 'uneven', 'uneven-too', 'free') as web, Browser(program) as page:
        see = Reader(page)
        page.resize(1280)
        see.open(web)
        locks(tap, web, page, see)
        differing(tap, see)
        kept(tap, page, see)
        elections(tap, web, page, see)
        masters(tap, see)
        accessible(tap, page)
        keyboard(tap, page)
        filters(tap, page, see)
        hidden(tap, see)
        listed(tap, page, see)
        see.open(web)
        tap.claim('the browser has nothing to complain about', page.errors)
        one_too_many(tap, web, page, see)
        failing(tap, see)
        gone(tap, web, page, see)
        remembered(tap, page)
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
