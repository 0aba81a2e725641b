#!/bin/sh
# redlock history: what became of a lock, on masters that agree, that differ, and that say nothing.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# json SCRIPT: a condition on `seen`, the printed object, is true.
json() {
    ! command -v python3 >/dev/null || python3 -c "
import json, sys
seen = json.load(open(sys.argv[1], encoding='utf-8'))
events = seen['events']
assert ($1), seen" "$work/out"
}

# events: what the lines say happened, in their order.
events() { cut -c 26-36 "$work/out" | sed 's/ *$//' | tr '\n' ' '; }

# --- no stream ---

run "$REDLOCK" history k
status_is 69 "without an audit stream there is no history"
says "no master has an audit stream" "and it is said why"
says "REDLOCK_AUDIT=10000" "and what to do"
run "$REDLOCK" history
status_is 64 "a KEY is needed"
run "$REDLOCK" history k --limit 0
status_is 64 "a limit has a range"

# --- a lock ---

export REDLOCK_AUDIT=1000
"$REDLOCK" lock k --owner ann --fence --ttl 20s -- true
run "$REDLOCK" history k
status_is 0 "a lock has a history"
check "it was acquired and released" [ "$(events)" = "acquired released " ]
prints ", held by ann, fencing token " "its owner and fencing token are shown"
check "and its ttl, and the masters" grep -q ", for 20.0 s, on [345] of 5 masters" "$work/out"
check "the fencing token is the same in both lines" \
    [ "$(grep -o 'fencing token [0-9]*' "$work/out" | sort -u | wc -l)" = 1 ]
says_not "have no event" "nothing is said on stderr about a lock with events"
run "$REDLOCK" history unknown
status_is 0 "a key that nobody has used is no error"
check "it has no events" [ ! -s "$work/out" ]
says "the audit streams have no event of 'unknown'" "which is said"
says "nobody has used it, or its clients do not use --audit" "with what may be the cause"
run "$REDLOCK" history k --since 1ms
says "have no event of 'k' in the last 1 ms" "the time of --since is named"
run "$REDLOCK" history k
check "a time is in UTC" grep -qE '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z acquired ' "$work/out"
run "$REDLOCK" history other
status_is 0 "a key without entries is no mistake"
check "and has no events" [ ! -s "$work/out" ]

# --- how it ends ---

"$REDLOCK" acquire gone --owner bob --ttl 100ms >"$work/token"
check_gone() { until "$REDLOCK" acquire gone --owner cid --ttl 4m >"$work/token" 2>&1; do :; done; }
check "the lock ends by itself" check_gone
run "$REDLOCK" history gone
check "a lock that nobody released has expired" [ "$(events)" = "acquired expired acquired " ]
"$REDLOCK" break gone --reason "it hangs" --owner root --no-wait >/dev/null 2>&1 || :
run "$REDLOCK" history gone
check "a break is in the history" [ "$(events)" = "acquired expired acquired broken " ]
prints ", held by cid, by root: it hangs, on " "with who broke it, and why"
"$REDLOCK" acquire now --owner dee --ttl 4m >/dev/null
run "$REDLOCK" break now --reason "it is dead" --owner root --now stopped
status_is 0 "a lock is broken at once"
run "$REDLOCK" history now
check "its history has a break and a release" [ "$(events)" = "acquired broken released " ]
prints ", held by dee, by root: it is dead, on " "and says who broke it at once, and why"
run "$REDLOCK" history gone --json
status_is 0 "it is printed as JSON"
check "an event has all its fields" json "
    events[0]['owner'] == 'bob' and events[0]['ttl_ms'] == 100 and events[0]['ended'] and
    len(events[0]['masters']) >= 3 and events[0]['by'] is None and
    len(events[0]['id']) == 8 and events[0]['fencing_token'] is None"
check "an expiry is on no master" json "
    events[1]['event'] == 'expired' and events[1]['masters'] == [] and
    events[1]['time_ms'] == events[2]['time_ms']"
check "a break says by whom" json "events[3]['event'] == 'broken' and events[3]['by'] == 'root: it hangs'"
check "so do the masters" json "
    seen['key'] == 'gone' and seen['complete'] and seen['since_ms'] is None and
    [n['read'] and n['error'] == '' for n in seen['nodes']] == [True] * 5 and
    [n['has_stream'] for n in seen['nodes']].count(True) >= 3"
run "$REDLOCK" history gone --limit 1
check "--limit shows the newest" [ "$(events)" = "broken " ]
says "there are events before " "and says that there are others"
run "$REDLOCK" history gone --since 1ms
check "--since leaves out what is older" [ ! -s "$work/out" ]

"$REDLOCK" acquire given --owner dan --ttl 4m >"$work/token"
"$REDLOCK" release given --token "$(cat "$work/token")" --to eve --within 100ms 2>/dev/null
check_given() { until "$REDLOCK" acquire given --owner fay --ttl 4m >"$work/token" 2>&1; do :; done; }
check "the reservation ends" check_given
run "$REDLOCK" history given
check "a hand-over ends a lock" [ "$(events)" = "acquired handed over acquired " ]
prints ", held by dan, to eve, on " "and says to whom"
run "$REDLOCK" history given --json
check "so does the JSON" json "
    events[0]['ended'] and events[0]['to'] is None and events[1]['event'] == 'handed over' and
    events[1]['to'] == 'eve' and events[1]['by'] is None"

# --- rounds that were lost, and owners ---

for number in 1 2 3; do master "$number" set few x >/dev/null; done
# A round may be lost before the other two masters are connected; then it leaves no entry.
is_lost_somewhere() {
    "$REDLOCK" acquire few --no-wait >/dev/null 2>&1 || :
    run "$REDLOCK" history few --all
    [ -s "$work/out" ]
}
check "--all shows a round that was not won" until_true is_lost_somewhere
check "and its end" [ "$(events)" = "acquired withdrawn " ]
prints ", a lost round" "as a lost round"
run "$REDLOCK" history few
check "without --all it is not shown" [ ! -s "$work/out" ]
master 1 xadd redlock:audit '*' event acquired id 0badf00d owner "$(printf '\033[2J')" key esc >/dev/null
run "$REDLOCK" history esc --all
prints '\x1b[2J' "an owner text cannot control the terminal"
run "$REDLOCK" history esc --all --json
check "nor break the JSON" json "events[0]['owner'] == '\\x1b[2J' and events[0]['lost_round']"
master 1 xadd redlock:audit '*' event acquired id "$(printf '\033[2J')" key id >/dev/null
run "$REDLOCK" history id --all
check "nor can an id" [ "$(tr -cd '\033' <"$work/out" | wc -c) $(wc -l <"$work/out")" = "0 1" ]

# An id has 64 bits for its number, and Lua counts exactly to 2^53 only. More entries than a part has.
for number in 1 2 3; do
    master "$number" eval "redis.call('XADD', KEYS[1], '5-1', 'event', 'acquired', 'key', 'big:k')
        for i = 1, 250 do
            redis.call('XADD', KEYS[1], '5-92233720368547' .. 76900 + i, 'event', 'x', 'key', 'other')
        end
        return redis.call('XADD', KEYS[1], '18446744073709551615-0', 'event', 'x', 'key', 'other')" \
        1 big:redlock:audit >/dev/null
done
run "$REDLOCK" history k --key-prefix big: --all
check "what is before large ids is read" [ "$(events)" = "acquired " ]
check "on all masters that have it" grep -q "on 3 of 5 masters" "$work/out"

# --- masters that differ ---

master 5 del redlock:audit >/dev/null
run "$REDLOCK" history k
status_is 0 "a majority is enough"
says "5.sock has no audit stream" "a master without a stream is named"
check "its stream may have had it" [ "$(events)" = "acquired released " ]
master 4 del redlock:audit >/dev/null
master 4 set redlock:audit x >/dev/null
run "$REDLOCK" history k
status_is 0 "one that cannot be read does not matter"
says "4.sock was not read: refused to read its audit stream: WRONGTYPE" "and is named with the error"
"$REDLOCK" lock k -v -- true 2>"$work/err"
check "locks go on there" [ "$("$REDLOCK" nodes | grep -c ' up')" -ge 4 ]
master 3 del redlock:audit >/dev/null
master 3 set redlock:audit x >/dev/null
master 2 del redlock:audit >/dev/null
master 2 set redlock:audit x >/dev/null
run "$REDLOCK" history k
status_is 69 "a minority is not enough"
says "only 2 of 5 masters were read, and 3 are needed: events may be missing" "and it is said"
run "$REDLOCK" history k --json
status_is 69 "as with --json"
check "which is complete JSON all the same" json "not seen['complete']"
finish
