#!/bin/sh
# redlock elect --healthy: who is not fit to lead does not campaign, and resigns.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_elect.sh"

# The health check of a candidate NAME fails while there is a file NAME.sick, with the status in it.
# Each run of it is a line in NAME.checks.
cat >"$work/check" <<'SCRIPT'
cd "${0%/*}" || exit
echo $$ >>"$1.checks"
[ -e "$1.sick" ] || exit 0
exit "$(cat "$1.sick")"
SCRIPT
# health NAME: its option.
health() { echo "sh $work/check $1"; }
sicken() { echo "${2:-1}" >"$work/$1.part" && mv "$work/$1.part" "$work/$1.sick"; }
checks() { cat "$work/$1.checks" 2>/dev/null | wc -l; }
checked_again() { [ "$(checks "$1")" -ge $(($2 + 1)) ]; }
times_said() { [ "$(grep -c -e "$3" "$work/$1.err")" -eq "$2" ]; }
last_check() { tail -n 1 "$work/$1.checks"; }

# --- a candidate ---

sicken a 3
stand a --ttl 6s --healthy "$(health a)" --healthy-every 3s
first=$candidate
check "a check that fails is run again" until_late checked_again a 1
check "meanwhile the candidate does not campaign" missing "candidate for 'e'" "$work/a.err"
check "and does not have the lock" is_free e
check "nor does its command run" [ ! -e "$work/a.pid" ]
check "redlock says the status, and what it means" \
    said a "the health check failed: status 3; not fit to lead 'e' until it succeeds"
check "once" times_said a 1 "health check failed"
kill -TERM "$first"
await "$first"
status_is 143 "SIGTERM ends the wait for a check that succeeds"

rm "$work/a.err" # it has the messages of the former candidate
stand a --ttl 6s --healthy "$(health a)" --healthy-every 3s
first=$candidate
until_true said a "health check failed"
rm "$work/a.sick"
check "when the check succeeds the candidate leads" leads a
until_true said a "the health check succeeds again: fit to lead 'e'"
check "redlock says that, too" said a "the health check succeeds again: fit to lead 'e'"

# --- a leader ---

follow b --ttl 6s --healthy "$(health b)" --healthy-every 3s
second=$candidate
former=$command
before=$(runs a)
sicken a
check "a leader whose check begins to fail resigns, and another one leads" leads b
check "the command of the former leader has ended before" is_dead "$former"
check "the commands of two leaders never ran at the same time" missing overlap "$work/log"
check "the former leader says why" \
    said a "lost leadership of 'e', term $(awk '$1 == "a" { term = $2 } END { print term }' \
        "$work/log"): its health check fails"
touch "$work/b.stop"
await "$second"
status_is 7 "the other leader is not concerned"
n=$(checks a)
until_late checked_again a $((n + 1))
check "while its check fails, the former leader does not lead again" [ "$(runs a)" -eq "$before" ]
check "and does not complain of the masters" missing "majority" "$work/a.err"
rm "$work/a.sick"
check "when its check succeeds it campaigns again" until_late ran_again a "$before"
leads a

# --- the check and the end of redlock ---

check "a candidate that leads is checked, too" until_late checked_again a "$(checks a)"
kill -TERM "$first"
await "$first"
status_is 143 "SIGTERM reaches the command of the leader"
until_true is_free e

# --- a check that hangs ---

# It and its child ignore SIGTERM.
cat >"$work/hang" <<'SCRIPT'
cd "${0%/*}" || exit
trap '' TERM
for pid in $(cat hung 2>/dev/null); do
    grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null && echo "two checks" >>two
done
sleep 600 &
echo "$$ $!" >>hung
wait
SCRIPT
stand a --ttl 6s --healthy "sh $work/hang" --healthy-every 300ms
first=$candidate
check "a check that hangs has failed" \
    until_late said a "the health check failed: it did not end within 300 ms"
hung_twice() { [ "$(wc -l <"$work/hung")" -ge 2 ]; }
check "and is run again" until_late hung_twice
check "the one before and its child are dead by then" all_dead $(head -n 1 "$work/hung")
check "the candidate does not campaign" is_free e
kill -KILL "$first"
await "$first"
check "when redlock is killed, nothing of a check lives on" until_true all_dead $(cat "$work/hung")
check "two checks never ran at once" [ ! -e "$work/two" ]

# What a check leaves in the background ends with it.
stand a --ttl 6s --healthy "sleep 600 & echo \$! >$work/left; exit 5"
first=$candidate
until_late filled "$work/left"
check "a check leaves nothing behind" until_true is_dead "$(cat "$work/left")"
kill -TERM "$first"
await "$first"

# --- what the check finds ---

cat >"$work/show" <<'SCRIPT'
[ -e "${0%/*}/leading" ] || exit 0
env | grep '^REDLOCK_\(KEY\|KEYS\|TOKEN\|FENCING_TOKEN\|TERM\|ID\|VALUE\|PASSWORD\)=' >"${0%/*}/env"
cat >>"${0%/*}/env"
ls -l /proc/$$/fd | grep -c 'pipe:\|socket:' >"${0%/*}/files.part"
mv "${0%/*}/files.part" "${0%/*}/files"
SCRIPT
lead a --ttl 6s --healthy "sh $work/show 2>/dev/null" --healthy-every 3s
first=$candidate
touch "$work/leading"
until_late filled "$work/files"
check "the check of a leader finds no token, and no other variable of leadership" [ ! -s "$work/env" ]
check "nor a pipe or a connection of redlock" [ "$(cat "$work/files")" -le 1 ]
kill -TERM "$first"
await "$first"
until_true is_free e

run sh -c 'echo input | "$REDLOCK" elect e --healthy "cat; echo checked" -- cat'
prints checked "the output of the check is ours"
prints input "its input is not"
stand a --healthy 'kill -9 $$'
first=$candidate
check "a signal that has ended the check is named" \
    until_late said a "the health check failed: status 137, SIGKILL has ended it"
kill -TERM "$first"
await "$first"
stand a --healthy '/no/such/program'
first=$candidate
check "and a command that was not found" \
    until_late said a "the health check failed: status 127, a command was not found"
kill -TERM "$first"
await "$first"

# --- mistakes ---

run "$REDLOCK" elect e --observe --healthy true
status_is 64 "--observe with --healthy gives 64"
run "$REDLOCK" elect e --healthy-every 1s -- true
status_is 64 "--healthy-every without --healthy gives 64"
says "--healthy-every is for --healthy" "and says so"
run "$REDLOCK" elect e --healthy true --healthy-every 1ms -- true
status_is 64 "a pause between two checks that is too short gives 64"

finish
