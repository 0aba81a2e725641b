"""A strict reader of the text format of Prometheus, version 0.0.4.

    page = Page(text)
    page.mistakes                       # what a strict reader refuses
    page.value('redlock_held', name='k')
"""
import math
import re

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf'({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)')
ESCAPES = {'\\\\': '\\', '\\"': '"', '\\n': '\n'}


def labels_of(text):
    return {name: re.sub(r'\\[\\"n]', lambda m: ESCAPES[m.group()], value)
            for name, value in re.findall(LABEL, text or '')}


def number(text):
    if text in ('+Inf', '-Inf', 'NaN'):
        return float(text)
    return float(text) if re.fullmatch(r'-?[0-9]+(\.[0-9]+)?', text) else math.nan


class Page:
    def __init__(self, text):
        self.mistakes, self.types, self.helped, self.samples = [], {}, set(), {}
        self.family = None
        if not text.endswith('\n'):
            self.mistakes.append('the last line has no end')
        for line in text.splitlines():
            self.read(line)
        for name, kind in self.types.items():
            self.check(name, kind)

    def value(self, name, /, **labels):
        return self.samples.get((name, tuple(sorted(labels.items()))))

    def names(self):
        """All names that a query may use."""
        return {name for name, _ in self.samples}

    def wrong(self, what, line):
        self.mistakes.append(f'{what}: {line}')

    def read(self, line):
        begin = re.fullmatch(rf'# (HELP|TYPE) ({NAME}) (.+)', line)
        sample = SAMPLE.fullmatch(line)
        if begin and begin.group(1) == 'HELP':
            self.begin(begin.group(2), line)
        elif begin:
            self.set_type(begin.group(2), begin.group(3), line)
        elif sample:
            self.add(sample.group(1), labels_of(sample.group(2)), number(sample.groups()[-1]), line)
        else:
            self.wrong('not the format', line)

    def begin(self, name, line):
        if name in self.helped:
            self.wrong('a family in two parts', line)
        self.helped.add(name)
        self.family = name

    def set_type(self, name, kind, line):
        if name in self.types or name != self.family:
            self.wrong('a TYPE without its HELP', line)
        if kind not in ('counter', 'gauge', 'histogram'):
            self.wrong('no type', line)
        self.types[name] = kind

    def add(self, name, labels, value, line):
        kind = self.types.get(self.family)
        suffixes = ['_bucket', '_sum', '_count'] if kind == 'histogram' else ['']
        key = (name, tuple(sorted(labels.items())))
        if kind is None or name not in [self.family + suffix for suffix in suffixes]:
            self.wrong('a sample outside its family', line)
        if math.isnan(value):
            self.wrong('no number', line)
        if key in self.samples:
            self.wrong('a sample that is there twice', line)
        self.samples[key] = value

    def check(self, name, kind):
        if (kind == 'counter') != name.endswith('_total'):
            self.wrong('a counter ends with _total, and nothing else does', name)
        if kind == 'histogram':
            for labels in {key for sample, key in self.samples if sample == name + '_count'}:
                self.check_histogram(name, labels)

    def check_histogram(self, name, labels):
        rows = [(number(dict(key)['le']), value) for (sample, key), value in self.samples.items()
                if sample == name + '_bucket' and 'le' in dict(key)
                and tuple(pair for pair in key if pair[0] != 'le') == labels]
        bounds, counts = [row[0] for row in rows], [row[1] for row in rows]
        if bounds != sorted(set(bounds)) or not bounds or bounds[-1] != math.inf:
            self.wrong('the bounds do not grow up to +Inf', f'{name} {labels}')
        if counts != sorted(counts) or counts[-1:] != [self.samples.get((name + '_count', labels))]:
            self.wrong('the buckets do not grow up to the count', f'{name} {labels}')
        if (name + '_sum', labels) not in self.samples:
            self.wrong('no sum', f'{name} {labels}')
