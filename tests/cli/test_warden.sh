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

# next_one OPTION...: redlock is stopped; whoever gets the lock next looks at those that had it.
next_one() {
    start "$@"
    [ "$1" = --no-renew ] || until_late said "renewed 'k'"
    kill -STOP "$locker"
    run "$REDLOCK" lock k -- sh "$work/alive" "$command" "$helper"
    next_status=$status
    mv "$work/out" "$work/found"
    kill -CONT "$locker"
    await "$locker"
    [ ! -s "$work/found" ]
}

check "the command of a redlock that is stopped, and what that has started, are dead when it ends" \
    some_time next_one --ttl 8s --grace 300ms
check "so the next one can get the lock" [ "$next_status" -eq 0 ]
status_is 76 "when redlock goes on, it gives 76"
check "and says why" grep -q 'stopped or suspended beyond the end .* which is lost' "$work/err"

check "so it is without renewals" some_time next_one --no-renew --ttl 5s --grace 300ms
status_is 76 "and then it gives 76, too"

# A stop that is over in time: nothing is killed.
start --ttl 9s
until_late said "renewed 'k'"
kill -STOP "$locker"
until_true is_stopped "$locker"
kill -CONT "$locker"
count() { grep -c "renewed 'k'" "$work/err"; }
before=$(count)
more() { [ "$(count)" -ge $((before + 2)) ]; }
check "a redlock that was stopped shortly goes on renewing" until_late more
check "and its command lives" kill -0 "$command" "$helper"

# --- killed ---

kill -KILL "$locker"
check "a redlock that is killed takes the command with it" until_true is_dead "$command"
check "and what that has started" until_true is_dead "$helper"
await "$locker"
check "and its lock ends with its ttl" until_late is_free k

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
"$REDLOCK" lock k -- sh -c '
    echo x >"$0"
    while ! [ -e "$1" ]; do sleep 0.02; done' "$work/pids" "$work/stop" 2>/dev/null &
locker=$!
until_true filled "$work/pids"
check "the process that watches is there" until_true find_warden
touch "$work/stop"
await "$locker"
check "and goes with redlock" until_true is_dead "$warden"

finish
