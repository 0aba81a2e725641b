#!/usr/bin/env python3
"""The table of docs/acl.md says what src/doctor/rights.c does: `acl.py ROOT`."""
import os
import re
import sys

from tap import Tap

ROW_OF_CODE = re.compile(r'\{REDLOCK_RIGHT_\w+, REDLOCK_(\w+), "([^"]*)",\s*"([^"]*)",\s*"([^"]*)"\}')
ROW_OF_DOC = re.compile(r'^\| ([A-Z][A-Z ]*|channel [a-z_:]+) \| `([+&][^`]*)` \| (\w+) \| ([^|]*) \|$', re.MULTILINE)


def rows_of_code(text):
    return {command: (acl, severity.lower(), cost)
            for severity, command, acl, cost in ROW_OF_CODE.findall(text)}


def rows_of_doc(text):
    return {command: (acl, severity, cost) for command, acl, severity, cost in ROW_OF_DOC.findall(text)}


def differences(code, doc):
    for command in sorted(code.keys() | doc.keys()):
        if code.get(command) != doc.get(command):
            yield f'{command}: the code has {code.get(command)}, docs/acl.md {doc.get(command)}'


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as text:
        return text.read()


def main(root):
    tap = Tap()
    code = rows_of_code(read(root, 'src/doctor/rights.c'))
    tap.claim('the rights of the code were found', [] if len(code) >= 20 else [str(code)])
    tap.claim('docs/acl.md has the same', differences(code, rows_of_doc(read(root, 'docs/acl.md'))))
    tap.fires('another cost', differences({'SET': ('+set', 'fine', 'a')}, {'SET': ('+set', 'fine', 'b')}), 'SET')
    tap.fires('a right too few', differences({'SET': ('+set', 'fine', 'a')}, {}), 'SET')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
