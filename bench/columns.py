"""Rows of figures, one below the other."""


def text(values, form):
    """values: median, least and most, or None."""
    if values is None:
        return '-'
    middle, least, most = (form.format(value) for value in values)
    return middle if least == most else f'{middle} ({least}–{most})'


def print_rows(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print('  '.join([line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])])
              .rstrip())
