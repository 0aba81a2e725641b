# tests/cli/lib_family.sh - a command with processes that are hard to find, to be sourced after lib.sh.

# Ignores SIGTERM.
cat >"$work/worker" <<'SCRIPT'
trap '' TERM
echo $$ >>"$1"
while :; do sleep 1; done
SCRIPT

# A command whose workers are in its process group, in one of their own, in a session of their own,
# and there without a parent.
cat >"$work/family" <<'SCRIPT'
trap '' TERM
sh "${0%/*}/worker" "$1.part" &
timeout 600 sh "${0%/*}/worker" "$1.part" &
setsid sh "${0%/*}/worker" "$1.part" &
(setsid sh "${0%/*}/worker" "$1.part" &)
while [ "$(cat "$1.part" 2>/dev/null | wc -l)" -lt 4 ]; do sleep 0.02; done
echo $$ >>"$1.part"
mv "$1.part" "$1"
while :; do sleep 1; done
SCRIPT

# find_supervisor: sets $supervisor, the child of redlock that supervises the command.
find_supervisor() {
    supervisor=
    for file in $(grep -lsx "PPid:	$locker" /proc/[0-9]*/status); do
        if grep -qsx 'Name:	lock-supervisor' "$file"; then
            supervisor=${file#/proc/}
            supervisor=${supervisor%/status}
        fi
    done
    [ -n "$supervisor" ]
}

# alive PID...: prints those that are alive.
cat >"$work/alive" <<'SCRIPT'
for pid in "$@"; do grep "^State:.[^ZX]" "/proc/$pid/status" 2>/dev/null; done
true
SCRIPT
