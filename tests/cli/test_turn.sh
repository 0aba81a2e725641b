#!/bin/sh
# Commands that wait for a lock get it in turn, and say at which place they are.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# waits NAME [OPTION...]: wait for $key in the background; then write NAME to $work/order, and hold it
# until `may_end NAME`. What it says is in $work/NAME. Sets $waiter.
waits() {
    name=$1
    shift
    # The shell makes background jobs ignore INT; env undoes that.
    # shellcheck disable=SC2016
    env --default-signal=INT "$REDLOCK" lock "$key" --ttl 60s "$@" -- sh -c '
        echo "$1" >>"$2/order"
        until [ -e "$2/end-$1" ]; do sleep 0.02; done' - "$name" "$work" 2>"$work/$name" &
    waiter=$!
}

may_end() {
    touch "$work/end-$1"
}

# n_wait NUMBER: so many wait for $key, according to redlock status.
n_wait() {
    case $("$REDLOCK" status "$key") in
    *" 1 client waits for it"*) [ "$1" -eq 1 ] ;;
    *" $1 clients wait for it"*) true ;;
    *" for it"*) false ;;
    *) [ "$1" -eq 0 ] ;;
    esac
}

# had NAME...: they had the lock, in this order.
had() {
    [ "$(tr '\n' ' ' <"$work/order")" = "$* " ]
}

# hand_over: the holder ends. (let_go waits until the key is free.)
hand_over() {
    kill "$holder"
    await "$holder"
}

# For what happens soon, or not in this try.
until_soon() {
    try_until 250 "$@"
}

now_ms() {
    date +%s%3N
}

# --- in turn ---

# so STEP COMMAND...: says in $work/err when it does not hold.
so() {
    step=$1
    shift
    "$@" >/dev/null 2>&1 && return
    echo "not so: $step" >>"$work/err"
    return 1
}

told_one_place_each() {
    [ "$(grep -c ' queue position ' "$work/two")" -eq 2 ]
}

story() {
    so "status counts a command that waits" until_true n_wait 1 || return
    waits two -v
    two=$waiter
    so "status counts two commands that wait" until_true n_wait 2 || return
    "$REDLOCK" status "$key" --json >"$work/json"
    so "JSON has their number, too" grep -qF '"waiters": 2' "$work/json" &&
        so "the first says that it has queue position 1" \
            until_true grep -q "waiting for '$key', queue position 1 of [12]" "$work/one" &&
        so "the second says that it has queue position 2 of 2" \
            until_true grep -qx "redlock: waiting for '$key', queue position 2 of 2" "$work/two" &&
        hand_over &&
        so "the first gets the lock" until_soon had one &&
        so "the second says that it has queue position 1" \
            until_soon grep -qx "redlock: waiting for '$key', queue position 1 of 1" "$work/two" &&
        so "status counts only those who still wait" n_wait 1 &&
        may_end one &&
        so "then the second gets it" until_soon had one two &&
        so "nobody waits any more" until_soon n_wait 0 &&
        so "each place was said once" told_one_place_each
}

# For each try another key: who missed its turn may still have the former one.
in_turn() {
    key=k$((${key#k} + 1)) two=
    rm -f "$work/order" "$work/end-one" "$work/end-two" "$work/err"
    hold "$key" --owner alice
    waits one -v
    one=$waiter
    story
    in_turn=$?
    may_end one
    may_end two
    kill "$holder" 2>/dev/null
    await "$one"
    one_status=$status
    [ -z "$two" ] || await "$two"
    return "$in_turn"
}

# Whoever does not run for 20 ms while the lock is handed over misses its turn [W7].
key=k0
check "commands that wait get the lock in turn, and their places are told" some_time in_turn
status_is 0 "the second ends well"
status=$one_status
status_is 0 "the first ends well"
key=k

# --- who leaves ---

hold k
waits three
three=$waiter
until_true n_wait 1
kill -INT "$three"
await "$three"
status_is 130 "Ctrl-C ends a wait"
check "whoever gave up is in no waiting list" n_wait 0

: >"$work/order"
waits dead
dead=$waiter
until_true n_wait 1
waits four --trace
four=$waiter
until_true n_wait 2
kill -KILL "$dead"
await "$dead"
began=$(now_ms)
hand_over
check "the one behind a waiter that was killed gets the lock" until_true had four
check "it does not wait long for it" [ $(($(now_ms) - began)) -lt 5000 ]
check "it was woken" grep -q 'says that we are first in the queue for k' "$work/four"
may_end four
await "$four"

: >"$work/order"
hold k
waits stopped
stopped=$waiter
until_true n_wait 1
waits five
five=$waiter
until_true n_wait 2
kill -STOP "$stopped"
until_true is_stopped "$stopped"
hand_over
check "the one behind a waiter that is stopped gets the lock" until_true had five
may_end five
await "$five"
kill -CONT "$stopped"
check "the one that was stopped gets it, too" until_true had five stopped
may_end stopped
await "$stopped"
status_is 0 "it ends well"

finish
