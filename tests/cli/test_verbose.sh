#!/bin/sh
# redlock -v reports what changes; only -vv reports routine events, too. In the journal each line
# has its priority.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

has_aged() { [ "$(master 4 pttl e)" -lt 13000 ]; }
is_fresh() { [ "$(master 4 pttl e)" -gt 14000 ]; }

# --- a leader ---

lead quiet --ttl 15s --node-timeout 2s
until_true everywhere e "$(master 4 get e)"
until_late has_aged
check "a leader renews" until_late is_fresh
check "which -v does not report" missing renewed "$work/quiet.err"
check "nor that the masters are connected" missing "master unix:" "$work/quiet.err"
kill -KILL "$(master_pid 5)"
check "-v reports that a master dies" until_late said quiet "/5.sock is down: "
until_true is_dead "$(master_pid 5)"
"$server" "$REDLOCK_SANDBOX/5.conf"
check "and that it is back" until_late said quiet "/5.sock is up"
halt 1 2 3
check "-v reports that no majority renews" until_late said quiet "cannot renew 'e', leadership ends in "
resume 1 2 3
check "and that a majority renews again" until_late said quiet "renewed leadership of 'e' again, for "
check "each of them once" [ "$(grep -c "cannot renew\|renewed leadership" "$work/quiet.err")" -eq 2 ]
check "the leader has led all along" [ "$(runs quiet)" -eq 1 ]
touch "$work/quiet.stop"
await "$candidate"
until_true is_free e

lead loud -v --ttl 6s
check "-vv reports each renewal" until_late said loud "renewed leadership of 'e' for "
touch "$work/loud.stop"
await "$candidate"

# --- a lock ---

kill -KILL "$(master_pid 5)"
until_true is_dead "$(master_pid 5)"
run "$REDLOCK" lock k -v -- sh -c 'until grep -q 5.sock "$0"; do sleep 0.05; done' "$work/err"
says "/5.sock is down: " "-v reports a master that is down from the beginning"
run "$REDLOCK" lock k -- true
says_not "5.sock" "which is not reported without -v"

# Nobody has asked them for a lock before.
run "$REDLOCK" lock q -v --quarantine strict --max-ttl 30s --wait 2s -- true
says "/1.sock is up, in quarantine for " "-v reports a master that is in quarantine from the beginning"
says "/2.sock is up, in quarantine for " "each of them"

# --- the journal ---

# in_journal COMMAND...: runs it with a file as stderr that it takes for the journal.
in_journal() {
    : >"$work/err"
    JOURNAL_STREAM=$(stat -c %d:%i "$work/err") "$@" >"$work/out" 2>>"$work/err"
}

marked() { ! grep -v "^<[3-7]>" "$work/err"; }
has_line() { grep -q "$1" "$work/err"; }

in_journal "$REDLOCK" lock k -vv --ttl 6s --trace -- sh -c 'until grep -q "renewed .k" "$0"; do sleep 0.05; done' "$work/err"
check "in the journal each line has a priority" marked
check "a change is information" has_line "^<6>redlock: acquired 'k'"
check "a renewal is for debugging" has_line "^<7>redlock: renewed 'k'"
check "so is the trace" has_line "^<7>[0-9.]* .* asks for k"
in_journal "$REDLOCK" lock k --no-such-option
check "a mistake in the options is an error" has_line "^<3>redlock: unknown option"
in_journal "$REDLOCK" lock k --ttl 3s --no-renew -- sleep 60
check "a lock that ends is a warning" has_line "^<4>redlock: the lock 'k' ends in "
check "and so are its continuation lines" has_line "^<4>    The lock is not renewed"
in_journal sh -c '"$0" lock k -v -- true 2>"$1"' "$REDLOCK" "$work/elsewhere"
check "no line has a priority if stderr was redirected later" grep -q "^redlock: acquired" "$work/elsewhere"

finish
