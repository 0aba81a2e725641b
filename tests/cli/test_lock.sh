#!/bin/sh
# redlock lock: runs a command under a lock, one at a time, and is told apart by its exit code.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

run "$REDLOCK" lock k -- sh -c 'exit 7'
status_is 7 "the exit status is that of the command"
check "the lock is released afterwards" until_true is_free k

run "$REDLOCK" lock k -- sh -c 'kill -KILL $$'
status_is 137 "a command killed by a signal gives 128 and its number"

run "$REDLOCK" lock k -- no-such-command-anywhere
status_is 127 "a command that is not there gives 127"
says "'no-such-command-anywhere' was not found" "and it is named"
check "and the lock is released" until_true is_free k

: >"$work/plain"
run "$REDLOCK" lock k -- "$work/plain"
status_is 126 "a command that cannot be run gives 126"
check "and the lock is released, too" until_true is_free k

printf '#!/no/such/interpreter\n' >"$work/lost"
chmod +x "$work/lost"
run "$REDLOCK" lock k -- "$work/lost"
status_is 126 "one whose interpreter is not there gives 126, too"
says "the program that its first line names was not found" "and it is said"
run env PATH="$work:$PATH" "$REDLOCK" lock k -- lost
status_is 126 "also when it is found in PATH"
says "'lost' cannot be run: the program" "and said as well"

run "$REDLOCK" lock k -- sh -c 'echo "$REDLOCK_KEY $REDLOCK_TOKEN $REDLOCK_TRIES $REDLOCK_TOOK_US"'
check "the command is told key, token, tries and time" \
    grep -Eq '^k [0-9a-f]{40}:[^ ]+:[0-9]+ [1-9][0-9]* [0-9]+$' "$work/out"

# shellcheck disable=SC2016
run "$REDLOCK" lock k --owner 'tea time' -- sh -c '"$0" status k' "$REDLOCK"
prints "held by tea time" "--owner is what status shows"
run "$REDLOCK" lock k --owner '' -- sh -c 'echo "$REDLOCK_TOKEN"'
check "an empty --owner leaves the bare token" grep -Eqx '[0-9a-f]{40}' "$work/out"

run "$REDLOCK" lock k --ttl 5s echo --ttl -v
prints "--ttl -v" "options of the command are its own, also without --"
run "$REDLOCK" lock --ttl 5s -- k echo key behind the dashes
prints "key behind the dashes" "KEY may stand behind the dashes"

ls /proc/self/fd >"$work/fds"
run "$REDLOCK" lock k -- ls /proc/self/fd
check "the command inherits no descriptor of ours" cmp "$work/fds" "$work/out"
grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >"$work/signals"
run "$REDLOCK" lock k -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
check "the command inherits no signal mask or disposition of ours" cmp "$work/signals" "$work/out"

# shellcheck disable=SC2016
run setsid -w "$REDLOCK" lock k -- sh -c 'ps -o pgid= -p $$ 2>/dev/null || cut -d" " -f5 /proc/$$/stat; echo $$'
check "without a terminal the command leads a process group of its own" \
    sh -c '[ "$(tr -d " " <"$1" | sort -u | wc -l)" -eq 1 ]' sh "$work/out"

# --- held by somebody else ---

hold k --owner alice
run "$REDLOCK" lock k --no-wait -- touch "$work/ran"
status_is 75 "--no-wait gives 75 when somebody else holds the lock"
says "'k' is held by alice" "and names the holder"
says "redlock status 'k'" "and says how to look"
check "and does not run the command" is_gone "$work/ran"
# A last try that the end breaks off does not know any more who it is.
waited() {
    run "$REDLOCK" lock k --wait 100ms -- true
    [ "$status" -ne 75 ] || grep -q "'k' is held by alice" "$work/err"
}
some_time waited
status_is 75 "--wait gives 75 when it has passed"
says "'k' is held by alice" "and names the holder as well"
run "$REDLOCK" lock k --wait 0 -- true
status_is 75 "--wait 0 is --no-wait"
run "$REDLOCK" lock other --no-wait -- true
status_is 0 "another key is free"

"$REDLOCK" lock k -- sh -c 'echo after' >"$work/waiter" 2>&1 &
waiter=$!
check "a holder that is ended leaves nothing behind" let_go k
await "$waiter"
status_is 0 "without --wait the wait has no end"
check "and the command runs when the lock is free" grep -qx after "$work/waiter"

for number in 1 2 3 4 5; do master "$number" set k foreign px 60000 >/dev/null; done
run "$REDLOCK" lock k --no-wait -- true
status_is 75 "another client's key excludes us"
says "token foreign" "and its value is shown"
check "and is left alone" [ "$(master 1 get k)" = foreign ]
for number in 1 2 3 4 5; do master "$number" del k >/dev/null; done

# --- one at a time ---

# Reads, and writes back later: an update is lost if two do it at once.
cat >"$work/increment" <<'SCRIPT'
n=$(cat "$1")
[ -e "$1.busy" ] && echo two >>"$1.two"
: >"$1.busy"
sleep 0.005
rm -f "$1.busy"
echo $((n + 1)) >"$1"
SCRIPT
echo 0 >"$work/counter"
pids=
for _ in 1 2 3 4 5 6; do
    for _ in 1 2 3 4 5; do
        "$REDLOCK" lock counter -- sh "$work/increment" "$work/counter" || echo failed >>"$work/failed"
    done &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
check "six contenders lose none of their thirty updates" [ "$(cat "$work/counter")" = 30 ]
check "and never run at once" is_gone "$work/counter.two"
check "and all succeed" is_gone "$work/failed"

# --- what is refused ---

run "$REDLOCK" lock
status_is 64 "KEY is needed"
run "$REDLOCK" lock k --
status_is 64 "CMD is needed"
run "$REDLOCK" lock '' -- true
status_is 64 "an empty KEY is refused"
run "$REDLOCK" lock k --ttl 10x -- true
status_is 64 "a ttl that is no time is refused"
run "$REDLOCK" lock k --ttl 5ms -- true
status_is 64 "a ttl below 10 ms is refused"
run "$REDLOCK" lock k --ttl 6m -- true
status_is 64 "a ttl above --max-ttl is refused"
says "--max-ttl" "and the message tells of --max-ttl"
run "$REDLOCK" lock k --ttl 6m --max-ttl 1h -- true
status_is 0 "--max-ttl allows it"
run env REDLOCK_MAX_TTL=1h "$REDLOCK" lock k --ttl 6m -- true
status_is 0 "REDLOCK_MAX_TTL allows it"
run "$REDLOCK" lock k --max-ttl 3s -v -- true
status_is 0 "without --ttl it is not longer than --max-ttl"
says "valid for 2." "but as long"
run "$REDLOCK" acquire j --max-ttl 3s
status_is 0 "nor that of acquire"
run "$REDLOCK" extend j --max-ttl 3s --token "$(cat "$work/out")"
status_is 0 "nor that of extend"
run "$REDLOCK" lock k --ttl '5 min 0 s' -- true
status_is 0 "a time may be written as it is printed"
for reserved in redlock:incarnation k:redlock-fence; do
    run "$REDLOCK" lock "$reserved" -- true
    status_is 64 "$reserved is no KEY"
    says "key 1 has a name that is reserved for the library" "and it is said why"
done
run "$REDLOCK" lock k --owner "$(printf 'a\tb')" -- true
status_is 64 "an owner that cannot be printed is refused"

finish
