"""How the page of redlock web looks: contrast in light and dark, shapes, motion, and narrow windows.

Runs itself in a sandbox. $REDLOCK is the command under test.
The output is TAP.
"""
import json
import os
import subprocess
import sys

from browser import Browser
from reading import Reader, browser_in_sandbox, kill, tell  # and the folders of the imports below
from tap import Tap
from test_web import Web, equal, until

REDLOCK = os.environ['REDLOCK']
HERE = os.path.dirname(os.path.abspath(__file__))
LONG = 'service/billing/eu-central-1/tenant-0042/invoice-run/2026-11-29/' + 'partition' * 20 + '-17-of-64'
SCHEMES = ['light', 'dark']


def ask(page, call):
    with open(os.path.join(HERE, 'look.js'), encoding='ascii') as script:
        return page.value(f'(() => {{ {script.read()} return {call}; }})()')


def legible(tap, page, when):
    """All text has a contrast of 4.5, all shapes of 3."""
    for scheme in SCHEMES:
        page.prefer(prefers_color_scheme=scheme)
        for width in (1280, 400):
            page.resize(width)
            tap.claim(f'{when}: all text is legible, {scheme}, {width} pixels', ask(page, 'weakTexts(4.5)'))
        tap.claim(f'{when}: all shapes can be seen, {scheme}', ask(page, 'weakShapes(3)'))
    page.prefer()
    page.resize(1280)


def measures(tap, page):
    """What is measured would be found."""
    page.value('document.getElementById("summary").style.setProperty("color", "#999")')
    tap.claim('a weak text is found', equal('found', len(ask(page, 'weakTexts(4.5)')), 1))
    page.value('document.getElementById("summary").style.removeProperty("color")')
    page.value('document.body.style.setProperty("--edge", "#eee")')
    tap.claim('a weak edge is found', [] if ask(page, 'weakShapes(3)') else ['none'])
    page.value('document.body.style.removeProperty("--edge")')
    page.value('document.getElementById("main").style.setProperty("min-width", "1400px")')
    tap.claim('what is too wide is found', [] if ask(page, 'overflowing()') else ['nothing'])
    page.value('document.getElementById("main").style.removeProperty("min-width")')
    page.value('document.getElementById("summary").style.setProperty("width", "1em")')
    page.value('document.getElementById("summary").style.setProperty("overflow-wrap", "anywhere")')
    tap.claim('a broken text is found', [] if ask(page, 'broken()') else ['none'])
    page.value('document.getElementById("summary").removeAttribute("style")')


def kinds(tap, page, see):
    """A cell of each kind."""
    subprocess.run([REDLOCK, 'acquire', LONG, '--owner', LONG[:200], '--ttl', '1m'], check=True, stdout=subprocess.DEVNULL)
    tell(2, 'DEL', LONG)
    tell(3, 'SET', 'free', 'theirs')
    kill(4)
    wanted = {'held', 'free', 'other', 'none'}
    see.until_lock(LONG, lambda row: row['kinds'] == ['held', 'free', 'held', 'none', 'held'])
    see.until_lock('free', lambda row: row['kinds'][2] == 'other')
    found = ask(page, 'shapes()')
    tap.claim('each kind of cell has a shape of its own', equal('shapes', len({found[kind] for kind in wanted}), 4))
    page.prefer(forced_colors='active')
    tap.claim('also when the system chooses the colours', equal(
        'shapes', len({shape for kind, shape in ask(page, 'shapes()').items() if kind in wanted}), 4))
    tap.claim('and how full it is can be seen', ask(page, 'weakShapes(3).filter(text => text.includes("filling"))'))
    page.prefer()


def motion(tap, page):
    seconds = 'getComputedStyle(document.querySelector("[data-has=held]:not(.rises)"), "::after").transitionDuration'
    until(lambda: page.value('Boolean(document.querySelector("#locks [data-has=held]:not(.rises)"))'), 'a bar that falls')
    page.prefer(prefers_reduced_motion='reduce')
    moving = '''[...document.querySelectorAll("*")].flatMap(e => [null, "::before", "::after"].map(p => getComputedStyle(e, p)))
        .filter(s => s.animationName !== "none" || s.transitionProperty !== "none" && parseFloat(s.transitionDuration) > 0).length'''
    tap.claim('who wants no motion gets none', equal('moving', page.value(moving), 0))
    until(lambda: page.value('document.body.classList.contains("steps")'), 'steps')
    page.prefer(prefers_reduced_motion='no-preference')
    until(lambda: not page.value('document.body.classList.contains("steps")'), 'no steps')
    tap.claim('others see bars run down', equal('seconds', until(
        lambda: page.value(seconds.replace('document.querySelector', 'document.querySelector("#locks").querySelector')), 'a bar'), '1s'))
    page.prefer()


def widths(tap, page):
    for width in (1280, 1024, 720, 400, 320):
        page.resize(width)
        tap.claim(f'nothing is wider than {width} pixels', ask(page, 'overflowing()'))
        tap.claim(f'no word is broken into letters at {width} pixels', ask(page, 'broken()'))
    page.resize(400)
    first = '[...document.querySelectorAll("#locks tbody tr")].find(row => row.textContent.includes("service"))'
    tap.claim('a row is a card when it is narrow', equal('display', page.value(f'getComputedStyle({first}).display'), 'flex'))
    tap.claim('a card still is a row of a table', [role for role in ['table', 'row', 'rowheader', 'cell', 'columnheader'] if role not in {
        node['role']['value'] for node in page.call('Accessibility.getFullAXTree')['nodes'] if not node.get('ignored')}])
    page.resize(1280)


def shortened(tap, page):
    name = '[...document.querySelectorAll("#locks th .name")].find(one => one.textContent.startsWith("service"))'
    until(lambda: page.value(f'{name}.tabIndex === 0'), 'a shortened name')
    tail = page.value(f'(r => r.right <= innerWidth && r.width > 0)({name}.lastChild.getBoundingClientRect())')
    tap.claim('a long name keeps its end', equal('end', (tail, page.value(f'{name}.lastChild.textContent')), (True, LONG[-10:])))
    tap.claim('all of it is in the page, and in its title', equal('texts', page.value(
        f'[{name}.textContent, {name}.title]'), [LONG, LONG]))
    before = page.value(f'{name}.clientHeight')
    page.value(f'{name}.focus()')
    tap.claim('all of it is shown when it has the focus, in several lines', equal('lines', page.value(f'''(one => [
        one.scrollWidth <= one.clientWidth, one.clientHeight > {before} * 2])({name})'''), [True, True]))
    page.value(f'{name}.blur()')
    tap.claim('no name in a picture is one', equal('stops', page.value(
        'document.querySelectorAll("[role=img] [tabindex]").length'), 0))
    tap.claim('a short name is no stop of the Tab key', equal('index', page.value(
        '[...document.querySelectorAll("#locks th .name")].find(one => one.textContent === "cron").tabIndex'), -1))


def leaders(web, see):
    """An election with some terms."""
    for leader in ['web-1', 'web-2']:
        web.start('elect', 'cron', '--id', leader, '--', 'sleep', '1000')
        see.until_election(lambda one, leader=leader: one['leader'] == leader)
        web.others[-1].terminate()
        see.until_election(lambda one: one['leader'] == 'nobody')


def main():
    program = browser_in_sandbox()
    tap = Tap()
    with Web('cron', LONG, 'free', '--list', '') as web, Browser(program) as page:
        see = Reader(page)
        page.resize(1280)
        see.open(web)
        web.start('lock', 'listed', '--owner', 'db-1', '--', 'sleep', '1000')
        see.until_lock('listed', table='all')
        leaders(web, see)
        legible(tap, page, 'all is well')
        measures(tap, page)
        kinds(tap, page, see)
        shortened(tap, page)
        motion(tap, page)
        page.value('document.querySelector("#kinds button").click()')
        widths(tap, page)
        legible(tap, page, 'a master is down')
        for number in (2, 3):
            kill(number)
        see.until_text('headline', 'No lock can be acquired')
        see.until_election(lambda one: one['parts'][-1] == 'not known')
        legible(tap, page, 'no majority')
        web.process.terminate()
        see.until_said('Not connected')
        legible(tap, page, 'not connected')
        tap.claim('the browser allows every style', [error for error in page.errors if 'Security' in json.dumps(error)])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
