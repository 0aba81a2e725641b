"""Checks of the registers: each is linearizable, and counts one up for each write."""
import collections
import math

import linear


def by_register(history):
    found = collections.defaultdict(list)
    for operation in history.operations.values():
        if operation.what in ('read', 'write'):
            found[operation.asked['register']].append(operation)
    return found


def is_known(operation):
    return operation.status in ('ok', 'refused')


def call_of(operation):
    value = operation.asked['value'] if operation.what == 'write' else (operation.answer or {}).get('value')
    status = operation.status if is_known(operation) else 'unknown'
    return linear.Call(operation.call, operation.returned if is_known(operation) else math.inf,
                       (operation.what, operation.asked['fence'], value, status), is_known(operation),
                       f'{operation} of {operation.p}')


def final_call(history, name):
    """The value at the end, if the driver has seen it."""
    line = history.registers
    if line is None or name not in line['values']:
        return []
    return [linear.Call(line['t'], line['t'], ('final', 0, int(line['values'][name]), 'ok'), True,
                        f"the value at the end ({line['values'][name]})")]


def register(history):
    """Each register is linearizable: it refuses smaller tokens, and a read returns what was written before."""
    for name, operations in by_register(history).items():
        calls = [call_of(operation) for operation in operations] + final_call(history, name)
        bad, pairs = linear.search(linear.Register, calls)
        history.figures['states searched'] += pairs
        if bad:
            call, before = bad
            states = ', '.join(f'{value} under {fence}' for fence, value in sorted(before)[:4])
            yield (call.returned, call.name.rpartition(' of ')[2],
                   f'{name} is not linearizable at {call.name}, {call.what}: before it {states}')


def misread(operations):
    """(write, why): it did not write one more than its holder had read."""
    read = {}
    for operation in sorted(operations, key=lambda one: one.call):
        where = operation.p, operation.asked['fence']
        if operation.what == 'read' and operation.status == 'ok':
            read[where] = operation
        elif operation.what == 'write':
            before = read.get(where)
            if before is None or before.returned > operation.call:
                yield operation, 'nothing was read before'
            elif operation.asked['value'] != before.answer['value'] + 1:
                yield operation, f"{before.answer['value']} was read before"


def written_twice(operations):
    seen = {}
    for operation in sorted(operations, key=lambda one: one.call):
        if operation.what == 'write' and operation.status == 'ok':
            value = operation.asked['value']
            if value in seen:
                yield operation, f'{seen[value].p} wrote it already'
            seen.setdefault(value, operation)


def updates(history):
    """A holder writes what it read plus one, and nobody writes a value that somebody has written."""
    for name, operations in by_register(history).items():
        for operation, why in [*misread(operations), *written_twice(operations)]:
            yield operation.call, operation.p, f"{operation} of {name} writes {operation.asked['value']}, but {why}"
