"""A picture of a workload's figures."""
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from machine import in_words
from plans import PLANS
from svg import legend, linear, logarithmic, panel, picture

HEIGHT, PANEL_WIDTH, GAP = 470, 400, 90
AXES = {'in_flight': 'cycles in flight', 'place': 'masters'}


def name_of(row, rows, along):
    """Of the series of a row: without what all rows have, and without what the columns are."""
    places = {other['place'] for other in rows} if along != 'place' else {row['place']}
    clients = {other['client'] for other in rows}
    words = [row['client']] * (len(clients) > 1) + [row['place']] * (len(places) > 1)
    return ', '.join(words) or row['client']


def drawn(number, shape, rows, names, along):
    """Panel number `number`."""
    shown = [row for row in rows if shape.shown(row) and row[shape.field] and row[shape.field][1] > 0]
    if not shown:
        return []
    columns = list(dict.fromkeys(row[along] for row in shown))
    series = [{row[along]: row[shape.field] for row in shown if name_of(row, rows, along) == name} for name in names]
    values = [value for row in shown for value in row[shape.field]]
    scale = logarithmic(min(values), max(values)) if shape.logarithmic else linear(max(values))
    left = 70 + number * (PANEL_WIDTH + GAP)
    return panel((left, left + PANEL_WIDTH), shape.title, AXES[along], *scale, series, columns)


def draw(result):
    plan, rows = PLANS[result['word']](), result['rows']
    names = list(dict.fromkeys(name_of(row, rows, plan.along) for row in rows))
    parts = [part for i, shape in enumerate(plan.panels) for part in drawn(i, shape, rows, names, plan.along)]
    heading = f"{result['command']}, {result['date']}: {in_words(result['machine'])}; {result['rounds']} rounds"
    return picture(max(2, len(plan.panels)) * (PANEL_WIDTH + GAP) + 20, HEIGHT, heading, parts + legend(names))
