"""Reads the history of a section (README.md): who called what, who relied on which lock, what was done to them.

read() returns a History. What the lines say of one lock becomes a Hold: the intervals of true time in which its process
relied on it. Everything is in microseconds of true time.
"""
import collections
import glob
import json
import math
import os

# The fields without which a line has no meaning.
NEEDS = {
    'start': ['rate'], 'begin': ['op', 'what'], 'end': ['op', 'status'], 'hold': ['lock', 'keys', 'fence', 'deadline'],
    'deadline': ['lock', 'deadline', 'since'], 'beat': ['lock'], 'unhold': ['lock', 'why'], 'stop': [],
    'fault': ['id', 'kind', 'who', 'outside'], 'heal': ['id'], 'calm': [], 'stopped': ['who'], 'continued': ['who'],
    'killed': ['p'], 'exit': ['p', 'status', 'expected'], 'sample': ['p', 'fds', 'rss_kb'],
    'left-key': ['master', 'key', 'ttl_ms'], 'left-process': ['pid', 'command'], 'registers': ['values'],
}
ASKS = {
    'acquire': ['keys', 'fencing', 'ttl', 'wait'], 'adopt': ['keys', 'fencing', 'ttl'], 'extend': ['lock', 'ttl'],
    'release': ['lock'], 'hand-over': ['lock'], 'query': ['keys'], 'campaign': ['keys'],
    'read': ['register', 'fence'], 'write': ['register', 'fence', 'value'],
}
FIELDS = {event: frozenset(['t', 'p', 'e', *needs]) for event, needs in NEEDS.items()}
ASKED = {what: frozenset(needs) for what, needs in ASKS.items()}
SECTION = ['seed', 'ttl_ms', 'max_ttl_ms', 'began', 'ended', 'outside']

# What the driver says about another process is in a line of its own: `p` is who it is about there.
ABOUT_OTHERS = ('killed', 'exit', 'sample')


class Unreadable(Exception):
    """The history is not one."""


class Operation:
    """A call: the lines of its begin and of its end, or None."""
    __slots__ = ('p', 'what', 'asked', 'answer')

    def __init__(self, line):
        self.p, self.what, self.asked, self.answer = line['p'], line['what'], line, None

    @property
    def call(self):
        return self.asked['t']

    @property
    def returned(self):
        return self.answer['t'] if self.answer else math.inf

    @property
    def status(self):
        return self.answer['status'] if self.answer else None

    def __str__(self):
        return f"{self.what} {self.asked['op']}"


class Hold:
    """A lock that a process relies on, from one `hold` on."""

    def __init__(self, line, rate, operation, invoked):
        self.p, self.lock, self.keys, self.fence = line['p'], line['lock'], line['keys'], line['fence']
        self.t, self.rate = line['t'], rate
        self.operation = operation  # the acquire, adopt or campaign that got it; None: a command's
        self.invoked = invoked      # the acquire began then at the earliest; None: unknown
        self.again = False          # it was already held, and given up in between
        self.release = None         # the release or hand-over
        self.command = line['deadline'] is None
        self.intervals = []
        self.since, self.beat = self.t, self.t
        self.deadline = math.inf if self.command else self.true_time(line)
        self.open = True

    def true_time(self, line):
        """When this process's clock reaches the deadline that the line says."""
        return line['t'] + (line['deadline'] - line['own']) / self.rate

    def rely(self, until):
        if until > self.since:
            self.intervals.append((self.since, until))

    def change(self, line):
        """Another deadline. If it is earlier, the process may have known that since `since`."""
        if not self.open:
            return
        new = self.true_time(line)
        if new < self.deadline:
            new = max(new, min(self.deadline, line['since'] if line['since'] is not None else self.deadline))
        if self.deadline < line['t']:
            self.rely(self.deadline)
            self.since = line['t']
        self.deadline = new

    def close(self, until):
        if self.open:
            self.open = False
            self.rely(min(until, self.deadline))

    def give_up(self, line):
        since = line.get('since')
        told = line['why'] in ('lost', 'demoted') and since is not None
        self.close(min(line['t'], max(since, self.since)) if told else line['t'])

    @property
    def end(self):
        """When it ended to be relied on; None: it was over before the process knew that it held it."""
        return self.intervals[-1][1] if self.intervals else None

    def __str__(self):
        return f'lock {self.lock} of {self.p}' + (f' (fencing token {self.fence})' if self.fence else '')


class History:
    def __init__(self, folder, facts):
        self.folder, self.facts = folder, facts
        self.ttl, self.max_ttl = facts['ttl_ms'] * 1000, facts['max_ttl_ms'] * 1000
        self.lines = 0
        self.operations = {}         # (p, op): Operation
        self.holds = []
        self.starts, self.stops, self.killed, self.exits = {}, {}, {}, {}
        self.last = {}               # p: its last line
        self.faults = {}             # id: the line, with `until`
        self.stopped = collections.defaultdict(list)
        self.samples = collections.defaultdict(list)
        self.left_keys, self.left_processes = [], []
        self.calm = None
        self.registers = None
        self.oddities = []           # (check, t, who, what): seen while reading
        self.figures = collections.Counter()  # what checks counted
        self.most = {}               # the largest they have seen
        self.newest = collections.defaultdict(dict)  # p: {lock: Hold}
        self.gained = {}             # (p, lock): the acquire or adopt that has just got it
        self.campaigns = {}          # (p, keys): the campaign that runs, and when its last leadership ended

    def odd(self, check, line, what):
        self.oddities.append((check, line['t'], line['p'], what))

    def seconds(self, t):
        return (t - self.facts['began']) / 1e6

    # ---- the lines of clients ----

    def on_start(self, line):
        if line['p'] in self.starts:
            self.odd('answered', line, 'it starts a second time')
        self.starts[line['p']] = line

    def on_stop(self, line):
        self.stops[line['p']] = line
        self.close_all(line['p'], line['t'])

    def on_begin(self, line):
        if (line['p'], line['op']) in self.operations:
            self.odd('answered', line, f"operation {line['op']} begins a second time")
            return
        operation = self.operations[line['p'], line['op']] = Operation(line)
        hold = self.newest[line['p']].get(line.get('lock'))
        if operation.what == 'campaign':
            self.campaigns[line['p'], tuple(line['keys'])] = [operation, line['t']]
        elif operation.what in ('release', 'hand-over') and hold and hold.release is None:
            hold.release = operation
            if operation.what == 'release':
                hold.close(line['t'])

    def on_end(self, line):
        operation = self.operations.get((line['p'], line['op']))
        if operation is None or operation.answer is not None:
            self.odd('answered', line, f"operation {line['op']} ends " +
                     ('without a begin' if operation is None else 'a second time'))
            return
        operation.answer = line
        if operation.what in ('acquire', 'adopt') and line['status'] == 0:
            if 'lock' not in line:
                raise Unreadable(f"{line['p']} got a lock without a name: {line}")
            self.gained[line['p'], line['lock']] = operation
        elif operation.what == 'campaign':
            self.campaigns.pop((line['p'], tuple(operation.asked['keys'])), None)

    def on_hold(self, line):
        where = line['p'], line['lock']
        former, operation = self.newest[line['p']].get(line['lock']), self.gained.pop(where, None)
        invoked = operation.call if operation else None
        campaign = self.campaigns.get((line['p'], tuple(line['keys'])))
        if operation is None and campaign:
            operation, invoked = campaign
        if former and former.open:
            if former.deadline > line['t']:
                self.odd('sanity', line, f"lock {line['lock']} is held, and held again")
            former.close(line['t'])
        rate = self.starts[line['p']]['rate'] if line['p'] in self.starts else 1.0
        hold = self.newest[line['p']][line['lock']] = Hold(line, rate, operation, invoked)
        hold.again = bool(former) and former.fence == hold.fence and hold.fence > 0
        self.holds.append(hold)

    def on_deadline(self, line):
        hold = self.newest[line['p']].get(line['lock'])
        if hold is None:
            self.odd('sanity', line, f"lock {line['lock']} has a new deadline, but was never held")
        else:
            hold.change(line)

    def on_beat(self, line):
        hold = self.newest[line['p']].get(line['lock'])
        if hold is None:
            self.odd('sanity', line, f"a command beats for lock {line['lock']}, which was never held")
        else:
            hold.beat = line['t']

    def on_unhold(self, line):
        hold = self.newest[line['p']].get(line['lock'])
        if hold is None:
            self.odd('sanity', line, f"lock {line['lock']} was never held, and is given up")
            return
        hold.give_up(line)
        campaign = self.campaigns.get((line['p'], tuple(hold.keys)))
        if campaign:
            campaign[1] = line['t']

    # ---- the lines of the driver ----

    def on_fault(self, line):
        self.faults[line['id']] = {**line, 'until': None}
        if line['outside'] and line['kind'] not in self.facts['outside']:
            self.odd('sanity', line, f"the fault {line['kind']} is outside the model, and the section does not allow it")

    def on_heal(self, line):
        if line['id'] not in self.faults:
            raise Unreadable(f"fault {line['id']} is over, but never began")
        self.faults[line['id']]['until'] = line['t']

    def on_calm(self, line):
        self.calm = line['t']

    def on_stopped(self, line):
        for p in line['who']:
            self.stopped[p].append(line['t'])

    def on_continued(self, line):
        pass

    def on_killed(self, line):
        self.killed.setdefault(line['p'], line['t'])
        self.close_all(line['p'], line['t'])

    def on_exit(self, line):
        self.exits[line['p']] = line
        self.close_all(line['p'], line['t'])

    def on_sample(self, line):
        self.samples[line['p']].append(line)

    def on_left_key(self, line):
        self.left_keys.append(line)

    def on_left_process(self, line):
        self.left_processes.append(line)

    def on_registers(self, line):
        self.registers = line

    # ---- ends ----

    def close_all(self, p, t):
        """The dead rely on nothing. A command may live on after its `redlock`: its beats tell."""
        for hold in self.newest[p].values():
            if hold.open and not hold.command:
                hold.close(t)

    def finish(self):
        for hold in self.holds:
            if hold.open:
                hold.close(hold.beat if hold.command else math.inf)
            if hold.command:  # once it was stopped nobody knows when its supervisor has killed it
                cut = min(self.stopped.get(hold.p, ()), default=math.inf)
                hold.intervals = [(begin, min(end, cut)) for begin, end in hold.intervals if begin < cut]


def parse(text, path):
    """The lines of one file, and whether the last one is cut off."""
    lines = text.split('\n')
    unfinished = lines.pop()
    try:
        found = json.loads('[' + ','.join(lines) + ']')
    except ValueError:
        found = []
        for number, line in enumerate(lines, 1):
            try:
                found.append(json.loads(line))
            except ValueError as error:
                raise Unreadable(f'{path}:{number}: {error}') from None
    return found, unfinished != ''


def check_fields(found, path):
    previous = -math.inf
    for number, line in enumerate(found, 1):
        if not isinstance(line, dict) or 'e' not in line or line['e'] not in FIELDS or not FIELDS[line['e']] <= line.keys():
            raise Unreadable(f'{path}:{number}: not a line of a history, or without its fields: {line}')
        if line['e'] == 'begin' and not ASKED.get(line['what'], {'?'}) <= line.keys():
            raise Unreadable(f'{path}:{number}: an unknown call, or without its fields: {line}')
        if line['e'] in ('hold', 'deadline') and line['deadline'] is not None and 'own' not in line:
            raise Unreadable(f'{path}:{number}: a deadline without `own`: {line}')
        if line['t'] < previous:
            yield 'sanity', line['t'], line['p'], f'{os.path.basename(path)}:{number}: the time goes back'
        previous = line['t']


def writers(found):
    return {line['p'] for line in found if line['e'] not in ABOUT_OTHERS}


def is_command(p):
    return p.startswith('w')


def read_facts(folder):
    try:
        with open(os.path.join(folder, 'section.json'), encoding='utf-8') as file:
            facts = json.load(file)
        missing = [name for name in SECTION if name not in facts]
    except (OSError, ValueError, TypeError) as error:
        raise Unreadable(f'{folder}: {error}; give the folder of a section, as scripts/chaos --keep FOLDER leaves it') from None
    if missing:
        raise Unreadable(f'{folder}/section.json has no {", ".join(missing)}')
    return facts


def read(folder):
    """The history in the folder. Raises Unreadable."""
    history = History(folder, read_facts(folder))
    everything, cut_off = [], {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), '*.jsonl'))):
        with open(path, encoding='utf-8', errors='replace') as file:
            found, cut = parse(file.read(), path)
        history.oddities.extend(check_fields(found, path))
        everything.extend(found)
        if cut:
            cut_off[path] = writers(found)
        for p in writers(found[-1:]):
            history.last[p] = found[-1]
    everything.sort(key=lambda line: line['t'])
    history.lines = len(everything)
    play(history, everything)
    for path, wrote in cut_off.items():
        if any(p not in history.killed and p not in history.exits and not is_command(p) for p in wrote):
            raise Unreadable(f'{path}: the last line is cut off, and its process was not killed')
    return history


def play(history, lines):
    act = {event: getattr(history, 'on_' + event.replace('-', '_')) for event in NEEDS}
    for line in lines:
        act[line['e']](line)
    history.finish()
