#!/bin/sh
# until_done.sh - a job that one of ten machines does, and another one if that machine dies.
#
#     until_done.sh RESULT CMD [ARG...]       what CMD prints becomes the file RESULT
#
#     PATH=/usr/local/bin:/usr/bin:/bin
#     0 3 * * * root until_done.sh /srv/reports/$(date +\%F) /usr/local/bin/report
#
# RESULT is on storage that all machines see. All of them wait for the lock, in turn. The holder
# looks first whether there is a result. So CMD may begin twice, when the first machine dies
# in the middle, but the result appears once and whole. (nightly.cron is the other way: never twice,
# and perhaps not at all.)
if [ $# -lt 2 ]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit 64
fi

if [ -z "$UNTIL_DONE_LOCKED" ]; then
    # exec, so that a signal for this script reaches redlock, which passes it on.
    export UNTIL_DONE_LOCKED=1
    exec redlock lock "until-done:$1" --ttl 5s -- "$0" "$@"
fi

# From here on we have the lock, and redlock renews it. If it is lost, redlock kills us and CMD.
result=$1
shift
[ ! -e "$result" ] || exit 0

# Nobody sees a draft. Its name is our own, because a machine that died has left one, too.
draft=$result.draft.$(hostname).$$
trap 'rm -f "$draft"' EXIT
trap 'exit 143' TERM
"$@" >"$draft" || exit

# ln fails when there is a result: also from a machine that believed that it had the lock.
ln "$draft" "$result"
