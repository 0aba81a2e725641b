#!/bin/sh
# redlock lock: when redlock itself is stopped or killed its command does not go on.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_family.sh"

filled() { [ -s "$1" ]; }
said() { grep -qF -e "$1" "$work/err"; }

# start [OPTION...]: sets $locker, and $pids to those of the command and all its workers.
start() {
    rm -f "$work/pids"
    "$REDLOCK" lock k -vv "$@" -- sh "$work/family" "$work/pids" >/dev/null 2>"$work/err" &
    locker=$!
    until_true filled "$work/pids"
    pids=$(cat "$work/pids")
}

# --- stopped ---

# next_one OPTION...: redlock is stopped; the next holder of the lock counts the processes of the
# former holder.
next_one() {
    start "$@"
    [ "$1" = --no-renew ] || until_late said "renewed 'k'"
    kill -STOP "$locker"
    # shellcheck disable=SC2086
    run "$REDLOCK" lock k -- sh "$work/alive" $pids
    next_status=$status
    mv "$work/out" "$work/found"
    kill -CONT "$locker"
    await "$locker"
    [ ! -s "$work/found" ]
}

check "when the lock of a stopped redlock ends its command is dead with all its processes" \
    some_time next_one --ttl 8s --grace 300ms
check "the next client can get the lock" [ "$next_status" -eq 0 ]
status_is 76 "a redlock that was stopped gives 76"
check "a redlock that was stopped says why" \
    grep -q 'ended while redlock did not run' "$work/err"

check "the command is dead without renewals, too" \
    some_time next_one --no-renew --ttl 5s --grace 300ms
status_is 76 "a redlock that was stopped gives 76 without renewals, too"

# The pid of a command that the supervisor has killed is not used again while redlock may use it.
start --no-renew --ttl 3s --grace 0
command=$(tail -n 1 "$work/pids")
others=$(head -n 4 "$work/pids")
kill -STOP "$locker"
check "the supervisor kills the command of a stopped redlock" until_late is_dead "$command"
all_gone() {
    for pid in "$@"; do is_gone "/proc/$pid" || return 1; done
}
# shellcheck disable=SC2086
check "the supervisor reaps the other processes of the command" until_true all_gone $others
check "the supervisor does not reap the command itself" [ -e "/proc/$command" ]
kill -CONT "$locker"
await "$locker"
status_is 76 "redlock says that the command was killed"
check "the pid of the command is free when redlock has ended" until_true is_gone "/proc/$command"

# A command that ends in time, while redlock is stopped until the deadline has passed.
ends_alone() {
    rm -f "$work/pids" "$work/go"
    "$REDLOCK" lock k --no-renew --ttl 5s --grace 0 -- sh -c '
        echo $$ >"$0"
        while ! [ -e "$1" ]; do sleep 0.02; done
        exit 7' "$work/pids" "$work/go" 2>"$work/err" &
    locker=$!
    until_true filled "$work/pids"
    kill -STOP "$locker"
    until_true is_stopped "$locker"
    touch "$work/go"
    until_late is_free k
    kill -CONT "$locker"
    await "$locker"
    [ "$status" -eq 7 ]
}
check "a command that ends in time has ended by itself, though redlock learns it late" \
    some_time ends_alone
says_not "SIGKILL" "redlock does not say that the command was killed"

# redlock goes on before the deadline: nothing is killed.
start --ttl 9s
until_late said "renewed 'k'"
kill -STOP "$locker"
until_true is_stopped "$locker"
kill -CONT "$locker"
count() { grep -c "renewed 'k'" "$work/err"; }
before=$(count)
more() { [ "$(count)" -ge $((before + 2)) ]; }
check "a redlock that was stopped for a short time goes on renewing" until_late more
# shellcheck disable=SC2086
check "its command and all its processes live" kill -0 $pids

# --- killed ---

kill -KILL "$locker"
# shellcheck disable=SC2086
check "when redlock is killed the command is killed with all its processes" \
    until_true all_dead $pids
await "$locker"
check "the lock of a killed redlock is released" until_late is_free k

start --ttl 60s
check "redlock has a supervisor" until_true find_supervisor
check "the supervisor is not called redlock, by its name or arguments" \
    sh -c '! cat "/proc/$1/comm" "/proc/$1/cmdline" | grep -aq redlock' sh "$supervisor"
kill -KILL "$supervisor"
await "$locker"
check "redlock says that the supervisor was killed" said "the supervisor of the command was killed"
# shellcheck disable=SC2086
check "without a supervisor the command is killed with all its processes" all_dead $pids
status_is 70 "without a supervisor redlock gives 70"
check "without a supervisor the lock is released" until_true is_free k

start --ttl 60s
until_true find_supervisor
command=$(tail -n 1 "$work/pids")
kill -STOP "$locker"
until_true is_stopped "$locker"
kill -KILL "$supervisor"
check "while redlock is stopped the kernel kills the command of a supervisor that is killed" \
    until_true is_dead "$command"
# The loop of redlock has other events waiting: its connections have ended.
each_master client kill type normal
kill -CONT "$locker"
check "redlock ends when it goes on" until_true is_dead "$locker"
kill -KILL "$locker" 2>/dev/null
await "$locker"
status_is 70 "redlock whose supervisor was killed gives 70"
# shellcheck disable=SC2086
check "redlock kills the other processes of the command" until_true all_dead $pids
# shellcheck disable=SC2086
kill -KILL $pids 2>/dev/null
each_master del k

# --- a process without its first thread ---

cat >"$work/headless" <<'SCRIPT'
import ctypes, os, signal, sys, threading, time

def stay():
    while not open(f'/proc/{os.getpid()}/stat').read().rsplit(')', 1)[1].startswith(' Z'):
        time.sleep(0.01)
    with open(sys.argv[1] + '.part', 'w', encoding='ascii') as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[1] + '.part', sys.argv[1])
    time.sleep(600)

signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)
SCRIPT
has_no_thread() { ! cat "/proc/$1/task/"*/status 2>/dev/null | grep -q '^State:.[^ZX]'; }
rm -f "$work/pids"
"$REDLOCK" lock k --ttl 60s -- sh -c 'setsid python3 "$0" "$1" & sleep 600' \
    "$work/headless" "$work/pids" >/dev/null 2>&1 &
locker=$!
until_true filled "$work/pids"
kill -KILL "$locker"
check "a process whose first thread has ended does not outlive redlock" \
    until_true has_no_thread "$(cat "$work/pids")"
kill -KILL "$(cat "$work/pids")" 2>/dev/null
await "$locker"
each_master del k

# A shell starts a child and then becomes redlock: that child does not belong to the command.
rm -f "$work/pids"
sh -c 'sleep 60 & echo $! >"$1"; shift; exec "$@"' sh "$work/elder" \
    "$REDLOCK" lock k --ttl 60s -- sh "$work/family" "$work/pids" >/dev/null 2>&1 &
locker=$!
until_true filled "$work/pids"
until_true find_supervisor
kill -KILL "$supervisor"
await "$locker"
check "a process that redlock has not started is left alone" kill -0 "$(cat "$work/elder")"
# shellcheck disable=SC2046
kill -KILL $(cat "$work/elder" "$work/pids") 2>/dev/null
each_master del k

# Each process starts the next one in a new session, and ends.
cat >"$work/runner" <<'SCRIPT'
: >>"$1"
setsid sh "$0" "$1" &
SCRIPT
left_of() { grep -qasF "REDLOCK_TOKEN=$1" /proc/[0-9]*/environ; }
none_left() { ! left_of "$1"; }
rm -f "$work/ran"
"$REDLOCK" lock k --ttl 60s -- sh -c 'sh "$1" "$2"; echo "$REDLOCK_TOKEN" >"$3"; sleep 600' sh \
    "$work/runner" "$work/ran" "$work/token" >/dev/null 2>&1 &
locker=$!
until_true filled "$work/token"
token=$(cat "$work/token")
check "there are processes that run away" left_of "$token"
kill -KILL "$locker"
check "processes that run away are killed when redlock is killed" until_true none_left "$token"
await "$locker"
each_master del k

# --- at a normal end ---

cat >"$work/leaver" <<'SCRIPT'
sleep 60 &
echo $! >"$1"
setsid sleep 60 &
echo $! >>"$1"
SCRIPT
run "$REDLOCK" lock k -- sh "$work/leaver" "$work/left"
status_is 0 "a command that leaves a process behind ends with its own status"
# shellcheck disable=SC2046
check "a process that is left behind at a normal end is left alone" kill -0 $(cat "$work/left")
# shellcheck disable=SC2046
kill -KILL $(cat "$work/left")
rm -f "$work/pids"
"$REDLOCK" lock k -- sh -c '
    echo x >"$0"
    while ! [ -e "$1" ]; do sleep 0.02; done' "$work/pids" "$work/stop" 2>/dev/null &
locker=$!
until_true filled "$work/pids"
check "redlock has a supervisor at a normal end" until_true find_supervisor
touch "$work/stop"
await "$locker"
check "the supervisor ends with redlock" until_true is_dead "$supervisor"

finish
