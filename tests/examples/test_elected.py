#!/usr/bin/env python3
"""The examples of a daemon that is elected, three of one on the masters of a sandbox.
$REDLOCK: the command. $EXAMPLE: the example."""
import os
import sys

import daemons
from lib import Tap


def main():
    tap = Tap()
    daemons.tell(tap, os.environ['EXAMPLE'])
    return tap.finish()


if __name__ == '__main__':
    if 'REDLOCK_SANDBOX' not in os.environ:
        redlock = os.environ['REDLOCK']
        os.execv(redlock, [redlock, 'sandbox', '-n', '3', '--', sys.executable, '-B', *sys.argv])
    sys.exit(main())
