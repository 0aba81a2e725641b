#!/bin/sh
# redlock lock: runs a command under a lock, one at a time; its exit codes distinguish the outcomes.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

run "$REDLOCK" lock k -- sh -c 'exit 7'
status_is 7 "the exit status is that of the command"
check "the lock is released afterwards" until_true is_free k

run "$REDLOCK" lock k -- sh -c 'kill -KILL $$'
status_is 137 "a command killed by a signal gives 128 and its number"

run "$REDLOCK" lock k -- no-such-command-anywhere
status_is 127 "a missing command gives 127"
says "'no-such-command-anywhere' was not found" "a missing command is named"
check "after a missing command the lock is released" until_true is_free k

: >"$work/plain"
run "$REDLOCK" lock k -- "$work/plain"
status_is 126 "a command that cannot be run gives 126"
check "after a command that cannot be run the lock is released" until_true is_free k

printf '#!/no/such/interpreter\n' >"$work/lost"
chmod +x "$work/lost"
run "$REDLOCK" lock k -- "$work/lost"
status_is 126 "a command whose interpreter is missing gives 126"
says "the program that its first line names was not found" \
    "redlock says that the interpreter is missing"
run env PATH="$work:$PATH" "$REDLOCK" lock k -- lost
status_is 126 "a command in PATH whose interpreter is missing gives 126"
says "'lost' cannot be run: the program" "redlock says so for a command in PATH, too"

run "$REDLOCK" lock k -- sh -c 'echo "$REDLOCK_KEY $REDLOCK_TOKEN $REDLOCK_TRIES $REDLOCK_TOOK_US"'
check "the command is told key, token, tries and time" \
    grep -Eq '^k [0-9a-f]{40}:[^ ]+:[0-9]+ [1-9][0-9]* [0-9]+$' "$work/out"

# shellcheck disable=SC2016
run "$REDLOCK" lock k --owner 'tea time' -- sh -c '"$0" status k' "$REDLOCK"
prints "held by tea time" "--owner is what status shows"
run "$REDLOCK" lock k --owner '' -- sh -c 'echo "$REDLOCK_TOKEN"'
check "an empty --owner leaves the bare token" grep -Eqx '[0-9a-f]{40}' "$work/out"

run "$REDLOCK" lock k --ttl 5s echo --ttl -v
prints "--ttl -v" "CMD keeps its options without --, too"
run "$REDLOCK" lock --ttl 5s -- k echo key behind the dashes
prints "key behind the dashes" "KEY may come after the dashes"

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
says_if_named "'k' is held by alice" "--no-wait names the holder"
says "redlock status 'k'" "--no-wait says how to see the lock"
check "--no-wait does not run the command" is_gone "$work/ran"
# The end of the wait may interrupt the last round; the message then cannot name the holder.
waited() {
    run "$REDLOCK" lock k --wait 100ms -- true
    [ "$status" -ne 75 ] || grep -q "'k' is held by alice" "$work/err"
}
some_time waited
status_is 75 "--wait gives 75 when it has passed"
says_if_named "'k' is held by alice" "--wait names the holder"
run "$REDLOCK" lock k --wait 0 -- true
status_is 75 "--wait 0 is --no-wait"
run "$REDLOCK" lock other --no-wait -- true
status_is 0 "another key is free"

"$REDLOCK" lock k -- sh -c 'echo after' >"$work/waiter" 2>&1 &
waiter=$!
check "a holder that is ended leaves no key behind" let_go k
await "$waiter"
status_is 0 "without --wait the wait has no end"
check "the waiting command runs as soon as the lock is free" grep -qx after "$work/waiter"

for number in 1 2 3 4 5; do master "$number" set k foreign px 60000 >/dev/null; done
run "$REDLOCK" lock k --no-wait -- true
status_is 75 "another client's key excludes us"
says_if_named "token foreign" "the value of another client's key is shown"
check "another client's key is left alone" [ "$(master 1 get k)" = foreign ]
for number in 1 2 3 4 5; do master "$number" del k >/dev/null; done

# --- one at a time ---

# Reads a counter, and writes it back later: an update is lost if two clients do this at once.
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
check "six clients lose none of their thirty updates" [ "$(cat "$work/counter")" = 30 ]
check "six clients never run at once" is_gone "$work/counter.two"
check "six clients all succeed" is_gone "$work/failed"

# --- what is refused ---

run "$REDLOCK" lock
status_is 64 "KEY is needed"
run "$REDLOCK" lock k --
status_is 64 "CMD is needed"
run "$REDLOCK" lock '' -- true
status_is 64 "an empty KEY is refused"
run "$REDLOCK" lock k --ttl 10x -- true
status_is 64 "a ttl that is not a time is refused"
run "$REDLOCK" lock k --ttl 5ms -- true
status_is 64 "a ttl below 10 ms is refused"
run "$REDLOCK" lock k --ttl 6m -- true
status_is 64 "a ttl above --max-ttl is refused"
says "--max-ttl" "the message names --max-ttl"
run "$REDLOCK" lock k --ttl 6m --max-ttl 1h -- true
status_is 0 "--max-ttl allows it"
run env REDLOCK_MAX_TTL=1h "$REDLOCK" lock k --ttl 6m -- true
status_is 0 "REDLOCK_MAX_TTL allows it"
run "$REDLOCK" lock k --max-ttl 3s -v -- true
status_is 0 "without --ttl the ttl is at most --max-ttl"
says "valid for 2." "without --ttl the ttl is as long as --max-ttl"
run "$REDLOCK" acquire j --max-ttl 3s
status_is 0 "without --ttl the ttl of acquire is at most --max-ttl"
run "$REDLOCK" extend j --max-ttl 3s --token "$(cat "$work/out")"
status_is 0 "without --ttl the ttl of extend is at most --max-ttl"
run "$REDLOCK" lock k --ttl '5 min 0 s' -- true
status_is 0 "a time may be written as it is printed"
for reserved in redlock:incarnation k:redlock-fence k:redlock-waiting; do
    run "$REDLOCK" lock "$reserved" -- true
    status_is 64 "$reserved is no KEY"
    says "key 1 has a name that is reserved for the library" \
        "redlock says that $reserved is reserved"
done
run "$REDLOCK" lock k --owner "$(printf 'a\tb')" -- true
status_is 64 "an owner that cannot be printed is refused"

# --- a system without /proc ---

# shellcheck disable=SC2016
without_proc() {
    unshare --mount --map-root-user sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
if without_proc "$REDLOCK" --version >"$work/out" 2>&1; then
    run without_proc "$REDLOCK" lock k -- true
    status_is 0 "without /proc a command runs under a lock"
    check "and redlock says once what that means" [ "$(grep -c '/proc is not mounted' "$work/err")" -eq 1 ]
fi

# --- keys that look like options ---

run "$REDLOCK" lock -x -- true
status_is 64 "a key that begins with a dash is taken for an option"
says "if a KEY begins with a dash, write the options first, then --, then the KEY" "and redlock says how to write it"
run "$REDLOCK" elect -x
says "if a NAME begins with a dash" "also for an election"
run "$REDLOCK" list -x
says "if a PREFIX begins with a dash" "and for a list"
run "$REDLOCK" nodes -x
says_not "begins with a dash" "but not where there is no KEY"
# shellcheck disable=SC2016
run "$REDLOCK" lock --no-wait -- -x -- sh -c 'echo "$REDLOCK_KEY" "$@"' - -- a
check "that order works for lock, also with another -- before CMD" grep -qx -e '-x -- a' "$work/out"
# shellcheck disable=SC2016
run "$REDLOCK" elect --once -- -x -- sh -c 'echo "$REDLOCK_KEY"'
check "and for elect" grep -qx -e -x "$work/out"
run "$REDLOCK" acquire --ttl 60s -- -x
status_is 0 "for acquire"
token=$(cat "$work/out")
run "$REDLOCK" extend --ttl 60s --token "$token" -- -x
status_is 0 "for extend"
run "$REDLOCK" status --json -- -x
prints '"key": "-x"' "for status"
run "$REDLOCK" break --reason x --no-wait -- -x
status_is 0 "for break"
run "$REDLOCK" release --token "$token" -- -x
status_is 75 "and for release"
# shellcheck disable=SC2016
run "$REDLOCK" lock --no-wait -- --help sh -c 'echo "$REDLOCK_KEY"'
check "after -- any text is a key" grep -qx -e --help "$work/out"

# --- values that are missing, or apart ---

run "$REDLOCK" lock k --key-prefix -- true
status_is 64 "-- is no value of an option"
says "option --key-prefix needs a value before the --" "redlock says which one has none"
run "$REDLOCK" lock k --no-wait --key-prefix=-- -- true
status_is 0 "unless it is written with ="
run timeout 60 "$REDLOCK" status k --watch 5s
status_is 64 "a time after --watch and a blank is no KEY"
says "write --watch=5s" "redlock says how to write it"
run "$REDLOCK" lock k --audit 100 -- true
says "write --audit=100" "also for --audit"
run "$REDLOCK" status --json -- 5s
prints '"key": "5s"' "a KEY may look like a time"
run "$REDLOCK" lock k --wait 1 --no-wait -- true
status_is 64 "--wait and --no-wait exclude each other"

finish
