"""Processes that a benchmark starts: none of them outlives it."""
import ctypes
import signal

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """For a child, before its exec."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
