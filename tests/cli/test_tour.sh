#!/bin/sh
# A tour of the command: each verb once, on masters that do not misbehave. scripts/compat takes it on
# every server that it can get.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

run "$REDLOCK" nodes
status_is 0 "sandbox starts five masters, and nodes reaches all"
check "nodes lists each" [ "$(grep -c '^unix:.* up ' "$work/out")" -eq 5 ]

# --- take, refuse, extend, wait, release ---

run "$REDLOCK" acquire tour --ttl 60s
status_is 0 "acquire takes a lock"
token=$(cat "$work/out")
run "$REDLOCK" lock tour --no-wait -- true
status_is 75 "a second client is refused"
run "$REDLOCK" extend tour --token "$token" --ttl 100s
status_is 0 "extend renews the lock"
check "for longer than it was taken" [ "$(tr -d ms <"$work/out")" -gt 60000 ]
run "$REDLOCK" status tour
prints ": held " "status shows that it is held"
"$REDLOCK" lock tour -v --ttl 60s -- touch "$work/next" 2>"$work/waiter.err" &
waiter=$!
check "a client waits for its turn" until_true said waiter "queue position"
run "$REDLOCK" release tour --token "$token"
status_is 0 "release gives the lock back"
await "$waiter"
status_is 0 "and the one who waited has got it"
check "and has run its command" [ -e "$work/next" ]
check "nobody has it then" until_true is_free tour
renewed_twice() { [ "$(grep -c "renewed 'tour'" "$work/err")" -ge 2 ]; }
"$REDLOCK" lock tour -vv --ttl 6s -- sh -c 'until [ -e "$0" ]; do sleep 0.05; done' "$work/enough" 2>"$work/err" &
holder=$!
check "lock renews it" until_true renewed_twice
touch "$work/enough"
await "$holder"
status_is 0 "lock renews for as long as its command runs"

# --- fences, several keys ---

# shellcheck disable=SC2016
for key in 1 2; do
    "$REDLOCK" lock from to --fence -- sh -c 'echo "$REDLOCK_FENCING_TOKEN"' >"$work/fence.$key"
done
check "lock --fence gives a number for two keys" [ "$(cat "$work/fence.1")" -gt 0 ]
check "which grows" [ "$(cat "$work/fence.2")" -gt "$(cat "$work/fence.1")" ]

# --- elect ---

check "elect elects one" lead a --ttl 60s
first=$candidate
check "and lets others wait" follow b --ttl 60s
kill -TERM "$first"
check "one of them leads after its end" leads b
kill -TERM "$candidate"
await "$candidate"
check "with a larger term" terms_grow

# --- doctor ---

run "$REDLOCK" doctor --quarantine lenient
status_is 0 "doctor finds nothing wrong"
finish
