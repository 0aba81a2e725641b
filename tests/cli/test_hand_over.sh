#!/bin/sh
# redlock release --to: the lock goes to the named waiter, and nobody else gets it in between.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# waits NUMBER KEY: so many clients wait for the key.
waits() {
    "$REDLOCK" status "$2" | grep -Eq "$1 clients? waits? for it"
}

# wait_as NAME: a lock whose command says that it has begun, and ends when it is told to. Another one
# goes on with its own key, so that its files stay apart.
wait_as() {
    # shellcheck disable=SC2016
    "$REDLOCK" lock "$key" --ttl 20s --owner "$1" -- sh -c 'echo >"$0"; until [ -e "$0.end" ]; do sleep 0.05; done' \
        "$work/$key.$1" 2>"$work/$key.$1.err" &
}

# --- the second in the queue is named ---

key=k
run "$REDLOCK" acquire k --ttl 60s --owner first
token=$(cat "$work/out")
wait_as second
second=$!
until_true waits 1 k
wait_as third
third=$!
until_true waits 2 k
run "$REDLOCK" release k --token "$token" --to third --within 20s
status_is 0 "a lock is handed over"
says "handed 'k' over: it is reserved for third" "release says to whom"
check "the named waiter gets it" until_true test -e "$work/k.third"
check "the waiter before it does not" [ ! -e "$work/k.second" ]
run "$REDLOCK" status k
prints "k: held by third, " "it has a lock of its own"
touch "$work/k.third.end"
await "$third"
status_is 0 "it releases it like any other"
check "then it is the turn of the other one" until_true test -e "$work/k.second"
touch "$work/k.second.end"
await "$second"
status_is 0 "which gets it"

# --- nobody of that name ---

run "$REDLOCK" acquire r --ttl 60s
token=$(cat "$work/out")
run "$REDLOCK" release r --token "$token" --to nobody --within 40s
status_is 0 "a name that nobody has is no mistake"
run "$REDLOCK" status r
prints "r: reserved for nobody, " "status says for whom it is reserved"
run "$REDLOCK" status r --json
check "so does --json" grep -q '"held": false, "owner": "", "reserved_for": "nobody"' "$work/out"
run "$REDLOCK" lock r --no-wait -- true
status_is 75 "everybody else is refused"
says "'r' is reserved for nobody, whom its holder handed it over to" "and told why"
reservation=$(master 1 get r)
run "$REDLOCK" extend r --token "$reservation"
status_is 64 "nobody can extend a reservation"
run "$REDLOCK" release r --token "$reservation"
status_is 64 "nor release it"
run "$REDLOCK" release r --token "$token"
status_is 75 "the former token is worth nothing"
run "$REDLOCK" lock r --owner nobody -- true
status_is 0 "who comes later, has the name and waits, takes it"

run "$REDLOCK" acquire s --ttl 60s
token=$(cat "$work/out")
run "$REDLOCK" release s --token "$token" --to nobody --within 50ms
run "$REDLOCK" lock s -- true
status_is 0 "when it has ended, anybody gets the lock"

# --- mistakes ---

acquire_everywhere t --ttl 60s
token=$(cat "$work/out")
run "$REDLOCK" release t --token "$token" --to ''
status_is 64 "a name is not empty"
says "--to is empty" "the message names the option"
run "$REDLOCK" release t --token "$token" --to "$(printf 'a\tb')"
status_is 64 "a name has no control characters"
says "--to must be printable" "the message names the option then, too"
run "$REDLOCK" release t --token "$token" --within 1s
status_is 64 "--within alone means nothing"
says "--within needs --to" "which is said"
run "$REDLOCK" release t --token somebody --to nobody
status_is 64 "a lock of another library cannot be handed over"
run "$REDLOCK" release t --token "$token" --to nobody --within 2h
status_is 64 "not for longer than a lock may live"
says "--within 2 h is longer than --max-ttl 5 min" "both options are named"
check "the lock is still held" everywhere t "$token"
run "$REDLOCK" release t --token 0000000000000000000000000000000000000000 --to nobody
status_is 75 "somebody else's lock is not handed over"
check "and is left alone" everywhere t "$token"

finish
