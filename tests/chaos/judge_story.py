"""Small histories by hand, for the tests of the judge. Times are in milliseconds since the section began."""
import json
import os

import judge
import judge_history

BEGAN_US = 5_000_000_000
OWN_US = 700_000_000  # what the clients' own clocks said then
ENDED = 60_000


class Story:
    """Each process starts at 0, and stops at the end unless it is in `ended`."""

    def __init__(self, calm=None, rates=None, **facts):
        self.facts = {'seed': 1, 'masters': 5, 'ttl_ms': 1000, 'max_ttl_ms': 2000, 'began': BEGAN_US, 'calm': None,
                      'ended': BEGAN_US + ENDED * 1000, 'outside': [], 'options': {}, **facts}
        self.lines, self.last, self.rates = [], {}, rates or {}
        self.ended, self.clients = set(), []
        if calm is not None:
            self.driver(calm, 'calm')

    # ---- lines ----

    def driver(self, t, e, **fields):
        self.lines.append({'t': BEGAN_US + round(t * 1000), 'p': 'driver', 'e': e, **fields})
        return self

    def own(self, p, t):
        return OWN_US + round(t * 1000 * self.rates.get(p, 1))

    def line(self, p, t, e, **fields):
        if p not in self.clients:
            self.clients.append(p)
            self.line(p, 0, 'start', pid=1, rate=self.rates.get(p, 1), sabotage=None)
        self.lines.append({'t': BEGAN_US + round(t * 1000), 'own': self.own(p, t), 'p': p, 'e': e, **fields})
        return self

    def call(self, p, begin, end, what, status=0, answer=None, **fields):
        """Without an end it is not answered."""
        op = self.last[p] = self.last.get(p, 0) + 1
        self.line(p, begin, 'begin', op=op, what=what, **fields)
        if end is not None:
            self.line(p, end, 'end', op=op, status=status, **(answer or {}))
        return self

    # ---- locks ----

    def hold(self, p, t, lock, keys, deadline, fence=0):
        """`deadline` is in true time; the line has it on the clock of the process."""
        return self.line(p, t, 'hold', lock=lock, keys=keys, fence=fence,
                         deadline=None if deadline is None else self.own(p, deadline))

    def deadline(self, p, t, lock, deadline, since):
        return self.line(p, t, 'deadline', lock=lock, deadline=self.own(p, deadline), since=BEGAN_US + since * 1000)

    def unhold(self, p, t, lock, why='released', since=None):
        return self.line(p, t, 'unhold', lock=lock, why=why, since=BEGAN_US + (t if since is None else since) * 1000)

    def acquire(self, p, begin, end, lock, keys='k', deadline=None, fence=0, wait=0, what='acquire', fencing=None):
        """Asked for at `begin`, held from `end` on."""
        self.call(p, begin, end, what, answer={'lock': lock}, keys=keys.split('+'),
                  fencing=int(fence > 0) if fencing is None else fencing, ttl=1000, wait=wait)
        return self.hold(p, end, lock, keys.split('+'), end + 1000 if deadline is None else deadline, fence)

    def release(self, p, begin, end, lock, what='release', status=0):
        self.unhold(p, begin, lock, {'release': 'released', 'hand-over': 'handed-over'}[what])
        return self.call(p, begin, end, what, status, lock=lock)

    def lock(self, p, begin, end, lock, keys='k', fence=0):
        """A whole one: asked for at `begin`, held 10 ms later, and released at `end`."""
        return self.acquire(p, begin, begin + 10, lock, keys, end + 500, fence).release(p, end, end + 5, lock)

    # ---- registers ----

    def read(self, p, begin, end, fence, value=None, status='ok'):
        return self.call(p, begin, end, 'read', status, None if value is None else {'value': value}, register='k', fence=fence)

    def write(self, p, begin, end, fence, value, status='ok'):
        return self.call(p, begin, end, 'write', status, register='k', fence=fence, value=value)

    # ---- the whole ----

    def kill(self, p, t):
        self.ended.add(p)
        return self.driver(t, 'killed', p=p)

    def whole(self):
        """All lines, with the stops."""
        for p in self.clients:
            if p not in self.ended:
                self.ended.add(p)
                self.line(p, ENDED, 'stop')
        return self.lines

    def history(self):
        history = judge_history.History('story', self.facts)
        lines = sorted(self.whole(), key=lambda line: line['t'])
        history.oddities += judge_history.check_fields(lines, 'story')
        for line in lines:
            for p in judge_history.writers([line]):
                history.last[p] = line
        judge_history.play(history, lines)
        return history

    def violations(self):
        return list(judge.violations(self.history()))

    def save(self, folder):
        """As files, one for each that writes."""
        os.makedirs(folder)
        with open(os.path.join(folder, 'section.json'), 'w', encoding='utf-8') as file:
            json.dump(self.facts, file)
        for line in sorted(self.whole(), key=lambda line: line['t']):
            writer = 'driver' if line['e'] in judge_history.ABOUT_OTHERS else line['p']
            with open(os.path.join(folder, writer + '.jsonl'), 'a', encoding='utf-8') as file:
                file.write(json.dumps(line) + '\n')
        return folder
