#!/bin/sh
# redlock elect when the lead ends under a command that runs: the command ends before anybody else
# can lead.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

no_overlap() { missing overlap "$work/log"; }

# --- redlock is stopped ---

script=$work/stubborn
# stopped_leader: its successor notes it if the command is alive. Fails if a process did not run for
# longer than clocks may differ.
stopped_leader() {
    : >"$work/log"
    lead a --ttl 6s
    first=$candidate
    former=$command
    follow b --ttl 6s
    second=$candidate
    kill -STOP "$first"
    leads b
    next=$?
    is_dead "$former"
    dead=$?
    kill -CONT "$first"
    until_late said a "queue position"
    kill -KILL "$first" "$second"
    await "$first"
    await "$second"
    until_late is_free e
    [ "$next" -eq 0 ] && [ "$dead" -eq 0 ] && no_overlap
}
check "when redlock is stopped its command is dead before another candidate leads" \
    some_time stopped_leader
check "redlock says that the lead ended while it did not run" \
    said a "ended while redlock did not run"
check "and the library reports the lead as lost, not as given up" said a "lost leadership of 'e', term"

# --- the masters are stopped ---

# It notes that it got SIGTERM, and goes on.
cat >"$work/noting" <<'SCRIPT'
trap 'echo term >>"${0%/*}/terms"' TERM
. "${0%/*}/leader"
SCRIPT
script=$work/noting
# leader_without_majority: fails, too, if a process did not run when the lock was about to end: SIGKILL
# comes only a hundredth of the TTL before that.
leader_without_majority() {
    rm -f "$work/terms"
    lead a --ttl 6s --node-timeout 200ms
    first=$candidate
    former=$command
    halt 1 2 3
    master 4 set not-over x px 6000 >/dev/null
    until_late is_dead "$former"
    [ "$(master 4 exists not-over)" = 1 ] && until_true said a "(SIGKILL)" && said a "sent it SIGTERM" && return
    resume 1 2 3
    kill -KILL "$first"
    await "$first"
    until_late is_free e
    return 1
}
check "without a majority the command is dead before its lock has ended" \
    some_time leader_without_majority
check "the command got SIGTERM before" filled "$work/terms"
check "redlock says why" said a "no majority of the masters has confirmed a renewal in time"
check "and which masters are the reason" said a "cannot renew 'e'"
check "and that it sent SIGTERM" said a "sent it SIGTERM"
check "and that it sent SIGKILL" until_true said a "(SIGKILL)"
check "redlock waits for the masters" until_late said a "Waiting for 'e' until enough masters"
before=$(runs a)
resume 1 2 3
check "when the masters go on, the command is started again" until_late ran_again a "$before"
leads a
touch "$work/a.stop"
await "$first"
status_is 7 "and its status is ours"
until_true is_free e

# --- a short grace, and on-demoted ---

script=$work/stubborn
lead a --ttl 9s --grace 100ms --node-timeout 200ms --once --on-demoted "cat $work/a.pid >$work/off"
first=$candidate
former=$command
halt 1 2 3
until_late filled "$work/off"
check "on-demoted is run after the command has been killed" is_dead "$former"
await "$first"
status_is 76 "--once: a lead that was lost gives 76"
resume 1 2 3
until_late is_free e

lead a --ttl 6s --node-timeout 200ms --once --on-demoted "echo \$\$ >$work/hook; sleep 60"
first=$candidate
halt 1 2 3
master 4 set not-over x px 6000 >/dev/null
await "$first"
check "on-demoted does not outlive the lock" is_dead "$(cat "$work/hook" 2>/dev/null || echo "$command")"
resume 1 2 3
until_late is_free e

# --- a leader that takes its time to stop for a preferred candidate ---

lead a --ttl 60s --grace 5s
first=$candidate
follow c --ttl 60s
third=$candidate
stand b --ttl 60s --priority 5
second=$candidate
check "a preferred candidate leads when the leader was killed after its grace" leads b
check "the leader was killed because it did not end" said a "it has not ended in time"
check "a candidate that waits meanwhile complains of no master" missing "no majority" "$work/c.err"
kill -TERM "$third"
await "$third"
kill -KILL "$first" "$second"
await "$first"
await "$second"

# --- masters that cannot elect anybody ---

ln -s "$REDLOCK_SANDBOX" "$work/alias"
"$REDLOCK" elect e --nodes "unix://$REDLOCK_SANDBOX/1.sock,unix://$work/alias/1.sock" -- true \
    >"$work/a.out" 2>"$work/a.err" &
candidate=$!
check "a candidate says that one server is listed twice" \
    until_late said a "two of the masters are one server"
await "$candidate"
status_is 78 "and exits, as nobody is elected until the list is correct"

finish
