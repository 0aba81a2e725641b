#!/bin/sh
# redlock lock renews: a command lives as long as it likes, while a majority of the masters agrees.
#
# $CLI_TEST_EVERY is how many seconds lie between two restarts of a master (default 0: the next one
# comes as soon as all have the key again). With 5 it is half a minute of restarts.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_renew.sh"

# --- masters that come back empty ---

lock_with --ttl "$ttl" --grace 200ms -- sh "$work/patient" "$work"
token=$(cat "$work/token")
check "all five masters get the key" until_true everywhere k "$token"
all_count
sleep 18 &
thrice_the_ttl=$!
for number in 1 2 3 4 5; do
    pause=${CLI_TEST_EVERY:-0}
    sleep "$pause" &
    kill -KILL "$(master_pid "$number")"
    until_true is_dead "$(master_pid "$number")"
    "$server" "$REDLOCK_SANDBOX/$number.conf"
    check "after master $number was restarted empty all five hold the key again" \
        until_late everywhere k "$token"
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

lock_with --ttl 15s --node-timeout 2s -- sh "$work/patient" "$work"
all_count
halt 1 2 3
check "when a majority is silent, that is said" until_late said "cannot renew 'k', "
resume 1 2 3
says "3 of 5 masters do not confirm it: unix://" "with how many masters do not confirm"
says "/1.sock (" "and which"
check "when they are back it is renewed" until_late said "renewed 'k' after all"
touch "$work/stop"
await "$locker"
status_is 0 "and the command goes on to its end"

finish
