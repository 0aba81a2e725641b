#!/usr/bin/env python3
"""Draws a history of the simulator: `history.py REDLOCK-SIM SEED FILE [--break A] [--key K] [--since S] [--until S]`.

`redlock-sim --seed N --svg FILE` calls it. Clients and masters are lines, and time goes to the right. Long waits are shortened, so
that messages have a slope. Bars show what a client believes, and for how long a master keeps a key. Without --since only the locks are
shown that the violation names.
"""
import argparse
import html
import math
import re
import subprocess
import sys

WIDTH, LEFT, RIGHT, TOP, LANE, AFTER = 1200, 64, 24, 74, 74, 150
LINE = re.compile(r' *(\d+\.\d{6})  (c\d+|n\d+|VIOLATION)(?:\.\d+)? +(.*)')
SENDS = re.compile(r'(?:sends \w+ (k\d+)\S* (t\w{8}) for (\d+) ms to|(extends|releases|restores) (t\w{8})(?: (?:to|for) (\d+) ms)? on) (.*)')
DOES = re.compile(r'(\w+) (k\d+)\S* (t\w{8})[^:]*: (.*?)(?:, fencing.*)?$')
SAYS = re.compile(r'(n\d+) says ([\w ]+?) to (?:(extending|restoring|the release of) )?(t\w{8})')
BELIEVES = re.compile(r'(?:HOLDS (k\d+)\S* with (t\w{8})|(t\w{8}) is renewed), (\d+\.\d+) ms left')
FAULTS = [(r'dies; comes back in (.*), empty', 'empty'), (r'dies; comes back in .*', 'dies'), (r'dies', 'dies'), (r'is back', 'back'),
          (r'its clock is set forward by ([\d.]+) ms', 'clock'), (r'is replaced by .*', 'replica'), (r'is stopped for .*', 'stopped'),
          (r'is suspended for .*', 'suspended'), (r'is paused for .*', 'paused'), (r'is cut off from .*', 'cut off'),
          (r'finds another server.*', 'another server'), (r'FLUSHALL', 'FLUSHALL')]
WORDS = {'empty': 'comes back empty', 'dies': 'dies', 'back': 'is back', 'clock': 'clock set forward', 'replica': 'a replica takes over',
         'another server': 'another server', 'FLUSHALL': 'FLUSHALL'}
COLOURS = ['a', 'b', 'c', 'd']
STYLE = '''
svg{--ink:#1f2933;--soft:#7b8794;--rule:#cbd2d9;--paper:#ffffff;--a:#1c6dd0;--b:#c2570c;--c:#0f8a5f;--d:#8a4fbf;--bad:#d42a2a;--fault:#a16207}
@media(prefers-color-scheme:dark){svg{--ink:#e4e7eb;--soft:#9aa5b1;--rule:#3e4c59;--paper:#12181f;--a:#6cb0ff;--b:#ffa25c;--c:#4fd1a1;--d:#c69cf4;--bad:#ff6b6b;--fault:#fbbf24}}
text{font:12px system-ui,sans-serif;fill:var(--ink)}.small{font-size:11px;fill:var(--soft)}.lane{font-weight:600;font-size:14px}
.title{font-size:16px;font-weight:600}.rule{stroke:var(--rule)}.bad{stroke:var(--bad);stroke-width:2}.badtext{fill:var(--bad);font-weight:600}
.fault{fill:var(--fault)}text.fault,.badtext{paint-order:stroke;stroke:var(--paper);stroke-width:4px}.msg{stroke-width:1.3;fill:none}.gone{stroke-dasharray:3 3}'''


def tokens_of(text):
    return re.findall(r't[0-9a-f]{8}', text)


def short(token):
    return 't…' + token[-2:]


class History:
    """What the lines of a trace say about one key, or about some locks."""

    def __init__(self, trace, key=None, since=None, until=None):
        lines = [m.groups() for m in map(LINE.fullmatch, trace.splitlines()) if m]
        lines = [(float(at), who, text) for at, who, text in lines]
        self.name = ', and '.join(re.findall(r'^seed \d+|the assumption "[\w-]+" is broken', trace, re.MULTILINE))
        self.violation = next(((at, text) for at, who, text in lines if who == 'VIOLATION'), None)
        named = tokens_of(self.violation[1]) if self.violation else []
        self.wanted = set(named) if since is None and named else None
        self.key = key or (re.search(r'\bk\d+', self.violation[1])[0] if named else 'k0')
        self.messages, self.beliefs, self.keys, self.faults = [], [], {}, []
        self.client, self.open, self.ttl, self.lanes = {}, {}, {}, set()
        self.read(lines)
        first = min((m[0] for m in self.messages), default=0)
        self.since = since if since is not None else first
        self.until = until if until is not None else (self.violation[0] if self.violation else lines[-1][0])

    def shows(self, token):
        return token in self.client and (self.wanted is None or token in self.wanted)

    def read(self, lines):
        for at, who, text in lines:
            if who[0] == 'c':
                self.read_client(at, who, text)
            elif who[0] == 'n':
                self.read_master(at, who, text)
            for pattern, kind in FAULTS:
                found = re.fullmatch(pattern, text)
                if found:
                    self.faults.append((at, who, kind))
                    self.lose(at, who, kind, found)
                    break

    def read_client(self, at, who, text):
        sent, said, believed = SENDS.match(text), SAYS.match(text), BELIEVES.match(text)
        if sent:
            key, token = sent[1], sent[2] or sent[5]
            if key == self.key:
                self.client[token] = who
            for node in sent[7].split() if self.shows(token) else []:
                self.open[who, node, token] = at
                self.ttl[who, node, token] = float(sent[3] or sent[6] or 0) / 1e3
        elif said and self.shows(said[4]):
            done = self.open.pop((said[1], who, said[4]), None)
            if done is not None:
                self.messages.append((done, said[1], at, who, said[4], said[2]))
        elif believed and self.shows(believed[2] or believed[3]):
            self.believe(at, believed[2] or believed[3], float(believed[4]) / 1e3)
        elif re.search(r'is LOST|begins to release', text) and tokens_of(text):
            self.end_belief(tokens_of(text)[0], at)

    def believe(self, at, token, left):
        for belief in self.beliefs:
            if belief[2] == token and belief[1] >= at:
                belief[1] = at + left
                return
        self.beliefs.append([at, at + left, token])

    def end_belief(self, token, at):
        for belief in self.beliefs:
            if belief[2] == token:
                belief[1] = min(belief[1], at)

    def read_master(self, at, who, text):
        done = DOES.match(text)
        if not done or not self.shows(done[3]):
            return
        client, token = self.client[done[3]], done[3]
        sent = self.open.pop((client, who, token), None)
        if sent is not None:
            self.messages.append((sent, client, at, who, token, done[1]))
            self.open[who, client, token] = at
        ttl = self.ttl.get((client, who, token), 0)
        if done[4] in ('granted', 'kept'):
            bars = self.keys.setdefault(who, [])
            if bars and bars[-1][2] == token and bars[-1][1] > at:
                bars[-1][1] = max(bars[-1][1], at + ttl)
            else:
                bars.append([at, at + ttl, token])
        elif done[4] == 'deleted':
            self.cut(at, who, lambda bar: bar[2] == token)

    def cut(self, at, who, of=lambda bar: True, by=None):
        for bar in self.keys.get(who, []):
            if bar[1] > at and of(bar):
                bar[1] = at if by is None else max(at, bar[1] - by)

    def lose(self, at, who, kind, found):
        if kind in ('empty', 'replica', 'FLUSHALL'):
            self.cut(at, who)
        elif kind == 'clock':
            self.cut(at, who, by=float(found[1]) / 1e3)


class Picture:
    def __init__(self, history):
        self.h, self.out = history, []
        self.messages = [m for m in history.messages if history.since <= m[0] and m[2] <= history.until]
        used = {who for m in self.messages for who in (m[1], m[3])}
        clients = sorted((w for w in used if w[0] == 'c'), key=lambda w: int(w[1:]))
        masters = sorted((w for w in used if w[0] == 'n'), key=lambda w: int(w[1:]))
        above = clients[:(len(clients) + 1) // 2]
        self.lanes = above + masters + clients[len(above):]
        self.faults = [f for f in history.faults if f[1] in used and f[2] in WORDS and history.since <= f[0] <= history.until]
        self.faults = [f for i, f in enumerate(self.faults)
                       if f[2] != 'back' or not any(e[1] == f[1] and e[2] == 'empty' for e in self.faults[:i])]
        self.tokens = [t for t in dict.fromkeys(m[4] for m in self.messages)]
        self.place_times()

    def place_times(self):
        """Each gap between two things that happen gets room by its logarithm."""
        times = sorted({t for m in self.messages for t in (m[0], m[2])} | {f[0] for f in self.faults} |
                       {b[0] for b in self.h.beliefs if self.h.since <= b[0] <= self.h.until} | {self.h.since, self.h.until})
        widths = [math.log1p((b - a) * 3000) + 0.25 for a, b in zip(times, times[1:])]
        scale = (WIDTH - LEFT - RIGHT - AFTER) / (sum(widths) or 1)
        self.at, x = {}, LEFT + 4.0
        for i, t in enumerate(times):
            self.at[t] = x
            x += widths[i] * scale if i < len(widths) else 0
        self.times = times

    def x(self, t):
        known = [k for k in self.times if k <= t]
        if t in self.at or not known:
            return self.at.get(t, LEFT)
        after = [k for k in self.times if k > t]
        if not after:
            return WIDTH - RIGHT
        a, b = known[-1], after[0]
        return self.at[a] + (self.at[b] - self.at[a]) * (t - a) / (b - a)

    def y(self, who):
        return TOP + 30 + self.lanes.index(who) * LANE

    def name_colour(self, token):
        clients = [who for who in self.lanes if who[0] == 'c']
        return COLOURS[clients.index(self.h.client[token]) % len(COLOURS)]

    def colour(self, token):
        return f'var(--{self.name_colour(token)})'

    def text(self, x, y, what, css='', anchor='start'):
        self.out.append(f'<text x="{x:.0f}" y="{y:.0f}" class="{css}" text-anchor="{anchor}">{html.escape(what)}</text>')

    def line(self, x1, y1, x2, y2, rest):
        self.out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" {rest}/>')

    def draw_lane(self, who):
        self.text(LEFT - 14, self.y(who) + 5, who, 'lane', 'end')
        self.line(LEFT, self.y(who), WIDTH - RIGHT, self.y(who), 'class="rule"')

    def bar(self, who, bar, height, words):
        start, end = max(bar[0], self.h.since), bar[1]
        if end <= self.h.since or start > self.h.until or bar[2] not in self.tokens:
            return
        x1, x2, open_end = self.x(start), self.x(end), end > self.h.until
        x2 = WIDTH - RIGHT if open_end else x2
        self.out.append(f'<rect x="{x1:.1f}" y="{self.y(who) - height / 2}" width="{max(2, x2 - x1):.1f}" height="{height}" rx="3" '
                        f'fill="{self.colour(bar[2])}" opacity="{0.35 if height < 12 else 0.9}"/>')
        if words and x2 - x1 > 7 * len(words):
            self.out.append(f'<text x="{x1 + 6:.0f}" y="{self.y(who) + 4:.0f}" style="fill:var(--paper);font-weight:600">{words}</text>')

    def draw_message(self, m):
        sent, sender, got, to, token, what = m
        down = 1 if self.y(to) > self.y(sender) else -1
        y1, y2 = self.y(sender) + 9 * down, self.y(to) - 7 * down
        gone = ' gone' if what in ('no', 'gone', 'quarantined') else ''
        self.line(self.x(sent), y1, self.x(got), y2,
                  f'class="msg{gone}" stroke="{self.colour(token)}" marker-end="url(#{self.name_colour(token)})"')

    def draw_faults(self):
        for at, who, kind in self.faults:
            x, y = self.x(at), self.y(who)
            self.out.append(f'<path class="fault" d="M{x:.1f} {y - 12}l8 14h-16z"/>')
            self.text(min(x + 12, WIDTH - 150), y - 8, WORDS[kind], 'fault')

    def draw_times(self, bottom):
        last = -100
        for t in self.times:
            if self.x(t) - last > 78:
                last = self.x(t)
                self.line(last, TOP, last, bottom - 12, 'class="rule" stroke-dasharray="1 5"')
                self.text(last, bottom + 2, f'{t:.6f} s', 'small', 'middle')

    def draw_violation(self, bottom):
        if self.h.violation and self.h.violation[0] <= self.h.until:
            x = self.x(self.h.violation[0])
            self.line(x, TOP - 4, x, bottom - 12, 'class="bad"')
            self.text(x, TOP - 10, 'two holders' if 'is held by' in self.h.violation[1] else 'violation', 'badtext', 'middle')

    def draw_legend(self, y):
        words = 'thick bar: a client relies on the lock; thin bar: a master has its key; dashed arrow: a refusal; triangle: a fault. ' \
                'Time goes to the right, not to scale: long waits are shortened.'
        self.text(LEFT, y, words, 'small')

    def draw(self):
        bottom = TOP + 30 + len(self.lanes) * LANE
        for name in COLOURS:
            self.out.append(f'<marker id="{name}" markerWidth="7" markerHeight="7" refX="6" refY="3.5" orient="auto">'
                            f'<path d="M0 0L7 3.5L0 7z" fill="var(--{name})"/></marker>')
        self.draw_times(bottom)
        for who in self.lanes:
            self.draw_lane(who)
        for who, bars in sorted(self.h.keys.items()):
            for bar in bars if who in self.lanes else []:
                self.bar(who, bar, 10, '')
        for m in self.messages:
            self.draw_message(m)
        for belief in self.h.beliefs:
            owner = self.h.client[belief[2]]
            if owner in self.lanes:
                self.bar(owner, belief, 16, f'holds {self.h.key} with {short(belief[2])}')
        self.draw_faults()
        self.draw_violation(bottom)
        self.text(LEFT, 26, f'Lock {self.h.key} in {self.h.name}', 'title')
        if len(self.tokens) <= 6:
            self.text(LEFT, 46, ', '.join(f'{short(t)} of {self.h.client[t]}' for t in self.tokens), 'small')
        self.draw_legend(bottom + 26)
        return bottom + 40


def draw(trace, **window):
    p = Picture(History(trace, **window))
    height = p.draw()
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
            f'<title>{html.escape(p.h.name)}</title><style>{STYLE}</style>'
            f'<rect width="{WIDTH}" height="{height}" style="fill:var(--paper)"/>' + '\n'.join(p.out) + '</svg>\n')


def traced(program, seed, broken=None):
    words = [program, '--seed', str(seed), '--trace'] + (['--break', broken] if broken else [])
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False).stdout


def main():
    parser = argparse.ArgumentParser()
    for name in ['program', 'seed', 'file']:
        parser.add_argument(name)
    parser.add_argument('--break', dest='broken')
    parser.add_argument('--key')
    parser.add_argument('--since', type=float)
    parser.add_argument('--until', type=float)
    args = parser.parse_args()
    picture = draw(traced(args.program, args.seed, args.broken), key=args.key, since=args.since, until=args.until)
    try:
        with open(args.file, 'w', encoding='utf-8') as file:
            file.write(picture)
    except OSError as error:
        parser.error(f'the picture cannot be written: {error}')


if __name__ == '__main__':
    main()
