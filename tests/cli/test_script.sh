#!/bin/sh
# redlock acquire, release and status: for scripts.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

acquire_everywhere k --ttl 60s --owner me
status_is 0 "acquire succeeds"
check "acquire prints only the token on stdout" grep -Eqx '[0-9a-f]{40}:me' "$work/out"
check "acquire prints one line" [ "$(wc -l <"$work/out")" -eq 1 ]
check "acquire prints nothing on stderr" [ ! -s "$work/err" ]
token=$(cat "$work/out")
check "the token is the value on the masters" everywhere k "$token"

# A master that answers later than the majority gets the key as well: each master in turn is late.
# redlock waits for a late master for a tenth of a second at most.
tries_of_late=0
is_set() { [ "$(master "$1" exists "$2")" = 1 ]; }
late() { # MASTER
    tries_of_late=$((tries_of_late + 1))
    key=late:$tries_of_late
    halt "$1"
    "$REDLOCK" acquire "$key" --ttl 60s >"$work/late" &
    until_true is_set $(($1 % 5 + 1)) "$key"
    resume "$1"
    wait $! && everywhere "$key" "$(cat "$work/late")"
}
each_late() {
    for last in 1 2 3 4 5; do some_time late "$last" || return 1; done
}
check "acquire leaves the lock on every master that is up" each_late

# Again when redlock has not heard of its majority yet, or has heard of master 5.
ended() {
    halt 5
    "$REDLOCK" acquire ended --ttl 60s >"$work/out" 2>"$work/err" &
    until_true is_set 1 ended
    kill -TERM $!
    await $!
    resume 5
    grep -q "released 'ended' after SIGTERM" "$work/err" || { each_master del ended; return 1; }
}
check "acquire releases the lock when a signal comes before the token is printed" some_time ended
status_is 143 "acquire ends with the status of the signal"
check "after the signal the lock is released" until_true is_free ended

run "$REDLOCK" acquire k --no-wait
status_is 75 "a second acquire gives 75"
check "a second acquire prints no token" [ ! -s "$work/out" ]
run "$REDLOCK" acquire k --wait 50ms
status_is 75 "a second acquire with --wait gives 75"

run "$REDLOCK" status k
status_is 0 "status succeeds"
prints "k: held by me, " "status shows the owner"
prints ".sock  held" "status shows what each master has"
run "$REDLOCK" status k free --json
status_is 0 "status --json succeeds"
if command -v python3 >/dev/null; then
    check "status --json prints everything as JSON" python3 - "$work/out" "$token" <<'SCRIPT'
import json
import sys

held, free = json.load(open(sys.argv[1]))
assert held["key"] == "k" and held["held"] and held["owner"] == "me"
assert held["token"] == sys.argv[2] and held["answered"] == 5 and held["holding"] >= 3
assert 0 < held["ttl_ms"] <= 60000 and len(held["nodes"]) == 5
assert all(n["node"].startswith("unix://") for n in held["nodes"])
assert free["key"] == "free" and not free["held"] and free["token"] == ""
assert [n["reply"] for n in free["nodes"]] == ["free"] * 5
SCRIPT
    run "$REDLOCK" status --json "$(printf 'a"\\\n\377b')"
    check "status --json prints a key of any bytes" python3 - "$work/out" <<'SCRIPT'
import json
import sys

assert json.load(open(sys.argv[1], encoding="utf-8"))[0]["key"] == 'a"\\\n\ufffdb'
SCRIPT
fi

run "$REDLOCK" release k --token 0000000000000000000000000000000000000000
status_is 75 "a release with a wrong token gives 75"
says "held by somebody else" "a release with a wrong token says whose lock it is"
check "a release with a wrong token changes nothing" everywhere k "$token"
run "$REDLOCK" release k --token "$token"
status_is 0 "release succeeds"
says "released 'k'" "release names the key"
check "after the release the lock is free everywhere" until_true is_free k
run "$REDLOCK" release k --token "$token"
status_is 0 "a second release succeeds"
says "already gone" "a second release says that the lock was gone"

run "$REDLOCK" status k
prints "k: free (5 of 5" "status shows a free key"
master 1 set half one >/dev/null
master 2 set half two >/dev/null
run "$REDLOCK" status half
prints "half: held by nobody" "status shows a key without a majority"
for number in 1 2 3 4 5; do master "$number" set old x >/dev/null; done
run "$REDLOCK" status old
prints "never expires" "status shows a key that does not expire"

with_prefix() {
    run "$REDLOCK" acquire k --key-prefix app: --ttl 60s
    everywhere app:k "$(cat "$work/out")" || { each_master del app:k; return 1; }
}
check "--key-prefix is put before the key on the masters" some_time with_prefix
run "$REDLOCK" release k --token "$(cat "$work/out")" --key-prefix app:
check "--key-prefix is used for the release, too" until_true is_free app:k

run "$REDLOCK" release k
status_is 64 "release needs --token"
run "$REDLOCK" release k --token "$token" k
status_is 64 "release takes each KEY once"
run "$REDLOCK" acquire
status_is 64 "acquire needs KEY"
run "$REDLOCK" acquire k k
status_is 64 "acquire takes each KEY once"
run "$REDLOCK" status
status_is 64 "status needs KEY"

# --- stdout that cannot be written to ---

for command in "acquire full --ttl 60s" "status k" "status k --json" "nodes"; do
    status=0
    # shellcheck disable=SC2086
    "$REDLOCK" $command >/dev/full 2>"$work/err" || status=$?
    status_is 70 "$command gives 70 when stdout is full"
done
check "with a full stdout acquire leaves no lock" until_true is_free full

mkfifo "$work/pipe"
exec 5<>"$work/pipe" 6>"$work/pipe" 5<&-
status=0
"$REDLOCK" acquire full --ttl 60s >&6 2>"$work/err" || status=$?
exec 6>&-
status_is 70 "acquire gives 70 when its stdout is a closed pipe"
check "with a closed pipe acquire leaves no lock" until_true is_free full
status=0
"$REDLOCK" acquire full --ttl 60s >&- 2>"$work/err" || status=$?
status_is 70 "acquire gives 70 when stdout is closed"
check "with a closed stdout acquire leaves no lock" until_true is_free full

finish
