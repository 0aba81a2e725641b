"""Processes that a benchmark starts: none of them outlives it."""
import contextlib
import ctypes
import os
import signal
import subprocess

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

started = set()  # by start(), and not yet ended


def die_with_parent():
    """For a child, before its exec."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans():
    """From now on what a child has started becomes a child of this process when its parent dies."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)


def prepare():
    die_with_parent()
    os.setpgid(0, 0)


def start(command, **options):
    """With a process group of its own, as a shell gives it to a job."""
    process = subprocess.Popen(command, preexec_fn=prepare, **options)
    started.add(process.pid)
    return process


def end(process):
    """Kill it and all that it has started."""
    signal_all(family(process.pid), signal.SIGKILL)
    process.wait()
    started.discard(process.pid)


def reap(process):
    """One that has ended, and has left nothing behind."""
    process.wait()
    started.discard(process.pid)


def end_orphans():
    """Kill and reap the children of this process that it has not started itself, with all that they have started."""
    while True:
        orphans = [pid for pid, parent in parents().items() if parent == os.getpid() and pid not in started]
        if not orphans:
            return
        for pid in orphans:
            signal_all(family(pid), signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def cpu_s(pid):
    """User and system time of all threads of a process, to the nanosecond."""
    total = 0
    for task in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{task}/schedstat', encoding='ascii') as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:  # the thread has ended
            pass
    return total / 1e9


def parents():
    """{process: its parent}"""
    found = {}
    for name in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):  # it has ended
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                found[int(name)] = int(file.read().rsplit(')', 1)[1].split()[1])
    return found


def family(pid):
    """The process and all that it has started, parents first."""
    children = {}
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    found = [pid]
    for process in found:
        found += children.get(process, [])
    return found


def name_of(pid):
    """What ps(1) shows; "" when there is no such process."""
    with contextlib.suppress(OSError), open(f'/proc/{pid}/comm', encoding='utf-8') as file:
        return file.read().rstrip()
    return ''


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
