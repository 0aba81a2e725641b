"""Writes TAP for the tests in Python.

On SIGTERM a program that imports this unwinds first, so that it removes its folders and ends the
processes that it has started.
"""
import signal
import sys

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Tap:
    """Collects claims; finish() prints them and returns the exit status."""

    def __init__(self):
        self.claims = []

    def claim(self, text, complaints):
        """The claim holds when there are no complaints."""
        self.claims.append((text, list(complaints)))

    def fires(self, text, complaints, word):
        """The lint must complain exactly once, and the complaint must contain the word."""
        complaints = list(complaints)
        good = len(complaints) == 1 and word in complaints[0]
        self.claim(f'fires: {text}', [] if good else [f'wanted {word!r}, got {complaints}'])

    def finish(self):
        print(f'1..{len(self.claims)}')
        for number, (text, complaints) in enumerate(self.claims, 1):
            print(f'{"not ok" if complaints else "ok"} {number} - {text}')
            for complaint in complaints:
                for line in str(complaint).splitlines():
                    print(f'# {line}')
        return 1 if any(complaints for _, complaints in self.claims) else 0


def skip_all(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(0)
