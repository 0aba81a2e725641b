"""Common parts of the tests of the fence examples.

A resource is one of the examples with its data in a folder of its own: its class has the
commands with which a holder reads and writes a number. The stories below run on any resource, and
return complaints: none for the example, some for a copy with a bug.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.normpath(os.path.join(HERE, '..', '..', 'docs', 'examples', 'fence'))
for folder in ['lint', 'lib']:
    sys.path.insert(0, os.path.join(HERE, '..', folder))

from inside import run_in_sandbox  # noqa: E402,F401
from tap import Tap, skip_all  # noqa: E402,F401

LOST = 76

# Like real fences: microseconds since 1970, one apart.
OLD, MIDDLE, NEW = 1795228636303750, 1795228636303751, 1795228636303752
FENCES = list(range(OLD, OLD + 5))

# A holder that stops itself between reading and writing, as if its machine was suspended.
HOLDER = 'n=$({read}) && kill -STOP $$ && {write}'
COUNTER = 'n=$({read}) && {write}'


def copy_of_examples(folder, file=None, old=None, new=None):
    """A copy of the examples in which the one occurrence of `old` in `file` is replaced by `new`."""
    target = os.path.join(folder, 'fence')
    shutil.copytree(EXAMPLES, target, ignore=shutil.ignore_patterns('__pycache__'))
    if file:
        path = os.path.join(target, file)
        with open(path, encoding='utf-8') as source:
            text = source.read()
        assert text.count(old) == 1, f'{file} says {text.count(old)} times: {old}'
        with open(path, 'w', encoding='utf-8') as source:
            source.write(text.replace(old, new))
    return target


class Folder:
    """A temporary folder with a copy of the examples, removed at the end."""

    def __init__(self, *change):
        self.change = change
        self.shells = []

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='redlock-test-')
        try:
            self.examples = copy_of_examples(self.path, *self.change)
            self.start()
        except BaseException:
            shutil.rmtree(self.path)
            raise
        return self

    def __exit__(self, *_):
        for shell in self.shells:
            if shell.returncode is None:
                shell.kill()
                shell.communicate()
        self.stop()
        shutil.rmtree(self.path)

    def start(self):
        pass

    def stop(self):
        pass

    def environment(self, fence):
        return dict(os.environ, REDLOCK_FENCING_TOKEN=str(fence))

    def shell(self, script, fence):
        """Starts a holder: {read} and {write} in its script stand for the commands of this resource."""
        process = subprocess.Popen(['sh', '-c', script.format(read=self.read, write=self.write)],
                                   env=self.environment(fence), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.shells.append(process)
        return process

    def run(self, script, fence):
        """The exit status, stdout and stderr."""
        with self.shell(script, fence) as process:
            out, err = process.communicate()
        return process.returncode, out.strip(), err.strip()

    def number(self):
        """The current number, read by a last holder."""
        return self.run('{read}', NEW + 1000)[1]


def wrong(what, got, wanted):
    return [] if got == wanted else [f'{what}: {got!r} and not {wanted!r}']


def ended_or_stopped(process):
    """Waits until the process has stopped itself or has ended; True if it has stopped."""
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return True
    process.returncode = os.waitstatus_to_exitcode(status)
    return False


def go_on(process):
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate()
    return process.returncode, out.strip(), err.strip()


def sleeper_is_refused(resource):
    """A reads and sleeps; B reads and writes; A wakes and writes: A is refused."""
    sleeper = resource.shell(HOLDER, OLD)
    if not ended_or_stopped(sleeper):
        return ['the sleeper was not even let read: ' + sleeper.communicate()[1]]
    other = resource.run(COUNTER, NEW)
    status, _, err = go_on(sleeper)
    return (wrong('the other one', other[0], 0) + wrong('the sleeper', status, LOST) +
            ([] if 'stale' in err or 'refuses' in err else [f'its error is {err!r}']) +
            wrong('the number', resource.number(), '1'))


def reading_announces(resource):
    """B has read and not written yet: A is refused already; otherwise B's write would undo A's."""
    first = resource.shell(HOLDER, OLD)
    second = resource.shell(HOLDER, NEW) if ended_or_stopped(first) else None
    if not second or not ended_or_stopped(second):
        return ['one was not even let read']
    return (wrong('the older one', go_on(first)[0], LOST) +
            wrong('the newer', go_on(second)[0], 0) +
            wrong('the number', resource.number(), '1'))


def writing_announces(resource):
    """B writes without reading: after that A is refused, as a writer and as a reader."""
    return (wrong('the newer one', resource.run('n=6; {write}', NEW)[0], 0) +
            wrong('the older one', resource.run('n=1; {write}', MIDDLE)[0], LOST) +
            wrong('reading', resource.run('{read}', OLD)[0], LOST) +
            wrong('the number', resource.number(), '7'))


def equal_is_allowed(resource):
    """A holder may come again, and an older holder stays refused."""
    again = [resource.run(COUNTER, NEW)[0] for _ in range(3)]
    return (wrong('the holder', again, [0, 0, 0]) + wrong('the number', resource.number(), '3') +
            wrong('an older one', resource.run(COUNTER, OLD)[0], LOST))


def all_at_once(resource):
    """All holders have read before the first writes: the number counts the writes that succeeded."""
    holders = [resource.shell(HOLDER, fence) for fence in FENCES]
    asleep = [holder for holder in holders if ended_or_stopped(holder)]
    ended = [go_on(holder)[0] if holder in asleep else (holder.communicate(), holder.returncode)[1]
             for holder in holders]
    return counted(resource, ended)


def free_for_all(resource):
    """The same, but the holders do not wait for each other."""
    holders = [resource.shell(COUNTER, fence) for fence in FENCES]
    return counted(resource, [(holder.communicate(), holder.returncode)[1] for holder in holders])


def counted(resource, ended):
    return (wrong('how they ended', sorted(set(ended) | {0, LOST}), [0, LOST]) +
            wrong('the last of all', ended[-1], 0) +
            wrong('the number', resource.number(), str(ended.count(0))))


STORIES = [sleeper_is_refused, reading_announces, writing_announces, equal_is_allowed, all_at_once,
           free_for_all]


def tell(resource, story, *change):
    with resource(*change) as it:
        return story(it)


def good(tap, resource, stories):
    for story in stories:
        tap.claim(story.__name__.replace('_', ' '), tell(resource, story))


def broken(tap, resource, story, name, *change):
    """The story must fail with the broken copy."""
    found = tell(resource, story, *change)
    tap.claim(f'fires ({story.__name__.replace("_", " ")}): {name}',
              [] if found else ['nothing was noticed'])
