#!/bin/sh
# redlock list: all locks, on masters that differ, that refuse, and that are away.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

hex=0123456789012345678901234567890123456789

# put NUMBERS KEY VALUE
put() {
    for number in $1; do master "$number" set "$2" "$3" >/dev/null; done
}

# json SCRIPT: a condition on `seen`, the printed object, is true.
json() {
    ! command -v python3 >/dev/null || python3 -c "
import json, sys
seen = json.load(open(sys.argv[1], encoding='utf-8'))
keys = {k['key']: k for k in seen['keys']}
assert ($1), seen" "$work/out"
}

# --- what is listed ---

run "$REDLOCK" list
status_is 0 "masters without a lock are no mistake"
prints "0 shown of 0 keys; 5 commands to 5 masters in " "the last line says what the list cost"

acquire_everywhere held --owner "me and you" --ttl 4m
mv "$work/out" "$work/token"
"$REDLOCK" acquire fenced --fence --ttl 4m >"$work/fenced"
run "$REDLOCK" list
status_is 0 "locks are listed"
prints "held: held by me and you, " "a lock is listed with its owner"
prints " left, on 5 of 5 masters" "and with its time, and on how many masters"
check "the keys are in order" [ "$(cut -d: -f1 "$work/out" | head -2 | tr '\n' ' ')" = "fenced held " ]
check "a fencing token is shown" grep -q '^fenced: .*, fencing token [0-9]' "$work/out"
says_not "redlock-" "our own keys are not listed"
prints "2 shown of 2 keys; " "and not counted"

"$REDLOCK" lock held --wait 1m -- true &
waiter=$!
for_a_while() {
    tries=0
    until "$REDLOCK" list held >"$work/out" && grep -q ", 1 waits, " "$work/out"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || return 1
        sleep 0.1
    done
}
check "a client that waits is counted" for_a_while
"$REDLOCK" release held --token "$(cat "$work/token")"
await "$waiter"

# --- masters that differ ---

put "1 2 3" three "$hex:three"
put 4 three other
put "1 2" two "$hex"
put "1 2 3 4 5" foreign value
master 1 rpush elements x >/dev/null
put "2 3 4 5" elements "$hex"
run "$REDLOCK" list t
prints "three: held by three, never expires, on 3 of 5 masters; " "a key of three masters is a lock"
prints "4.sock has another value; " "a master with another value is named"
prints "5.sock has no such key" "a master without the key is named"
prints "1 shown of 2 keys" "a key of a minority is not shown"
run "$REDLOCK" list
says_not "foreign" "a key of another program is not shown"
prints "elements: held with the token $hex, never expires, on 4 of 5 masters; " \
    "a lock is listed where one master has another type"
run "$REDLOCK" list --all
prints "two: held by nobody, on 2 of 5 masters; " "--all shows a key of a minority"
prints "foreign: held with the token value, never expires, on 5 of 5 masters (another program's)" \
    "--all shows a key of another program"
run "$REDLOCK" list --all --json
status_is 0 "JSON is printed"
check "JSON says whose each key is" json "keys['three']['ours'] is True and keys['foreign']['ours'] is False"
check "JSON has what status has" json "keys['three']['owner'] == 'three' and keys['three']['holding'] == 3
    and [n['reply'] for n in keys['three']['nodes']] == ['held'] * 4 + ['free']"
check "JSON says what it cost" json "seen['complete'] is True and seen['scanned'] == 5 and
    seen['shown'] == len(keys) and seen['commands'] == sum(n['commands'] for n in seen['nodes']) > 0"

# --- prefixes and names ---

put "1 2 3" 'a*b' "$hex"
put "1 2 3" 'axb' "$hex"
run "$REDLOCK" list 'a*'
prints 'a*b: ' "a prefix is no pattern"
says_not axb "so others are not listed"
run "$REDLOCK" list '*b' --key-prefix a
prints '*b: ' "the names have no key prefix"
printf '%s' "$hex" >"$work/value"
printf 'n\0l\033[31m' >"$work/name"
for number in 1 2 3; do
    python3 - "$(printf %s "$REDLOCK_SANDBOX/$number.sock")" <<'EOF'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
name, value = b'n\0l\033[31m', b'0' * 40
s.sendall(b'*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$40\r\n%s\r\n' % (len(name), name, value))
assert s.recv(100) == b'+OK\r\n'
EOF
done
run "$REDLOCK" list n
prints 'n\x00l\x1b[31m: held' "any bytes of a key are shown, escaped"
run "$REDLOCK" list n --json
check "and in JSON" json "list(keys) == ['n\\\\x00l\\x1b[31m']"

# --- many keys, and what they cost ---

many() {
    i=0
    while [ "$i" -lt 1000 ]; do
        echo "SET many:$i $hex:o$i"
        i=$((i + 1))
    done
}
for number in 1 3 5; do many | master "$number" >/dev/null; done
run "$REDLOCK" list many:
prints "1000 shown of 1000 keys; " "a thousand locks on a majority are all listed"
check "each once" [ "$(grep -c '^many:[0-9]*: held by o[0-9]*, ' "$work/out")" = 1000 ]
check "each is another" [ "$(cut -d: -f2 "$work/out" | head -1000 | sort -u | wc -l)" = 1000 ]
run "$REDLOCK" list many: --rate 2000 --json
check "the rate is kept" json "len(keys) == 1000 and seen['elapsed_ms'] >= 2000 and
    all(n['commands'] >= 4000 for n in seen['nodes'])"
run "$REDLOCK" list many: --rate 100 --timeout 1s
status_is 69 "a list that ends early gives 69"
says "the list ended after 1.0 s, and locks may be missing" "it says so"
run "$REDLOCK" list many: --max-keys 999
status_is 69 "too many keys give 69"
says "there are more than 999 keys, and locks may be missing" "it says so"

# --- masters that are away, and that refuse ---

run "$REDLOCK" list three --nodes "unix://$REDLOCK_SANDBOX/1.sock unix://$REDLOCK_SANDBOX/2.sock unix:///no/such"
status_is 0 "a minority may be away"
prints "three: held by three, never expires, on 2 of 3 masters; " "the lock is listed"
prints "unix:///no/such has not named all its keys: cannot be reached: " "the master is named"
run "$REDLOCK" list three --nodes "unix://$REDLOCK_SANDBOX/1.sock unix:///no/1 unix:///no/2"
status_is 69 "without a majority it gives 69"
says "only 1 of 3 masters have named all their keys, and 2 are needed: locks may be missing" "it says so"
says "unix:///no/2: cannot be reached: " "it says what is wrong with each"
run "$REDLOCK" list three --json --nodes "unix://$REDLOCK_SANDBOX/1.sock unix:///no/1 unix:///no/2"
check "JSON says that locks may be missing" json "seen['complete'] is False and seen['scanned'] == 1"

for number in 1 2 3 4 5; do
    master "$number" acl setuser ann on '>x' '~*' '&*' +@all -scan >/dev/null
    master "$number" acl setuser bob on '>x' '~three*' '~redlock:*' '&*' +@all >/dev/null
done
run env REDLOCK_PASSWORD=x "$REDLOCK" list three --username ann
status_is 69 "without permission for SCAN it gives 69"
says "allow our user SCAN (ACL SETUSER: +scan)" "it says what to allow"
run env REDLOCK_PASSWORD=x "$REDLOCK" list t --username bob
status_is 0 "keys that may not be read are no failure"
prints "three: held by three, " "the others are listed"
prints "1 keys cannot be read: " "they are counted"
prints "NOPERM" "and the error is named"

# --- --watch ---

"$REDLOCK" list three --watch=100ms >"$work/out" 2>"$work/err" &
watch=$!
thrice() {
    tries=0
    until [ "$(grep -c '^three: ' "$work/out")" -ge 3 ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || return 1
        sleep 0.1
    done
}
check "--watch lists again and again" thrice
check "with the time above" grep -q '^[0-9:]*, every 100 ms$' "$work/out"
kill -TERM "$watch"
await "$watch"
status_is 143 "a signal ends it"
"$REDLOCK" list many: --rate 10 --watch >"$work/out" 2>"$work/err" &
watch=$!
sleep 1
kill -HUP "$watch"
await "$watch"
status_is 129 "a signal also ends a list that takes long"

# --- mistakes ---

run "$REDLOCK" list a b
status_is 64 "a second prefix is refused"
says "unexpected argument 'b'" "it is named"
run "$REDLOCK" list --rate 9
status_is 64 "a rate that is too low is refused"
run "$REDLOCK" list "$(printf '%01020d' 0)" --key-prefix 12345
status_is 64 "a prefix that is too long is refused"
says "more than 1024 bytes together" "it says so"

finish
