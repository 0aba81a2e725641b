#!/bin/sh
# redlock extend: a lock lives longer, by its token, and nobody else's does.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

wrong=0000000000000000000000000000000000000000

# ttls ABOVE KEY: on how many masters the key lives for more milliseconds than that.
ttls() {
    count=0
    for number in 1 2 3 4 5; do
        [ "$(master "$number" pttl "$2")" -le "$1" ] || count=$((count + 1))
    done
    echo "$count"
}
on_a_majority() { [ "$(ttls "$@")" -ge 3 ]; }
nowhere() { [ "$(ttls "$@")" -eq 0 ]; }

run "$REDLOCK" acquire k --ttl 30s --owner me
token=$(cat "$work/out")
check "before it the lock ends soon" nowhere 30000 k
run "$REDLOCK" extend k --token "$token" --ttl 2m
status_is 0 "extend succeeds"
check "and prints for how long the lock is valid now" grep -Eqx '1[0-9]{5}ms' "$work/out"
check "and says nothing" [ ! -s "$work/err" ]
check "the lock lives longer on the masters" on_a_majority 100000 k
run "$REDLOCK" extend k --token "$token"
status_is 0 "an extension by less succeeds"
check "and makes it no shorter" on_a_majority 90000 k

run "$REDLOCK" extend k --token "$wrong" --ttl 4m
status_is 75 "a wrong token gives 75"
says "'k' is somebody else's" "and says why"
says "$token" "and whose it is"
check "and prints nothing" [ ! -s "$work/out" ]
check "and changes nothing" nowhere 120000 k

run "$REDLOCK" release k --token "$token"
until_true is_free k
run "$REDLOCK" extend k --token "$token"
status_is 75 "a lock that is gone gives 75"
says "'k' is gone" "and says so"
check "and is not brought back" is_free k

# Two masters have lost it: it is extended where it is, and set there.
each_master set k "$token" px 20000
for number in 1 2; do master "$number" del k >/dev/null; done
run "$REDLOCK" extend k --token "$token" --ttl 60s
status_is 0 "a lock that a minority has lost can be extended"
check "and is set there again" everywhere k "$token"
check "and ends everywhere at the same time" [ "$(ttls 20000 k)" -eq 5 ]
for number in 1 2; do master "$number" del k >/dev/null; done
halt 3
run "$REDLOCK" extend k --token "$token" --node-timeout 500ms
status_is 69 "without a majority of masters that confirm it gives 69"
says "2 of 5 have no such key, 0 somebody else's: unix:///" "and names the cause"
says "3.sock (connecting" "and who does not answer"
check "and sets it nowhere" [ "$(master 1 exists k)$(master 2 exists k)" = 00 ]
resume 3
for number in 1 2; do master "$number" set k other px 20000 >/dev/null; done
run "$REDLOCK" extend k --token "$token" --ttl 90s
status_is 0 "a lock that somebody else has on a minority can be extended"
check "and who has it there keeps it as long as before" [ "$(master 1 pttl k)" -le 20000 ]
master 3 set k other px 20000 >/dev/null
run "$REDLOCK" extend k --token "$token" --ttl 2m
status_is 75 "one that a majority has lost cannot"
check "and who has got it has it as long as before" [ "$(master 3 pttl k)" -le 20000 ]
each_master del k

# shellcheck disable=SC2016
run "$REDLOCK" lock k --no-renew -- sh -c '
    "$0" extend "$REDLOCK_KEY" --token "$REDLOCK_TOKEN" --ttl 60s' "$REDLOCK"
status_is 0 "the token of redlock lock will do"

run "$REDLOCK" extend k
status_is 64 "extend needs --token"
run "$REDLOCK" extend --token "$token"
status_is 64 "extend needs KEY"
run "$REDLOCK" extend k --token "$token" --ttl 6m
status_is 64 "a ttl above --max-ttl is refused"
run "$REDLOCK" acquire k --ttl 30s
token=$(cat "$work/out")
status=0
"$REDLOCK" extend k --token "$token" --ttl 2m >/dev/full 2>"$work/err" || status=$?
status_is 70 "extend gives 70 when stdout is full"
halt 1 2 3
run "$REDLOCK" extend k --token "$token"
status_is 69 "with three of five stopped it gives 69"
says "no majority of the masters" "and says why"
resume 1 2 3

finish
