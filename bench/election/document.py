#!/usr/bin/env python3
"""Write the tables of elections in docs/comparison.md: `document.py DOCUMENT FILE`, from `scripts/bench election --json FILE`."""
import json
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import markdown
from machine import in_words
from table import FIGURES, of, remarks, row, systems_of

BEGIN = '<!-- Written by bench/election/document.py. -->'
END = '<!-- The end of the tables of elections. -->'
TITLES = {None: 'All servers up', 'stopped': 'Two of five masters stopped; one of three members of etcd and ZooKeeper'}


def trials_table(trials):
    heads = ['program'] + [' '.join(title) for _, _, title, _ in FIGURES] + ['two at once']
    systems = systems_of(trials)
    notes = [f'- {remark}\n' for system in systems for remark in remarks(system, of(trials, system=system))]
    return '\n'.join([markdown.table([heads] + [row(system, of(trials, system=system)) for system in systems]),
                      *([''.join(notes)] if notes else [])])


def tables(result):
    about = result['machine']
    parts = [f"{in_words(about)}; {', '.join(about['versions'])}; TTL {about['ttl_s']} s; {about['rounds']} rounds.\n"]
    for trouble, title in TITLES.items():
        parts += [f'**{title}**\n', trials_table(of(result['trials'], trouble=trouble))]
    parts += [''.join(f'- Left out: {name}\n' for name in result['left_out'])] if result['left_out'] else []
    return '\n'.join(parts)


def main(document, path):
    with open(path, encoding='utf-8') as file:
        markdown.rewrite(document, BEGIN, END, tables(json.load(file)))


if __name__ == '__main__':
    main(*sys.argv[1:])
