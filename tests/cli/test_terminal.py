"""redlock lock, and elect, on a terminal: the command behaves as without redlock, in a pipeline, too.

Runs itself in a sandbox. $REDLOCK is the command under test; the output is TAP. A test always waits
for a condition: a text, or which process group is in the foreground of the terminal.
"""

import os
import pty
import re
import select
import shlex
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from inside import run_in_sandbox  # noqa: E402

REDLOCK = os.environ["REDLOCK"]
PATIENCE_S = 60

# A long timeout, so that running masters answer in time on a busy machine.
LOCK = [REDLOCK, "lock", "--node-timeout", "20s"]
ELECT = [REDLOCK, "elect", "--node-timeout", "20s"]
SHELL_LOCK = shlex.join(LOCK)


def await_true(condition, otherwise):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.01)


def stat(pid):
    """State, parent and process group of a process; None for a process that has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, parent, group = file.read().rsplit(")", 1)[1].split()[:3]
    except OSError:
        return None
    return state, int(parent), int(group)


def expect_stopped(group):
    """Every process of the group is stopped: one that still reads would take the shell's input."""
    def all_stopped():
        stats = [stat(name) for name in os.listdir("/proc") if name.isdigit()]
        return all(one[0] == "T" for one in stats if one and one[2] == group)

    await_true(all_stopped, f"not all of {group} have stopped")


class Terminal:
    """A program on a new terminal, as the leader of its session."""

    def __init__(self, *argv):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        """Reads until the pattern occurs, and returns its match."""
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
        await_true(lambda: os.tcgetpgrp(self.fd) == group, f"{group} is not in the foreground")

    def expect_foreground_other_than(self, group):
        await_true(lambda: os.tcgetpgrp(self.fd) != group, f"{group} is in the foreground")

    def end(self):
        """Waits for the program; returns its exit status."""
        while True:
            assert select.select([self.fd], [], [], PATIENCE_S)[0], "it does not end"
            try:
                if not os.read(self.fd, 4096):
                    break
            except OSError:
                break
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


def the_command_reads_from_the_terminal():
    terminal = Terminal(*LOCK, "k", "--", "sh", "-c", 'echo ready; read x; echo "<$x>"')
    terminal.expect("ready")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    assert terminal.end() == 0


def ctrl_c_ends_the_command_and_the_lock_is_released():
    terminal = Terminal(*LOCK, "k", "-v", "--", "sh", "-c", "echo ready; exec sleep 60")
    terminal.expect("ready")
    terminal.type("\x03")
    terminal.expect("released 'k'")
    assert terminal.end() == -signal.SIGINT


def ctrl_c_ends_the_script_as_well():
    terminal = Terminal("bash", "-c", f"{SHELL_LOCK} k -- sh -c 'echo ready; exec sleep 60'; exit 5")
    terminal.expect("ready")
    terminal.type("\x03")
    assert terminal.end() == -signal.SIGINT


def a_command_that_handles_ctrl_c_does_not_end_the_script():
    terminal = Terminal("bash", "-c", f"{SHELL_LOCK} k -- sh -c '"
                        'trap "exit 0" INT; echo ready; while :; do sleep 0.02; done\'; exit 5')
    terminal.expect("ready")
    terminal.type("\x03")
    assert terminal.end() == 5


HOLDER = '''
import signal, subprocess, sys
hold = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print(hold.stdout.readline().split()[0], flush=True)
signal.sigwait({signal.SIGINT})
print("cleans up", flush=True)
input()
hold.stdin.close()
sys.exit(hold.wait())
'''


def ctrl_c_leaves_the_lock_to_the_program_that_redlock_hold_serves():
    terminal = Terminal(sys.executable, "-c", HOLDER, REDLOCK, "hold", "k", "--node-timeout", "20s", "--ttl", "60s")
    terminal.expect("acquired")
    terminal.type("\x03")
    terminal.expect("cleans up")
    terminal.type("\n")
    assert terminal.end() == 0


def ctrl_c_ends_redlock_hold_on_a_terminal():
    terminal = Terminal(REDLOCK, "hold", "k", "--node-timeout", "20s", "-v")
    terminal.expect("acquired")
    terminal.type("\x03")
    terminal.expect("released 'k'")
    assert terminal.end() == -signal.SIGINT


def the_command_reads_from_the_terminal_when_stdin_is_another_file():
    terminal = Terminal("sh", "-c", f"{SHELL_LOCK} k --ttl 60s -- sh -c '"
                        'echo ready; read x </dev/tty; echo "<$x>"\' </dev/null; echo "status $?"')
    terminal.expect("ready")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    terminal.expect("status 0")
    assert terminal.end() == 0


def ctrl_c_ends_the_command_when_stdin_is_another_file():
    terminal = Terminal("sh", "-c", f"trap : INT; {SHELL_LOCK} k -v --ttl 60s -- sh -c '"
                        'trap "" TTIN; echo ready; read x </dev/tty\' </dev/null; echo "status $?"')
    terminal.expect("ready")
    terminal.type("\x03")
    terminal.expect("released 'k'")
    terminal.expect("status 130")
    assert terminal.end() == 0


def sigterm_ends_a_command_that_the_terminal_has_stopped():
    shell = interactive_shell()
    shell.type(f"{SHELL_LOCK} k --ttl 60s -- sh -c 'echo \"pid <$$>\"; read x </dev/tty' "
               "</dev/null &\n")
    command = int(shell.expect(r"pid <(\d+)>").group(1))
    job = os.getpgid(command)
    expect_stopped(job)
    shell.type("while ! jobs -s | grep -q lock; do sleep 0.02; done; kill %1\n")
    await_true(lambda: not os.path.exists(f"/proc/{job}"), "the job has not ended")
    shell.type("wait; exit 3\n")
    assert shell.end() == 3


def ctrl_c_reaches_the_command_once():
    terminal = Terminal(*LOCK, "k", "-v", "--", "sh", "-c",
                        'trap "got=1" INT; echo ready; while ! [ "$got" ]; do sleep 0.02; done; '
                        'echo got it; exec sleep 0.2')
    terminal.expect("ready")
    terminal.type("\x03")
    terminal.expect("got it")
    assert b"passed SIGINT" not in terminal.expect("(?s).*exit status 0").group(0)
    assert terminal.end() == 0


def ctrl_c_reaches_a_command_that_has_left_for_a_group_of_its_own():
    terminal = Terminal(*LOCK, "k", "--", "timeout", "60", "sh", "-c",
                        "echo ready; exec sleep 60")
    terminal.expect("ready")
    terminal.type("\x03")
    assert terminal.end() in (124, -signal.SIGINT)


def a_whole_pipeline_has_the_terminal():
    """The last process of the pipeline reads keys while the command still writes, as less(1) does."""
    shell = interactive_shell()
    shell.type(f"{SHELL_LOCK} k --ttl 60s -- sh -c 'while echo one; do sleep 0.02; done' |"
               " sh -c 'read a; echo \"go''t <$a>\"; read b </dev/tty; echo \"<$b>\"'\n")
    shell.expect("got <one>")
    shell.type("two\n")
    shell.expect("<two>")
    leave(shell)


def ctrl_z_stops_a_pipeline_and_fg_continues_it():
    shell = interactive_shell()
    shell.type(f"{SHELL_LOCK} k --ttl 60s -- sh -c 'echo one; read x </dev/tty; echo \"$x\"' |"
               " sh -c 'read a; echo \"go''t <$a>\"; read b; echo \"<$b>\"'\n")
    shell.expect("got <one>")
    job = os.tcgetpgrp(shell.fd)
    stop(shell, job)
    shell.type("fg\n")
    shell.expect_foreground_other_than(shell.pid)
    shell.type("two\n")
    shell.expect("<two>")
    leave(shell)


def a_killed_command_leaves_the_terminal_to_the_rest_of_the_pipeline():
    terminal = Terminal("sh", "-c", f"{SHELL_LOCK} k --no-renew --ttl 3s --grace 0 -- bash --norc"
                        ' -i; echo "status $?"; read x; echo "<$x>"')
    terminal.expect("status 76")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    assert terminal.end() == 0


def ctrl_c_ends_the_wait_for_a_lock():
    holder = Terminal(*LOCK, "k", "--", "sh", "-c", "echo ready; exec sleep 60")
    holder.expect("ready")
    waiter = Terminal(*LOCK, "k", "-v", "--", "true")
    waiter.expect("waiting for 'k', held by")
    waiter.type("\x03")
    waiter.expect("gave up waiting for 'k'")
    assert waiter.end() == -signal.SIGINT
    holder.type("\x03")
    holder.end()


def interactive_shell():
    shell = Terminal("bash", "--norc", "--noediting", "-i")
    shell.type("PS1='prompt''> '\n")
    shell.expect("prompt> ")
    return shell


def stop(shell, job):
    """Stops the job of the shell with Ctrl-Z."""
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.expect_foreground(shell.pid)
    expect_stopped(job)
    shell.expect("prompt> ")


def leave(shell):
    shell.expect_foreground(shell.pid)
    shell.expect("prompt> ")
    shell.type("exit 3\n")
    assert shell.end() == 3


def shell_with_lock():
    """An interactive shell in which a command has a lock and repeats its input; and the process group
    of that job."""
    shell = interactive_shell()
    shell.type(f"{SHELL_LOCK} k --ttl 60s -- sh -c '"
               'echo "command <$$>"; while read x; do echo "read <$x>"; done\'\n')
    job = os.getpgid(int(shell.expect(r"command <(\d+)>").group(1)))
    shell.expect_foreground(job)
    return shell, job


def ctrl_z_stops_the_job_and_fg_continues_it():
    shell, job = shell_with_lock()
    stop(shell, job)
    shell.type("fg\n")
    shell.expect_foreground(job)
    shell.type("again\n")
    shell.expect("read <again>")
    shell.type("\x04")
    leave(shell)


def a_job_in_the_background_that_reads_stops_until_fg():
    shell, job = shell_with_lock()
    stop(shell, job)
    shell.type("bg; while ! jobs -s | grep -q lock; do sleep 0.02; done; echo stop''ped\n")
    shell.expect("stopped\r")
    expect_stopped(job)
    shell.expect("prompt> ")
    shell.type("fg\n")
    shell.expect_foreground(job)
    shell.type("again\n")
    shell.expect("read <again>")
    shell.type("\x04")
    leave(shell)


def ctrl_z_does_nothing_without_a_shell_to_continue_it():
    terminal = Terminal(*LOCK, "k", "--", "sh", "-c", 'echo ready; read x; echo "<$x>"')
    terminal.expect("ready")
    terminal.type("\x1a")
    terminal.expect(r"\^Z")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    assert terminal.end() == 0


def a_shell_in_a_sandbox_has_the_terminal():
    terminal = Terminal(REDLOCK, "sandbox", "-n", "1", "--", "bash", "--norc", "--noediting", "-i")
    terminal.type(f"{SHELL_LOCK} k -- echo ru''ns\n")
    terminal.expect("runs\r")
    terminal.type("exit 4\n")
    assert terminal.end() == 4


def delete_everywhere(key):
    for number in range(1, 6):
        with socket.socket(socket.AF_UNIX) as master:
            master.connect(f"{os.environ['REDLOCK_SANDBOX']}/{number}.sock")
            master.sendall(f"DEL {key}\r\n".encode())
            assert master.recv(64).startswith(b":")


def the_command_of_each_lead_reads_from_the_terminal():
    terminal = Terminal(*ELECT, "e", "-v", "--", "sh", "-c", 'echo ready; read x; echo "<$x>"')
    terminal.expect("ready")
    os.kill(terminal.pid, signal.SIGSTOP)
    await_true(lambda: stat(terminal.pid)[0] == "T", "redlock has not stopped")
    delete_everywhere("e")
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.expect("lost leadership of 'e'")
    terminal.expect("ready")
    terminal.type("hello\n")
    terminal.expect("<hello>")
    assert terminal.end() == 0


def ctrl_c_ends_the_command_of_a_leader_and_the_lead_is_given_up():
    terminal = Terminal(*ELECT, "e", "-v", "--", "sh", "-c", "echo ready; exec sleep 60")
    terminal.expect("ready")
    terminal.type("\x03")
    terminal.expect("resigned leadership of 'e'")
    assert terminal.end() == -signal.SIGINT


def ctrl_c_ends_the_wait_for_a_lead():
    terminal = Terminal("bash", "-c", f"{SHELL_LOCK} e2 -- {shlex.join(ELECT)} e2 -v -- true; exit 5")
    terminal.expect("queue position")
    terminal.type("\x03")
    assert terminal.end() == -signal.SIGINT


def a_watched_key_is_shown_in_place_until_ctrl_c():
    watch = shlex.join([REDLOCK, "status", "watched", "--watch=100ms", "--node-timeout", "20s"])
    terminal = Terminal("bash", "-c", f"{watch}; exit 5")
    for _ in range(3):
        terminal.expect(r"\x1b\[H\x1b\[J\d\d:\d\d:\d\d, every 100 ms\r\nwatched: free ")
    holder = Terminal(*LOCK, "watched", "--", "sh", "-c", "echo ready; read x")
    holder.expect("ready")
    terminal.expect(r"\x1b\[J[^\x1b]*watched: held by ")
    terminal.type("\x03")
    assert terminal.end() == -signal.SIGINT
    holder.type("\n")
    assert holder.end() == 0


def deleting_the_record_is_asked_about():
    for answer, said, status in [("no\n", "nothing was changed", 1), ("yes\n", "no master has a record now", 0),
                                 ("\x04", "nothing was changed", 1)]:
        terminal = Terminal(REDLOCK, "masters", "delete", "--node-timeout", "20s")
        terminal.expect("Type yes to delete the record:")
        terminal.type(answer)
        terminal.expect(said)
        assert terminal.end() == status


TESTS = [
    the_command_reads_from_the_terminal,
    ctrl_c_ends_the_command_and_the_lock_is_released,
    ctrl_c_ends_the_script_as_well,
    a_command_that_handles_ctrl_c_does_not_end_the_script,
    ctrl_c_leaves_the_lock_to_the_program_that_redlock_hold_serves,
    ctrl_c_ends_redlock_hold_on_a_terminal,
    the_command_reads_from_the_terminal_when_stdin_is_another_file,
    ctrl_c_ends_the_command_when_stdin_is_another_file,
    sigterm_ends_a_command_that_the_terminal_has_stopped,
    ctrl_c_reaches_the_command_once,
    ctrl_c_reaches_a_command_that_has_left_for_a_group_of_its_own,
    ctrl_c_ends_the_wait_for_a_lock,
    a_whole_pipeline_has_the_terminal,
    ctrl_z_stops_a_pipeline_and_fg_continues_it,
    ctrl_z_stops_the_job_and_fg_continues_it,
    a_job_in_the_background_that_reads_stops_until_fg,
    ctrl_z_does_nothing_without_a_shell_to_continue_it,
    a_killed_command_leaves_the_terminal_to_the_rest_of_the_pipeline,
    a_shell_in_a_sandbox_has_the_terminal,
    the_command_of_each_lead_reads_from_the_terminal,
    ctrl_c_ends_the_command_of_a_leader_and_the_lead_is_given_up,
    ctrl_c_ends_the_wait_for_a_lead,
    a_watched_key_is_shown_in_place_until_ctrl_c,
    deleting_the_record_is_asked_about,
]


def main():
    run_in_sandbox()
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
