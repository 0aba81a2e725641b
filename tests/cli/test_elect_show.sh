#!/bin/sh
# What others see of an election: redlock elect --observe, redlock status, and a service manager.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

# --- --observe ---

"$REDLOCK" elect e --observe --node-timeout 200ms >"$work/lines" 2>"$work/observer.err" &
observer=$!
"$REDLOCK" elect e --observe --json >"$work/objects" 2>>"$work/observer.err" &
watcher=$!
shows() { grep -q "$1" "$work/lines"; }
check "--observe prints that nobody leads" until_late shows '^nobody$'

lead a --value 10.0.0.1:80 --ttl 60s
first=$candidate
check "--observe prints the leader, its value and its term" \
    until_late shows '^leader a, value 10\.0\.0\.1:80, term [1-9][0-9]*$'
follow b --ttl 60s
second=$candidate
check "a candidate that waits says who leads" until_late said b "'e': leader a, value 10.0.0.1:80"
kill -TERM "$first"
await "$first"
leads b
check "--observe prints the next leader" until_late shows '^leader b, term [1-9][0-9]*$'
touch "$work/b.stop"
await "$second"
ends_with() { [ "$(tail -n 1 "$work/lines")" = "$1" ]; }
check "--observe prints that nobody leads any more" until_late ends_with nobody

halt 1 2 3
check "--observe prints that it is not known who leads" \
    until_late shows '^unknown: [012] of 5 masters are up, and a majority must answer$'
resume 1 2 3
check "--observe prints that it is known again" until_late ends_with nobody
kill -TERM "$observer" "$watcher"
await "$observer"
status_is 143 "a signal ends --observe"
await "$watcher"
check "each line of --json is an object with the same fields" python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
fields = {"key", "known", "leader", "value", "term", "broken_by", "broken_ms", "former_leader"}
assert all(set(line) == fields for line in lines)
assert {line["leader"] for line in lines} >= {None, "a", "b"}
assert [line["value"] for line in lines if line["leader"] == "a"][0] == "10.0.0.1:80"
for line in lines:
    if line["leader"] != "a":
        assert line["value"] is None
    if line["leader"] is None:
        assert line["term"] is None
    else:
        assert line["term"] > 0
' "$work/objects"
# --- stdout that is full ---

status=0
"$REDLOCK" elect e --observe >/dev/full 2>"$work/err" || status=$?
status_is 70 "--observe gives 70 when stdout is full"

# --- redlock status ---

lead a --value 10.0.0.1:80 --ttl 60s --priority 7
first=$candidate
run "$REDLOCK" status e
prints "e: held by leader a," "status names the leader"
prints "    value 10.0.0.1:80" "status shows its value"
check "status shows its term" grep -q '^    term [1-9]' "$work/out"
prints "    priority 7" "status shows its priority"
run "$REDLOCK" status e --json
check "status --json shows all this" python3 -c '
import json, sys
[key] = json.load(open(sys.argv[1], encoding="utf-8"))
assert key["leader"] == "a" and key["value"] == "10.0.0.1:80" and key["priority"] == 7
assert key["term"] == key["fencing_token"] > 0
' "$work/out"
kill -TERM "$first"
await "$first"
hold k --owner alice
run "$REDLOCK" status k --json
check "status --json shows no leader of another lock" python3 -c '
import json, sys
[key] = json.load(open(sys.argv[1], encoding="utf-8"))
assert key["owner"] == "alice"
for field in ["leader", "value", "term", "priority"]:
    assert key[field] is None
' "$work/out"
let_go k

# --- the service manager ---

# Writes the lines of each datagram that it gets to a file; a name with @ is abstract.
cat >"$work/manager" <<'SCRIPT'
import socket, sys

name, path = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind('\0' + name[1:] if name.startswith('@') else name)
with open(path, 'a', encoding='utf-8') as file:
    print('listening', file=file, flush=True)
    while True:
        print(listener.recv(4096).decode(), file=file, flush=True)
SCRIPT
# manage NAME: sets $manager.
manage() {
    rm -f "$work/told"
    python3 "$work/manager" "$1" "$work/told" &
    manager=$!
    until_true filled "$work/told"
    export NOTIFY_SOCKET="$1"
}
told() { grep -q "$1" "$work/told"; }

manage "$work/notify"
lead a --ttl 60s
first=$candidate
check "the manager learns that the service is ready" until_true told '^READY=1$'
check "the manager learns that this is the leader, since when, and of which term" \
    until_true told '^STATUS=leader since 20[0-9-]* [0-9:]* [^,]*, term [1-9][0-9]*$'
kill -TERM "$first"
await "$first"
check "the manager learns that the service stops" until_true told '^STOPPING=1$'
check "no watchdog is fed that nobody asked for" missing WATCHDOG "$work/told"
kill "$manager"

unset NOTIFY_SOCKET
lead a --ttl 60s
first=$candidate
manage "@redlock-test-$$"
export WATCHDOG_USEC=20000
stand b --ttl 60s
second=$candidate
check "a candidate that waits is ready, by an abstract name, too" until_late told '^READY=1$'
check "the manager learns who leads, and at which place we wait" \
    until_late told '^STATUS=candidate, queue position 1; leader a, term'
fed() { [ "$(grep -c '^WATCHDOG=1$' "$work/told")" -ge 3 ]; }
check "the watchdog is fed" until_late fed
kill -STOP "$second"
until_true is_stopped "$second"
# What was sent before it was stopped is written soon; then nothing more comes.
quiet() {
    before=$(grep -c WATCHDOG "$work/told")
    sleep 0.2
    [ "$(grep -c WATCHDOG "$work/told")" -eq "$before" ]
}
check "a redlock that does not run feeds no watchdog" until_late quiet
kill -CONT "$second"
kill -TERM "$second"
await "$second"
WATCHDOG_PID=1
export WATCHDOG_PID
stand b --ttl 60s
second=$candidate
: >"$work/told"
until_late told '^READY=1$'
until_late said b "queue position"
check "the watchdog of another process is not fed" missing WATCHDOG "$work/told"
kill -TERM "$second"
await "$second"
unset WATCHDOG_USEC WATCHDOG_PID

halt 1 2 3
: >"$work/told"
stand b --ttl 60s --node-timeout 200ms
second=$candidate
check "the manager learns that no majority answers" \
    until_late told '^STATUS=candidate; no majority of the masters answers$'
check "without a majority the service is not ready" missing READY "$work/told"
resume 1 2 3
check "it is ready as soon as a majority has answered" until_late told '^READY=1$'
kill -TERM "$second" "$first"
await "$second"
await "$first"
kill "$manager"
check "when the manager does not listen, redlock works as without one" "$REDLOCK" elect e2 -- true
unset NOTIFY_SOCKET

# --- a leader whose lock is broken ---

"$REDLOCK" elect broken --observe >"$work/lines" 2>"$work/observer.err" &
observer=$!
"$REDLOCK" elect broken --observe --json >"$work/objects" 2>>"$work/observer.err" &
watcher=$!
"$REDLOCK" lock broken --owner me --ttl 60s --no-renew -- sleep 600 &
holder=$!
check "--observe names a holder that is no candidate" until_late shows '^leader me'
run "$REDLOCK" break broken --reason gone --owner ops --no-wait
check "when its lock is broken, nobody leads; and one line says who broke it, who led, and until when that one may go on" \
    until_late shows '^nobody: broken by ops: gone; me may go on for [0-9.]* s at most$'
why='"leader": null, "value": null, "term": null, "broken_by": "ops: gone", "broken_ms": [0-9]*, "former_leader": "me"}'
says_why() { tail -n 1 "$work/objects" | grep -q "$why"; }
check "also in JSON" until_late says_why
kill -TERM "$observer" "$watcher"
await "$observer"
await "$watcher"
"$REDLOCK" elect broken --observe >"$work/late" 2>"$work/observer.err" &
observer=$!
late_says() { grep -q "$1" "$work/late"; }
check "an observer that begins later does not know who led" \
    until_late late_says '^nobody: broken by ops: gone; the former leader may go on for '
run "$REDLOCK" status broken
prints "its former holder may go on for " "status says for how long the former holder may go on"
run "$REDLOCK" status broken --json
check "so does status --json" grep -q '"broken_by": "ops: gone", "broken_ms": [1-9]' "$work/out"
kill -TERM "$observer" "$holder"
await "$observer"
await "$holder"
check "no observer shows who has broken it as a leader" missing "leader broken by" "$work/lines" "$work/objects" "$work/late"

# --- a reader that ends early ---

first_line "$REDLOCK" elect nobody --observe
status_is 141 "elect --observe ends when nobody reads its output any more, and does not wait for the next leader"
prints "nobody" "the reader got its first line"
check "and redlock prints no error" [ ! -s "$work/err" ]

finish
