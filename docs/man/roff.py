"""roff.py - text of comments in the language of man pages."""
import re

TERM = re.compile(r'^([\w.,:*+-]+(?: [\w.,:*+-]+)*)(?: {2,})(\S.*)$')
ITEM = re.compile(r'^ *(-|\d+\.) +(.*)$')


def title(name):
    return f'.TH {name} 3 2026-11-23 "libredlock 0.1" "libredlock"'


def text(line):
    line = line.replace('\\', '\\e').replace("'", '\\(aq').replace('`', '\\(ga').replace('^', '\\(ha')
    line = line.replace('~', '\\(ti')
    line = re.sub(r'(?<![\w-])-(?=[\w-])|--', lambda found: found[0].replace('-', '\\-'), line)
    return re.sub(r'\b(redlock_\w+|event_base_\w+)\(\)', r'\\fB\1\\fP()', line)


def line_of(words):
    """A line of text may not begin as a request does."""
    words = text(words)
    return '\\&' + words if words[:1] in ('.', "'") else words


def word(words):
    return '"' + text(words).replace('"', '\\(dq') + '"'


def code(body):
    """As it stands."""
    if not body:
        return []
    lines = [line.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('`', '\\(ga')
             .replace('^', '\\(ha').replace('~', '\\(ti') for line in body.split('\n')]
    return ['.nf'] + [('\\&' if line[:1] in ('.', '\\') else '') + line for line in lines] + ['.fi']


def term(words):
    return ['.TP', f'.B {word(words)}']


def also(words):
    """One more term for the text of the last one."""
    return ['.TQ', f'.B {word(words)}']


def is_shown(lines):
    """Whether a paragraph is a drawing, a table or a program, and not to be filled."""
    return all(line.startswith('  ') for line in lines) and not ITEM.match(lines[0])


def terms(lines):
    """`name   what it is`, and lines that go on below the text: its parts, or None."""
    parts = []
    for line in lines:
        found = TERM.match(line)
        if found and not line.startswith(' '):
            parts.append([found[1], found[2]])
        elif parts and line.startswith('   '):
            parts[-1][1] += ' ' + line.strip()
        else:
            return None
    return parts


def listed(lines):
    out = []
    for line in lines:
        found = ITEM.match(line)
        if found:
            out += [f'.IP {chr(92)}(bu 3' if found[1] == '-' else f'.IP {found[1]} 4']
        out.append(line_of(found[2] if found else line.strip()))
    return out


def filled(lines):
    """Text, with what begins a list in the middle of it."""
    for i, line in enumerate(lines):
        if ITEM.match(line) and (i or line.startswith((' ', '-'))):
            return [line_of(one.strip()) for one in lines[:i]] + listed(lines[i:])
        if i and line.startswith('    ') and not lines[i - 1].startswith('    '):
            rest = [one for one in lines[i:] if one.startswith('    ')]
            behind = lines[i + len(rest):]
            return ([line_of(one.strip()) for one in lines[:i]] + code('\n'.join(rest)) +
                    (filled(behind) if behind else []))
    return [line_of(one.strip()) for one in lines]


def paragraph(lines):
    if is_shown(lines):
        return code('\n'.join(lines))
    parts = terms(lines)
    if parts:
        return [line for name, rest in parts for line in term(name) + [line_of(rest)]]
    return filled(lines)


def paragraphs(body):
    for block in re.split(r'\n *\n', body.strip('\n')):
        if block.strip():
            yield block.split('\n')


def prose(body):
    return [line for lines in paragraphs(body) for line in ['.PP'] + paragraph(lines)]


def marked(body):
    """The text of a term: its further paragraphs are as far to the right."""
    out = []
    for i, lines in enumerate(paragraphs(body)):
        made = paragraph(lines)
        first = next((at for at, line in enumerate(made) if re.match(r'\.[IT]P', line)), None)
        if first is not None:
            made = made[:first] + ['.RS'] + made[first:] + ['.RE']
        out += (['.IP'] if i else []) + made
    return out or ['\\&']


def tidy(lines):
    """Without a paragraph that nothing follows: a heading, a list or a term begins one itself."""
    out = []
    for line in lines:
        if out and out[-1] == '.PP' and re.match(r'\.(SH|SS|TP|IP|PP)', line):
            out.pop()
        if line == '.PP' and out and re.match(r'\.(SH|SS)', out[-1]):
            continue
        out.append(line)
    return out
