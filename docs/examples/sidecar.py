#!/usr/bin/env python3
"""sidecar.py - a program that works only while the redlock beside it leads.

    redlock elect worker --metrics 127.0.0.1:9469 &
    sidecar.py http://127.0.0.1:9469/leader SECONDS CMD [ARG...]

CMD is one step of the work. It is run again and again, and killed when it takes longer than SECONDS. It
never runs beyond the deadline of the last reply, whatever happens to redlock: nobody tells this program
to stop. What CMD starts in the background is not killed: it must start nothing there.

When a step fails, this program exits with its status. SIGTERM and SIGINT are passed on to the step, which
may use the rest of its SECONDS; then this program exits.
"""
import http.client
import json
import signal
import subprocess
import sys
import time
import urllib.request

# Without a proxy, whatever the environment says: redlock is on this machine.
REDLOCK = urllib.request.build_opener(urllib.request.ProxyHandler({}))

step = None  # the step that runs
signo = 0  # the signal that asked this program to end


def now():
    """A clock that goes on while the machine is suspended; time.monotonic() does not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def may_act_until(url):
    """The deadline counts from before the request: the reply may have been under way for long."""
    asked = now()
    try:
        with REDLOCK.open(url, timeout=1) as reply:
            return asked + (json.load(reply)['left_seconds'] or 0)
    except (OSError, http.client.HTTPException, ValueError):  # also 503: it does not lead
        return asked


def on_signal(number, _):
    """Without a handler, PID 1 of a container ignores SIGTERM."""
    global signo
    signo = number
    if step:
        step.send_signal(number)


def run_step(command, end):
    """Returns the exit status of the step, as a shell has it; 0 when it took too long. A signal that comes before
    `step` is set does not reach the step. The step then ends by itself, or at the end of its time."""
    global step
    try:
        step = subprocess.Popen(command)
    except OSError as error:
        print(f'{command[0]}: {error.strerror}', file=sys.stderr)
        return 127
    try:
        status = step.wait(max(0, end - now()))
    except subprocess.TimeoutExpired:
        step.kill()
        step.wait()
        print(f'{command[0]}: took too long', file=sys.stderr)
        return 0
    return status if status >= 0 else 128 - status


def main():
    url, longest, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    status = 0
    while not signo and status == 0:
        until = may_act_until(url)
        end = now() + longest
        if until < end:
            time.sleep(0.2)
        elif not signo:
            status = run_step(command, end)
    if signo:
        return 128 + signo
    print(f'{command[0]}: failed with status {status}', file=sys.stderr)
    return status


if __name__ == '__main__':
    sys.exit(main())
