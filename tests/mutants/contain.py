#!/usr/bin/env python3
"""Runs a test program, and kills every process and removes every file that it leaves.

    contain.py COMMAND [ARG...]

With some known bugs processes go on that should have ended. COMMAND gets a $TMPDIR of its own.
When it has ended, all processes that it has started are killed, in whatever session they are and
whether their parents live or not, and $TMPDIR is removed. SIGTERM is passed on to COMMAND; if it
has not ended after PATIENCE_S, it is killed. The exit status is that of COMMAND, with 128+N when
signal N has ended it. Whoever has started this program may be killed: that counts as a SIGTERM.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 10
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def set_up(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), 'prctl')


def parents():
    """The parent of each process that is alive."""
    found = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                    fields = file.read().rsplit(')', 1)[1].split()
            except OSError:
                continue
            # A process may go on after its first thread has ended.
            if fields[0] not in 'ZX' or int(fields[17]) > 1:
                found[int(name)] = int(fields[1])
    return found


def descendants(root):
    found, size = {root}, 0
    living = parents()
    while len(found) > size:
        size = len(found)
        found.update(pid for pid, parent in living.items() if parent in found)
    return found - {root}


def kill_rest():
    """Kills until no process is left."""
    while rest := descendants(os.getpid()):
        for pid in rest:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.005)


def reap():
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def run(command):
    process = None

    def insist(_signo, _frame):
        kill_rest()

    def pass_on(_signo, _frame):
        signal.signal(signal.SIGALRM, insist)
        signal.alarm(PATIENCE_S)
        process.terminate()

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    process = subprocess.Popen(
        command, start_new_session=True,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM}))
    signal.signal(signal.SIGTERM, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return process.wait()


def main(command):
    set_up(PR_SET_CHILD_SUBREAPER, 1)  # orphans of our descendants become our children
    set_up(PR_SET_PDEATHSIG, signal.SIGTERM)
    folder = os.environ['TMPDIR'] = tempfile.mkdtemp(prefix='rlk-')
    try:
        status = run(command)
    finally:
        signal.alarm(0)
        kill_rest()
        reap()
        shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
