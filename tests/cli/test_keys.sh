#!/bin/sh
# Several keys are one lock: all of them or none.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

run "$REDLOCK" lock b a -- sh -c 'echo "$REDLOCK_KEY"; echo "$REDLOCK_KEYS"'
status_is 0 "lock takes several keys"
check "the command is told the first key, and all, one a line" \
    [ "$(tr '\n' ' ' <"$work/out")" = "b b a " ]
check "the first of several keys is released" until_true is_free a
check "the last of several keys is released" until_true is_free b

# shellcheck disable=SC2016
run "$REDLOCK" lock a --ttl 5s b --owner me c -- sh -c '"$0" status a b c; "$0" lock x b --no-wait -- true
    echo "code $?"; "$0" status x' "$REDLOCK"
check "options may stand between the keys; each key is held" \
    [ "$(grep -c ': held by me, ' "$work/out")" -eq 3 ]
prints "code 75" "a client that wants a held key and a free one gets none"
prints "x: free" "the free key stays free"
says "'x' 'b' is held by me" "the message names the holder of the key"

run "$REDLOCK" lock k echo -v --ttl -x
prints "-v --ttl -x" "without a -- there is one key, and CMD keeps its options"
run "$REDLOCK" lock k l echo
status_is 127 "without a -- the second word is CMD"
run "$REDLOCK" lock k -- echo a -- b
prints "a -- b" "a second -- belongs to CMD"
run "$REDLOCK" lock a b a -- true
status_is 64 "a key that is given twice is refused"
says "'a' is given twice" "the key that is given twice is named"
run "$REDLOCK" lock a b --
status_is 64 "CMD is needed"
run "$REDLOCK" lock a '' -- true
status_is 64 "an empty key is refused"
# shellcheck disable=SC2046
run "$REDLOCK" lock $(seq 17) -- true
status_is 64 "seventeen keys are refused"
# shellcheck disable=SC2046
run "$REDLOCK" lock $(seq 16) -- sh -c 'echo "$REDLOCK_KEYS" | wc -l'
prints 16 "sixteen keys are accepted"

run "$REDLOCK" acquire p q --ttl 60s --owner me
status_is 0 "acquire takes several keys"
check "acquire of several keys prints one token" grep -Eqx '[0-9a-f]{40}:me' "$work/out"
token=$(cat "$work/out")
run "$REDLOCK" acquire q --no-wait
status_is 75 "the first of several keys is held"
run "$REDLOCK" acquire r p --no-wait
status_is 75 "the last of several keys is held"
check "a key that was asked for together with a held one stays free" until_true is_free r
if command -v python3 >/dev/null; then
    run "$REDLOCK" status --json q p
    check "status shows the same token for each" python3 - "$work/out" "$token" <<'SCRIPT'
import json
import sys

keys = json.load(open(sys.argv[1]))
assert [k["key"] for k in keys] == ["q", "p"] and all(k["token"] == sys.argv[2] for k in keys)
assert all(k["held"] and k["owner"] == "me" and 0 < k["ttl_ms"] <= 60000 for k in keys)
SCRIPT
fi
run "$REDLOCK" extend q p --token "$token" --ttl 90s
status_is 0 "extend takes several keys, in any order"
run "$REDLOCK" release q q --token "$token"
status_is 64 "release needs each key once"
run "$REDLOCK" release q p --token "$token"
status_is 0 "release takes several keys, in any order"
says "released 'q' 'p'" "release names all keys"
check "the first key is free after the release" until_true is_free p
check "the last key is free after the release" until_true is_free q
run "$REDLOCK" status p q
check "status shows that both keys are free" [ "$(grep -c ': free (5 of 5' "$work/out")" -eq 2 ]

# --- the command that a message advises can be pasted into a shell ---

# advised: runs the command of "See redlock status ...".
advised() {
    command=$(sed -n 's/^ *See redlock \(.*\)\. To wait.*$/\1/p' "$work/err")
    bash -c "\"\$REDLOCK\" $command --json" >"$work/out" 2>"$work/err"
}
line=$(printf 'two\nlines')
for key in "it's" "a b\$c" "$line"; do
    "$REDLOCK" acquire "$key" second --ttl 60s >"$work/token"
    run "$REDLOCK" acquire "$key" second --no-wait
    status_is 75 "a key with unusual characters is held"
    if ! command -v bash >/dev/null; then
        skip "the command that is advised can be pasted" "there is no bash"
        continue
    fi
    advised
    check "the command that is advised can be pasted" [ "$(grep -c '"held": true' "$work/out")" -eq 2 ]
    run "$REDLOCK" release "$key" second --token-file "$work/token"
done

finish
