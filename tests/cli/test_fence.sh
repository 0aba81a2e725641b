#!/bin/sh
# Fences, and which masters may vote, as the command shows them.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# --- fences -----------------------------------------------------------------------------------

# shellcheck disable=SC2016
fence_of() {
    "$REDLOCK" lock "$@" --fence -- sh -c 'echo "$REDLOCK_FENCING_TOKEN"'
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
check "the next fence is greater" [ "$(cat "$work/out")" -gt "$first" ]
i=0
while [ $i -lt 12 ]; do
    fence_of k >>"$work/fences" &
    fence_of k j >>"$work/fences" &
    wait
    i=$((i + 1))
done
check "no fence comes twice under contention" [ "$(sort -u "$work/fences" | wc -l)" -eq 24 ]
fence_of j >"$work/last"
check "one of several keys has grown for each" \
    [ "$(sort -n "$work/fences" "$work/last" | tail -n 1)" = "$(cat "$work/last")" ]
# shellcheck disable=SC2016
REDLOCK_FENCING_TOKEN=7 run "$REDLOCK" lock k -- sh -c 'echo "[${REDLOCK_FENCING_TOKEN-none}]"'
prints "[none]" "without --fence there is no fence, not even an inherited one"
run sh -c "for i in 1 2 3; do '$REDLOCK' lock grow --fence -- sh -c 'echo \$REDLOCK_FENCING_TOKEN'; done"
check "fences grow in the order of the holders" grows <"$work/out"

run "$REDLOCK" acquire a --fence --ttl 60s
check "acquire --fence prints two lines" [ "$(wc -l <"$work/out")" -eq 2 ]
token=$(sed -n 1p "$work/out")
fence=$(sed -n 2p "$work/out")
run "$REDLOCK" status a
prints "fencing token $fence" "status shows the fence"
run "$REDLOCK" status --json a
prints "\"fencing_token\": $fence" "status --json shows the fence"
run "$REDLOCK" extend a --token "$token"
status_is 0 "a lock with a fence is extended"
run "$REDLOCK" release a --token "$token"
status_is 0 "a lock with a fence is released"
run "$REDLOCK" status --json never-fenced
prints '"fencing_token": 0' "a key that never had a fence has fence 0"

# --- which masters may vote --------------------------------------------------------------------

run "$REDLOCK" lock q --quarantine strict --no-wait -- true
status_is 69 "masters that have just started do not vote"
says "no majority of the masters may vote yet: 0 of 5 may, 3 are needed" \
    "redlock says that no majority may vote yet"
says "does not vote for another" "redlock says for how long each master does not vote"
says "--quarantine=off" "redlock says how to try things out"
check "a key granted in quarantine is released" until_true is_free q
run "$REDLOCK" nodes --quarantine strict
prints "does not vote for another" "nodes shows masters in quarantine"
run "$REDLOCK" lock q --quarantine lenient --no-wait -- true
status_is 0 "with the policy lenient, new masters vote"
run "$REDLOCK" lock q --quarantine strict --max-ttl 3s --ttl 3s --wait 60s --no-record -- true
status_is 0 "masters that are older than the longest ttl vote"
REDLOCK_QUARANTINE=strict run "$REDLOCK" lock q --no-wait -- true
status_is 69 "REDLOCK_QUARANTINE sets the policy"
mixed=$(echo "$REDLOCK_NODES" | sed 's/\.sock /.sock?quarantine=off /; s/\.sock /.sock?quarantine=off /; s/\.sock /.sock?quarantine=off /')
until_true is_free q
run "$REDLOCK" lock q --quarantine strict --nodes "$mixed" --no-wait -- true
status_is 0 "a URI sets the policy of its master"
run "$REDLOCK" lock q --quarantine maybe -- true
status_is 64 "an unknown policy is refused"
says "it must be strict, lenient or off" "redlock names the policies"
run "$REDLOCK" lock q --nodes 'unix:///x.sock?quarantine=maybe' -- true
status_is 64 "an unknown policy in a URI is refused"
says "quarantine= is not strict, lenient or off" "redlock names the policies for a URI"

# --- one server twice -------------------------------------------------------------------------

# Both are needed for a majority: a third master may grant the lock before the second one is
# connected, and rightly.
one=$(echo "$REDLOCK_NODES" | cut -d' ' -f1)
run "$REDLOCK" lock t --nodes "$one,$one?db=1" --wait 60s -- true
status_is 78 "one server at two addresses is refused"
says "two of the masters are one server" "redlock says that two masters are one server"
check "redlock names both addresses of the server" \
    grep -Eq "$one.* is the same server as $one" "$work/err"
check "no key is left behind by the refused acquire" until_true is_free t

finish
