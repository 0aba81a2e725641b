#!/bin/sh
# Fences, and which masters may vote, as the command shows them.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# --- fences -----------------------------------------------------------------------------------

# shellcheck disable=SC2016
fence_of() {
    "$REDLOCK" lock "$@" --fence -- sh -c 'echo "$REDLOCK_FENCE"'
}

grows() {
    before=0
    while read -r now; do
        [ "$now" -gt "$before" ] || return 1
        before=$now
    done
}

run fence_of k
check "lock --fence tells CMD a number" grep -Eqx '[1-9][0-9]{9,15}' "$work/out"
first=$(cat "$work/out")
run fence_of k
check "that is greater the next time" [ "$(cat "$work/out")" -gt "$first" ]
i=0
while [ $i -lt 12 ]; do
    fence_of k >>"$work/fences" &
    fence_of k j >>"$work/fences" &
    wait
    i=$((i + 1))
done
check "none comes twice, whoever contends" [ "$(sort -u "$work/fences" | wc -l)" -eq 24 ]
fence_of j >"$work/last"
check "one of several keys has grown for each" \
    [ "$(sort -n "$work/fences" "$work/last" | tail -n 1)" = "$(cat "$work/last")" ]
# shellcheck disable=SC2016
REDLOCK_FENCE=7 run "$REDLOCK" lock k -- sh -c 'echo "[${REDLOCK_FENCE-none}]"'
prints "[none]" "without --fence there is none, and no inherited one either"
run sh -c "for i in 1 2 3; do '$REDLOCK' lock grow --fence -- sh -c 'echo \$REDLOCK_FENCE'; done"
check "they grow in the order of the holders" grows <"$work/out"

run "$REDLOCK" acquire a --fence --ttl 60s
check "acquire --fence prints two lines" [ "$(wc -l <"$work/out")" -eq 2 ]
token=$(sed -n 1p "$work/out")
fence=$(sed -n 2p "$work/out")
run "$REDLOCK" status a
prints "fence $fence" "status shows it"
run "$REDLOCK" status --json a
prints "\"fence\": $fence" "and so does --json"
run "$REDLOCK" extend a --token "$token"
status_is 0 "such a lock is extended"
run "$REDLOCK" release a --token "$token"
status_is 0 "and released"
run "$REDLOCK" status --json never-fenced
prints '"fence": 0' "who never asked for one has none"

# --- who may vote -----------------------------------------------------------------------------

run "$REDLOCK" lock q --quarantine strict --no-wait -- true
status_is 69 "masters that have just started do not vote"
says "no majority of the masters may vote yet: 0 of 5 may, 3 are needed" "which is said"
says "does not vote for another" "and of each for how long"
says "--quarantine=off" "and what to do"
check "what they had granted is released" until_true is_free q
run "$REDLOCK" nodes --quarantine strict
prints "does not vote for another" "nodes shows it"
run "$REDLOCK" lock q --quarantine observed --no-wait -- true
status_is 0 "observed: those that were never seen before do"
run "$REDLOCK" lock q --quarantine strict --max-ttl 3s --ttl 3s --wait 60s -- true
status_is 0 "or when they are older than the longest ttl"
REDLOCK_QUARANTINE=strict run "$REDLOCK" lock q --no-wait -- true
status_is 69 "the environment says it, too"
mixed=$(echo "$REDLOCK_NODES" | sed 's/\.sock /.sock?quarantine=off /; s/\.sock /.sock?quarantine=off /; s/\.sock /.sock?quarantine=off /')
run "$REDLOCK" lock q --quarantine strict --nodes "$mixed" --no-wait -- true
status_is 0 "and so does each master's URI"
run "$REDLOCK" lock q --quarantine maybe -- true
status_is 64 "another word is refused"
says "write strict, observed or off" "with those that there are"
run "$REDLOCK" lock q --nodes 'unix:///x.sock?quarantine=maybe' -- true
status_is 64 "also in a URI"
says "quarantine= is not strict, observed or off" "and said"

# --- one server twice -------------------------------------------------------------------------

one=$(echo "$REDLOCK_NODES" | cut -d' ' -f1)
two=$(echo "$REDLOCK_NODES" | cut -d' ' -f2)
run "$REDLOCK" lock t --nodes "$one,$one?db=1,$two" --wait 60s -- true
status_is 64 "one server under two addresses is refused"
says "two of the masters are one server" "and said"
check "with both addresses" grep -Eq "$one.* is the same server as $one" "$work/err"
check "nothing stays behind" until_true is_free t

finish
