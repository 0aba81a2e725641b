#!/bin/sh
# The record of the masters: what a client with other masters gets, redlock masters, and a master
# that lost its data. The sandbox says quarantine=off, with which there is no record.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

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
prints "none: masters without a quarantine have none, as those of a sandbox" "masters says why"
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
run timeout 40 "$REDLOCK" nodes --nodes "$(uri 1 2 3)" --node-timeout 60s
status_is 78 "and nodes, which waits for no master on record that it does not connect to"
prints "record of the masters: it differs: 5 masters" "nodes says what differs"
run "$REDLOCK" doctor --nodes "$(uri 1 2 3)"
status_is 78 "and doctor"
prints "unusable: No lock can be acquired: 5 masters are on record" "doctor has a finding about it"
check "which has both lists" grep -q 'On record (max-ttl 10000 ms): .*5.sock.* Given here .*3.sock' "$work/out"
run "$REDLOCK" doctor --json --nodes "$(uri 1 2 3)"
check "doctor --json has the finding" grep -q '"severity": "unusable", "code": "record"' "$work/out"
run "$REDLOCK" masters --nodes "$(uri 1 2 3)"
status_is 78 "and masters"
prints "Given here (by --nodes, max-ttl 10.0 s):" "masters shows both lists"
run "$REDLOCK" lock k --max-ttl 11s -- true
status_is 78 "a client with another --max-ttl gets 78"
says "the longest ttl (max-ttl) is 10000 ms on record, and 11000 ms here" "and is told both"
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
"$REDLOCK" lock held -vv -- sleep 600 2>"$work/held" &
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

# --- nobody can be reached ---

run "$REDLOCK" masters --nodes "unix://$work/none.sock"
status_is 69 "masters gives 69 when no master can be reached"
says "none.sock  down: " "and says why"

finish
