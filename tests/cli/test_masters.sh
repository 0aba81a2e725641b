#!/bin/sh
# The record of the masters: what a client with other masters gets, redlock masters, and a master
# that lost its data. The sandbox says quarantine=off, with which there is no record.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

all=$REDLOCK_NODES

# uri NUMBER...: a list of masters
uri() {
    for number in "$@"; do printf 'unix://%s/%s.sock ' "$REDLOCK_SANDBOX" "$number"; done
}

# has_line TEXT: stdout of `redlock masters` has a line that begins so.
has_line() {
    "$REDLOCK" masters >"$work/shown" 2>&1
    grep -qE "^$1" "$work/shown"
}

# --- no record ---

run "$REDLOCK" lock k -- true
run "$REDLOCK" masters
status_is 1 "with quarantine=off there is no record"
prints "no master can show one: their policy is off" "masters says why"
export REDLOCK_QUARANTINE=lenient REDLOCK_MAX_TTL=10s
run "$REDLOCK" masters
status_is 1 "before the first lock there is no record"
prints "record of the masters: no master has one yet" "masters says that no master has one"
run "$REDLOCK" doctor
status_is 0 "doctor finds nothing wrong with that"
prints "record of the masters: no master has one yet" "doctor says that no master has one"

run "$REDLOCK" masters replace --nodes "$(uri 1 2 3)" 1 "unix://$REDLOCK_SANDBOX/4.sock"
status_is 69 "before the first lock no master can be replaced"
says "there is no record of the masters yet: give the new list to all clients" "replace says what to do"
says_not "half done" "and nothing was begun"

# --- the first client writes it ---

run "$REDLOCK" lock k --no-wait -- true
status_is 0 "a client that does not wait gets the first lock"
check "then the record is on all masters" \
    until_true has_line 'record of the masters: agreed on: epoch 1, max-ttl 10.0 s, on 5 of 5 masters'
run "$REDLOCK" masters
status_is 0 "masters gives 0"
check "it shows each master with its epoch" \
    [ "$(grep -c "^unix://.*/[1-5].sock on .*  since epoch 1$" "$work/out")" -eq 5 ]
run "$REDLOCK" nodes
status_is 0 "nodes gives 0"
prints "record of the masters: agreed on: epoch 1" "nodes has a line about it"
run "$REDLOCK" doctor
prints "record of the masters: agreed on: epoch 1" "doctor has a line about it"
run "$REDLOCK" masters --json
check "masters --json is JSON" python3 -B -c '
import json, sys
shown = json.load(open(sys.argv[1]))
record = shown["record"]
assert record["state"] == "agreed" and record["epoch"] == 1 and record["max_ttl_ms"] == 10000
assert record["shown_by"] == record["readable"] == 5 and record["error"] is None
assert [m["node"] for m in shown["masters"]] == shown["here"]["nodes"]
assert not any(m["newcomer"] or m["lost_data"] or m["until_epoch"] for m in shown["masters"])
assert shown["here"]["from"] == "REDLOCK_NODES" and shown["here"]["max_ttl_ms"] == 10000
' "$work/out"

# --- other masters ---

run "$REDLOCK" lock k --nodes "$(uri 1 2 3)" -- touch "$work/ran"
status_is 78 "a client with some of the masters gets 78"
check "its command does not run" is_gone "$work/ran"
says "5 masters are on record, and 3 are listed here" "lock says what differs"
says "On record (epoch 1, max-ttl 10.0 s):" "lock shows what is on record"
says "5.sock on " "with each master"
says "Given here (by --nodes, max-ttl 10.0 s):" "lock shows what was given"
says "redlock masters delete" "lock says what to do"
check "no key is left" is_free k
run "$REDLOCK" acquire k --nodes "$(uri 1 2 3)"
status_is 78 "acquire gives 78, too"
run "$REDLOCK" elect e --nodes "$(uri 1 2 3)" -- true
status_is 78 "and elect"
run "$REDLOCK" nodes --nodes "$(uri 1 2 3)"
status_is 78 "and nodes"
prints "record of the masters: it differs: 5 masters" "nodes says what differs"
run "$REDLOCK" doctor --nodes "$(uri 1 2 3)"
status_is 78 "and doctor"
prints "unusable: No lock can be acquired: 5 masters are on record" "doctor has a finding about it"
check "which has both lists" grep -q 'On record (max_ttl 10000 ms): .*5.sock.* Given here .*3.sock' "$work/out"
run "$REDLOCK" doctor --json --nodes "$(uri 1 2 3)"
check "doctor --json has the finding" grep -q '"severity": "unusable", "code": "record"' "$work/out"
run "$REDLOCK" masters --nodes "$(uri 1 2 3)"
status_is 78 "and masters"
prints "Given here (by --nodes, max-ttl 10.0 s):" "masters shows both lists"
run "$REDLOCK" lock k --max-ttl 11s -- true
status_is 78 "a client with another --max-ttl gets 78"
says "max_ttl is 10000 ms on record, and 11000 ms here" "and is told both"
others=
for name in a b c; do
    "$server" --port 0 --unixsocket "$work/$name.sock" --save '' --daemonize no --dir "$work" >/dev/null &
    others="$others $!"
    until_true "$rediscli" -s "$work/$name.sock" ping
done
run "$REDLOCK" lock k --nodes "$(uri 1 2)unix://$work/a.sock unix://$work/b.sock unix://$work/c.sock" -- true
status_is 78 "a client with other masters gets 78"
says ".sock is not on record" "and is told so of one"
check "its list shows all that are not on record" \
    [ "$(grep -c '/[abc].sock  not \(on record\|connected\)' "$work/err")" -eq 3 ]
# shellcheck disable=SC2086
kill $others
# shellcheck disable=SC2086
wait $others
run "$REDLOCK" lock k -- true
status_is 0 "the others go on"

# --- without the record ---

run "$REDLOCK" lock k --no-record --nodes "$(uri 1 2 3)" -- sh -c 'echo "$REDLOCK_RECORD"'
status_is 0 "--no-record goes on with other masters"
prints 0 "the command inherits that"
run env REDLOCK_RECORD=0 "$REDLOCK" lock k --max-ttl 11s -- true
status_is 0 "REDLOCK_RECORD=0 does, too"
(uri 1 2 3; echo; echo "record = no") >"$work/nodes"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" "$REDLOCK" lock k -- true
status_is 0 "and the file of masters"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" REDLOCK_RECORD=yes "$REDLOCK" lock k -- true
status_is 78 "which a variable overrides"
run env REDLOCK_RECORD=perhaps "$REDLOCK" lock k -- true
status_is 64 "another word gives 64"
says "REDLOCK_RECORD 'perhaps' is unknown" "and is named"
run "$REDLOCK" masters --no-record
status_is 1 "masters gives 1 without the record"
prints "it is turned off here" "and says so"
check "the record is the same as before" has_line 'record of the masters: agreed on: epoch 1'

# --- a master that cannot show it ---

if master 1 acl whoami | grep -q '^default'; then
    master 1 acl setuser default resetkeys '~k*' '~redlock:[^m]*' >/dev/null
    run "$REDLOCK" masters
    status_is 1 "a record that one master denies gives 1"
    prints "on 4 of 5 masters" "masters says how many have it"
    run "$REDLOCK" doctor
    prints "denies the user default the key redlock:masters" "doctor names the key"
    prints "ACL SETUSER default ~redlock:masters" "and says how to allow it"
    master 1 acl setuser default allkeys >/dev/null
fi

# --- a master that lost its data ---

# Until its first renewal a lock relies on the masters that voted first.
"$REDLOCK" lock held -v -- sleep 600 2>"$work/held" &
holder=$!
until_true grep -q renewed "$work/held"
kill -KILL "$(master_pid 5)"
until_true is_dead "$(master_pid 5)"
"$server" "$REDLOCK_SANDBOX/5.conf"
check "a master that lost its data is put on record" try_until 2000 has_line '.*5.sock on .*  since epoch 2'
has_line 'x'
check "its former data are shown, too" \
    grep -q '5.sock on .*  no master since epoch 2, because it lost its data$' "$work/shown"
check "it does not vote yet" grep -q '5.sock on .*  since epoch 2, does not vote' "$work/shown"
check "and votes later" try_until 3000 has_line '.*5.sock on .*  since epoch 2$'
run "$REDLOCK" masters
status_is 0 "then masters gives 0"
prints "agreed on: epoch 2" "all of them have the new record"
kill "$holder"
await "$holder"

# --- deleting ---

run "$REDLOCK" masters delete
status_is 64 "delete needs --yes where nobody can be asked"
says "nobody notices that two clients have different masters" "it says what that costs"
run "$REDLOCK" masters --yes
status_is 64 "--yes is for delete alone"
run "$REDLOCK" masters delete --json
status_is 64 "delete prints no JSON"
run "$REDLOCK" masters delete now
status_is 64 "delete takes no operand"
halt 4
run "$REDLOCK" masters delete --yes --node-timeout 500ms
status_is 69 "delete gives 69 when a master does not reply"
says "1 of 5 masters may still have the record" "it says how many may still have it"
says "4.sock  " "and which"
resume 4
run "$REDLOCK" masters delete --yes
status_is 0 "delete gives 0 when no master has it any more"
says "no master has a record now; 1 of 5 had one" "it says so"
run "$REDLOCK" lock k --nodes "$(uri 1 2 3)" -- true
status_is 0 "then clients with other masters can begin"
run "$REDLOCK" lock k -- true
status_is 78 "and those with the former list get 78"
export REDLOCK_NODES="$all"

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

# Masters 1, 2 and 3 are on record.
export REDLOCK_MAX_TTL=2s
"$REDLOCK" masters delete --yes 2>"$work/deleted"
former=$(uri 1 2 3)
export REDLOCK_NODES="$former"
"$REDLOCK" lock k -- true
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
"$REDLOCK" lock held -v --ttl 2s -- sleep 600 2>"$work/held" &
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
run "$REDLOCK" status held
prints "on 4 of 4 masters" "status asks the new master, too"
"$REDLOCK" acquire script --ttl 2s >"$work/token"
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
export REDLOCK_NODES="$all"

# --- nobody can be reached ---

run "$REDLOCK" masters --nodes "unix://$work/none.sock"
status_is 69 "masters gives 69 when no master can be reached"
says "none.sock  down: " "and says why"

finish
