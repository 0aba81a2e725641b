#!/bin/sh
# redlock lock renews: a command lives as long as it likes, while a majority of the masters agrees,
# and no longer.
#
# $CLI_TEST_EVERY is how many seconds lie between two restarts of a master (default 0: the next one
# comes as soon as all have the key again). With 5 it is half a minute of restarts.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

ttl=2s
filled() { [ -s "$1" ]; }
said() { grep -qF -e "$1" "$work/err"; }
value() { master "$1" get "$2"; }

# lock_with OPTION... -- CMD...: in the background, until $work/stop is there; sets $locker.
lock_with() {
    rm -f "$work/stop" "$work/pid" "$work/token" "$work/err"
    "$REDLOCK" lock k -v "$@" >"$work/out" 2>>"$work/err" &
    locker=$!
    until_true filled "$work/pid"
}

# all_count: masters that granted the lock late count as holding it when it has been renewed since.
all_count() {
    until_true everywhere k "$(value 1 k)"
    : >"$work/err"
    until_true said "renewed 'k', valid for"
}

# Works until it is told to stop, or asked to end.
cat >"$work/patient" <<'SCRIPT'
echo "$REDLOCK_TOKEN" >"$1/token"
echo $$ >"$1/pid"
while ! [ -e "$1/stop" ]; do sleep 0.02; done
SCRIPT

# Cannot be asked to end, and neither can what it has started.
cat >"$work/stubborn" <<'SCRIPT'
trap '' TERM
sh -c 'trap "" TERM; while :; do sleep 1; done' &
echo "$$ $!" >"$1/pid.part"
mv "$1/pid.part" "$1/pid"
while :; do sleep 1; done
SCRIPT

# --- masters that come back empty ---

lock_with --ttl "$ttl" -- sh "$work/patient" "$work"
token=$(cat "$work/token")
check "all five masters get the key" until_true everywhere k "$token"
all_count
sleep 6 &
thrice_the_ttl=$!
for number in 1 2 3 4 5; do
    pause=${CLI_TEST_EVERY:-0}
    sleep "$pause" &
    kill -KILL "$(master_pid "$number")"
    until_true is_dead "$(master_pid "$number")"
    "$server" "$REDLOCK_SANDBOX/$number.conf"
    check "after master $number was restarted empty all five hold the key again" \
        until_true everywhere k "$token"
    wait $!
done
wait "$thrice_the_ttl"
check "the command outlives its ttl" kill -0 "$(cat "$work/pid")"
check "and has its lock all the time" is_taken k
touch "$work/stop"
await "$locker"
status_is 0 "and ends by itself"
says_not "cannot renew" "of a minority that restarts nothing is said"
check "and the lock is released everywhere" until_true is_free k

# --- trouble that passes ---

lock_with --ttl 6s --node-timeout 200ms -- sh "$work/patient" "$work"
all_count
halt 1 2 3
check "when a majority is silent, that is said" until_true said "cannot renew 'k', "
resume 1 2 3
says "3 of 5 masters do not confirm it: unix://" "with how many masters do not confirm"
says "/1.sock (" "and which"
check "when they are back it is renewed" until_true said "renewed 'k' after all"
touch "$work/stop"
await "$locker"
status_is 0 "and the command goes on to its end"

# --- trouble that does not ---

lock_with --ttl "$ttl" --node-timeout 200ms -- sh "$work/patient" "$work"
all_count
halt 1 2 3
master 4 set not-over x px 2000 >/dev/null
until_true is_dead "$(cat "$work/pid")"
check "with three of five stopped the command is dead before its lock has ended" \
    [ "$(master 4 exists not-over)" = 1 ]
await "$locker"
status_is 76 "and the exit status is 76"
says "cannot renew 'k', " "which was announced"
says "sent it SIGTERM" "and it was asked to end"
says "No majority of the masters has confirmed" "and why is said"
resume 1 2 3
until_true is_free k

# A renewal that works after SIGTERM was sent moves nothing.
lock_with --ttl 4s --grace 2s --node-timeout 200ms -- sh "$work/stubborn" "$work"
until_true said "renewed 'k'"
halt 1 2 3
until_true said "sent it SIGTERM"
resume 1 2 3
# shellcheck disable=SC2046
check "once it was asked to end the end stands" until_true all_dead $(cat "$work/pid")
await "$locker"
status_is 76 "and it gives 76"
until_true is_free k

# Here a majority still grants locks, but no extensions. Whoever gets the lock next looks at those
# that had it before.
lock_with --ttl "$ttl" --grace 300ms -- sh "$work/stubborn" "$work"
check "while masters agree it is renewed" all_count
each_master acl setuser default -eval -evalsha
# shellcheck disable=SC2016
"$REDLOCK" lock k --no-renew -- sh -c '
    for pid in $(cat "$0"); do grep "^State:.[^ZX]" "/proc/$pid/status" 2>/dev/null; done
    true' "$work/pid" >"$work/alive" 2>/dev/null &
next=$!
await "$next"
status_is 0 "when they agree no more the next one gets the lock"
check "and finds a command that ignores SIGTERM dead" [ ! -s "$work/alive" ]
await "$locker"
status_is 76 "which gives 76"
says "sent it SIGTERM" "it was asked to end"
says "killed the command" "before it was killed"
each_master acl setuser default +eval +evalsha
until_true is_free k

# --- lost ---

lock_with --ttl 6s -- sh "$work/stubborn" "$work"
all_count
for number in 2 3 4; do master "$number" set k 0123456789:alice px 60000 >/dev/null; done
await "$locker"
status_is 76 "a lock that others have got gives 76"
says "the lock 'k' is lost: 3 of 5 masters" "it is said that it is lost"
says "/3.sock (held by alice)" "and to whom"
says_not "sent it SIGTERM" "the command is killed at once"
# shellcheck disable=SC2046
check "and the command is dead" until_true all_dead $(cat "$work/pid")
check "and what others have got is left alone" [ "$(value 3 k)" = 0123456789:alice ]
each_master del k

lock_with --ttl "$ttl" -- sh "$work/stubborn" "$work"
all_count
for number in 1 2 5; do master "$number" del k >/dev/null; done
await "$locker"
status_is 76 "a lock that a majority has forgotten gives 76"
says "/5.sock (has no such key" "and who has forgotten it is said"

# --- limits ---

run "$REDLOCK" lock k --no-renew --ttl 700ms --grace 200ms -v -- sleep 60
status_is 76 "--no-renew: the command is ended with the ttl"
says "(--no-renew)" "and that is said"
says_not "renewed 'k'" "and nothing is renewed"
run "$REDLOCK" lock k --ttl 600ms --max-hold 2s --grace 100ms -v -- sleep 60
status_is 76 "--max-hold: the command is ended"
says "renewed 'k', valid for" "after renewals"
says "is not renewed any more" "the last of which is said"
says "--max-hold allows (2.0 s)" "and so is the limit"
run "$REDLOCK" lock k --ttl 60s --max-hold 600ms --grace 100ms -- sleep 5
status_is 76 "--max-hold may be shorter than the ttl"
says "--max-hold allows" "and is what ends the command then"
run "$REDLOCK" lock k --max-hold 1ms -- true
status_is 64 "a --max-hold below 10 ms is refused"

finish
