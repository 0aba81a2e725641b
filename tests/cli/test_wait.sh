#!/bin/sh
# Waiting for a lock: redlock says what it waits for, and does not wait for what needs an operator.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# lock_once_more OPTION...: as cron would run it; a wait without an end is cut off (124).
lock_once_more() {
    run timeout 60 "$REDLOCK" lock k "$@" -- touch "$work/ran"
}

# on_terminal COMMAND...: its stderr is a terminal; the text is in $work/err.
on_terminal() {
    status=0
    python3 -c 'import os, pty, sys
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
sys.exit(os.waitstatus_to_exitcode(status))' "$@" >"$work/err" </dev/null || status=$?
}

# --- held by somebody else ---

hold k --owner alice
on_terminal "$REDLOCK" lock k --wait 5s -- true
status_is 75 "waiting on a terminal ends with 75 when the wait is over"
says "waiting for 'k', held by alice (" "on a terminal redlock says who holds the lock"
check "on a terminal redlock says for how long, and on how many masters" \
    grep -Eq '\([0-9.]+ s left, on [345] of 5 masters\)' "$work/err"
check "redlock says so once" [ "$(grep -c 'waiting for' "$work/err")" -eq 1 ]
on_terminal "$REDLOCK" lock k -q --wait 2s -- true
says_not "waiting for" "with --quiet redlock does not say who holds the lock"
run "$REDLOCK" lock k --wait 2s -- true
says_not "waiting for" "without a terminal redlock does not say who holds the lock"
"$REDLOCK" lock free k -v --wait 600s -- true 2>"$work/err" &
waiter=$!
check "with --verbose redlock says so without a terminal, too" \
    until_true grep -q "waiting for 'free' 'k', held by alice" "$work/err"
kill -TERM "$waiter"
await "$waiter"
status_is 143 "a wait that is given up gives 143"
says "gave up waiting for 'free' 'k' after SIGTERM" "redlock says that it gave up"
says "is held by alice" "redlock says who holds the lock that it gave up"
let_go k

# --- what waiting does not change ---

each_master config set requirepass pw
lock_once_more
status_is 69 "a wait ends at once when a majority refuses our password"
says "5 of 5 masters cannot be used as they are, and 3 are needed" \
    "redlock says that a majority cannot be used"
# At that moment the node may be connecting again.
check "redlock prints what each master answered" \
    grep -qE -e '1\.sock  (down|connecting): requires a password' "$work/err"
check "the command does not run when a majority refuses us" is_gone "$work/ran"
lock_once_more --wait 300ms
status_is 69 "with --wait a refused password is waited for"
says "no majority of the masters can be reached" \
    "after --wait redlock says that no majority can be reached"
for number in 1 2 3 4 5; do
    "$rediscli" -s "$REDLOCK_SANDBOX/$number.sock" --no-auth-warning -a pw \
        config set requirepass '' >/dev/null
done

each_master acl setuser u on '>pw' +@all '~app:*'
REDLOCK_USERNAME=u REDLOCK_PASSWORD=pw
export REDLOCK_USERNAME REDLOCK_PASSWORD
lock_once_more
status_is 69 "a wait ends at once when a majority denies the key"
says "NOPERM" "redlock quotes the error of the masters"
says "This command has no --key-prefix: do the other clients have one?" "and asks for the prefix"
run "$REDLOCK" lock app:k -- true
status_is 0 "another key is not denied"
run "$REDLOCK" lock k --no-wait -- true
says "This command has no --key-prefix" "also without a wait"
lock_once_more --key-prefix other:
status_is 69 "a wait ends at once when the prefix is denied, too"
says "begin with 'other:' (--key-prefix): is that right?" "and the prefix is named"
each_master acl setuser u -set '~*'
lock_once_more
status_is 69 "a wait ends at once when a majority denies a command"
unset REDLOCK_USERNAME REDLOCK_PASSWORD

for number in 1 2 3; do master "$number" replicaof 127.0.0.1 9 >/dev/null; done
lock_once_more
status_is 69 "a wait ends at once when a majority are replicas"
says "3 of 5 masters cannot be used as they are" "redlock says that replicas cannot be used"
master 1 replicaof no one >/dev/null
run "$REDLOCK" lock k -- true
status_is 0 "two of five replicas do not end the wait"
for number in 2 3; do master "$number" replicaof no one >/dev/null; done

run env REDLOCK_NODES="$(echo "$REDLOCK_NODES" | sed 's/\.sock/.sock?db=77/g')" \
    timeout 60 "$REDLOCK" lock k -- true
status_is 69 "a wait ends at once when a majority lacks the database"

each_master config set maxmemory 100mb
each_master config set maxmemory-policy allkeys-lru
lock_once_more --quarantine strict
status_is 69 "a wait ends at once when a majority evicts keys"
each_master config set maxmemory-policy noeviction

# --- keys of other programs ---

# waits_for TEXT COMMAND...: the command says so while it waits, once, and ends by SIGTERM.
waits_for() {
    text=$1
    shift
    : >"$work/err"
    "$@" 2>"$work/err" &
    waiter=$!
    waited=0
    until_late grep -qF -e "$text" "$work/err" || waited=$?
    kill -TERM "$waiter"
    await "$waiter"
    [ "$waited" -eq 0 ] && [ "$status" -eq 143 ]
}
if names_holders; then
    for number in 1 2 3; do master "$number" lpush list x >/dev/null; done
    each_master set foreign abcdefghijkl >/dev/null
    check "lock says while it waits that the key is not a string" \
        waits_for "another program has a key of this name that is not a string (on 3 of 5 masters)" \
        "$REDLOCK" lock list -q -- true
    check "elect says so, too" \
        waits_for "another program has a key of this name that is not a string (on " \
        "$REDLOCK" elect list -- true
    check "elect says it once" [ "$(grep -c 'another program' "$work/err")" -eq 1 ]
    check "elect says that the value is not one of redlock, and shows little of it" \
        waits_for "its value (abcdefgh...) is not one that redlock writes" "$REDLOCK" elect foreign -- true
    check "lock says so, too" \
        waits_for "its value (abcdefgh...) is not one that redlock writes" "$REDLOCK" lock foreign -- true
    each_master del list foreign
fi

# --- a master that ends the connection on our question ---

# What is up again by then is said to have broken it.
if "$server" --version | grep -qi redis; then
    cat >"$work/breaks.py" <<'SCRIPT'
"""As the master at the first path, at the second one; but a SET ends the connection."""
import os, socket, sys, threading

def pump(source, to, ends_at):
    while data := source.recv(65536):
        if ends_at in data:
            break
        to.sendall(data)
    for end in source, to:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2])
listener.listen()
while True:
    client, _ = listener.accept()
    master = socket.socket(socket.AF_UNIX)
    master.connect(sys.argv[1])
    threading.Thread(target=pump, args=(client, master, b'\r\nSET\r\n$5\r\nbreak'), daemon=True).start()
    threading.Thread(target=pump, args=(master, client, b'\0no such text'), daemon=True).start()
SCRIPT
    breakers=
    for number in 1 2 3; do
        python3 "$work/breaks.py" "$REDLOCK_SANDBOX/$number.sock" "$work/$number.breaks" &
        breakers="$breakers $!"
        until_true [ -S "$work/$number.breaks" ]
    done
    run env REDLOCK_NODES="$(for number in 1 2 3; do printf 'unix://%s ' "$work/$number.breaks"; done)" \
        "$REDLOCK" lock "break" --no-wait -- true
    status_is 69 "masters that end the connection on each SET leave no majority"
    check "none of them is only said to be up" [ "$(grep -c 'breaks  up$' "$work/err")" -eq 0 ]
    check "that they break the connection is said" grep -q 'the connection broke' "$work/err"
    # shellcheck disable=SC2086
    kill -KILL $breakers
fi

# --- masters that were started just now ---

"$REDLOCK" lock k --quarantine=strict -- true 2>"$work/err" &
waiter=$!
check "redlock says that it waits for masters in quarantine" \
    until_true grep -q "Waiting for 'k' until enough masters grant it" "$work/err"
says "use redlock sandbox or --quarantine=off" "redlock says how to try things out"
says "A smaller --max-ttl" "redlock says what shortens the wait"
kill -TERM "$waiter"
await "$waiter"
status_is 143 "the wait for a quarantine can be given up"
check "the advice is not repeated at the end" [ "$(grep -c 'To try things out' "$work/err")" -eq 1 ]
until_true is_free k
run env REDLOCK_QUARANTINE=strict REDLOCK_NODES="$(echo "$REDLOCK_NODES" |
    sed 's/\.sock/.sock?quarantine=off/g')" "$REDLOCK" lock k --no-wait -- true
status_is 0 "a URI may set a policy without quarantine"

# --- masters that rewrite their append-only files ---

# The rewrite of one key takes longer than the test. It ends with the file.
if master 1 config set rdb-key-save-delay 100000000 2>/dev/null | grep -q OK; then
    strict='--quarantine strict --max-ttl 1s --ttl 1s --no-record'
    # shellcheck disable=SC2086
    run "$REDLOCK" lock k $strict -- true
    status_is 0 "masters that keep their data vote when --max-ttl is over"
    each_master set pad 1
    each_master config set rdb-key-save-delay 100000000
    each_master config set appendfsync always
    each_master config set appendonly yes
    # shellcheck disable=SC2086
    "$REDLOCK" lock k $strict -- true 2>"$work/err" &
    waiter=$!
    check "the end of a rewrite is waited for" \
        until_late grep -q "Waiting for 'k' until enough masters grant it" "$work/err"
    says "until the rewrite of its append-only file has ended" "redlock says what it waits for"
    run "$REDLOCK" nodes --quarantine strict
    status_is 0 "masters that rewrite their files will vote"
    each_master config set appendonly no
    await "$waiter"
    status_is 0 "when the rewrite has ended the lock is acquired"
    each_master config set rdb-key-save-delay 0
    each_master del pad
else
    skip "the end of a rewrite is waited for" "this server's rewrites cannot be made to take long"
fi

# --- what was said before ---

# says_once TEXT CLAIM
says_once() {
    check "$2" [ "$(grep -cF -e "$1" "$work/err")" -eq 1 ]
}
nowhere="unix://$work/a.sock,unix://$work/b.sock,unix://$work/c.sock"
run "$REDLOCK" lock k --nodes "$nowhere" --wait 6s -- true
status_is 69 "masters that never answer are waited for as long as --wait says"
says "still no majority of the masters can be reached: 0 of 3 are up, 2 are needed" \
    "the end of the wait has its reason"
says_once "a.sock  " "a master that stays as it is is described once"
says_once "Check that they run" "advice is given once"
ln -s "$REDLOCK_SANDBOX/1.sock" "$work/c.sock"
"$REDLOCK" lock k --nodes "$nowhere" --wait 8s -- true 2>"$work/err" &
waiter=$!
check "a wait says which masters are missing" until_late grep -qF "Waiting for 'k'" "$work/err"
rm "$work/c.sock"
until_true master 1 client kill type normal
await "$waiter"
says_once "a.sock  down" "at the end of the wait the others are not described again"
says "c.sock  down" "a master that has changed is"
run "$REDLOCK" status one two three --nodes "$nowhere"
says_once "b.sock  " "redlock status does not repeat for each key what is wrong with the masters"

# --- what waiting may change ---

each_master acl setuser u on '>pw' +@all '~*'
halt 1
for number in 2 3; do master "$number" config set requirepass pw >/dev/null; done
"$REDLOCK" lock k -- true 2>"$work/err" &
waiter=$!
check "two masters that refuse us and one that is stopped are waited for" \
    until_true grep -q "Waiting for 'k' until enough masters can be reached" "$work/err"
resume 1
await "$waiter"
status_is 0 "when the stopped master is back the lock is acquired"

finish
