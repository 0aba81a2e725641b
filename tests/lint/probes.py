#!/usr/bin/env python3
"""The probes of the library: `probes.py READELF ROOT LIBREDLOCK [none]`.

Each kind of redlock/trace.h is a probe of that name, with the arguments that the header promises,
and all probes share one counter of listeners. Those in docs/operations.md exist. With `none` (built without <sys/sdt.h>) there must be
no probes.
"""
import os
import re
import subprocess
import sys

from tap import Tap

ARGUMENTS = 8


def kinds(header):
    body = header.split('enum redlock_trace_kind {', 1)[1].split('};', 1)[0]
    return {name.lower() for name in re.findall(r'^\s*REDLOCK_TRACE_(\w+) = ', body, re.MULTILINE)}


def notes(text):
    """(name, semaphore, number of arguments) of each probe of ours."""
    found = re.findall(r'Provider: redlock\n\s*Name: (\w+)\n.*Semaphore: (\w+)\n\s*Arguments: (.*)',
                       text)
    return [(name, semaphore, len(arguments.split())) for name, semaphore, arguments in found]


def missing(wanted, found):
    names = {name for name, _, _ in found}
    yield from (f'{name} is in the header, and no probe' for name in sorted(wanted - names))
    yield from (f'{name} is a probe, and not in the header' for name in sorted(names - wanted))


def odd(found):
    yield from (f'{name} has {n} arguments' for name, _, n in found if n != ARGUMENTS)
    counters = {semaphore for _, semaphore, _ in found}
    if len(counters) != 1 or int(min(counters), 16) == 0:
        yield f'they have these counters: {sorted(counters)}'


def unknown(document, wanted):
    """Probes that the document tells bpftrace to use."""
    for name in sorted(set(re.findall(r'usdt:\S+:redlock:(\w+)', document)) - wanted):
        yield f'the document uses the probe {name}, which does not exist'


def main(readelf, root, library, none=''):
    tap = Tap()
    with open(os.path.join(root, 'include', 'redlock', 'trace.h'), encoding='utf-8') as header:
        wanted = kinds(header.read())
    with open(os.path.join(root, 'docs', 'operations.md'), encoding='utf-8') as document:
        tap.claim('the probes in docs/operations.md exist', unknown(document.read(), wanted))
    text = subprocess.run([readelf, '-n', library], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    found = notes(text)
    if none:
        tap.claim('built without <sys/sdt.h>: there are no probes', [f[0] for f in found])
    else:
        tap.claim('each kind of redlock/trace.h is a probe', missing(wanted, found))
        tap.claim('all have the same arguments and one counter', odd(found))
    tap.fires('a kind that is no probe', missing({'sent'}, []), 'sent')
    tap.fires('a probe of old in the document', unknown("-e 'usdt:/l.so:redlock:answered {", {'replied'}), 'answered')
    tap.fires('an argument too few', odd([('sent', '0x10', 7)]), 'sent has 7')
    tap.fires('a probe that costs time when it is not used', odd([('sent', '0x0', 8)]), 'counters')
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
