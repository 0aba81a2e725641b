#!/bin/sh
# redlock masters replace, add and remove. The sandbox says quarantine=off, with which there is no
# record.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

export REDLOCK_QUARANTINE=lenient REDLOCK_MAX_TTL=6s

# uri NUMBER...: a list of masters
uri() {
    for number in "$@"; do printf 'unix://%s/%s.sock ' "$REDLOCK_SANDBOX" "$number"; done
}

# Masters 1, 2 and 3 are on record.
former=$(uri 1 2 3)
"$REDLOCK" lock k --nodes "$former" -- true

# --- replacing ---

run "$REDLOCK" masters replace
status_is 64 "replace needs two operands"
says "replace needs two URIs" "it says so"
run "$REDLOCK" masters replace 1
status_is 64 "one is not enough"
run "$REDLOCK" masters replace 1 "$(uri 4)" 5
status_is 64 "and three are too many"
run "$REDLOCK" masters replace 9 "unix://$work/none.sock"
status_is 64 "replace needs a master of the list"
says "'9' is not one of the 5 masters in the list" "it says so, and how many there are"
run "$REDLOCK" masters replace 1 "unix://$REDLOCK_SANDBOX/2.sock"
status_is 64 "a master of the list cannot take the place of another"
says "2.sock is already in the list" "it says which"
run "$REDLOCK" masters replace 1 nonsense
status_is 64 "NEW is a URI"
run "$REDLOCK" masters --no-wait
status_is 64 "--no-wait is for changes alone"
run "$REDLOCK" masters replace --json 1 "unix://$work/none.sock"
status_is 64 "replace prints no JSON"
run "$REDLOCK" masters replace 1 "unix://$work/none.sock"
status_is 78 "with another list than on record nothing is replaced"
says "could not take the place of unix://$REDLOCK_SANDBOX/1.sock: the server at " "it says why"
check "it asks for no second try" missing "Run this again" "$work/err"

# --- adding and removing ---

run "$REDLOCK" masters add
status_is 64 "add needs an operand"
says "add needs the URI of the server that becomes a master" "it says so"
run "$REDLOCK" masters remove
status_is 64 "remove needs an operand"
says "remove needs a master: its URI, or its number in the list" "it says so"
run "$REDLOCK" masters remove 1 2
status_is 64 "remove takes one master"
run "$REDLOCK" masters add --json "unix://$work/none.sock"
status_is 64 "add prints no JSON"
run "$REDLOCK" masters add "unix://$REDLOCK_SANDBOX/2.sock"
status_is 64 "a master of the list cannot be added"
says "2.sock is already in the list" "it says so"
run "$REDLOCK" masters remove --nodes "$(uri 1)" 1
status_is 64 "the only master cannot be removed"
says "1.sock is the only master in the list" "it says so"

export REDLOCK_NODES="$former"
run "$REDLOCK" masters remove "unix://$REDLOCK_SANDBOX/4.sock"
status_is 64 "remove needs a master of the list"
says "4.sock' is not one of the 3 masters in the list" "it says so"
run "$REDLOCK" masters add "unix://$work/none.sock" --timeout 1s
status_is 69 "a server that is down is not added"
says "none.sock could not be added: unix://$work/none.sock cannot be reached" "add says why"
says_not "half done" "nothing was begun"

# A server with the data of master 2.
master 2 save >/dev/null
cp "$(master 2 config get dir | tail -n 1)/$(master 2 config get dbfilename | tail -n 1)" "$work/copy.rdb"
"$server" --port 0 --unixsocket "$work/copy.sock" --save '' --daemonize no --dir "$work" --dbfilename copy.rdb >/dev/null &
copy=$!
until_true "$rediscli" -s "$work/copy.sock" ping
for action in add 'replace 1' 'replace 2'; do
    # shellcheck disable=SC2086
    run "$REDLOCK" masters $action "unix://$work/copy.sock"
    status_is 78 "a copy of a master does not become one: $action"
    says "it has a copy of another master's data: empty it (FLUSHALL)" "it says what to do: $action"
done
kill "$copy"
await "$copy"

# Master 4 joins while a lock is held, and somebody waits.
master 4 flushall >/dev/null
"$REDLOCK" lock held -vv --ttl 6s -- sleep 600 2>"$work/held" &
holder=$!
until_true grep -q renewed "$work/held"
run "$REDLOCK" masters add "unix://$REDLOCK_SANDBOX/4.sock" --no-wait
status_is 0 "add --no-wait ends when the master is on record"
says "4.sock is on record, and clients connect to it now; it votes in " "it says when the master votes"
says "Add it to the list of every client" "and what to do"
says "Of 4 masters no more may fail than of 3: add or remove another one." "and that four are no better"
run "$REDLOCK" doctor
prints "3 of 4 masters vote, quorum 2; 1 more may fail." "until then two of the three are enough"
run "$REDLOCK" masters add "unix://$REDLOCK_SANDBOX/4.sock"
status_is 0 "add goes on where it was"
says "4.sock is a master and votes" "and says that it is over"
run "$REDLOCK" masters
status_is 0 "with the former list masters gives 0"
prints "on 4 of 4 masters" "and shows all four"
prints "The list of masters is out of date: unix://$REDLOCK_SANDBOX/4.sock on $(uname -n) is on record, and not in the list." \
    "and says which master the list lacks"
run "$REDLOCK" status held
prints "on 4 of 4 masters" "status asks the new master, too"
"$REDLOCK" acquire script --ttl 6s >"$work/token"
run "$REDLOCK" release script --token "$(cat "$work/token")"
status_is 0 "a client with the former list acquires and releases"
check "also on the new master" [ "$(master 4 exists script)" = 0 ]
run "$REDLOCK" lock k --nodes "$(uri 1 2 3 4)" -- true
status_is 0 "and so does one with the present list"
run "$REDLOCK" lock k --nodes "$(uri 1 2 4)" -- true
status_is 78 "a list that lacks a master from the beginning gives 78"
says "4 masters are on record, and 3 are listed here" "and says so"

# Master 2 leaves. The manager then knows the others by other numbers than the list.
export REDLOCK_NODES="$(uri 1 2 3 4)"
run "$REDLOCK" masters remove 2
status_is 0 "remove gives 0"
says "2.sock is not on record as a master any more; it stops voting in " "it says when the master stops voting"
says "2.sock is not a master any more" "it names the master, not its number"
says "Remove it from the list of every client" "and says what to do"
says_not "no more may fail" "three masters are fine"
says_not "keep it off" "and the one that left knows that"
run "$REDLOCK" masters
status_is 0 "with the former list masters gives 0"
prints "on 3 of 3 masters" "and shows the three"
prints "2.sock on $(uname -n)  no master since epoch " "and the one that left"
prints "out of date: the list still has unix://$REDLOCK_SANDBOX/2.sock, which is no master since epoch " \
    "and says that the list still has it"
run "$REDLOCK" doctor -q
status_is 1 "with the former list doctor gives 1"
prints "out of date: the list still has unix://$REDLOCK_SANDBOX/2.sock" "and says the same"
run "$REDLOCK" doctor -q --nodes "$(uri 1 3 4)"
status_is 0 "with the current list doctor gives 0"
run "$REDLOCK" masters remove 2
status_is 0 "a master that was removed can be removed again"
run "$REDLOCK" masters replace 2 "unix://$REDLOCK_SANDBOX/5.sock"
status_is 78 "but not replaced"
says "it is to replace is not a master any more" "replace says why"
run "$REDLOCK" masters add --nodes "$(uri 1 3 4)" "unix://$REDLOCK_SANDBOX/2.sock"
status_is 78 "nor added again with its data"
says "it has the data of a former master: empty it (FLUSHALL)" "add says what to do"
run "$REDLOCK" masters remove "unix://$REDLOCK_SANDBOX/3.sock" --no-wait
says "3.sock is not on record as a master any more" "a master is found by its URI when one before it has left"
says "Of 2 masters no more may fail than of 1" "two masters are no better than one"
check "the lock was held all the time" missing "is lost" "$work/held"
kill "$holder"
await "$holder"
finish
