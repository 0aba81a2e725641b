"""Reads what the page of `redlock web` shows."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'cli', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from browser import find  # noqa: E402
from inside import run_in_sandbox  # noqa: E402
from servers import Client  # noqa: E402
from tap import skip_all  # noqa: E402
from until import until  # noqa: E402



def browser_in_sandbox():
    """The program of the browser; the test runs in a sandbox from now on."""
    program = find()
    if not program:
        skip_all('chromium is not installed')
    run_in_sandbox('-n', '5')
    return program


TEXT = '(e, path) => e.querySelector(path)?.textContent ?? ""'
LOCKS = f'''(text => [...document.querySelectorAll("#%s tbody tr")].map(row => ({{
    key: text(row, "th .name"), state: text(row, ".state"), holder: text(row, ".holder .name"),
    number: text(row, ".holder .sub"), left: text(row, ".left .figure"), queue: text(row, ".queue .figure"),
    dots: Number(row.querySelector(".dots").style.getPropertyValue("--n")),
    cells: [...row.querySelectorAll("td.tile > *")].map(cell => cell.getAttribute("aria-label")),
    kinds: [...row.querySelectorAll("td.tile > *")].map(cell => cell.dataset.has)}})))({TEXT})'''
MASTERS = f'''(text => [...document.querySelectorAll("#masters tbody tr")].map(row => ({{
    name: text(row, "th .name"), state: text(row, ".status .state"), vote: text(row, ".status .sub"),
    rtt: text(row, ".rtt .figure"), clock: text(row, ".clock"), error: text(row, ".error"),
    spark: row.querySelector(".spark .line").getAttribute("d"), said: row.querySelector(".spark").getAttribute("aria-label")}})))({TEXT})'''
ELECTIONS = f'''(text => [...document.querySelectorAll("#elections > li")].map(item => ({{
    name: text(item, "h3"), leader: text(item, ".leader"), sub: text(item, ".who .sub"),
    line: item.querySelector(".line").getAttribute("aria-label"),
    parts: [...item.querySelectorAll(".part")].map(part => part.title.split(",")[0]),
    kinds: [...item.querySelectorAll(".part")].map(part => part.className)}})))({TEXT})'''
EVENTS = '''[...document.querySelectorAll("#events > li")].filter(item => !item.hidden).map(item =>
    [...item.children].slice(1).map(part => part.textContent))'''
LINK = '(document.getElementById("link")?.textContent ?? "")'  # it may be asked before the page is there


class Reader:
    def __init__(self, page):
        self.page = page

    def locks(self, table='locks'):
        return self.page.value(LOCKS % table)

    def masters(self):
        return self.page.value(MASTERS)

    def elections(self):
        return self.page.value(ELECTIONS)

    def events(self):
        return self.page.value(EVENTS)

    def text(self, name):
        return self.page.value(f'document.getElementById("{name}").textContent')

    def until_lock(self, key, holds=lambda row: True, table='locks'):
        return until(lambda: next((row for row in self.locks(table) if row['key'] == key and holds(row)), None),
                     f'what is wanted of {key}')

    def until_election(self, holds):
        return until(lambda: next(filter(holds, self.elections()), None), 'what is wanted of an election')

    def until_said(self, words):
        return until(lambda: words in self.page.value(LINK), words)

    def until_text(self, name, words):
        return until(lambda: words in self.text(name), words)

    def open(self, web, masters=5):
        self.page.call('Page.navigate', url=f'http://localhost:{web.port}/')
        until(lambda: len(self.masters()) == masters, 'the masters')


def tell(number, *words):
    """Sends a command to a master of the sandbox."""
    master = Client(f"{os.environ['REDLOCK_SANDBOX']}/{number}.sock")
    master.send(*words)
    reply = master.reply()
    master.close()
    return reply


def kill(number):
    """Kills a master of the sandbox."""
    with open(f"{os.environ['REDLOCK_SANDBOX']}/{number}.pid", encoding='ascii') as file:
        os.kill(int(file.read()), 9)
