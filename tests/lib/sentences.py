"""The lines of redlock_trace_line(), read back: by the table in src/lock/trace_line.c."""
import os
import re

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      '..', '..', 'src', 'lock', 'trace_line.c')

MARKS = {
    'k': r'\S+', 't': r't([0-9a-f]{8}|\?)', 'x': r'.+', 'm': r'\d+', 'u': r'\d+\.\d{3}',
    'r': r'\d+', 's': r'[A-Z]+', 'f': r'\d+', 'a': r"[a-z' ]+", 'N': r'n\d+( n\d+)*',
    'n': r'(n\d+ )?',
}

LINE = re.compile(r' *\d+\.\d{6}  (?P<who>c\d+(\.\d+|-n\d+)?) +(?P<what>.*)')


def pattern(sentence):
    parts = re.split(r'(%.|\[|\])', sentence)
    return ''.join('(' if part == '[' else ')?' if part == ']' else
                   MARKS[part[1]] if part.startswith('%') else re.escape(part) for part in parts)


def sentences():
    with open(SOURCE, encoding='utf-8') as source:
        text = source.read().split('/* ---- writing ---- */')[0]
    found = re.findall(r'= "([^"]*)"', text) + re.findall(r'[?:] "([^"]*)"', text)
    return [sentence for sentence in found if ' ' in sentence or sentence.islower()]


KNOWN = re.compile('|'.join(f'(?:{pattern(sentence)})' for sentence in sentences()))


def is_sentence(what):
    return KNOWN.fullmatch(what) is not None


def strangers(lines):
    """Those that are no line of the library."""
    for line in lines:
        match = LINE.fullmatch(line)
        if not match or not is_sentence(match['what']):
            yield line
