"""The blocks of a document: fenced or indented, each with its language or the reason why it is not tested."""
import re

MARK = re.compile(r'<!-- not tested: (.+) -->')


class Block:
    def __init__(self, line, language, text, reason):
        self.line, self.language, self.text, self.reason = line, language, text, reason

    def __repr__(self):
        return f'line {self.line}, {self.language or "no language"}'


def reason_before(lines, at):
    """The mark is in the last line before the block that is not empty."""
    before = [line for line in lines[:at] if line.strip()]
    found = MARK.fullmatch(before[-1].strip()) if before else None
    return found.group(1) if found else None


def end_of_fence(lines, at):
    return next((end for end in range(at + 1, len(lines)) if lines[end].startswith('```')), len(lines))


def end_of_indented(lines, at):
    """An empty line is a part of the block when it goes on behind it."""
    end = at
    while end < len(lines) and (lines[end].startswith('    ') or not lines[end].strip()):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def blocks(markdown):
    lines, at = markdown.splitlines(), 0
    while at < len(lines):
        if lines[at].startswith('```'):
            end = end_of_fence(lines, at)
            yield Block(at + 1, lines[at][3:].strip(), '\n'.join(lines[at + 1:end]) + '\n',
                        reason_before(lines, at))
            at = end + 1
        elif lines[at].startswith('    ') and not (at and lines[at - 1].strip()):
            end = end_of_indented(lines, at)
            yield Block(at + 1, '', '\n'.join(line[4:] for line in lines[at:end]) + '\n',
                        reason_before(lines, at))
            at = end
        else:
            at += 1


def commands(text):
    """(command, what it prints) of a block `console`: a command begins with "$ ", goes on behind "> "."""
    found = []
    for line in text.splitlines():
        if line.startswith('$ '):
            found.append([line[2:], []])
        elif line.startswith('> ') and not found[-1][1]:
            found[-1][0] += '\n' + line[2:]
        else:
            found[-1][1].append(line)
    return found


def line_pattern(shown):
    """A line that is only a number, such as an exit status, is that number; "..." is any lines."""
    if shown.isdigit() or shown == '...':
        return f'{shown}\n' if shown.isdigit() else '(?:.*\n)*'
    words = re.split(r'(\.\.\.|\b[0-9a-f]{16,}\b|\d[\d.]*)', shown)
    return ''.join(re.escape(word) if at % 2 == 0 else '.*' if word == '...' else
                   '[0-9a-f]+' if len(word) >= 16 else r'\d[\d.]*' for at, word in enumerate(words)) + '\n'


def plain(text):
    """Spaces that align columns do not count."""
    return ''.join(re.sub(' +', ' ', line).strip() + '\n' for line in text.strip().splitlines())


def differs(shown, printed):
    """In what is shown, numbers and tokens are any, and "..." is any text."""
    shown, printed = plain(shown), plain(printed)
    expression = ''.join(line_pattern(line) for line in shown.splitlines())
    return [] if re.fullmatch(expression, printed) else [f'shown:\n{shown}printed:\n{printed}']
