#!/bin/sh
# redlock status: values of any bytes that a majority has; and keys whose holder is unknown.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

esc=$(printf '\033')

# put NUMBER KEY FORMAT: a value of any bytes.
put() {
    # shellcheck disable=SC2059
    printf "$3" | master "$1" -x set "$2" >/dev/null
}

# no_controls FILE: it contains no byte that controls a terminal.
no_controls() {
    [ "$(tr -d '\n' <"$1" | tr -d '[:cntrl:]' | wc -c)" -eq "$(tr -d '\n' <"$1" | wc -c)" ]
}

# json SCRIPT: a condition on `keys`, the printed list, is true.
json() {
    ! command -v python3 >/dev/null || python3 -c "
import json, sys
keys = json.load(open(sys.argv[1], encoding='utf-8'))
assert ($1)" "$work/out"
}

# Each byte in a key of its own, and invalid UTF-8: too long a form, a surrogate, beyond the
# last character, cut short. A byte that begins no character becomes U+FFFD.
every_byte() {
    ! command -v python3 >/dev/null || python3 - "$REDLOCK" <<'EOF'
import json, subprocess, sys
almost = [b'\xc0\x80', b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b'\xe2\x82', b'\xf0\x9f\x98\xff']
keys = [b'k' + bytes([byte]) for byte in range(1, 256)] + almost + ['\u20ac \U0001f600'.encode()]
done = subprocess.run([sys.argv[1], 'status', '--json', '--', *keys], stdout=subprocess.PIPE)
shown = [entry['key'] for entry in json.loads(done.stdout.decode('utf-8'))]
assert shown == [''.join(chr(b) if b < 0x80 else '\ufffd' for b in key) for key in keys[:-1]] + [
    '\u20ac \U0001f600']
EOF
}

# --- values ---

for number in 1 2 3 4 5; do put "$number" bytes "a\\000$number"; done
run "$REDLOCK" status bytes
prints "bytes: held by nobody: no value is on more than 1 of 5 masters" \
    "values that contain a NUL are compared whole"
prints 'a\x003' "values that contain a NUL are shown"
for number in 1 2 3; do put "$number" bytes '\001\377:x'; done
run "$REDLOCK" status bytes
prints 'bytes: held with the token \x01\xff:x, never expires, on 3 of 5' \
    "a value of another library has no owner"
for number in 4 5; do put "$number" bytes '\001\377:x'; done
run "$REDLOCK" lock bytes --no-wait -- true
says_if_named "'bytes' is held by somebody else (according to " \
    "a client that does not get the lock sees who says so"
says_if_named 'of 5 masters; token \x01\xff...)' "a client that does not get the lock sees the holder's value"

master 1 set empty '' >/dev/null
run "$REDLOCK" status empty
prints "empty: held by nobody: no value is on more than 1 of 5 masters, and 3 are needed" \
    "an empty value on one master is not free"
for number in 2 3; do master "$number" set empty '' >/dev/null; done
run "$REDLOCK" status empty
prints "empty: held with an empty value, never expires, on 3 of 5" "an empty value may hold a lock"
run "$REDLOCK" status --json empty
check "JSON shows an empty value, and -1 for a key that does not expire" \
    json "keys[0]['held'] is True and keys[0]['token'] == '' and keys[0]['ttl_ms'] == -1"

# --- waiters ---

for number in 1 2 3; do put "$number" wanted token; done
run "$REDLOCK" status wanted
says_not "for it" "nothing is said where nobody waits"
master 1 zadd wanted:redlock-waiting 1 one >/dev/null
run "$REDLOCK" status wanted
prints "    1 client waits for it" "a client that waits is counted"
master 2 zadd wanted:redlock-waiting 1 one 2 two >/dev/null
run "$REDLOCK" status wanted
prints "    2 clients wait for it" "the longest list counts"
master 3 set wanted:redlock-waiting foreign >/dev/null
run "$REDLOCK" status wanted
prints "held with the token token, never expires, on 3 of 5" "a foreign list changes nothing else"
run "$REDLOCK" status wanted --json
check "JSON has the numbers of waiters" json "keys[0]['waiters'] == 2 and
    [n['waiters'] for n in keys[0]['nodes']] == [1, 2, 0, 0, 0]"

# --- several keys ---

run "$REDLOCK" status --json k "$(printf '%01020d' 0)" --key-prefix 12345
status_is 64 "a second key that is too long is refused"
check "nothing is printed before the refusal" [ ! -s "$work/out" ]

# --- what is shown of a key, and of a URI ---

bad=$(printf 'k\033[31m\001\n\302\233x')
run "$REDLOCK" status "$bad"
prints 'k\x1b[31m\x01\x0a\xc2\x9bx: free' "a key is shown escaped"
check "a key on stdout contains no control characters" no_controls "$work/out"
run "$REDLOCK" status "$bad" --json
check "a key in JSON contains no control characters" no_controls "$work/out"
check "JSON has the whole key" json "keys[0]['key'] == 'k\\x1b[31m\\x01\\n\\x9bx'"
check "every byte of a key is escaped correctly" every_byte
run "$REDLOCK" release "$bad" --token x -v
check "a key on stderr contains no control characters" no_controls "$work/err"
says 'k\x1b[31m' "the message names the key, escaped"
hidden=$(printf 'a\342\200\213b\357\273\277c\342\200\256d\363\240\201\201e\303\251')
run "$REDLOCK" status "$hidden"
prints 'a\xe2\x80\x8bb\xef\xbb\xbfc\xe2\x80\xaed\xf3\xa0\x81\x81e'"$(printf '\303\251')"': free' \
    "what cannot be seen is shown escaped, and a letter is not"
run "$REDLOCK" status "$hidden" --json
check "JSON has the whole of such a key" \
    json "keys[0]['key'] == 'a\\u200bb\\ufeffc\\u202ed\\U000e0041e\\xe9'"
check "and escapes it" grep -qF '"a\u200bb\ufeffc\u202ed\udb40\udc41e' "$work/out"
run "$REDLOCK" nodes --nodes "unix:///no${esc}[31m%1b%9bsuch"
status_is 69 "a master with such a path is down"
prints 'x1b[31m' "a master that is down is named"
check "the name of a master contains no control characters" no_controls "$work/out"
run "$REDLOCK" "status$esc"
check "an unknown command is shown escaped" no_controls "$work/err"
printf '#!/bin/sh\nprintf "one\\033[31m\\ntwo\\n"\nexit 1\n' >"$work/server"
chmod +x "$work/server"
run "$REDLOCK" sandbox --server "$work/server" true
says 'one\x1b[31m' "the output of a server that does not start is shown escaped"
says "two" "the output of a server is shown line by line"
check "the output of a server contains no control characters" no_controls "$work/err"

# --- again and again ---

# shown NUMBER PATTERN: so many lines of the watch match, at least.
shown() {
    [ "$(grep -c "$2" "$work/watched")" -ge "$1" ]
}

# watch ARGUMENT...
watch() {
    "$REDLOCK" status "$@" >"$work/watched" 2>"$work/err" &
    watched=$!
}

watch seen --watch=100ms --node-timeout 500ms
check "--watch shows a key again and again" until_late shown 3 '^seen: free (5 of 5'
check "with the time above it" shown 3 '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9], every 100 ms$'
master 1 set seen x >/dev/null
check "what changes is seen" until_late shown 1 '^seen: held by nobody'
halt 3 4 5
check "it goes on without a majority" until_late shown 2 '^seen: not known: only 2 of 5'
resume 3 4 5
check "and shows the key again after that" \
    until_late shown $(($(grep -c 'seen: held by nobody' "$work/watched") + 1)) 'seen: held by nobody'
kill -TERM $watched
await $watched
status_is 143 "the exit status is that of the signal"
check "nothing that controls a terminal is in a file" no_controls "$work/watched"
watch seen --watch --json
check "JSON is an array for each state" until_late shown 2 '^\[$'
kill -TERM $watched
await $watched
status_is 143 "a signal ends that, too"
run "$REDLOCK" status seen --watch=99ms
status_is 64 "a shorter pause is refused"
run sh -c '"$REDLOCK" status seen --watch >/dev/full'
status_is 70 "a full stdout ends it"

# --- a holder that is unknown ---

for number in 1 2; do master "$number" set part x px 600000 >/dev/null; done
halt 5
run "$REDLOCK" status part free --node-timeout 500ms
status_is 0 "a majority answers"
prints "part: not known: 2 of 5 masters have the same value, 1 did not answer, and 3 are needed" \
    "that a majority has a value may not be known"
prints "free: free (4 of 5" "a key that no master can have is free"
run "$REDLOCK" status part free --json --node-timeout 500ms
check "an unknown holder is null in JSON" json "[k['held'] for k in keys] == [None, False] and
    [keys[0][f] for f in ('owner', 'token', 'ttl_ms', 'fencing_token')] == [None] * 4 and
    keys[0]['holding'] == 2 and keys[0]['nodes'][4]['token'] is None and
    keys[0]['nodes'][4]['ttl_ms'] is None"
halt 3 4
run "$REDLOCK" status free --json --node-timeout 500ms
status_is 69 "no majority answers"
check "without a majority the holder is null in JSON" \
    json "keys[0]['held'] is None and keys[0]['answered'] == 2 and keys[0]['waiters'] == 0 and
    keys[0]['nodes'][4]['waiters'] is None"
resume 3 4 5

# --- a reader that ends early ---

first_line "$REDLOCK" status k --watch=1h
status_is 141 "status --watch ends at once when nobody reads its output any more"
check "and prints no error" [ ! -s "$work/err" ]

finish
