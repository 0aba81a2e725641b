#!/usr/bin/env python3
"""The examples of a daemon that is elected, three of one on the masters of a sandbox.
$REDLOCK: the command. $EXAMPLE: the example."""
import os
import sys

import daemons
from lib import Tap, run_in_sandbox


def main():
    tap = Tap()
    daemons.tell(tap, os.environ['EXAMPLE'])
    return tap.finish()


if __name__ == '__main__':
    run_in_sandbox('-n', '3')
    sys.exit(main())
