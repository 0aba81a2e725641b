#!/usr/bin/env python3
"""Write the tables of docs/performance.md: `document.py DOCUMENT FOLDER`, from FOLDER/WORD.json.

They are between the lines BEGIN and END, so that nobody copies a figure by hand. A workload without a file is said to be
not measured.
"""
import json
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import markdown
from columns import text
from machine import in_words
from plans import ALL, PLANS, SAME_FLOOR
from table import bound, fields_of, reached
import paper
import renewals

BEGIN = '<!-- Written by scripts/bench WORKLOAD --plot docs/performance. -->'
END = '<!-- The end of the tables. -->'
FLOORS = 'floor', SAME_FLOOR


def goals_table(results):
    goals = [(result, goal) for result in results for goal in result['goals']]
    return markdown.table([['what', 'goal', 'reached', '', 'command']] + [
        [goal['title'], bound(goal), reached(goal), 'yes' if goal['met'] else '**no**', f"`{result['command']}`"]
        for result, goal in goals], '---')


def cell(values, form):
    return '-' if values is None else form.format(values[0])


def figures_table(rows):
    fields = fields_of(rows)
    return markdown.table([['median', 'in flight'] + [title for _, title, _ in fields]] + [
        [f"{row['client']}, {row['place']}", str(row['in_flight'])] + [cell(row[field], form) for field, _, form in fields]
        for row in rows])


def floors_table(ratios):
    """libredlock divided by each floor; nothing where it was not compared with two of them."""
    rows = [row for row in ratios if row['other'][1] in FLOORS]
    if len({row['other'][1] for row in rows}) < len(FLOORS):
        return ''
    fields = fields_of(rows)
    return markdown.table([['libredlock / floor', 'in flight'] + [title for _, title, _ in fields]] + [
        [row['other'][1], str(row['in_flight'])] + [text(row[field], '{:.2f}') for field, _, _ in fields] for row in rows])


def section(result, folder_name):
    parts = [f"### {result['title'][0].upper()}{result['title'][1:]}\n",
             f"`{result['command']}`, {result['date']}: {in_words(result['machine'])}, {result['rounds']} "
             f"round{'s' if result['rounds'] > 1 else ''}.\n",
             f"![{result['title']}]({folder_name}/{result['word']}.svg)\n", figures_table(result['rows'])]
    if floors := floors_table(result['ratios']):
        parts.append(floors)
    if 'renewals' in result:
        parts.append(renewals.in_words(result['renewals']) + '.\n')
    if result.get('absent'):
        parts.append('Not measured: ' + '; '.join(f'{peer} ({why})' for peer, why in result['absent'].items()) + '.\n')
    if result['faults']:
        parts.append(''.join(f'- **Wrong**: {sentence}\n' for sentence in result['faults']))
    return '\n'.join(parts)


def on_paper(results):
    """What bounds a cycle here, and what masters on machines of their own would give; as far as it was measured."""
    found = {result['word']: result for result in results}
    if 'peers' not in found:
        return []
    peers, n = found['peers'], ALL
    parts = ['### Time and CPU per cycle\n', markdown.table(paper.bounds(peers)),
             f'### Estimate: {n} masters on {n} machines\n',
             'Computed from the CPU times above, without the cost of the network and its interrupts.\n']
    one, many = (paper.find(peers, 'libredlock', in_flight) for in_flight in (1, 64))
    fenced = paper.find(found['fenced'], 'libredlock, fenced', 64) if 'fenced' in found else None
    sentences = [paper.throughput(name, row, n) for name, row in (('Without a fencing token', many), ('With a fencing token', fenced)) if row]
    return parts + [''.join(sentences + ([paper.latencies(one, n)] if one else []))]


def tables(results, folder_name):
    missing = [word for word in PLANS if word not in [result['word'] for result in results]]
    parts = [goals_table(results), *on_paper(results), *(section(result, folder_name) for result in results)]
    if missing:
        parts.append('Not measured yet: ' + ', '.join(f'`scripts/bench {word}`' for word in missing) + '.\n')
    return '\n'.join(parts)


def replaced(page, path, tables_):
    return markdown.replaced(page, path, BEGIN, END, tables_)


def load(folder):
    paths = [os.path.join(folder, f'{word}.json') for word in PLANS]
    results = []
    for path in filter(os.path.exists, paths):
        with open(path, encoding='utf-8') as file:
            results.append(json.load(file))
    return results


def main(path, folder):
    with open(path, encoding='utf-8') as file:
        old = file.read()
    written = replaced(old, path, tables(load(folder), os.path.basename(os.path.normpath(folder))))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(written)


if __name__ == '__main__':
    main(*sys.argv[1:])
