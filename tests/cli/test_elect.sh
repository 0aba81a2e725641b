#!/bin/sh
# redlock elect: one candidate leads at a time and runs its command, and the next one follows.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

# --- hand-over ---

check "the first candidate leads" lead a --ttl 60s
first=$candidate
check "the second candidate waits" follow b --ttl 60s
second=$candidate
check "and does not run its command" [ ! -e "$work/b.pid" ]
check "the key names the leader" grep -q ': held by leader a,' <<STATUS
$("$REDLOCK" status e)
STATUS

stand c
until_true said c "candidate for 'e'"
kill -TERM "$candidate"
await "$candidate"
status_is 143 "SIGTERM ends a candidate that does not lead"
check "it says that it gave up" said c "gave up waiting for leadership of 'e' after SIGTERM"

kill -TERM "$first"
check "after SIGTERM to the leader the next one leads, long before the ttl has passed" leads b
await "$first"
status_is 143 "SIGTERM reaches the command of the leader, and its status is ours"
check "the leader says that it has resigned" said a "resigned leadership of 'e'"
check "each term is larger than the one before" terms_grow

# --- a command with a worker that takes its time to end ---

# The worker counts as a leader's command, too, once its leader has looked for others (lib_elect.sh).
cat >"$work/tree" <<'SCRIPT'
folder=${0%/*}
sh -c 'trap "while ! [ -e $0/$1.go ]; do sleep 0.02; done; exit" TERM
    until [ -s "$0/$1.pid" ]; do sleep 0.02; done
    echo $$ >"$0/$1-worker.pid"
    while :; do sleep 0.02; done' "$folder" "$REDLOCK_ID" &
. "$folder/leader"
SCRIPT
first=$second
script=$work/tree
follow c --ttl 60s
second=$candidate
touch "$work/b.stop"
await "$first"
check "a leader has a worker" leads c
until_true filled "$work/c-worker.pid"
script=$work/leader
follow b --ttl 60s
kill -TERM "$second"
until_true is_dead "$command"
check "while the worker of a leader tidies up after SIGTERM, nobody else leads" \
    grep -q ': held by leader c,' <<STATUS
$("$REDLOCK" status e)
STATUS
touch "$work/c.go"
check "then the next one leads" leads b
await "$second"
status_is 143 "and the exit status is that of the command, too"
check "the worker of a leader never ran beside the next one" missing overlap "$work/log"
second=$candidate

# --- the command ends by itself ---

touch "$work/b.stop"
await "$second"
status_is 7 "when the command ends by itself, redlock exits with its status"
check "and the lead is given up" until_true is_free e
run "$REDLOCK" elect e -- /no/such/program
status_is 127 "a command that was not found gives 127"
check "and the lead is given up, too" until_true is_free e

# --- killed ---

lead a --ttl 5s
first=$candidate
follow b --ttl 5s
second=$candidate
kill -KILL "$first"
check "when redlock is killed its command is killed" until_true is_dead "$command"
check "and another candidate leads" leads b
await "$first"
check "the commands of two leaders never ran at the same time" missing overlap "$work/log"

# --- the lead is lost, and won again ---

# forget NAME: all masters lose the key while redlock cannot renew.
forget() {
    kill -STOP "$1"
    until_true is_stopped "$1"
    each_master del e
    kill -CONT "$1"
}
before=$(runs b)
forget "$second"
check "after a lead that was lost the command is started again" until_late ran_again b "$before"
check "redlock says that the lead was lost" said b "lost leadership of 'e', term"
check "and which masters are the reason" said b "the lock 'e' is lost: "
check "and that it killed the command" said b "killed the command of 'e' (SIGKILL)"
check "each term is larger than the one before, also of the same leader" terms_grow
kill -TERM "$second"
await "$second"
until_true is_free e

lead a --once
first=$candidate
before=$(runs a)
forget "$first"
await "$first"
status_is 76 "--once: redlock exits with 76 when the lead is lost"
check "--once: and does not campaign again" [ "$(runs a)" -eq "$before" ]
until_true is_free e
lead a --delay 10m
first=$candidate
before=$(runs a)
forget "$first"
until_late said a "lost leadership of 'e'"
check "--delay: after a lead that was lost another candidate is elected" lead b
second=$candidate
touch "$work/b.stop"
await "$second"
check "--delay: and the former leader does not ask for it" until_true is_free e
check "--delay: its command is not started again" [ "$(runs a)" -eq "$before" ]
kill -TERM "$first"
await "$first"
status_is 143 "--delay: SIGTERM ends the pause"
run "$REDLOCK" elect e --once -- sh -c 'exit 5'
status_is 5 "--once: the status of a command that ended by itself is ours"

# --- what the command finds ---

cat >"$work/show" <<'SCRIPT'
echo "$REDLOCK_KEY|$REDLOCK_KEYS|$REDLOCK_ID|${REDLOCK_VALUE-none}|${NOTIFY_SOCKET-none}|${WATCHDOG_USEC-none}"
[ "$REDLOCK_TERM" -gt 0 ] && [ "$REDLOCK_TERM" = "$REDLOCK_FENCING_TOKEN" ] && echo same
redlock_token=$REDLOCK_TOKEN
echo "token ${redlock_token#*:}"
SCRIPT
run env REDLOCK_VALUE=old NOTIFY_SOCKET=/no/socket WATCHDOG_USEC=1000000 \
    "$REDLOCK" elect e --id me -- sh "$work/show"
status_is 0 "a command that succeeds gives 0"
prints "e|e|me|none|none|none" "the command finds name and id, and nothing that was meant for redlock"
prints "same" "the term is the fence"
prints "token leader me" "the command finds the token"
run "$REDLOCK" elect e --id me --value '10.0.0.1:80 up' -- sh "$work/show"
prints "e|e|me|10.0.0.1:80 up|none|none" "the command finds the value"
prints "token leader me 10.0.0.1:80 up" "the leader publishes id and value"
run "$REDLOCK" elect e -- sh -c 'echo "$REDLOCK_ID"'
check "the id is host:pid by default" grep -Eq '^[^ ]+:[0-9]+$' "$work/out"

# --- hooks ---

run "$REDLOCK" elect e --on-elected 'echo on $REDLOCK_TERM' --on-demoted 'echo off $REDLOCK_TERM' -- \
    sh -c 'echo cmd $REDLOCK_TERM; exit 3'
status_is 3 "with hooks the status is that of the command"
check "on-elected, the command and on-demoted run in this order, in one term" \
    awk '{ words = words $1 " "; terms[$2] } END { for (t in terms) n++; exit !(words == "on cmd off " && n == 1) }' \
    "$work/out"
run "$REDLOCK" elect e --on-elected 'exit 9' --on-demoted 'echo off' -- echo cmd
status_is 9 "when on-elected fails its status is ours"
says "the command of --on-elected has failed with status 9" "redlock says that on-elected has failed"
says_not cmd "and the command is not run"
prints off "but on-demoted is"
until_true is_free e
run "$REDLOCK" elect e --on-demoted 'exit 4' -- true
status_is 0 "the status of on-demoted is not ours"
says "the command of --on-demoted has failed with status 4" "but redlock says that it has failed"

"$REDLOCK" elect e --on-elected 'echo on' --on-demoted 'echo off' >"$work/out" 2>"$work/err" &
candidate=$!
until_true grep -q on "$work/out"
check "without a command the lead stays" is_taken e
kill -TERM "$candidate"
await "$candidate"
status_is 143 "without a command SIGTERM gives 143"
prints off "and on-demoted is run"
until_true is_free e

# --- priorities ---

lead a --ttl 60s
first=$candidate
stand b --ttl 60s --priority 5
second=$candidate
check "a candidate with a higher priority takes the lead, long before the ttl has passed" leads b
check "the former leader says why" said a "another candidate takes over: it has a higher priority, or was called upon by redlock transfer"
check "and waits for the next lead" until_late said a "queue position"
check "the commands of two leaders never ran at the same time" missing overlap "$work/log"
kill -TERM "$second"
await "$second"
check "when the preferred candidate ends, the other one leads again" leads a
kill -TERM "$first"
await "$first"
until_true is_free e

# --- mistakes ---

run "$REDLOCK" elect
status_is 64 "without a name it gives 64"
says "NAME, the name of the election, is missing" "the missing name is named"
run "$REDLOCK" elect ''
status_is 64 "an empty name gives 64"
run "$REDLOCK" elect e
status_is 64 "without a command it gives 64"
says "CMD, the command to run while leading 'e', is missing" "the missing command is named"
run "$REDLOCK" elect e --observe -- true
status_is 64 "--observe with a command gives 64"
run "$REDLOCK" elect e --json -- true
status_is 64 "--json without --observe gives 64"
run "$REDLOCK" elect e --id 'a b' -- true
status_is 64 "an id with a space gives 64"
says "the id has a byte that is not allowed" "the wrong id is named"
run "$REDLOCK" elect e --value "$(printf 'a\nb')" -- true
status_is 64 "a value with a newline gives 64"
run "$REDLOCK" elect e --ttl 10s --renew-deadline 10s -- true
status_is 64 "a renew deadline as long as the ttl gives 64"
says "renew_deadline_ms is 10000; it must be less" "the wrong renew deadline is named"
run "$REDLOCK" elect e --ttl 10s --retry 5s -- true
status_is 64 "a retry pause that leaves no time for a second try gives 64"
run "$REDLOCK" elect e --ttl 10m -- true
status_is 64 "a ttl above --max-ttl gives 64"
says "--max-ttl" "the option is named"
run "$REDLOCK" elect e --priority 1000 -- true
status_is 64 "a priority above 999 gives 64"
run "$REDLOCK" elect e --grace soon -- true
status_is 64 "a grace that is no time gives 64"

finish
