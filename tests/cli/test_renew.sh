#!/bin/sh
# redlock lock renews: a command may run as long as it likes, while a majority of the masters agrees.
#
# $CLI_TEST_EVERY is the number of seconds between two restarts of a master (default 0: the next
# restart follows as soon as all masters have the key again). With 5 the restarts take half a minute.
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
check "the command has its lock all the time" is_taken k
touch "$work/stop"
await "$locker"
status_is 0 "the command ends by itself"
says_not "cannot renew" "no trouble is reported for a minority that restarts"
check "the lock is released everywhere" until_true is_free k

# --- trouble that passes ---

lock_with --ttl 15s --node-timeout 2s -- sh "$work/patient" "$work"
all_count
halt 1 2 3
check "trouble is reported when a majority does not answer" until_late said "cannot renew 'k', the lock ends in "
resume 1 2 3
says "3 of 5 masters do not confirm it: unix://" "redlock says how many masters do not confirm"
says "/1.sock" "redlock names the masters that do not confirm"
check "redlock reports that the lock is renewed again" until_late said "renewed 'k' again"
touch "$work/stop"
await "$locker"
status_is 0 "after the trouble the command goes on to its end"

finish
