# tests/cli/lib_renew.sh - commands under a lock that is renewed, to be sourced after lib.sh.

ttl=6s
filled() { [ -s "$1" ]; }
said() { grep -qF -e "$1" "$work/err"; }
value() { master "$1" get "$2"; }

# lock_with OPTION... -- CMD...: in the background, until $work/stop is there; sets $locker.
lock_with() {
    rm -f "$work/stop" "$work/pid" "$work/token" "$work/err"
    "$REDLOCK" lock k -vv "$@" >"$work/out" 2>>"$work/err" &
    locker=$!
    until_true filled "$work/pid"
}

# all_count: masters that granted the lock late count only after the next renewal. That is reported as
# soon as a majority has answered, so only the one after it shows that all have.
renewed_twice() { [ "$(grep -cF "renewed 'k', valid for" "$work/err")" -ge 2 ]; }
all_count() {
    until_late renewed_twice
    : >"$work/err"
}

# while_stopped COMMAND...: what happens between two renewals.
while_stopped() {
    kill -STOP "$locker"
    until_true is_stopped "$locker"
    "$@"
    kill -CONT "$locker"
}

# Runs until $work/stop is there, or until SIGTERM.
cat >"$work/patient" <<'SCRIPT'
echo "$REDLOCK_TOKEN" >"$1/token"
echo $$ >"$1/pid"
while ! [ -e "$1/stop" ]; do sleep 0.02; done
SCRIPT

# Ignores SIGTERM, and so do the processes that it has started.
cat >"$work/stubborn" <<'SCRIPT'
trap '' TERM
sh -c 'trap "" TERM; while :; do sleep 1; done' &
echo "$$ $!" >"$1/pid.part"
mv "$1/pid.part" "$1/pid"
while :; do sleep 1; done
SCRIPT
