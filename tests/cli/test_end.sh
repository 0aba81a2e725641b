#!/bin/sh
# redlock lock: a command never outlives its lock, and signals reach it.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

filled() { [ -s "$1" ]; }
connected() { [ "$(master 1 client list | grep -c 'name=redlock ')" -eq "$1" ]; }

# --- the deadline ---

cat >"$work/stubborn" <<'SCRIPT'
trap '' TERM
sh -c 'trap "" TERM; while :; do sleep 1; done' &
echo "$$ $!" >"$1.part"
mv "$1.part" "$1"
while :; do sleep 1; done
SCRIPT
# A redlock that gets no processor time during the whole grace sends SIGKILL without SIGTERM.
outlives() {
    run "$REDLOCK" lock k --no-renew --ttl 4s --grace 1s -- sh "$work/stubborn" "$work/pids"
    grep -q "sent it SIGTERM" "$work/err"
}
some_time outlives
status_is 76 "a command that outlives its lock gives 76"
says "sent it SIGTERM" "a command that outlives its lock gets SIGTERM"
says "(SIGKILL)" "a command that ignores SIGTERM gets SIGKILL"
says "larger --ttl" "the message advises a larger --ttl"
# shellcheck disable=SC2046
check "the command's whole process group is dead" until_true all_dead $(cat "$work/pids")
check "after the command was killed the lock is free" until_true is_free k

# The next holder of the lock counts the processes of the former holder.
next_one() {
    rm -f "$work/pids"
    "$REDLOCK" lock k --no-renew --ttl 5s --grace 100ms -- \
        sh "$work/stubborn" "$work/pids" 2>/dev/null &
    locker=$!
    until_true filled "$work/pids"
    # shellcheck disable=SC2016
    run "$REDLOCK" lock k -- sh -c '
        for pid in $(cat "$0"); do grep "^State:.[^ZX]" "/proc/$pid/status" 2>/dev/null; done
        true' "$work/pids"
    next_status=$status
    await "$locker"
    [ ! -s "$work/out" ]
}
check "the next holder finds the former command dead" some_time next_one
check "the next holder has got the lock" [ "$next_status" -eq 0 ]
status_is 76 "the former command, which ignores SIGTERM, gives 76"

run "$REDLOCK" lock k --no-renew --ttl 10s --grace 5s -- sh -c 'trap "echo tidy; exit 0" TERM; sleep 60 & wait'
status_is 76 "a command that ends at SIGTERM gives 76, too"
prints "tidy" "a command may clean up after SIGTERM"
check "the lock is released as soon as the command has ended" until_true is_free k

# The command ends at SIGTERM; another process of its group takes longer.
cat >"$work/slow" <<'SCRIPT'
sh -c 'trap "" TERM; echo $$ >"$0.part"; mv "$0.part" "$0"; exec sleep 100' "$1" &
wait
SCRIPT
run "$REDLOCK" lock k --no-renew --ttl 6s --grace 3s -- sh "$work/slow" "$work/left"
status_is 76 "a process that the command leaves in its group ends with the lock"
check "a process that the command left in its group is dead" \
    until_true all_dead "$(cat "$work/left")"

# Every process that the command has started gets SIGTERM, in whatever group and session.
cat >"$work/pair" <<'SCRIPT'
$1 sh -c 'trap "echo helper tidied; exit" TERM; while :; do sleep 0.1; done' &
trap : TERM
while kill -0 $!; do wait $!; done
SCRIPT
for way in "" setsid "timeout 600"; do
    run "$REDLOCK" lock k --no-renew --ttl 10s --grace 5s -- sh "$work/pair" "$way"
    status_is 76 "every process of the command gets SIGTERM (${way:-in its group})"
    prints "helper tidied" "every process of the command may clean up (${way:-in its group})"
done

# A process that leaves the group and ignores SIGTERM is waited for, and killed.
cat >"$work/slow" <<'SCRIPT'
(setsid sh -c 'trap "" TERM; echo $$ >"$0.part"; mv "$0.part" "$0"; exec sleep 100' "$1" &)
sleep 600
SCRIPT
rm -f "$work/left"
run "$REDLOCK" lock k --no-renew --ttl 6s --grace 3s -- sh "$work/slow" "$work/left"
status_is 76 "a daemon of the command ends with the lock"
check "a daemon of the command is dead when redlock ends" all_dead "$(cat "$work/left")"

# A process of another user goes on. (root may kill it, unless that right is taken away.)
if [ "$(id -u)" -eq 0 ] && setpriv --inh-caps=-kill --bounding-set=-kill true 2>/dev/null; then
    rm -f "$work/left"
    run setpriv --inh-caps=-kill --bounding-set=-kill \
        "$REDLOCK" lock k --no-renew --ttl 6s --grace 0 -- sh -c '
        setpriv --reuid=65534 --clear-groups sleep 600 &
        until grep -q "^Uid:.65534" "/proc/$!/status"; do sleep 0.02; done
        echo $! >"$0"; wait' "$work/left"
    status_is 76 "redlock ends with the lock although it may not kill all processes"
    says "still running after the end of the lock: 1" "redlock says how many processes go on"
    kill -KILL "$(cat "$work/left")"
fi

run "$REDLOCK" lock k --no-renew --ttl 600ms --grace 1h -- sleep 60
status_is 76 "a grace longer than the ttl is cut"

# --- signals ---

# The shell makes background jobs ignore INT and QUIT; env undoes that.
for signal in INT TERM HUP QUIT USR1 USR2; do
    rm -f "$work/ready"
    env --default-signal=INT,QUIT "$REDLOCK" lock k -- sh -c '
        trap "echo got $1; exit 9" "$1"
        : >"$2"
        while :; do sleep 0.02; done' sh "$signal" "$work/ready" >"$work/out" 2>"$work/err" &
    locker=$!
    until_true [ -e "$work/ready" ]
    kill -"$signal" "$locker"
    await "$locker"
    check "SIG$signal is passed on to the command" grep -qx "got $signal" "$work/out"
    status_is 9 "after SIG$signal the exit status of the command counts"
done

# A command that was stopped.
rm -f "$work/ready"
# shellcheck disable=SC2016
"$REDLOCK" lock k -- sh -c 'echo $$ >"$0"; kill -STOP $$; sleep 600' "$work/ready" 2>/dev/null &
locker=$!
until_true filled "$work/ready"
until_true is_stopped "$(cat "$work/ready")"
kill -TERM "$locker"
check "SIGTERM ends a stopped command" until_true is_dead "$locker"
kill -KILL "$locker" 2>/dev/null
await "$locker"
status_is 143 "a stopped command that was ended gives 143"

# --- what the command has started, after a signal ---

# On SIGTERM a worker notes it, and ends when the file "go" is there. The command itself ends at once.
cat >"$work/worker" <<'SCRIPT'
folder=${0%/*}
tidy() {
    echo term >>"$folder/terms"
    while ! [ -e "$folder/go" ]; do sleep 0.02; done
    echo tidied >>"$folder/terms"
    exit
}
trap tidy TERM
echo $$ >"$folder/worker.part"
mv "$folder/worker.part" "$folder/worker.pid"
while :; do sleep 0.02; done
SCRIPT
cat >"$work/tree" <<'SCRIPT'
[ -z "$ON_TERM" ] || trap "$ON_TERM" TERM
echo $$ >"${0%/*}/command.pid"
$1 sh "${0%/*}/worker" &
wait
SCRIPT

# start_tree WAY [OPTION...]: sets $locker, $command and $worker.
start_tree() {
    way=$1
    shift
    rm -f "$work/terms" "$work/go" "$work/worker.pid"
    "$REDLOCK" lock "${key:-k}" --ttl 90s "$@" -- sh "$work/tree" "$way" >"$work/out" 2>"$work/err" &
    locker=$!
    until_true filled "$work/worker.pid"
    command=$(cat "$work/command.pid")
    worker=$(cat "$work/worker.pid")
}
for way in "" setsid; do
    where=${way:-in its group}
    start_tree "$way" --grace 40s
    kill -TERM "$locker"
    until_true filled "$work/terms"
    until_true is_dead "$command"
    check "the lock is kept while a process of the command tidies up after SIGTERM ($where)" is_taken k
    touch "$work/go"
    await "$locker"
    status_is 143 "and the exit status is that of the command ($where)"
    check "the process has got SIGTERM once, and has had its time ($where)" \
        [ "$(tr '\n' ' ' <"$work/terms")" = "term tidied " ]
    check "then the lock is released ($where)" is_free k
done

export ON_TERM='exit 3'
start_tree "" --grace 40s
unset ON_TERM
kill -TERM "$locker"
until_true filled "$work/terms"
until_true is_dead "$command"
check "the lock is kept as well when the command has ended by itself at SIGTERM" is_taken k
touch "$work/go"
await "$locker"
status_is 3 "and the exit status is the one that the command has chosen"

# The command itself ends within its grace, also on a busy machine.
start_tree "" --grace 2s
kill -TERM "$locker"
await "$locker"
check "a process that takes longer than --grace is dead when the lock is released" is_dead "$worker"
says "killed the children of the command of 'k' (SIGKILL)" "redlock says that it killed it"
status_is 143 "the exit status is that of the command, all the same"
check "the lock is released as well" is_free k

# Neither worker ends by itself: the longer grace is the clock of the shorter one.
key=long
start_tree "" --grace 40s
long_locker=$locker long_worker=$worker
key=
start_tree "" --grace 300ms
kill -TERM "$locker" "$long_locker"
await "$locker"
check "a grace of 300 ms is over" is_dead "$worker"
check "before one of 40 s is" kill -0 "$long_worker"
check "whose lock is kept so long" is_taken long
touch "$work/go"
await "$long_locker"
status_is 143 "and which ends when the process does"

# The loss is noticed at the next renewal, when a third of the ttl is over at the latest.
start_tree "" --grace 45s
kill -TERM "$locker"
check "redlock says what it waits for" \
    until_true grep -q "the command of 'k' has ended, but not its children" "$work/err"
check "and for how long: what is left of the grace" \
    grep -Eq "for another (3[0-9]|4[0-5])(\.[0-9]+)? s at most" "$work/err"
each_master del k
await "$locker"
check "when the lock is lost meanwhile, the process is killed" is_dead "$worker"
status_is 76 "and the exit status is that of a lost lock"

start_tree "" --leave-children
kill -TERM "$locker"
await "$locker"
check "--leave-children: a process of the command lives on" kill -0 "$worker"
check "--leave-children: without the lock" is_free k
kill -KILL "$worker"

# A signal that was not sent by redlock.
start_tree "" --grace 40s
kill -KILL "$command"
until_true filled "$work/terms"
touch "$work/go"
await "$locker"
status_is 137 "when somebody kills the command its status is that of the signal"
check "and what it has started gets SIGTERM, and its time" grep -q tidied "$work/terms"

start_tree "" --grace 5s
kill -TERM "$locker"
until_true filled "$work/terms"
kill -KILL "$locker"
check "when redlock is killed meanwhile, the process is killed after its grace" \
    until_true is_dead "$worker"
await "$locker"
each_master del k

# --- signals while waiting ---

hold k
for signal in INT:130 TERM:143 HUP:129 QUIT:131; do
    until_true connected 1
    env --default-signal=INT,QUIT "$REDLOCK" lock k -- true >"$work/out" 2>"$work/err" &
    waiter=$!
    until_true connected 2
    kill -"${signal%:*}" "$waiter"
    await "$waiter"
    status_is "${signal#*:}" "SIG${signal%:*} ends the wait with ${signal#*:}"
    says "gave up waiting for 'k' after SIG${signal%:*}" \
        "redlock says that SIG${signal%:*} ended its wait"
done
until_true connected 1
nohup "$REDLOCK" lock k -- true >"$work/out" 2>"$work/err" &
waiter=$!
until_true connected 2
kill -HUP "$waiter"
check "nothing is left of a wait that was ended" let_go k
await "$waiter"
status_is 0 "a signal that redlock was started to ignore stays ignored"

finish
