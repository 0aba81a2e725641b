"""Waiting for a condition in a test in Python."""
import time

BOUND_S = 90


def until(holds, what):
    """Waits for a condition, and returns its value."""
    end = time.monotonic() + BOUND_S
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)
