#!/bin/sh
# redlock break: takes a lock away from its holder, and lets nobody in before that has noticed.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_renew.sh"

# gone PID: the process has ended.
gone() { ! kill -0 "$1" 2>/dev/null; }
# ends_before MS KEY: the key is nowhere for that much longer.
ends_before() {
    for number in 1 2 3 4 5; do
        [ "$(master "$number" pttl "$2")" -le "$1" ] || return 1
    done
}

# --- a holder that runs ---

lock_with --ttl 20s --owner worker -- sh "$work/patient" "$work"
until_true everywhere k "$(cat "$work/token")"
mv "$work/err" "$work/holder"
run "$REDLOCK" break k --reason 'it hangs' --owner ops --no-wait
status_is 0 "a lock is broken"
says "broke the lock 'k', which worker held" "break says who held the lock"
says "over in " "break says for how long"
check "the key has another owner" grep -q ':broken by ops: it hangs$' <<TOKEN
$(master 1 get k)
TOKEN
check "the keys live no longer than before" ends_before 20000 k
await "$locker"
status_is 76 "the holder has lost its lock"
check "the holder is told who has broken it" grep -q 'broken by ops: it hangs' "$work/holder"
run "$REDLOCK" status k
prints "k: broken by ops: it hangs, " "status shows who has broken the lock"
run "$REDLOCK" list k
prints "broken by ops: it hangs, " "list shows that, too"
says_not "held by broken" "and does not call the lock held"
run "$REDLOCK" acquire k --no-wait
status_is 75 "acquire does not get the broken lock"
says_if_named "'k' was broken by ops: it hangs: nobody gets it before its former holder can have noticed" "and redlock says why"
run "$REDLOCK" lock k --no-wait -- true
status_is 75 "nobody gets the lock before its time is over"
broken=$(master 1 get k)
run "$REDLOCK" extend k --token "$broken" --ttl 60s
status_is 64 "nobody can extend a broken lock"
says "token is that of a broken lock" "extend says why"
run "$REDLOCK" release k --token "$broken"
status_is 64 "release does not let anybody in sooner"
says "broken by ops: it hangs" "release says why"
check "the keys are still there" everywhere k "$broken"
run "$REDLOCK" break k --reason again --no-wait
status_is 0 "a lock that is broken already is no error"
says "already broken by ops: it hangs" "break says that it is broken already"
each_master del k

# --- the command of the holder ---

# begun FILE: the command runs.
begun() { [ -e "$1" ]; }
# broken_while_it_runs SCRIPT: breaks the lock of that command, and awaits the end.
broken_while_it_runs() {
    rm -f "$work/ended"
    lock_with --ttl 6s -- sh -c "$1" - "$work"
    all_count
    "$REDLOCK" break k --reason 'it hangs' --owner ops --no-wait 2>"$work/break"
    await "$locker"
}

broken_while_it_runs 'trap "touch \"$1/ended\"; exit 0" TERM; echo $$ >"$1/pid"; while :; do sleep 0.02; done'
status_is 76 "a command that ends because its lock was broken has lost it"
check "it got SIGTERM, and could clean up" begun "$work/ended"
check "redlock says when the lock ends" grep -q "the lock 'k' ends in .*: sent it SIGTERM" "$work/err"
check "nothing was killed" missing SIGKILL "$work/err"
each_master del k
broken_while_it_runs 'trap "" TERM; echo $$ >"$1/pid"; while :; do sleep 0.02; done'
status_is 76 "so has one that ignores SIGTERM"
check "it is killed when the lock ends" said "killed the command (SIGKILL): the lock 'k' ends now"
each_master del k

# A master without the key, or with somebody else's, shows that more has happened than a break.
partly_broken() {
    token=$(printf '%040d' 7):'broken by ops: x'
    for number in 3 4; do master "$number" set k "$token" xx keepttl >/dev/null; done
    master 5 del k >/dev/null
}
lock_with --ttl 12s -- sh "$work/patient" "$work"
all_count
halt 1 2
while_stopped partly_broken
await "$locker"
resume 1 2
status_is 76 "a lock that is broken on a few masters, and gone on another, is lost"
check "its command is killed at once" said "Killed the command (SIGKILL)"
each_master del k

# --- broken already ---

run "$REDLOCK" acquire k --ttl 10m --max-ttl 10m
run "$REDLOCK" break k --reason x --no-wait
for number in 4 5; do master "$number" del k >/dev/null; done
master 1 pexpire k 20000 >/dev/null
run "$REDLOCK" break k --reason again --no-wait
status_is 0 "a majority has the token of the break"
check "the last key of that majority is the bound, not the first" grep -q 'over in .* min' "$work/err"
each_master del k
run "$REDLOCK" acquire k --ttl 3s
run "$REDLOCK" break k --reason x --no-wait
run "$REDLOCK" break k --reason again
says "is over" "break waits also for a lock that is broken already"
check "until it is free" is_free k

# --- an owner text that looks like that of a break ---

run "$REDLOCK" acquire k --owner 'broken by nobody'
status_is 64 "no request has the owner text of a broken lock"
says "owner begins with" "redlock says so"
forged=0123456789abcdef0123456789abcdef01234567:'broken by nobody'
each_master set k "$forged" px 60000
run "$REDLOCK" break k --reason x --owner ops --no-wait
status_is 0 "and a lock that has it can be broken"
check "it has been broken" grep -q ':broken by ops: x$' <<TOKEN
$(master 1 get k)
TOKEN
each_master del k

# --- no majority ---

run "$REDLOCK" acquire k --ttl 60s
for number in 1 2; do master "$number" del k >/dev/null; done
master 3 set k another px 50000 >/dev/null
run "$REDLOCK" break k --reason x
status_is 69 "masters that differ do not show that the lock is free"
says "nobody knows who holds 'k'" "break says so"
says "ends in " "break says when the last key ends"
each_master del k

# --- a holder that is stopped ---

run "$REDLOCK" acquire k --ttl 3s --owner sleeper
token=$(cat "$work/out")
run "$REDLOCK" break k --reason 'does not answer'
status_is 0 "break waits for the end of the lock"
says "the lock 'k' of sleeper is over" "break says when the lock is over"
check "then the key is free" is_free k
run "$REDLOCK" extend k --token "$token"
status_is 75 "and cannot be extended any more"

# --- at once ---

acquire_everywhere k --ttl 60s
token=$(cat "$work/out")
run "$REDLOCK" break k --reason x --now yes
status_is 64 "--now needs a reason"
run "$REDLOCK" break k --reason x --now fenced
status_is 75 "without a fencing token --now is refused"
says "has no fencing token" "break says why"
check "nothing was changed" everywhere k "$token"
run "$REDLOCK" break k --reason x --no-wait
run "$REDLOCK" break k --reason x --now stopped
status_is 0 "a lock whose holder is known to have stopped is released at once, also a broken one"
until_true is_free k
run "$REDLOCK" acquire k --ttl 60s --fence --owner fenced
fence=$(tail -n 1 "$work/out")
run "$REDLOCK" break k --reason x --now fenced
status_is 0 "with a fencing token a lock is released at once"
says "fencing token above $fence" "break says what protects the resource then"
until_true is_free k
lock_with --ttl 12s -- sh "$work/patient" "$work"
run "$REDLOCK" break k --reason x --now stopped
await "$locker"
status_is 76 "a holder that runs all the same loses its lock"
check "it is told what may have happened" said "when somebody deletes it, as redlock break --now does"
check "and where to look" said "With --audit, redlock history says who it was."

# --- nothing to break ---

run "$REDLOCK" break k --reason x
status_is 0 "a free lock is no error"
says "no master has the lock 'k': there is nothing to break" "break says that no master has it"
each_master set k forever
run "$REDLOCK" break k --reason x
status_is 75 "a key that never expires is no lock"
check "it is left alone" everywhere k forever
each_master del k

# --- masters that lost everything ---

each_master flushall
run "$REDLOCK" break k --reason x --max-ttl 77s --quarantine strict
status_is 69 "masters that lost their data do not show that the lock is free"
says "may believe in its lock for up to 77.0 s" "break says for how long it may be held"

# --- mistakes ---

run "$REDLOCK" break k
status_is 64 "a reason is needed"
says "--reason is missing" "break says so"
run "$REDLOCK" break --reason x
status_is 64 "a key is needed"
run "$REDLOCK" break k --reason "$(printf 'a\tb')"
status_is 64 "a reason is printable"
run "$REDLOCK" break k --reason "$(printf '%0250d' 0)"
status_is 64 "a reason is short"

# --- too few masters ---

run "$REDLOCK" acquire k --ttl 60s
token=$(cat "$work/out")
for number in 1 2 3; do halt "$number"; done
run "$REDLOCK" break k --reason x --node-timeout 500ms
status_is 69 "a minority cannot say who holds the lock"

finish
