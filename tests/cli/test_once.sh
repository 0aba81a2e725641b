#!/bin/sh
# redlock lock --at-least, --quiet and --conflict-exit-code: a job that several machines start at
# about the same time is done once; the other machines do not fail and print nothing.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# stays KEY MS: the key lives for more than MS on a majority.
stays() {
    on=0
    for number in 1 2 3 4 5; do
        [ "$(master "$number" pttl "$1")" -gt "$2" ] && on=$((on + 1))
    done
    [ "$on" -ge 3 ]
}

# lasts SECONDS COMMAND...: the command takes at least so long.
lasts() {
    until=$(($(date +%s%3N) + $1 * 1000))
    shift
    "$@" || return
    [ "$(date +%s%3N)" -ge "$until" ]
}

# --- one of three ---

# shellcheck disable=SC2016
job='echo ran >>"$0/ran"; sleep 0.1'
start() {
    "$REDLOCK" lock k --at-least 60s --no-wait -q -E 0 -- sh -c "$job" "$work" >>"$work/mail" 2>&1 ||
        echo failed >>"$work/failed"
}
start &
first=$!
until_true [ -e "$work/ran" ]
start &
second=$!
start
wait "$first" "$second"
check "of three starts, two of them while or after the first one runs, one runs" [ "$(cat "$work/ran")" = ran ]
check "the starts that do not run succeed" is_gone "$work/failed"
check "the starts that do not run print nothing" [ ! -s "$work/mail" ]
check "the lock stays after redlock has exited" stays k 20000
run "$REDLOCK" lock k --no-wait -- true
status_is 75 "without -E a start that does not run gives 75"
says "'k' is held by" "without -q a start that does not run says why"
run "$REDLOCK" lock k --no-wait --conflict-exit-code 7 -- true
status_is 7 "--conflict-exit-code sets the exit status of a conflict"
run "$REDLOCK" lock k --wait 100ms -qE 7 -- true
status_is 7 "--conflict-exit-code counts after --wait, too"
check "--quiet suppresses the message of a conflict" [ ! -s "$work/err" ]
run "$REDLOCK" acquire k --no-wait -qE 7
status_is 7 "acquire accepts --conflict-exit-code and --quiet"
check "acquire --quiet prints nothing" [ ! -s "$work/err" ]

# --- nobody holds it ---

# Three clients had the votes of one, two and two masters: nobody has the lock, and perhaps nobody
# did the work.
for number in 1 2 3 4 5; do
    master "$number" set split "$((number / 2))" px 3600000 >/dev/null
done
run "$REDLOCK" lock split --no-wait -qE 0 -- true
status_is 69 "when no client can have a majority that is no conflict, and no reason to be quiet"
says "nobody can hold 'split' now: at most 2 of 5 masters have it for the same client" "redlock says so"
run "$REDLOCK" lock one split --no-wait -qE 0 -- true
status_is 69 "so it is with several keys"
halt 5
run "$REDLOCK" lock split --no-wait -E 0 --node-timeout 500ms -- true
status_is 0 "when a client may have a majority, because a master does not answer, that is a conflict"
says "'split' may be held by somebody else: 2 of 5 masters say so, and 3 are needed to be certain" \
    "redlock says that it is not certain"
resume 5
master 4 set split 1 px 3600000 >/dev/null
run "$REDLOCK" lock split --no-wait -qE 0 -- true
status_is 0 "when a client has a majority that is a conflict"
run "$REDLOCK" lock split --no-wait -- true
says "'split' is held by somebody else (according to 3 of 5 masters" "and the masters are counted"
each_master del split

# --- how it ends ---

run "$REDLOCK" lock fails --at-least 60s -- sh -c 'exit 3'
status_is 3 "a command that fails gives its exit status"
check "after a command that fails the lock stays" stays fails 20000
run "$REDLOCK" lock missing --at-least 60s --fence -- sh -c 'echo $REDLOCK_FENCING_TOKEN'
check "a lock with a fence stays" stays missing 20000
fence=$(cat "$work/out")
run "$REDLOCK" status missing
prints "fencing token $fence" "a lock that stays keeps its fence"

"$REDLOCK" lock drift --at-least 100m --max-ttl 200m -- true
check "a lock that stays is there at the end of --at-least by the fastest clock, too" stays drift 6010000
check "what the longest ttl would not keep is waited for" \
    lasts 1 "$REDLOCK" lock longest --ttl 10s --at-least 100s --max-ttl 100s -- true
check "and then the lock stays" stays longest 90000

renewed_once() { grep -qF "renewed 'vanished'" "$work/err"; }
"$REDLOCK" lock vanished --ttl 5m --at-least 60s -vv -- \
    sh -c 'echo $$ >"$0/vanished"; exec sleep 600' "$work" 2>"$work/err" &
locker=$!
until_true renewed_once # the next renewal comes after a tenth of the TTL
each_master del vanished
kill -TERM "$locker"
await "$locker"
says "the lock 'vanished' was gone before it was released" \
    "a lock that is to stay for less than its ttl, and is gone, is said to be gone after a signal, too"

"$REDLOCK" lock killed --ttl 9s --at-least 60s -- sh -c 'echo $$ >"$0/pid"; sleep 600' "$work" &
locker=$!
until_true [ -s "$work/pid" ]
kill -KILL "$locker"
await "$locker"
until_true is_dead "$(cat "$work/pid")"
check "when redlock is killed the lock stays" stays killed 20000

run "$REDLOCK" lock long -v --ttl 5s --at-least 15s -- sleep 5.5
says "kept 'long'" "renewals do not prolong the stay"
check "a command that ends before the lock may be released is waited for" \
    lasts 1 "$REDLOCK" lock short --at-least 1s -- true
check "after --at-least the lock is released" until_true is_free short
run "$REDLOCK" lock longer -v --at-least 10ms -- sleep 0.1
says_not "waiting to release" "after --at-least a command that still runs is not waited for"
says "released 'longer'" "the lock of a command that runs longer is released"
"$REDLOCK" lock hurry --ttl 60s --at-least 50s -- sh -c 'kill -TERM $$' 2>"$work/err"
check "when a signal ended the command redlock does not wait, and the lock stays" stays hurry 20000

# --- masters ---

halt 1 2
run "$REDLOCK" lock two --at-least 60s -- true
status_is 0 "two of five masters stopped: it works"
resume 1 2
check "with two of five masters stopped the lock stays" stays two 20000
# Without renewals: one in between would restore the key, or notice the loss before.
run "$REDLOCK" lock gone --ttl 60s --at-least 60s --no-renew -- \
    sh -c 'for n in 1 2 3 4 5; do "$0" -s "$1/$n.sock" del gone; done' "$rediscli" "$REDLOCK_SANDBOX"
says "'gone' was gone before it was released" "a lock that was gone before its time is reported"

halt 1 2 3
run "$REDLOCK" lock none --no-wait -q -E 7 -- true
status_is 69 "an unreachable majority is not a conflict"
says "no majority of the masters" "--quiet does not suppress an unreachable majority"
resume 1 2 3

# --- what is refused ---

run "$REDLOCK" lock k --at-least 10m -- true
status_is 64 "more than --max-ttl is refused"
says "--at-least 10 min is longer than --max-ttl 5 min" \
    "the message names --at-least and --max-ttl"
for code in 256 -1 x '' 1x; do
    run "$REDLOCK" lock k -E "$code" -- true
    status_is 64 "-E '$code' is refused"
done

finish
