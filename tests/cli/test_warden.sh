#!/bin/sh
# redlock lock: when redlock itself is stopped or killed its command does not go on.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

filled() { [ -s "$1" ]; }
said() { grep -qF -e "$1" "$work/err"; }

# A command and what it has started: neither can be asked to end.
cat >"$work/stubborn" <<'SCRIPT'
trap '' TERM
sh -c 'trap "" TERM; while :; do sleep 1; done' &
echo "$$ $!" >"$1.part"
mv "$1.part" "$1"
while :; do sleep 1; done
SCRIPT

# start [OPTION...]: sets $locker, $command and $helper.
start() {
    rm -f "$work/pids"
    "$REDLOCK" lock k -v "$@" -- sh "$work/stubborn" "$work/pids" >/dev/null 2>"$work/err" &
    locker=$!
    until_true filled "$work/pids"
    read -r command helper <"$work/pids"
}

# find_warden: sets $warden, the child of redlock that watches.
find_warden() {
    warden=
    for file in $(grep -lsx "PPid:	$locker" /proc/[0-9]*/status); do
        if grep -qsx 'Name:	redlock-warden' "$file"; then
            warden=${file#/proc/}
            warden=${warden%/status}
        fi
    done
    [ -n "$warden" ]
}

# alive PID...: prints those that are.
cat >"$work/alive" <<'SCRIPT'
for pid in "$@"; do grep "^State:.[^ZX]" "/proc/$pid/status" 2>/dev/null; done
true
SCRIPT

# --- stopped ---

# Stopped after it has been renewed; whoever gets the lock next looks at those that had it before.
start --ttl 2s --grace 300ms
until_true said "renewed 'k'"
kill -STOP "$locker"
run "$REDLOCK" lock k -- sh "$work/alive" "$command" "$helper"
status_is 0 "the lock of a redlock that is stopped ends"
check "and its command and what that has started are dead by then" [ ! -s "$work/out" ]
kill -CONT "$locker"
await "$locker"
status_is 76 "when redlock goes on, it gives 76"
check "and says why" grep -q 'stopped or suspended beyond the end .* which is lost' "$work/err"

start --no-renew --ttl 1s --grace 300ms
kill -STOP "$locker"
run "$REDLOCK" lock k -- sh "$work/alive" "$command" "$helper"
check "so it is without renewals" [ ! -s "$work/out" ]
kill -CONT "$locker"
await "$locker"
status_is 76 "and then it gives 76, too"

# A stop that is over in time: nothing is killed.
start --ttl 3s
until_true said "renewed 'k'"
kill -STOP "$locker"
until_true is_stopped "$locker"
kill -CONT "$locker"
count() { grep -c "renewed 'k'" "$work/err"; }
before=$(count)
more() { [ "$(count)" -ge $((before + 3)) ]; }
check "a redlock that was stopped shortly goes on renewing" until_true more
check "and its command lives" kill -0 "$command" "$helper"

# --- killed ---

kill -KILL "$locker"
check "a redlock that is killed takes the command with it" until_true is_dead "$command"
check "and what that has started" until_true is_dead "$helper"
await "$locker"
check "and its lock ends with its ttl" until_true is_free k

start --ttl 60s
check "there is a process that watches" until_true find_warden
kill -KILL "$warden"
check "when it is killed that is said" until_true said "the process that watches"
check "and the command goes on" kill -0 "$command"
kill -KILL "$locker"
check "redlock killed as well: so is the command" until_true is_dead "$command"
kill -KILL "$helper"
await "$locker"
each_master del k

# --- at a normal end ---

cat >"$work/leaver" <<'SCRIPT'
sleep 60 &
echo $! >"$1"
SCRIPT
run "$REDLOCK" lock k -- sh "$work/leaver" "$work/left"
status_is 0 "a command that leaves somebody behind ends as it likes"
check "and who is left behind is left alone" kill -0 "$(cat "$work/left")"
kill -KILL "$(cat "$work/left")"
rm -f "$work/pids"
"$REDLOCK" lock k -- sh -c 'echo x >"$0"; sleep 0.3' "$work/pids" 2>/dev/null &
locker=$!
until_true filled "$work/pids"
check "the process that watches is there" until_true find_warden
await "$locker"
check "and goes with redlock" is_dead "$warden"

finish
