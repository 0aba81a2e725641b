#!/usr/bin/env python3
"""Writes the history of a section for other checkers: `convert.py [--knossos FILE] [--porcupine FILE] SECTION`.

Both get the acquires and releases of the fenced locks of one key, and the reads and writes of the registers, as the
checks `mutex` and `register` take them. README.md says how to load them.
"""
import argparse
import collections
import heapq
import json
import math
import sys

from judge_exclusion import GRACE_US, calls_of, fenced_by_key
from judge_history import Unreadable, read
from judge_register import by_register, call_of, final_call

# `object` is mutex or register, `key` the name of the key or of the register. `who` is the lock, or the process that
# reads or writes. `status`: ok, fail (an acquire), refused (a register), unknown. `returned` is None if it never did.
Entry = collections.namedtuple('Entry', 'object key f who fence value status call returned')


def entries_of_hold(key, call):
    kind, hold, _ = call.what
    returned = call.returned if call.returned < math.inf else None
    for f in ('acquire', 'release') if kind == 'pass' else (kind,):
        yield Entry('mutex', key, f, f'{hold.p}/{hold.lock}', hold.fence, None, 'ok', call.call, returned)


def entries_without_hold(history):
    """Acquires that failed, or were not answered."""
    for operation in history.operations.values():
        if operation.what == 'acquire' and operation.status != 0 and len(operation.asked['keys']) == 1:
            status = 'fail' if operation.answer else 'unknown'
            yield Entry('mutex', operation.asked['keys'][0], 'acquire', f"{operation.p}/op {operation.asked['op']}", 0,
                        None, status, operation.call, operation.returned if operation.answer else None)


def entries_of_registers(history):
    for name, operations in by_register(history).items():
        calls = [(operation.p, call_of(operation)) for operation in operations]
        calls += [('driver', call) for call in final_call(history, name)]
        for p, call in calls:
            f, fence, value, status = call.what
            yield Entry('register', name, f, p, fence, value, status, call.call, call.returned if call.certain else None)


def entries(history):
    found = list(entries_without_hold(history)) + list(entries_of_registers(history))
    for key, holds in fenced_by_key(history).items():
        for hold in holds:
            for call in calls_of(hold, history.max_ttl + GRACE_US):
                found += entries_of_hold(key, call)
    return sorted(found, key=lambda entry: (entry.call, entry.key))


def numbered(found):
    """(number, entry): a number has one call at a time, and none after one that never returned."""
    busy, free, most = [], [], 0
    for entry in found:
        while busy and busy[0][0] < entry.call:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            heapq.heappush(free, most)
            most += 1
        number = heapq.heappop(free)
        if entry.returned is not None:
            heapq.heappush(busy, (entry.returned, number))
        yield number, entry


def ns(t):
    return round(t * 1000)


# ---- Porcupine ----

def porcupine(found):
    """JSON lines. What never returned returns after everything else."""
    last = max([entry.returned or entry.call for entry in found], default=0) + 1
    for number, entry in numbered(found):
        yield json.dumps({
            'ClientId': number,
            'Input': {'object': entry.object, 'key': entry.key, 'f': entry.f, 'who': entry.who, 'fence': entry.fence,
                      'value': entry.value if entry.f == 'write' else None},
            'Call': ns(entry.call),
            'Output': {'status': entry.status, 'value': None if entry.f == 'write' else entry.value},
            'Return': ns(last if entry.returned is None else entry.returned)})


# ---- Knossos ----

TYPES = {'ok': 'ok', 'fail': 'fail', 'refused': 'ok', 'unknown': 'info'}


def edn(value):
    if value is None:
        return 'nil'
    if isinstance(value, dict):
        return '{' + ', '.join(f':{name} {edn(one)}' for name, one in value.items()) + '}'
    return json.dumps(value) if isinstance(value, str) and not value.startswith(':') else str(value)


def events(found):
    """(time, 0 for a call or 1 for a return, number, entry) in their order; what never returned, last."""
    happened = []
    for order, (number, entry) in enumerate(numbered(found)):
        happened.append((entry.call, 0, order, number, entry))
        happened.append((math.inf if entry.returned is None else entry.returned, 1, order, number, entry))
    return [(t, kind, number, entry) for t, kind, _, number, entry in sorted(happened, key=lambda one: one[:3])]


def value_of(entry, is_return):
    """Of an acquire the token is known when it returns; of a read the value and the status."""
    if entry.object == 'mutex':
        known = is_return and entry.status == 'ok' or entry.f == 'release'
        return {'who': entry.who, 'fence': entry.fence} if known else None
    value = {'who': entry.who, 'fence': entry.fence}
    if entry.f == 'write' or is_return:
        value['value'] = entry.value
    if is_return:
        value['status'] = ':' + entry.status
    return value


def knossos(found):
    """A history of Jepsen, one map a line."""
    last = max([entry.returned or entry.call for entry in found], default=0) + 1
    for index, (t, kind, number, entry) in enumerate(events(found)):
        yield edn({'process': number, 'type': ':' + (TYPES[entry.status] if kind else 'invoke'), 'f': ':' + entry.f,
                   'value': value_of(entry, kind == 1), 'time': ns(min(t, last)), 'index': index,
                   'object': ':' + entry.object, 'key': entry.key})


def write(path, lines):
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(line + '\n' for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--knossos', metavar='FILE')
    parser.add_argument('--porcupine', metavar='FILE')
    parser.add_argument('section', metavar='SECTION')
    options = parser.parse_args()
    try:
        found = entries(read(options.section))
    except Unreadable as error:
        print(f'convert: {error}', file=sys.stderr)
        return 2
    if options.knossos:
        write(options.knossos, knossos(found))
    if options.porcupine:
        write(options.porcupine, porcupine(found))
    return 0


if __name__ == '__main__':
    sys.exit(main())
