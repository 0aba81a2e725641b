#!/bin/sh
# cached.sh - a value that takes long to make: one process makes it, and all read it.
#
#     cached.sh KEY SECONDS CMD [ARG...]
#
#     cached.sh prices 60 ./ask_all_suppliers
#
# Prints what CMD has printed at most SECONDS ago, here or on another machine. Where that is too old,
# one process runs CMD and the others print the old value meanwhile. Where there is no value, the
# others wait. The values are in a Redis, at KEY and KEY:fresh; $CACHE is how to reach it, such as
# "redis-cli -h cache". It does not have to be one of the masters.
#
# No fencing token is needed. At worst, a process that lost the lock stores a value as old as its own
# run of CMD, and a cache may do that.
keep=86400 # how long an old value is better than none, in seconds

if [ $# -lt 3 ]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit 64
fi
key=$1 seconds=$2

# shellcheck disable=SC2086
cache() {
    ${CACHE:-redis-cli} --raw "$@"
}

# The first line says whether the value is fresh: KEY:fresh expires first. The rest is the value; a
# value is never empty. A cache that cannot be asked has none.
look() {
    both=$(cache MGET "$key:fresh" "$key") || both=
    fresh=$(printf '%s\n' "$both" | head -n 1)
    value=$(printf '%s\n' "$both" | tail -n +2)
}

# Under the lock: a process that waited finds what the holder before it stored.
refresh() {
    look
    [ -z "$fresh" ] || return 0
    shift 2
    if ! new=$("$@") || [ -z "$new" ]; then
        echo "cached.sh: no new value for $key" >&2
        return 1
    fi
    # The mark last, so that a fresh value is never the old one.
    [ "$(cache SET "$key" "$new" EX "$keep")" = OK ] &&
        [ "$(cache SET "$key:fresh" 1 EX "$seconds")" = OK ]
}

if [ -n "$CACHED_REFRESH" ]; then
    unset CACHED_REFRESH
    refresh "$@"
    exit
fi

look
if [ -z "$value" ]; then
    # Wait: for the one who makes it now, or until it is our turn because that one has failed.
    CACHED_REFRESH=1 redlock lock "refresh:$key" --wait 1m -- "$0" "$@" || exit
    look
elif [ -z "$fresh" ]; then
    # Do not wait. Somebody else makes it, or it failed, or the masters are down: the old value is
    # better than an error.
    CACHED_REFRESH=1 redlock lock "refresh:$key" --no-wait -qE 0 -- "$0" "$@" && look
fi
[ -n "$value" ] && printf '%s\n' "$value"
