#!/bin/sh
# backup.sh - long work under a lock, which ends when the lock does.
#
#     redlock lock backup --ttl 10s --grace 3s -- backup.sh FOLDER ARCHIVE
#
# redlock renews the lock for as long as this takes. When it cannot, this script and all that it has
# started get SIGTERM three seconds before the lock ends, and SIGKILL at the end; when the lock is
# gone, SIGKILL at once. The status of redlock is 76 then. So ARCHIVE appears whole or not at all,
# and a draft of somebody who was killed is not mistaken for it.
if [ $# -ne 2 ]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit 64
fi
draft=$2.draft.$$

trap 'rm -f "$draft"' EXIT
trap 'echo "backup.sh: stopped" >&2; exit 143' TERM

# In the background, because a shell runs a trap only between commands; wait is interrupted by it.
tar -C "$1" -cf "$draft" . &
wait "$!" || exit
mv "$draft" "$2"
