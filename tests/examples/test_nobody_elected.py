#!/usr/bin/env python3
"""The example of a daemon that is elected: a worker that hangs, and masters that cannot be reached.
$REDLOCK: the command. $EXAMPLES: the example in C and in C++. $HANGS: the one in C, whose first step hangs."""
import os
import subprocess
import sys

from daemons import Daemons
from lib import Tap, run_in_sandbox

BOUND_S = 30


def hangs():
    """The worker hangs, and the main loop runs on: the leader is demoted within its ttl."""
    with Daemons(os.environ['HANGS']) as daemons:
        daemons.start('anna')
        for line in ('anna elected, term .*', 'anna demoted: renewal has stopped.*'):
            if daemons.lines.wait_for(line) is None:
                yield f'it did not say {line}'


def says(program, nodes, *texts):
    """Which of these texts the program does not print to stderr."""
    missing, said = set(texts), []
    process = subprocess.Popen([program, 'anna'], stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, REDLOCK_NODES=nodes))
    for printed in process.stderr:
        said.append(printed)
        missing = {text for text in missing if text not in printed}
        if not missing:
            break
    process.terminate()
    try:
        process.wait(BOUND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        yield 'it does not end'
    process.stderr.close()
    yield from (f'it did not say {text!r}, but {said}' for text in missing)


def main():
    tap = Tap()
    in_c, in_cpp = (os.environ['EXAMPLES'].split(':') + [None])[:2]
    gone = ' '.join(f'unix:///none{i}' for i in range(3))
    tap.claim('a leader whose worker hangs is demoted', hangs())
    tap.claim('a candidate without masters says why nobody is elected',
              says(in_c, gone, 'unix:///none2 cannot be reached', 'nobody can be elected: 0 of 3 masters vote'))
    if in_cpp:
        tap.claim('and so does the one in C++', says(in_cpp, gone, 'unix:///none2 cannot be reached'))
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main())
