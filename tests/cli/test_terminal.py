"""redlock lock on a terminal: the command gets it, with Ctrl-C and Ctrl-Z, and gives it back.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP. All waiting is
for a condition: for a text, or for who is in the foreground of the terminal.
"""

import os
import pty
import re
import select
import signal
import sys
import time

REDLOCK = os.environ["REDLOCK"]
PATIENCE_S = 60


class Terminal:
    """A program on a new terminal, as its session's leader."""

    def __init__(self, *argv):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        """Read until the pattern comes, and return its match."""
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern.encode(), self.text)):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} in {self.text!r}")
            try:
                self.text += os.read(self.fd, 4096)
            except OSError as error:
                raise AssertionError(f"no {pattern!r} in {self.text!r}, and the end") from error
        self.text = self.text[found.end():]
        return found

    def expect_foreground(self, group):
        end = time.monotonic() + PATIENCE_S
        while os.tcgetpgrp(self.fd) != group:
            assert time.monotonic() < end, f"{group} is not in the foreground"
            time.sleep(0.01)

    def end(self):
        """Wait for the program; returns its exit status."""
        while True:
            try:
                if not os.read(self.fd, 4096):
                    break
            except OSError:
                break
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


def the_command_reads_from_the_terminal():
    terminal = Terminal(REDLOCK, "lock", "k", "--", "sh", "-c", 'echo ready; read x; echo "<$x>"')
    terminal.expect("ready")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    assert terminal.end() == 0


def ctrl_c_ends_the_command_and_the_lock_is_released():
    terminal = Terminal(REDLOCK, "lock", "k", "-v", "--", "sh", "-c", "echo ready; exec sleep 60")
    terminal.expect("ready")
    terminal.type("\x03")
    terminal.expect("released 'k'")
    assert terminal.end() == 128 + signal.SIGINT


def ctrl_c_ends_the_waiting():
    holder = Terminal(REDLOCK, "lock", "k", "--", "sh", "-c", "echo ready; exec sleep 60")
    holder.expect("ready")
    waiter = Terminal(REDLOCK, "lock", "k", "-v", "--node-timeout", "20s", "--", "true")
    waiter.expect("Waiting for it")
    waiter.type("\x03")
    waiter.expect("gave up waiting for 'k'")
    assert waiter.end() == 128 + signal.SIGINT
    holder.type("\x03")
    holder.end()


def shell_with_lock():
    """An interactive shell in which a command has a lock and repeats what is typed."""
    shell = Terminal("bash", "--norc", "-i")
    shell.type("PS1='prompt''> '\n")
    shell.expect("prompt> ")
    shell.type(f"{REDLOCK} lock k --ttl 60s -- sh -c '"
               'echo "group <$$>"; while read x; do echo "read <$x>"; done\'\n')
    command = int(shell.expect(r"group <(\d+)>").group(1))
    shell.expect_foreground(command)
    return shell, command


def ctrl_z_stops_the_job_and_fg_continues_it():
    shell, command = shell_with_lock()
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.expect_foreground(shell.pid)
    shell.type("fg\n")
    shell.expect_foreground(command)
    shell.type("again\n")
    shell.expect("read <again>")
    shell.type("\x04")
    shell.expect_foreground(shell.pid)
    shell.type("exit 3\n")
    assert shell.end() == 3


def a_job_in_the_background_that_reads_stops_until_fg():
    shell, command = shell_with_lock()
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.expect_foreground(shell.pid)
    shell.type("bg; while ! jobs -s | grep -q lock; do sleep 0.02; done; echo stop''ped\n")
    shell.expect("stopped\r")
    shell.type("fg\n")
    shell.expect_foreground(command)
    shell.type("again\n")
    shell.expect("read <again>")
    shell.type("\x04")
    shell.expect_foreground(shell.pid)
    shell.type("exit 3\n")
    assert shell.end() == 3


def ctrl_z_does_nothing_when_nobody_could_continue_us():
    terminal = Terminal(REDLOCK, "lock", "k", "--", "sh", "-c", 'echo ready; read x; echo "<$x>"')
    terminal.expect("ready")
    terminal.type("\x1a")
    terminal.expect(r"\^Z")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    assert terminal.end() == 0


def a_shell_in_a_sandbox_has_the_terminal():
    terminal = Terminal(REDLOCK, "sandbox", "-n", "1", "--", "bash", "--norc", "-i")
    terminal.type(f"{REDLOCK} lock k -- echo ru''ns\n")
    terminal.expect("runs\r")
    terminal.type("exit 4\n")
    assert terminal.end() == 4


TESTS = [
    the_command_reads_from_the_terminal,
    ctrl_c_ends_the_command_and_the_lock_is_released,
    ctrl_c_ends_the_waiting,
    ctrl_z_stops_the_job_and_fg_continues_it,
    a_job_in_the_background_that_reads_stops_until_fg,
    ctrl_z_does_nothing_when_nobody_could_continue_us,
    a_shell_in_a_sandbox_has_the_terminal,
]


def main():
    if os.environ.get("CLI_TEST_SANDBOX") != "yes":
        os.environ["CLI_TEST_SANDBOX"] = "yes"
        os.execv(REDLOCK, [REDLOCK, "sandbox", "--", sys.executable, "-B", __file__])
    failures = 0
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except AssertionError as error:
            failures += 1
            print(f"not ok {number} - {name}\n# {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
