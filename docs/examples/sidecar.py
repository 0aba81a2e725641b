#!/usr/bin/env python3
"""sidecar.py - a program that works only while the redlock beside it leads.

    redlock elect worker --metrics 127.0.0.1:9469 &
    sidecar.py http://127.0.0.1:9469/leader SECONDS CMD [ARG...]

CMD is one step of the work. It is run again and again, and killed when it takes longer than SECONDS. It
never runs beyond the deadline of the last reply, whatever happens to redlock: nobody tells this program
to stop. What CMD starts in the background is not killed: it must start nothing there.
"""
import json
import subprocess
import sys
import time
import urllib.request


def now():
    """A clock that goes on while the machine is suspended; time.monotonic() does not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def may_act_until(url):
    """The deadline counts from before the request: the reply may have been under way for long."""
    asked = now()
    try:
        with urllib.request.urlopen(url, timeout=1) as reply:
            return asked + json.load(reply)['left_seconds']
    except OSError:  # also 503: it does not lead
        return asked


def main():
    url, longest, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    while True:
        until = may_act_until(url)
        left = until - now()
        if left < longest:
            time.sleep(0.2)
            continue
        try:
            subprocess.run(command, timeout=longest, check=True)
        except subprocess.TimeoutExpired:
            print(f'{command[0]}: took longer than {longest} s', file=sys.stderr)


if __name__ == '__main__':
    main()
