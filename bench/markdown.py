"""Tables in a document, between two lines that stay: so nobody copies a figure by hand."""
import sys


def table(lines, others='---:'):
    """others: how the columns after the first one are aligned."""
    rows = [list(line) for line in lines]
    rows.insert(1, ['---'] + [others] * (len(rows[0]) - 1))
    return ''.join(f'| {" | ".join(row)} |\n' for row in rows)


def replaced(text, path, begin, end, tables):
    """The text of the document `path` with these tables between its lines `begin` and `end`."""
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        sys.exit(f'{path} has no place for the tables, between\n{begin}\n{end}')
    return f'{before}{begin}\n\n{tables}\n{end}{after}'


def rewrite(path, begin, end, tables):
    with open(path, encoding='utf-8') as file:
        written = replaced(file.read(), path, begin, end, tables)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(written)
