#!/bin/sh
# fence_redis.sh - change a value in a Redis under a lock with a fencing token, by fence.lua.
#
#     fence_redis.sh read KEY                      print it, and announce the token
#     fence_redis.sh write KEY VALUE
#
#     redlock lock --fence counter -- sh -c '
#         n=$(fence_redis.sh read counter) && fence_redis.sh write counter $((n + 1))'
#
# The fencing token comes from $REDLOCK_FENCING_TOKEN; $DATA is how to reach the data: redis-cli (7.0 or newer, for
# -e) and its options. When the server has seen a later holder the exit status is 76, that of
# redlock for a lost lock.
: "${REDLOCK_FENCING_TOKEN:?is not set: use redlock lock --fence}"
script=$(dirname "$0")/fence.lua

case $1:$# in
read:2) set -- "$2" , "$REDLOCK_FENCING_TOKEN" ;;
write:3) set -- "$2" , "$REDLOCK_FENCING_TOKEN" "$3" ;;
*) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac

# shellcheck disable=SC2086
if value=$(${DATA:-redis-cli} -e --eval "$script" "$@" 2>&1); then
    [ $# -gt 3 ] || printf '%s\n' "$value"
    exit 0
fi
printf '%s\n' "$value" >&2
case $value in STALE*) exit 76 ;; esac
exit 1
