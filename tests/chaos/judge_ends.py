"""Checks of how things end: calls are answered, processes end as they should, nothing is left, nothing grows."""
from judge_history import is_command

MOST_MORE_FDS = 4
FDS_OF_A_MASTER = 3  # two connections, and one that is being made
MOST_MORE_KB = 4096
LEAST_SAMPLES = 6


def unanswered(history):
    for operation in history.operations.values():
        dead = operation.p in history.killed or is_command(operation.p) and operation.p not in history.stops
        if operation.answer is None and not dead:
            yield operation.call, operation.p, f'{operation} was never answered'


def answered(history):
    """Each call is answered once, unless its process was killed; and each process ends as it may."""
    yield from unanswered(history)
    for p, line in history.starts.items():
        known = p in history.stops or p in history.killed or p in history.exits
        if not known and not is_command(p):  # a command without a `stop` was ended by its supervisor
            yield line['t'], p, 'it neither stopped nor was killed, and no exit of it is known'
    for p, line in history.exits.items():
        if not line['expected']:
            yield line['t'], p, f"it ended with {line['status']}" + (f": {line['said']}" if line.get('said') else '')
    for p in {hold.p for hold in history.holds} | {p for p, _ in history.operations}:
        if p not in history.starts:
            yield history.facts['began'], p, 'it never said that it starts'


def left(history):
    """No key of a lock stays on a master after the longest TTL."""
    for line in history.left_keys:
        ttl = 'no time to live' if line['ttl_ms'] == -1 else f"{line['ttl_ms']} ms to live"
        yield line['t'], str(line['master']), f"{line['key']} was left with {ttl}"


def process(history):
    """No process stays."""
    for line in history.left_processes:
        yield line['t'], str(line['pid']), f"{line['command']} was left"


def masters_added(history):
    """How many masters joined, or took the place of another one, which may still be connected to."""
    return sum(fault['kind'] == 'change' and fault['who'][0] != 'remove' for fault in history.faults.values())


def grows(samples, masters):
    """What has grown from the first samples to the last."""
    third, half = samples[:len(samples) // 3], samples[:len(samples) // 2]
    most_fds, most_kb = max(line['fds'] for line in third), max(line['rss_kb'] for line in half)
    end = samples[-1]
    if end['fds'] > most_fds + MOST_MORE_FDS + FDS_OF_A_MASTER * masters:
        yield f"{end['fds']} descriptors at the end, at most {most_fds} at first"
    if end['rss_kb'] > most_kb * 1.2 + MOST_MORE_KB:
        yield f"{end['rss_kb']} KB at the end, at most {most_kb} KB in the first half"


def flat(history):
    """The descriptors and the memory of a process do not grow without end."""
    for p, samples in history.samples.items():
        if len(samples) >= LEAST_SAMPLES:
            for what in grows(samples, masters_added(history)):
                yield samples[-1]['t'], p, what
