#!/bin/sh
# redlock lock and elect: the lock of a redlock that was killed is released when nothing of its command
# is left, and not before. The ttls are so long that no key ends by itself.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"
. "$(dirname "$0")/lib_family.sh"

# start WRAPPER... lock KEY... [OPTION...]: sets $locker, $supervisor, $pids.
start() {
    rm -f "$work/pids"
    "$@" -- sh "$work/family" "$work/pids" >/dev/null 2>"$work/err" &
    locker=$!
    until_late filled "$work/pids"
    pids=$(cat "$work/pids")
    until_true find_supervisor
}

# kill_locker: with SIGKILL, and wait until its supervisor has ended.
kill_locker() {
    kill -KILL "$locker"
    await "$locker"
    until_late is_dead "$supervisor"
}

has_key() { # on a majority: a vote that was too late for the win may be missing
    on=0
    for number in 1 2 3 4 5; do on=$((on + $(master "$number" exists "$1"))); done
    [ "$on" -ge 3 ]
}

# --- the order ---

start "$REDLOCK" lock k --ttl 60s
# shellcheck disable=SC2086
"$REDLOCK" lock k --ttl 60s -- sh "$work/alive" $pids >"$work/found" 2>&1 &
next=$!
is_waited_for() { [ "$(master 1 zcard k:redlock-waiting)" = 1 ]; }
until_true is_waited_for
kill -KILL "$locker"
await "$locker"
await "$next"
status_is 0 "when redlock is killed the next one gets the lock"
check "the command is dead by then, with all its processes" [ ! -s "$work/found" ]
check "the supervisor ends" until_late is_dead "$supervisor"
check "no key is left" is_free k

start setsid "$REDLOCK" lock k --ttl 60s
kill -KILL "-$locker"
await "$locker"
check "the same when its process group is killed" until_late is_free k
# shellcheck disable=SC2086
check "with all processes of the command" all_dead $pids
until_late is_dead "$supervisor"

start "$REDLOCK" lock a b c --ttl 60s --key-prefix p:
kill_locker
check "a lock of several keys is released" is_free p:a
check "all of them" is_free p:b
check "and the last" is_free p:c

# A process of another user goes on. (root may kill it, unless that right is taken away.)
if [ "$(id -u)" -eq 0 ] && setpriv --inh-caps=-kill --bounding-set=-kill true 2>/dev/null; then
    rm -f "$work/left"
    setpriv --inh-caps=-kill --bounding-set=-kill "$REDLOCK" lock k --ttl 60s -- sh -c '
        setsid setpriv --reuid=65534 --clear-groups sleep 600 &
        until grep -q "^Uid:.65534" "/proc/$!/status"; do sleep 0.02; done
        echo $! >"$0"; wait' "$work/left" 2>"$work/err" &
    locker=$!
    until_late filled "$work/left"
    until_true find_supervisor
    kill_locker
    check "a process that the supervisor may not kill goes on" kill -0 "$(cat "$work/left")"
    check "then the lock is left to its ttl" has_key k
    kill -KILL "$(cat "$work/left")"
    each_master del k
fi

# Both at once: nobody is left who could prove anything.
start "$REDLOCK" lock k --ttl 60s
kill -KILL "$supervisor" "$locker"
await "$locker"
check "when both are killed the lock is left to its ttl" has_key k
# shellcheck disable=SC2086
kill -KILL $pids 2>/dev/null
each_master del k

start "$REDLOCK" lock k --ttl 5s --at-least 60s
kill_locker
check "--at-least keeps the lock of a redlock that was killed" has_key k
each_master del k

# --- the rest of a grace ---

# SIGTERM ends the command, but not its worker, which gets it from redlock then.
cat >"$work/patient" <<'SCRIPT'
sh -c 'trap ": >\"$0/asked\"" TERM
    while ! [ -e "$0/go" ]; do sleep 0.02; done
    : >"$0/went"' "${0%/*}" &
echo $$ >"$1"
wait
SCRIPT
switches() { sed -n 's/^voluntary_ctxt_switches:.//p' "/proc/$supervisor/status"; }
has_noticed() { [ "$(switches)" -gt "$before" ]; } # it has run, and waits again
rm -f "$work/pids"
"$REDLOCK" lock k --ttl 60s --grace 25s -- sh "$work/patient" "$work/pids" 2>"$work/err" &
locker=$!
until_late filled "$work/pids"
until_true find_supervisor
kill -TERM "$(cat "$work/pids")"
check "the rest of a command that a signal has ended is asked to end" until_late [ -e "$work/asked" ]
until_late grep -q "but not its children" "$work/err"
before=$(switches)
kill -KILL "$locker"
await "$locker"
until_true has_noticed
check "the lock is held while a process uses the rest of its grace" has_key k
touch "$work/go"
check "the process that has got SIGTERM before keeps the rest of its grace" \
    until_true [ -e "$work/went" ]
check "the lock is released when it has ended" until_late is_free k
until_late is_dead "$supervisor"

# --- masters and their settings ---

start "$REDLOCK" lock k --ttl 60s
halt 2 4
# shellcheck disable=SC2086
"$REDLOCK" lock k --ttl 60s -- sh "$work/alive" $pids >"$work/found" 2>&1 &
next=$!
kill -KILL "$locker"
await "$locker"
await "$next"
status_is 0 "with two of five masters stopped the next one gets the lock, too"
check "after the command has died" [ ! -s "$work/found" ]
check "the supervisor does not wait for stopped masters" until_true is_dead "$supervisor"
resume 2 4
each_master del k

# A master without its replicas rejects the release, but not because of us.
start "$REDLOCK" lock k --ttl 60s
master 1 config set min-replicas-to-write 1 >/dev/null
kill -KILL "$locker"
await "$locker"
rejections() {
    master 1 info errorstats | sed -n 's/^errorstat_NOREPLICAS:count=//p' | tr -d '\r'
}
is_released_elsewhere() {
    for number in 2 3 4 5; do
        [ "$(master "$number" exists k)" = 0 ] || return 1
    done
}
check "a lock is released though one master refuses it" until_true is_released_elsewhere
before=$(rejections)
is_rejected_again() { [ "$(rejections)" -gt $((${before:-0} + 7)) ]; }
check "that master gets the release again and again" until_true is_rejected_again
master 1 config set min-replicas-to-write 0 >/dev/null
check "until it accepts it" until_late is_free k
check "then the supervisor ends" until_late is_dead "$supervisor"
each_master del k

each_master config set requirepass hunter2
export REDISCLI_AUTH=hunter2
echo hunter2 >"$work/password"
# locked CLAIM WRAPPER...: the command of a redlock that logs in like this is released.
locked() {
    claim=$1
    shift
    start "$@" lock k --ttl 60s
    kill_locker
    check "$claim" is_free k
    each_master del k
}
locked "released with a password of the environment" env REDLOCK_PASSWORD=hunter2 "$REDLOCK"
with() { # with CLAIM OPTION...
    claim=$1
    shift
    start "$REDLOCK" lock k --ttl 60s "$@"
    kill_locker
    check "$claim" is_free k
    each_master del k
}
with "released with a password file" --password-file "$work/password"
with "released with a password command" --password-command "cat '$work/password'"
mkfifo "$work/fifo"
(cat "$work/password" >"$work/fifo" &)
with "released with a password that could be read only once" --password-file "$work/fifo"
each_master acl setuser ann on '>hunter3' '~*' '&*' +@all
echo hunter3 >"$work/password"
with "released as a user" --username ann --password-file "$work/password"
each_master config set requirepass ''
unset REDISCLI_AUTH

# --- elections ---

script=$work/leader
lead one --ttl 60s
locker=$candidate
until_true find_supervisor
follow two --ttl 60s
kill -KILL "$locker"
await "$locker"
check "when a leader is killed the next one leads" leads two
check "after the command of the former has died" missing overlap "$work/log"
check "its term is greater" terms_grow
locker=$candidate
until_true find_supervisor
kill_locker
check "no key of the election is left" is_free e

lead three --ttl 60s --on-demoted true
locker=$candidate
until_true find_supervisor
kill_locker
check "a hook that has not run leaves the lock to its ttl" has_key e
each_master del e

lead four --ttl 60s
locker=$candidate
until_true find_supervisor
kill -KILL "$supervisor"
await "$locker"
status_is 70 "a candidate whose supervisor is killed ends"
check "and resigns" until_true is_free e

finish
