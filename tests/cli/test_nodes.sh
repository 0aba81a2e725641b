#!/bin/sh
# Masters that are up, stopped or dead: what the commands do then, and what redlock nodes shows.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# --- up ---

run "$REDLOCK" nodes
status_is 0 "masters that are up give 0"
check "nodes shows each master with its round trip" \
    [ "$(grep -c '  up .*  answers in [0-9.]* ms$' "$work/out")" -eq 5 ]
for number in 1 2 3 4 5; do
    master "$number" acl setuser ann on '>hunter2' '~app:*' +@all >/dev/null
done
run env REDLOCK_USERNAME=ann REDLOCK_PASSWORD=hunter2 "$REDLOCK" nodes
status_is 0 "a user who may use some keys only gets 0"
check "for such a user no denied key is reported" missing NOPERM "$work/out"
master 1 info commandstats >"$work/stats"
check "nodes asks for no lock" missing cmdstat_set "$work/stats"
if master 1 acl whoami | grep -q '^default'; then
    for number in 1 2 3; do master "$number" acl setuser ann '~*' -evalsha >/dev/null; done
    run env REDLOCK_USERNAME=ann REDLOCK_PASSWORD=hunter2 "$REDLOCK" nodes
    status_is 69 "when a majority denies what renewals need, nodes gives 69"
    prints "does not vote, because it denies our user EVALSHA" "nodes names the denied command"
    run env REDLOCK_USERNAME=ann REDLOCK_PASSWORD=hunter2 "$REDLOCK" lock --no-wait app:k true
    status_is 69 "there lock does not run its command"
    check "and leaves no key" [ "$(master 1 exists app:k)" = 0 ]
    for number in 1 2 3; do master "$number" acl setuser ann '~app:*' +evalsha >/dev/null; done
fi

# --- stopped ---

kill -STOP "$(master_pid 1)" "$(master_pid 2)"
until_true is_stopped "$(master_pid 1)"
until_true is_stopped "$(master_pid 2)"
run "$REDLOCK" lock k --no-wait -- echo works
status_is 0 "two of five masters stopped: lock works"
run "$REDLOCK" acquire k --ttl 60s
token=$(cat "$work/out")
status_is 0 "two of five masters stopped: acquire works"
run "$REDLOCK" status k
status_is 0 "two of five masters stopped: status works"
prints "no reply" "status names the masters that do not answer"
run "$REDLOCK" release k --token "$token"
status_is 0 "two of five masters stopped: release works"
kill -STOP "$(master_pid 3)"
until_true is_stopped "$(master_pid 3)"
run "$REDLOCK" lock k --no-wait -- true
status_is 69 "three of five stopped: lock gives 69"
run "$REDLOCK" nodes --node-timeout 100ms
status_is 69 "three of five stopped: nodes gives 69"
check "nodes shows the masters that cannot be greeted" \
    [ "$(grep -c '  connecting: ' "$work/out")" -eq 3 ]
kill -CONT "$(master_pid 1)" "$(master_pid 2)" "$(master_pid 3)"
check "a key that a stopped master got is released later" until_true is_free k

# --- dead ---

kill -KILL "$(master_pid 1)" "$(master_pid 2)"
until_true all_dead "$(master_pid 1)" "$(master_pid 2)"
run "$REDLOCK" lock k --no-wait -- echo works
status_is 0 "two of five masters dead: lock works"
run "$REDLOCK" nodes
status_is 0 "two of five masters dead: nodes gives 0"
check "nodes shows the masters that are down" [ "$(grep -c '  down: ' "$work/out")" -eq 2 ]
kill -KILL "$(master_pid 3)"
until_true all_dead "$(master_pid 3)"
run "$REDLOCK" lock k --no-wait -- touch "$work/ran"
status_is 69 "three of five dead: lock gives 69"
says "of 5 are up, 3 are needed" "redlock says how many masters are needed"
says "1.sock  down: " "redlock names the first master that is down"
says "2.sock  down: " "redlock names the second master that is down"
says "3.sock  down: " "redlock names the third master that is down"
check "without a majority the command does not run" is_gone "$work/ran"
run "$REDLOCK" lock k --wait 200ms -- true
status_is 69 "without a majority --wait gives 69, too"
run "$REDLOCK" acquire k --no-wait
status_is 69 "without a majority acquire gives 69"
run "$REDLOCK" release k --token 0000000000000000000000000000000000000000
status_is 69 "without a majority release gives 69"
run "$REDLOCK" status k
status_is 69 "without a majority status gives 69"
run "$REDLOCK" nodes
status_is 69 "without a majority nodes gives 69"

"$REDLOCK" lock k -- echo came >"$work/out" 2>"$work/err" &
waiter=$!
"$server" "$REDLOCK_SANDBOX/3.conf"
await "$waiter"
status_is 0 "a waiting lock goes on when a majority is back"

finish
