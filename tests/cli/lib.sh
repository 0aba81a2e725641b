# tests/cli/lib.sh - what the tests of the command have in common. Sourced.
#
# A test program is a list of claims. It speaks TAP, runs in a folder of its own ($work),
# and, after in_sandbox, on five masters of its own. $REDLOCK is the command under test;
# meson sets it. A test always waits for a condition, with a generous bound. Where a test is about
# time itself, its times are so long that a busy machine, on which a process may not run for seconds,
# does not change the result.
#
#     . "$(dirname "$0")/lib.sh"
#     in_sandbox "$0"
#     run "$REDLOCK" lock key -- true
#     status_is 0 "true runs under a lock"
#     finish

set -u

: "${REDLOCK:?names the command to test}"
claims=0
failures=0
status=0

unset REDLOCK_CONFIG REDLOCK_USERNAME REDLOCK_PASSWORD REDLOCK_PASSWORD_FILE REDLOCK_PASSWORD_COMMAND \
    REDLOCK_KEY_PREFIX REDLOCK_NODE_TIMEOUT REDLOCK_MAX_TTL REDLOCK_RECORD REDLOCK_KEY REDLOCK_KEYS REDLOCK_TOKEN REDLOCK_FENCING_TOKEN \
    REDLOCK_TLS_CACERT REDLOCK_TLS_CERT REDLOCK_TLS_KEY REDLOCK_TLS_SNI REDLOCK_TLS_VERIFY \
    REDLOCK_TERM REDLOCK_ID REDLOCK_VALUE REDLOCK_TRACE NOTIFY_SOCKET JOURNAL_STREAM
# shellcheck disable=SC2034
server=$(command -v redis-server || command -v valkey-server)
rediscli=$(command -v redis-cli || command -v valkey-cli)

# Inside a sandbox: in its folder, which is removed even if this program is killed.
if [ "${CLI_TEST_SANDBOX:-}" = yes ]; then
    work=$REDLOCK_SANDBOX/work
    mkdir "$work" || exit 1
else
    work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-test-XXXXXX") || exit 1
fi
# What is still in the background then was left by an interrupt: nobody waits for it any more, and
# the supervisor ends the command of a redlock that is killed.
leave_nothing() {
    jobs -p >"$work/jobs"
    # shellcheck disable=SC2046
    kill -KILL $(cat "$work/jobs") 2>/dev/null
    rm -rf "$work"
}
trap leave_nothing EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# Run the rest of this program on five masters.
in_sandbox() {
    if [ "${CLI_TEST_SANDBOX:-}" != yes ]; then
        rmdir "$work"
        CLI_TEST_SANDBOX=yes exec "$REDLOCK" sandbox -- sh "$1"
    fi
    be_patient
}

# Long timeouts, so that a running master answers in time on a busy machine: from now on $REDLOCK has
# them, unless it is called with another --node-timeout.
be_patient() {
    cat >"$work/redlock" <<SCRIPT
#!/bin/sh
case \${1-} in
lock | elect | acquire | extend | release | break | transfer | status | list | nodes | masters)
    command=\$1
    shift
    exec '$REDLOCK' "\$command" --node-timeout 20s "\$@"
    ;;
esac
exec '$REDLOCK' "\$@"
SCRIPT
    chmod +x "$work/redlock"
    export REDLOCK="$work/redlock"
}

# --- claims ---------------------------------------------------------------------------------

# pass CLAIM / fail CLAIM
pass() {
    claims=$((claims + 1))
    echo "ok $claims - $1"
}

fail() {
    claims=$((claims + 1))
    failures=$((failures + 1))
    echo "not ok $claims - $1"
    echo "# exit status: $status"
    sed 's/^/# stdout: /' "$work/out" 2>/dev/null
    sed 's/^/# stderr: /' "$work/err" 2>/dev/null
}

# check CLAIM COMMAND...: the command succeeds.
check() {
    claim=$1
    shift
    if "$@" >/dev/null 2>&1; then pass "$claim"; else fail "$claim"; fi
}

# skip CLAIM WHY: it cannot be asked here.
skip() {
    claims=$((claims + 1))
    echo "ok $claims - $1 # SKIP $2"
}

# The plan, and the exit status of the program.
finish() {
    echo "1..$claims"
    [ "$failures" -eq 0 ]
    exit
}

# --- running --------------------------------------------------------------------------------

# run COMMAND...: sets $status and fills $work/out and $work/err.
run() {
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
}

# first_line COMMAND...: runs it like run, but its reader ends after the first line, which is in $work/out.
first_line() {
    {
        status=0
        timeout 60 "$@" 2>"$work/err" || status=$?
        echo "$status" >"$work/status"
    } | head -1 >"$work/out"
    status=$(cat "$work/status")
}

# unread COMMAND...: runs it like run, with a pipe as stdout that nobody reads.
unread() {
    rm -f "$work/closed"
    {
        until_true [ -e "$work/closed" ]
        status=0
        timeout 60 "$@" 2>"$work/err" || status=$?
        echo "$status" >"$work/status"
    } | {
        exec <&-
        touch "$work/closed"
    }
    status=$(cat "$work/status")
}

# await PID: sets $status to the exit status of a command in the background.
await() {
    status=0
    wait "$1" 2>/dev/null || status=$?
}

# status_is STATUS CLAIM
status_is() {
    check "$2" [ "$status" -eq "$1" ]
}

# says TEXT CLAIM: stderr of the last command contains TEXT; says_not and prints (stdout) likewise.
says() {
    check "$2" grep -qF -e "$1" "$work/err"
}

says_not() {
    check "$2" missing "$1" "$work/err" "$work/out"
}

prints() {
    check "$2" grep -qF -e "$1" "$work/out"
}

missing() {
    text=$1
    shift
    ! cat "$@" | grep -qF -e "$text"
}

# --- waiting --------------------------------------------------------------------------------

# until_true COMMAND...: up to 20 seconds (or $CLI_TEST_TRIES tries); fails if it never does.
until_true() {
    try_until "${CLI_TEST_TRIES:-1000}" "$@"
}

# until_late COMMAND...: the same for conditions that take long on any machine.
until_late() {
    try_until 1000 "$@"
}

# try_until TIMES COMMAND...
try_until() {
    tries=$1
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.02
    done
}

# A zombie that nobody waits for is dead, too.
is_dead() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

all_dead() {
    for pid in "$@"; do
        is_dead "$pid" || return 1
    done
}

is_stopped() {
    grep -q '^State:.[tT]' "/proc/$1/status"
}

is_gone() {
    ! [ -e "$1" ]
}

# --- masters --------------------------------------------------------------------------------

# master NUMBER COMMAND...: talk to one of the masters.
master() {
    socket=$REDLOCK_SANDBOX/$1.sock
    shift
    "$rediscli" -s "$socket" "$@"
}

master_pid() {
    cat "$REDLOCK_SANDBOX/$1.pid"
}

# each_master COMMAND...: send a command to all masters.
each_master() {
    for number in 1 2 3 4 5; do master "$number" "$@" >/dev/null; done
}

# everywhere KEY VALUE: every master has it.
everywhere() {
    for number in 1 2 3 4 5; do
        [ "$(master "$number" get "$1")" = "$2" ] || return 1
    done
}

# halt NUMBER... / resume NUMBER...: stop masters, and let them go on.
halt() {
    for number in "$@"; do
        kill -STOP "$(master_pid "$number")"
        until_true is_stopped "$(master_pid "$number")"
    done
}

resume() {
    for number in "$@"; do kill -CONT "$(master_pid "$number")"; done
}

# some_time COMMAND...: succeeds in one of a few tries. For conditions that fail when a process does
# not run for longer than clocks may differ.
some_time() {
    for _ in 1 2 3 4; do
        "$@" && return
    done
    return 1
}

# acquire_everywhere KEY [OPTION...]: as run redlock acquire; then all masters have the key. redlock waits
# for a late master for no longer than a tenth of a second.
acquire_everywhere() { some_time acquire_on_all "$@"; }
acquire_on_all() {
    run "$REDLOCK" acquire "$@"
    everywhere "$1" "$(head -n 1 "$work/out")" && return
    "$REDLOCK" release "$1" --token "$(head -n 1 "$work/out")"
    until_true is_free "$1"
    return 1
}

# names_holders: the masters tell with their refusal who has the key.
names_holders() {
    case $(master 1 set nobody x nx get px 1) in
    *ERR*) return 1 ;;
    esac
}

# says_if_named TEXT CLAIM: as says, on such masters.
says_if_named() {
    if names_holders; then
        says "$@"
    else
        skip "$2" "the server has no SET with NX and GET"
    fi
}

# is_free KEY: on every master.
is_free() {
    for number in 1 2 3 4 5; do
        [ "$(master "$number" exists "$1")" = 0 ] || return 1
    done
}

# is_taken KEY: on a majority.
is_taken() {
    "$REDLOCK" status "$1" | grep -q ': held '
}

# hold KEY [OPTION...]: hold a lock in the background until `let_go`; sets $holder.
hold() {
    "$REDLOCK" lock "$@" --ttl 60s -- sleep 600 &
    holder=$!
    until_true is_taken "$1"
}

let_go() {
    kill "$holder"
    wait "$holder"
    until_true is_free "$1"
}
