"""declarations.py - what a public header declares, and the comments on it."""
import re
import textwrap

BANNER = re.compile(r'^-+ (.*?) -+$')


class Item:
    """What one comment is about: a function, or several, a type, constants."""

    def __init__(self, comment, code):
        self.comment = comment
        self.codes = [code]

    def functions(self):
        return [name for code in self.codes for name in [function_of(code)] if name]

    def title(self):
        names = [f'{name}()' for name in self.functions()] or [name_of(code) for code in self.codes]
        return ', '.join(dict.fromkeys(names))


def function_of(code):
    found = re.search(r'\b(redlock_\w+)\(', code)
    return found[1] if found and not re.match(r'typedef|#|(struct|enum) \w+ \{', code) else None


def name_of(code):
    found = (re.match(r'(?:struct|enum) \w+', code) or re.search(r'\bredlock_\w+(?=\()', code) or
             re.search(r'\bREDLOCK_\w+', code))
    return found[0]


def text_of(comment):
    lines = comment[2:-2].split('\n')
    return '\n'.join(re.sub(r'^ *\*? ?', '', line, count=1) if i else line.strip()
                     for i, line in enumerate(lines)).strip()


def end_of(text, at):
    """Where the declaration that begins there ends."""
    depth = 0
    for found in re.compile(r'/\*.*?\*/|[{};]', re.DOTALL).finditer(text, at):
        depth += {'{': 1, '}': -1}.get(found[0], 0)
        if depth == 0 and (found[0] == ';' or found[0] == '}' and text.startswith('static', at)):
            return found.end()
    raise ValueError(f'no end: {text[at:at + 60]}')


def declaration(code):
    """As the reader wants to see it: nothing of linkage, and no body of a function."""
    code = re.sub(r'^REDLOCK_EXPORT |^static inline ', '', code)
    if function_of(code):
        code = re.sub(r'\s+', ' ', re.sub(r'\s*\{.*\}$', ';', code, flags=re.DOTALL))
        code = code.replace(' ', '\0').replace(',\0', ', ') # break it between arguments only
        code = '\n'.join(textwrap.wrap(code, 78, subsequent_indent='    ')).replace('\0', ' ')
    return code


def read(path):
    """Returns the comment of the file, and the items: an Item, or the text of a heading."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    text = re.sub(r'^#ifdef __cplusplus\n.*?^#endif\n', '', text, flags=re.DOTALL | re.MULTILINE)
    head, at, comment, items = None, 0, None, []
    while found := re.compile(r'\S').search(text, at):
        at = found.start()
        if text.startswith('/*', at):
            end = text.index('*/', at) + 2
            comment, at = text_of(text[at:end]), end
            if head is None:
                head, comment = comment, None
            elif banner := BANNER.match(comment):
                items.append(banner[1])
                comment = None
            continue
        end = text.index('\n', at) if text[at] == '#' else end_of(text, at)
        code, at = text[at:end], end
        if re.match(r'#(?!define \w+ )|(struct|enum) \w+;', code):
            continue
        is_type = re.match(r'(struct|enum) ', code)
        if comment is None and not is_type and items and isinstance(items[-1], Item):
            items[-1].codes.append(declaration(code))
        else:
            items.append(Item(comment or '', declaration(code)))
        comment = None
    return re.sub(r'^redlock/\w+\.h - ', '', head), items


def split(body):
    """The parts of a struct or an enum: comments, and declarations with what is behind them."""
    pattern = re.compile(r'/\*.*?\*/|(?:\([^()]*\)|[^,;/(])+[,;]?(?:[ ]*/\*.*?\*/)?', re.DOTALL)
    return [part.strip() for part in pattern.findall(body) if part.strip()]


def members(code):
    """The fields of a struct, or the values of an enum: (heading, [declarations], text). A comment behind
    one is about that one; a comment before some that have none behind is about these."""
    above, found, shared = None, [], False
    for part in split(code[code.index('{') + 1:code.rindex('}')]):
        if part.startswith('/*'):
            above = text_of(part)
            continue
        entry, _, behind = part.partition('/*')
        entry = re.sub(r'\s+', ' ', entry).strip().rstrip(',;')
        if behind:
            found.append((above or '', [entry], text_of('/*' + behind)))
        elif above is None and shared:
            found[-1][1].append(entry)
        else:
            found.append(('', [entry], above or ''))
        # That of a size is about nothing else.
        shared = not behind and (shared if above is None else not above.startswith('sizeof('))
        above = None
    return found
