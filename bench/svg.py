"""Drawing figures as an SVG: panels in which each series has a mark of its own, so that no colour is needed."""
import html
import math

TOP, BOTTOM = 70, 330
COLOURS = ['#c0392b', '#e6a39b', '#7f8c8d', '#34495e', '#2980b9', '#85c1e9', '#27ae60', '#a9dfbf', '#8e44ad']
STYLE = ('text{font:13px sans-serif;fill:#222}.small{font-size:11px;fill:#555}.title{font-size:15px;font-weight:bold}'
         '.axis{stroke:#999}.grid{stroke:#e5e5e5}')

# Around 0, 0; every second time round the marks are hollow.
MARKS = ['M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z', 'M-4-4h8v8h-8z', 'M0-5.5L5 4H-5z', 'M0-6L5 0L0 6L-5 0z', 'M0 5.5L5-4H-5z']


def element(name, content=None, **attributes):
    words = ''.join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items())
    return f'<{name}{words}/>' if content is None else f'<{name}{words}>{html.escape(content)}</{name}>'


def text(x, y, content, **attributes):
    return element('text', content, x=round(x, 1), y=round(y, 1), **attributes)


def line(x1, y1, x2, y2, **attributes):
    return element('line', x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1), **attributes)


def mark(x, y, i):
    """The mark of series number i."""
    colour, hollow = COLOURS[i % len(COLOURS)], i // len(MARKS) % 2
    return element('path', d=MARKS[i % len(MARKS)], transform=f'translate({x:.1f} {y:.1f})',
                   fill='#fff' if hollow else colour, stroke=colour, stroke_width=1.5)


def linear(most):
    """A scale from 0, and its marks."""
    step = 10 ** math.floor(math.log10(most))
    step = step / 2 if most / step < 3 else step
    top = math.ceil(most / step) * step
    marks = [step * i for i in range(round(top / step) + 1)]
    return lambda value: BOTTOM - (BOTTOM - TOP) * value / top, marks


def logarithmic(least, most):
    """A scale of powers of ten, and its marks."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    high = max(high, low + 1)
    return (lambda value: BOTTOM - (BOTTOM - TOP) * (math.log10(value) - low) / (high - low),
            [10.0 ** i for i in range(low, high + 1)])


def panel(area, title, axis, scale, marks, series, columns):
    """series: [{column: (median, least, most)}]; each has its place in the column, so that none hides another. A mark is
    the median; a bar goes from the least to the most."""
    left, right = area
    step = (right - left) / len(columns)
    out = [text(left, TOP - 18, title, class_='title')]
    for value in marks:
        out += [line(left, scale(value), right, scale(value), class_='grid'),
                text(left - 8, scale(value) + 4, f'{value:g}' if value < 1e5 else f'{value:,.0f}', text_anchor='end',
                     class_='small')]
    for place, column in enumerate(columns):
        middle = left + step * (place + 0.5)
        out.append(text(middle, BOTTOM + 18, str(column), text_anchor='middle'))
        for i, values in enumerate(series):
            if column in values:
                x = middle + (i - (len(series) - 1) / 2) * step * 0.8 / len(series)
                median, least, most = (scale(value) for value in values[column])
                out += [line(x, least, x, most, stroke=COLOURS[i % len(COLOURS)], stroke_width=3, stroke_opacity=0.45),
                        mark(x, median, i)]
    return out + [line(left, BOTTOM, right, BOTTOM, class_='axis'),
                  text((left + right) / 2, BOTTOM + 38, axis, text_anchor='middle', class_='small')]


def legend(names):
    out = []
    for i, name in enumerate(names):
        x, y = 70 + 300 * (i % 3), BOTTOM + 70 + 22 * (i // 3)
        out += [mark(x, y - 4, i), text(x + 12, y, name)]
    return out


def picture(width, height, heading, parts):
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<style>{STYLE}</style>', element('rect', width=width, height=height, fill='#fff'),
        text(70, 24, heading, class_='small'), *parts, '</svg>', ''])
