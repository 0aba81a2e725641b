"""Runs a test of the command inside `redlock sandbox`."""
import os
import sys


def run_in_sandbox(*options):
    """Starts this program again there, with these options of the sandbox, unless it runs there
    already."""
    if os.environ.get('CLI_TEST_SANDBOX') != 'yes':
        os.environ['CLI_TEST_SANDBOX'] = 'yes'
        redlock = os.environ['REDLOCK']
        os.execv(redlock, [redlock, 'sandbox', *options, '--', sys.executable, '-B', *sys.argv])
