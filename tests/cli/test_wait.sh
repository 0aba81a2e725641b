#!/bin/sh
# Waiting for a lock: who waits hears what for, and does not wait for what does not come by itself.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# lock_once_more OPTION...: as cron would; a wait without an end is cut off (124).
lock_once_more() {
    run timeout 60 "$REDLOCK" lock k "$@" -- touch "$work/ran"
}

# on_terminal COMMAND...: its stderr is one; the text is in $work/err.
on_terminal() {
    status=0
    python3 -c 'import os, pty, sys
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
sys.exit(os.waitstatus_to_exitcode(status))' "$@" >"$work/err" </dev/null || status=$?
}

# --- held by somebody else ---

hold k --owner alice
on_terminal "$REDLOCK" lock k --wait 5s -- true
status_is 75 "who waits on a terminal"
says "waiting for 'k', held by alice, " "hears who holds the lock"
check "and for how long, and on how many masters" \
    grep -Eq ', [0-9.]+ s left, on [345] of 5 masters' "$work/err"
check "once" [ "$(grep -c 'waiting for' "$work/err")" -eq 1 ]
on_terminal "$REDLOCK" lock k -q --wait 2s -- true
says_not "waiting for" "not with --quiet"
run "$REDLOCK" lock k --wait 2s -- true
says_not "waiting for" "and not where stderr is no terminal"
"$REDLOCK" lock free k -v --wait 600s -- true 2>"$work/err" &
waiter=$!
check "with --verbose it is said there, too" \
    until_true grep -q "waiting for 'free' 'k', held by alice" "$work/err"
kill -TERM "$waiter"
await "$waiter"
status_is 143 "who gives up"
says "gave up waiting for 'free' 'k': SIGTERM" "is told so"
says "is held by alice" "and who holds it"
let_go k

# --- what waiting does not change ---

each_master config set requirepass pw
lock_once_more
status_is 69 "that a majority of the masters refuses our password ends the wait at once"
says "5 of 5 masters cannot be used as they are, and 3 are needed" "and is said"
# It may be connected once more at that moment.
check "with what each says" grep -qE -e '1\.sock  (down|connecting): requires a password' "$work/err"
check "and the command does not run" is_gone "$work/ran"
lock_once_more --wait 300ms
status_is 69 "with --wait it is waited for"
says "no majority of the masters can be reached" "until that ends"
for number in 1 2 3 4 5; do
    "$rediscli" -s "$REDLOCK_SANDBOX/$number.sock" --no-auth-warning -a pw \
        config set requirepass '' >/dev/null
done

each_master acl setuser u on '>pw' +@all '~app:*'
REDLOCK_USERNAME=u REDLOCK_PASSWORD=pw
export REDLOCK_USERNAME REDLOCK_PASSWORD
lock_once_more
status_is 69 "so does a key that a majority denies us"
says "NOPERM" "in their words"
run "$REDLOCK" lock app:k -- true
status_is 0 "another key is not denied"
lock_once_more --key-prefix other:
status_is 69 "nor is the prefix what it is about"
each_master acl setuser u -set '~*'
lock_once_more
status_is 69 "so does a command that they deny"
unset REDLOCK_USERNAME REDLOCK_PASSWORD

for number in 1 2 3; do master "$number" replicaof 127.0.0.1 9 >/dev/null; done
lock_once_more
status_is 69 "so do replicas"
says "3 of 5 masters cannot be used as they are" "when they are a majority"
master 1 replicaof no one >/dev/null
run "$REDLOCK" lock k -- true
status_is 0 "two of five are none"
for number in 2 3; do master "$number" replicaof no one >/dev/null; done

run env REDLOCK_NODES="$(echo "$REDLOCK_NODES" | sed 's/\.sock/.sock?db=77/g')" \
    timeout 60 "$REDLOCK" lock k -- true
status_is 69 "so does a database that they do not have"

each_master config set maxmemory 100mb
each_master config set maxmemory-policy allkeys-lru
lock_once_more --quarantine strict
status_is 69 "so do masters that evict keys"
each_master config set maxmemory-policy noeviction

# --- masters that were started just now ---

"$REDLOCK" lock k --quarantine=strict -- true 2>"$work/err" &
waiter=$!
check "who waits for masters in quarantine" \
    until_true grep -q "Waiting for 'k' until they do" "$work/err"
says "use redlock sandbox, or --quarantine=off" "hears how to try things out"
says "A smaller --max-ttl" "and what shortens the wait"
kill -TERM "$waiter"
await "$waiter"
status_is 143 "it can be given up"
check "which repeats none of it" [ "$(grep -c 'To try things out' "$work/err")" -eq 1 ]
run env REDLOCK_QUARANTINE=strict REDLOCK_NODES="$(echo "$REDLOCK_NODES" |
    sed 's/\.sock/.sock?quarantine=off/g')" "$REDLOCK" lock k --no-wait -- true
status_is 0 "a URI says it in the same way"

# --- what it may change ---

each_master acl setuser u on '>pw' +@all '~*'
halt 1
for number in 2 3; do master "$number" config set requirepass pw >/dev/null; done
"$REDLOCK" lock k -- true 2>"$work/err" &
waiter=$!
check "two masters that refuse us and one that is stopped are waited for" \
    until_true grep -q "Waiting for 'k' until they come" "$work/err"
resume 1
await "$waiter"
status_is 0 "and when that one is back the lock is acquired"

finish
