#!/bin/sh
# redlock lock when its lock cannot be renewed, or is lost: the command ends before the lock does.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"
. "$(dirname "$0")/lib_renew.sh"

# --- limits ---

run "$REDLOCK" lock k --no-renew --ttl 6s --grace 3s -vv -- sleep 60
status_is 76 "--no-renew: the command ends with the ttl"
says "(--no-renew)" "redlock names --no-renew as the cause"
says_not "renewed 'k'" "with --no-renew nothing is renewed"
run "$REDLOCK" lock k --ttl 5s --max-hold 9s --grace 2s -vv -- sleep 60
status_is 76 "--max-hold: the command ends with it"
says "renewed 'k', valid for" "before --max-hold ends the lock is renewed"
says "is no longer renewed" "the last renewal before --max-hold is announced"
says "--max-hold allows (9.0 s)" "redlock names --max-hold and its value"
run "$REDLOCK" lock k --ttl 60s --max-hold 6s --grace 3s -- sleep 25
status_is 76 "--max-hold may be shorter than the ttl"
says "--max-hold allows" "a --max-hold below the ttl ends the command"
run "$REDLOCK" lock k --max-hold 6s --grace 60s -v -- "$rediscli" -s "$REDLOCK_SANDBOX/1.sock" pttl k
says "--grace is limited to half of the ttl or of --max-hold: 3.0 s" \
    "the grace takes no more than half of a short --max-hold"
check "a longer ttl is shortened to --max-hold" [ "$(cat "$work/out")" -le 6070 ]
run "$REDLOCK" lock k --no-renew --max-hold 3s -- sleep 60
says "--max-hold allows (3.0 s)" "with --no-renew the shorter limit is named"
run "$REDLOCK" lock k --max-hold 1ms -- true
status_is 64 "a --max-hold below 10 ms is refused"

# --- lost ---

give_away() {
    for number in 2 3 4; do master "$number" set k 0123456789012345678901234567890123456789:alice px 60000 >/dev/null; done
}
lock_with --ttl 12s -- sh "$work/stubborn" "$work"
all_count
while_stopped give_away
await "$locker"
status_is 76 "a lock that another client has got gives 76"
says "the lock 'k' is lost: 3 of 5 masters" "redlock says that the lock is lost"
names=
for number in 2 3 4; do names="$names, unix://$REDLOCK_SANDBOX/$number.sock"; done
says "${names#, } (held by alice)" "redlock names the new holder"
says_not "sent it SIGTERM" "after a loss the command is killed at once"
# shellcheck disable=SC2046
check "after a loss the command is dead" until_true all_dead $(cat "$work/pid")
check "the new holder's key is left alone" \
    [ "$(value 3 k)" = 0123456789012345678901234567890123456789:alice ]
each_master del k

forget() {
    for number in 1 2 5; do master "$number" del k >/dev/null; done
}
lock_with --ttl 12s -- sh "$work/stubborn" "$work"
all_count
while_stopped forget
await "$locker"
status_is 76 "a lock that a majority has forgotten gives 76"
says "/5.sock (does not have the key" "redlock names the masters that have no key"

# --- trouble that does not pass ---

lock_with --ttl 12s --grace 4s --node-timeout 200ms -- sh "$work/patient" "$work"
all_count
halt 1 2 3
master 4 set not-over x px 12000 >/dev/null
until_late is_dead "$(cat "$work/pid")"
check "with three of five stopped the command is dead before its lock has ended" \
    [ "$(master 4 exists not-over)" = 1 ]
await "$locker"
status_is 76 "a command that was ended before its lock gives 76"
says "cannot renew 'k', " "the failed renewals were announced"
says "sent it SIGTERM" "the command got SIGTERM before the end"
says "No majority of the masters has confirmed" "redlock says that no majority confirmed"
resume 1 2 3
until_true is_free k

# A renewal that succeeds after SIGTERM was sent does not postpone the end.
lock_with --ttl 8s --grace 4s --node-timeout 200ms -- sh "$work/stubborn" "$work"
until_late said "renewed 'k'"
halt 1 2 3
until_late said "sent it SIGTERM"
resume 1 2 3
# shellcheck disable=SC2046
check "after SIGTERM a renewal does not postpone the end" until_late all_dead $(cat "$work/pid")
await "$locker"
status_is 76 "a command that ignored SIGTERM gives 76"
until_true is_free k

# Here the masters no longer let the former holder renew its lock. The next holder is another user, and
# counts the processes of the former one.
each_master acl setuser next on '>secret' '~*' +@all
each_master acl setuser next '&*' # refused by Redis before 6.2, where ACLs have no channels
next_one() {
    lock_with --ttl 10s --grace 5s -- sh "$work/stubborn" "$work"
    all_count && counted=yes
    each_master acl setuser default -eval -evalsha
    # shellcheck disable=SC2016
    REDLOCK_PASSWORD=secret "$REDLOCK" lock k --username next --no-renew -- sh -c '
        for pid in $(cat "$0"); do grep "^State:.[^ZX]" "/proc/$pid/status" 2>/dev/null; done
        true' "$work/pid" >"$work/alive" 2>/dev/null &
    await $!
    next_status=$status
    await "$locker"
    each_master acl setuser default +eval +evalsha
    until_true is_free k
    [ ! -s "$work/alive" ]
}
counted=no
check "the next client finds the former command, which ignores SIGTERM, dead" \
    some_time next_one
check "the lock was renewed while the masters agreed" [ "$counted" = yes ]
check "the next client has got the lock" [ "$next_status" -eq 0 ]
status_is 76 "the former command gives 76"
says "sent it SIGTERM" "the former command got SIGTERM"
says "(SIGKILL)" "the former command got SIGKILL after SIGTERM"

finish
