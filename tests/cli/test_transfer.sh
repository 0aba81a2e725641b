#!/bin/sh
# redlock transfer: has another candidate lead, and never two at once.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

run "$REDLOCK" transfer e --to two
status_is 75 "nobody leads: there is nothing to transfer"
says "nobody leads 'e'" "transfer says so"

lead one --ttl 8s
follow two --ttl 8s
run "$REDLOCK" transfer e --to one
status_is 0 "who leads already needs nothing"
prints "one leads e, term " "transfer says who leads"

run "$REDLOCK" transfer e --to two --wait 60s
status_is 0 "another candidate leads"
prints "two leads e, term " "transfer says who leads now"
leads two
check "the command of the old leader has ended before" missing overlap "$work/log"
check "the new term is larger" [ "$(sed -n 2p "$work/log" | cut -d' ' -f2)" -gt \
    "$(sed -n 1p "$work/log" | cut -d' ' -f2)" ]

# The old leader pauses.
run "$REDLOCK" transfer e --to one --wait 60s
status_is 0 "and the old leader leads again at once"
until_true ran_again one 1 # the command is started a moment later
run "$REDLOCK" transfer e --to two --wait 60s
status_is 0 "and so on"
until_true ran_again two 1
before=$(wc -l <"$work/log")

started=$(date +%s%N)
run "$REDLOCK" transfer e --to nobody --wait 4s
lasted=$((($(date +%s%N) - started) / 1000000))
status_is 75 "who is no candidate cannot lead"
says "'nobody' does not lead 'e'" "transfer says so"
says "two leads" "and who leads"
check "nothing has changed" [ "$(wc -l <"$work/log")" -eq "$before" ]
check "the call and the leader are waited for, together as long as --wait says" [ "$lasted" -lt 8000 ]

# The last one that is called upon leads in the end: the other may lead for too short to be seen.
is_called() { # NAME
    for number in 1 2 3 4 5; do
        case $(master "$number" get e:redlock-bid) in *" $1") return ;; esac
    done
    return 1
}
follow three --ttl 8s
"$REDLOCK" transfer e --to one --wait 60s >/dev/null 2>"$work/one.said" &
first=$!
check "a call is on the masters" until_true is_called one
run "$REDLOCK" transfer e --to three --wait 60s
status_is 0 "of two that are called upon at once the last one leads"
wait "$first"
check "and the first one has led before" ran_again one 2

run "$REDLOCK" transfer e
status_is 64 "transfer needs --to"
says "--to is missing" "transfer says so"
run "$REDLOCK" transfer --to one
status_is 64 "transfer needs a name"

for id in one two three; do : >"$work/$id.stop"; done
finish
