"""What redlock says of a server that refuses us: each row of refusals.py, and that a majority of others
is enough for a lock all the same.

`test_refusals.py SOURCE_FOLDER`. $REDLOCK is the command under test; the output is TAP.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))
from refusals import OK, STATES, asked  # noqa: E402
from servers import Fake, Master, Skip  # noqa: E402
from tap import Tap  # noqa: E402

REDLOCK = os.environ['REDLOCK']
for name in [name for name in os.environ if name.startswith('REDLOCK_')]:
    del os.environ[name]
os.environ['REDLOCK_RECORD'] = '0'  # each server is tried alone, and with others

# At once, so that two cores are busy while others wait for a timeout.
AT_ONCE = 6


class Place:
    """A folder for servers, which end with it."""

    numbers = iter(range(1, 1000))
    lock = threading.Lock()

    def __init__(self, root):
        with Place.lock:
            self.folder = os.path.join(root, str(next(Place.numbers)))
        os.mkdir(self.folder)
        self.servers = []

    def path(self):
        return os.path.join(self.folder, str(len(self.servers)))

    def master(self, *lines, **more):
        try:
            self.servers.append(Master(self.path(), *lines, **more))
        except ValueError as error:
            raise Skip(error) from error
        return self.last

    def fake(self, serve):
        self.servers.append(Fake(self.path(), serve))
        return self.last

    @property
    def last(self):
        return self.servers[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.end()


def run(state, command, nodes, *words):
    patience = '300ms' if state.slow and len(nodes) == 1 else '20s'
    process = subprocess.run([REDLOCK, *command, '--nodes', ' '.join(nodes), '--quarantine=lenient',
                              '--node-timeout', patience, *words],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                             check=False)
    return process.returncode, process.stdout + process.stderr


def pattern(text):
    return re.sub(r'\bN\b', r'\\d+', re.escape(text)).replace(r'\.\.\.', '.*')


def sentence(text):
    return text[:1].upper() + text[1:] + '.' if text else ''


def differences(command, got, wanted, parts):
    """The exit status, and the parts of the output."""
    status, text = got
    if status != wanted:
        yield f'{command} ends with {status} and not {wanted}: {text}'
    yield from (f'{command} does not say {part!r}: {text}' for part in parts
                if not re.search(pattern(part), text))


def lets_scripts_write(state, server):
    """Redis before 7.0 does, when it has fewer replicas than it needs."""
    return state.refuses and server.ask('EVAL', "return redis.call('SET', KEYS[1], '')", 1, 'x') == 'OK'


def complaints(state, server, others):
    if state.nodes is not None and not lets_scripts_write(state, server):
        yield from differences('nodes', run(state, ['nodes'], [server.uri]), state.nodes,
                               [state.what, state.todo])
    if state.lock is not None:
        yield from differences('lock', run(state, ['lock', 'k', '--no-wait', *state.options],
                                           [server.uri], '--', 'true'),
                               state.lock, [state.what, state.todo])
    if state.doctor is not None:
        yield from differences('doctor', run(state, ['doctor'], [server.uri]), state.doctor,
                               [state.doctor_says or state.what, sentence(state.todo)])
    yield from differences('lock on three', run(state, ['lock', state.name], [server.uri, *others],
                                                '--', 'true'), OK, [])


def examine(state, root, others):
    """The name of the claim, and the complaints."""
    try:
        with Place(root) as place:
            return state.name, list(complaints(state, state.bring(place), others))
    except Skip as why:
        return f'{state.name} # SKIP {why}', []
    except Exception as error:  # pylint: disable=broad-except # the row itself may be wrong
        return state.name, [f'{error!r}']


def goes_on(root, bring, command, heal, *options):
    """A lock waits; when the master has got this command, it is healed, and the lock goes on."""
    with Place(root) as place:
        master = bring(place)
        process = subprocess.Popen([REDLOCK, 'lock', 'k', '--nodes', master.uri, *options, '--ttl', '1s',
                                    '--', 'echo', 'works'],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        master.says(f'cmdstat_{command}', 'commandstats')
        master.ask(*heal)
        out, _ = process.communicate(timeout=60)
        if not out.endswith('works\n') or process.returncode != OK:
            yield f'it ends with {process.returncode}: {out}'


def waits(tap, root):
    """ACL is asked by an examination, which finds out whether waiting can succeed."""
    tap.claim('a lock waits for a master that is out of memory', goes_on(
        root, lambda place: place.master('maxmemory 1'), 'acl', ('CONFIG', 'SET', 'maxmemory', 0),
        '--max-ttl', '1s'))
    tap.claim('a list of waiters that is a string does not end a wait', goes_on(
        root, asked(('SET', 'k', 'somebody'), ('SET', 'k:redlock-waiting', 'x')), 'zscore', ('DEL', 'k'),
        '--quarantine=lenient'))


def chapter_of(document):
    """(what, todo) for each message in the chapter on refusals."""
    chapter = re.split(r'^## ', document.partition('## Masters that refuse commands')[2], flags=re.MULTILINE)[0]
    for heading, text in re.findall(r'^### `([^`]+)`\n(.*?)(?=^### |\Z)', chapter, re.MULTILINE | re.DOTALL):
        yield heading, ' '.join(text.partition('**Fix:**')[2].split())


def document_differs(root):
    with open(os.path.join(root, 'docs', 'troubleshooting.md'), encoding='utf-8') as file:
        said = set(chapter_of(file.read()))
    wanted = {(state.what, sentence(state.todo)) for state in STATES}
    yield from (f'docs/troubleshooting.md does not have {one}' for one in sorted(wanted - said))
    yield from (f'no state is {one}' for one in sorted(said - wanted))


def main(source):
    tap = Tap()
    root = tempfile.mkdtemp(prefix='redlock-test-')
    try:
        with Place(root) as good, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            others = [good.master().uri for _ in range(2)]
            for claim in pool.map(lambda state: examine(state, root, others), STATES):
                tap.claim(*claim)
            waits(tap, root)
    finally:
        shutil.rmtree(root)
    tap.claim('docs/troubleshooting.md has each of them', document_differs(source))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
