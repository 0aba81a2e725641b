#!/bin/sh
# redlock elect --transfer: who resigns says who leads next, and never do two lead at once.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

order() { cut -d' ' -f1 "$work/log" | tr '\n' ' '; }

# led NAME...: they have led, in this order. Otherwise the candidates end, for the next try: a candidate
# that does not run for a second misses its turn. $candidates are their pids.
led() {
    [ "$(order)" = "$* " ] && return
    # shellcheck disable=SC2086
    kill -TERM $candidates 2>/dev/null
    for candidate in $candidates; do await "$candidate"; done
    until_late is_free e
    return 1
}

# --- a leader that ends ---

leader_ends() {
    : >"$work/log"
    script=$work/stubborn
    lead one --ttl 6s --grace 300ms --transfer three
    first=$candidate
    former=$command
    script=$work/leader
    follow two --ttl 6s
    second=$candidate
    follow three --ttl 6s --transfer one
    third=$candidate
    kill -TERM "$first"
    sleep 0.1
    kill -KILL "$former"
    await "$first"
    candidates="$second $third"
    leads three
    led one three
}
check "the named candidate leads next, and not the one that has waited longer" some_time leader_ends
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
check "commands of two leaders never ran at the same time" missing overlap "$work/log"
unfit_leader() {
    : >"$work/log"
    rm -f "$work/four.sick"
    lead four --ttl 6s --healthy "[ ! -e $work/four.sick ]" --healthy-every 3s --transfer six
    fourth=$candidate
    former=$command
    follow five --ttl 6s
    fifth=$candidate
    follow six --ttl 6s
    sixth=$candidate
    touch "$work/four.sick"
    candidates="$fourth $fifth $sixth"
    leads six
    led four six
}
check "who is not fit to lead hands over, too, and the others wait" some_time unfit_leader
check "its command has ended before" is_dead "$former"
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
check "nor did commands of these leaders" missing overlap "$work/log"

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
