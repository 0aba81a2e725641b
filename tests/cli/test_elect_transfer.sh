#!/bin/sh
# redlock elect --transfer: who resigns says who leads next, and never do two lead at once.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

order() { cut -d' ' -f1 "$work/log" | tr '\n' ' '; }

# --- a leader that ends ---

script=$work/stubborn
lead one --ttl 3s --grace 300ms --transfer three
first=$candidate
former=$command
script=$work/leader
follow two --ttl 3s
second=$candidate
follow three --ttl 3s --transfer one
third=$candidate
kill -TERM "$first"
sleep 0.1
kill -KILL "$former"
await "$first"
check "the named candidate leads next, and not the one that has waited longer" leads three
check "the command of the former leader has ended before" missing overlap "$work/log"
check "the former leader says whom it hands over to" \
    said one "handing leadership of 'e' over to 'three'"
check "terms grow" terms_grow

# --- a command that ends by itself; nobody of that name ---

touch "$work/three.stop"
await "$third"
status_is 7 "redlock exits with the status of its command"
check "when nobody takes it, the candidate that has waited longest leads" leads two
check "each has led once" [ "$(order)" = "one three two " ]

# --- a leader that is not fit ---

kill -TERM "$second"
await "$second"
until_true is_free e
lead four --ttl 3s --healthy "[ ! -e $work/four.sick ]" --healthy-every 200ms --transfer six
fourth=$candidate
former=$command
follow five --ttl 3s
fifth=$candidate
follow six --ttl 3s
sixth=$candidate
touch "$work/four.sick"
check "who is not fit to lead hands over, too" leads six
check "its command has ended before" is_dead "$former"
check "the others wait" [ "$(order)" = "one three two four six " ]
rm "$work/four.sick"
kill -TERM "$sixth"
await "$sixth"
check "without --transfer the next one is elected" leads five
check "who was not fit is a candidate again" until_late said four "fit to lead 'e'"
kill -TERM "$fifth"
await "$fifth"
check "and leads again" until_late ran_again four 1
kill -TERM "$fourth"
await "$fourth"
check "commands of two leaders never ran at the same time" missing overlap "$work/log"

# --- mistakes ---

run "$REDLOCK" elect e --id a --transfer a -- true
status_is 64 "--transfer to oneself gives 64"
says "--transfer names this candidate" "and says so"
run "$REDLOCK" elect e --transfer 'a b' -- true
status_is 64 "an id with a space gives 64"
says "has a character that no id has" "and says so"
run "$REDLOCK" elect e --transfer '' -- true
status_is 64 "an empty id gives 64"
run "$REDLOCK" elect e --transfer "$(printf '%065d' 0)" -- true
status_is 64 "an id of 65 characters gives 64"
says "has 65 characters; it must have 1 to 64" "and says so"
run "$REDLOCK" elect e --observe --transfer a
status_is 64 "--observe with --transfer gives 64"

finish
