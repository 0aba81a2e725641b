#!/bin/sh
# redlock sandbox: it starts and ends masters, and leaves nothing behind however it ends.
. "$(dirname "$0")/lib.sh"
be_patient

folder=
pids=

# start [COMMAND...]: starts a sandbox in the background whose command waits for its end; sets
# $sandbox, $folder, $command and $helper (a process that its command has started), and $pids
# (of the masters).
start() {
    rm -f "$work/facts"
    # shellcheck disable=SC2016
    "$@" "$REDLOCK" sandbox -- sh -c '
        sleep 600 &
        echo "$REDLOCK_SANDBOX $$ $! $(cat "$REDLOCK_SANDBOX"/*.pid | tr "\n" " ")" >"$0.part"
        mv "$0.part" "$0"
        wait' "$work/facts" 2>"$work/err" &
    sandbox=$!
    until_true [ -e "$work/facts" ]
    read -r folder command helper pids <"$work/facts"
}

# No process has the folder in its title, as masters have. (The pattern is in a file, otherwise grep
# would find itself.)
is_deserted() {
    echo "$folder/" >"$work/pattern"
    ! grep -qsFf "$work/pattern" /proc/[0-9]*/cmdline
}

# nothing_left WHEN
nothing_left() {
    check "after $1 the folder is gone" until_true is_gone "$folder"
    # shellcheck disable=SC2086
    check "after $1 the masters are dead" until_true all_dead $pids
    check "after $1 the command is dead" until_true all_dead "$command" "$helper"
}

# shellcheck disable=SC2016
run "$REDLOCK" sandbox -- sh -c 'echo "$REDLOCK_SANDBOX"; "$0" nodes; exit 5' "$REDLOCK"
status_is 5 "the exit status is that of the command"
folder=$(head -n 1 "$work/out")
check "a sandbox has five masters" [ "$(grep -c '  up ' "$work/out")" -eq 5 ]
check "after a normal end the folder is gone" is_gone "$folder"
check "after a normal end the masters are dead" is_deserted

run "$REDLOCK" sandbox -n 3 "$REDLOCK" nodes
check "-n sets the number of masters" [ "$(grep -c '  up ' "$work/out")" -eq 3 ]
# shellcheck disable=SC2016
run "$REDLOCK" sandbox -n 1 -- sh -c 'stat -c %a "$REDLOCK_SANDBOX" "$REDLOCK_SANDBOX/1.sock"'
check "no other user may enter the folder" [ "$(tr '\n' ' ' <"$work/out")" = "700 700 " ]
run env SHELL=/bin/sh "$REDLOCK" sandbox -n 1 <<'SCRIPT'
echo "in $0 with $REDLOCK_NODES"
echo "quarantine: $REDLOCK_QUARANTINE"
SCRIPT
prints "in /bin/sh with unix:///" "without a command it runs \$SHELL"
prints "quarantine: off" "masters that have just started may vote"
run "$REDLOCK" sandbox --help
prints "REDLOCK_QUARANTINE=off" "the help says so"
run "$REDLOCK" sandbox -n 1 -- sh -c 'kill -KILL $$'
status_is 137 "a command killed by a signal gives 128 and its number"
run "$REDLOCK" sandbox -n 1 -- no-such-command-anywhere
status_is 127 "a command that is not there gives 127"
run "$REDLOCK" sandbox -n 1 -- /dev/null
status_is 126 "a command that cannot be run gives 126"
mkdir "$work/a b,c%"
# shellcheck disable=SC2016
run env TMPDIR="$work/a b,c%" "$REDLOCK" sandbox -n 1 -- \
    sh -c 'echo "$REDLOCK_SANDBOX"; "$0" nodes' "$REDLOCK"
status_is 0 "a TMPDIR with odd characters works"
prints "$work/a b,c%/" "a TMPDIR with odd characters is used"
long=$work/$(printf '%0120d' 0)
mkdir "$long"
run env TMPDIR="$long" "$REDLOCK" sandbox -n 1 -- "$REDLOCK" nodes
status_is 0 "a TMPDIR that is too long for a socket is not used"
run env REDLOCK_PASSWORD=hunter2 "$REDLOCK" sandbox -n 1 -- "$REDLOCK" lock k --no-wait -- true
status_is 0 "a password for other masters is not used"

# --- refused ---

run "$REDLOCK" sandbox -n 0 true
status_is 64 "-n 0 is refused"
run "$REDLOCK" sandbox -n 64 true
status_is 64 "-n 64 is refused"
run "$REDLOCK" sandbox -n ' 5' true
status_is 64 "-n with a blank is refused"
run env PATH=/nonexistent "$REDLOCK" sandbox true
status_is 69 "without a server it gives 69"
says "apt-get install redis-server" "without a server redlock names the package to install"
mkdir "$work/tmp"
run env TMPDIR="$work/tmp" "$REDLOCK" sandbox --server "$(command -v false)" true
status_is 70 "a server that does not start gives 70"
says "did not start" "a server that does not start is reported"
check "a server that does not start leaves no folder behind" rmdir "$work/tmp"

# --- a folder that cannot be removed ---

# protect FILE / unprotect FILE: nobody can remove it, not even root. Not every file system can do it.
protect() { chattr +i "$1" 2>/dev/null; }
unprotect() { chattr -i "$1"; }
if touch "$work/probe" && protect "$work/probe"; then
    unprotect "$work/probe"
    # shellcheck disable=SC2016
    run "$REDLOCK" sandbox -n 1 -- sh -c 'echo "$REDLOCK_SANDBOX"; : >"$REDLOCK_SANDBOX/kept"
        chattr +i "$REDLOCK_SANDBOX/kept"; exit 3'
    folder=$(cat "$work/out")
    status_is 3 "a folder that cannot be removed does not change the exit status"
    says "cannot remove the folder $folder: " "redlock says that the folder cannot be removed"
    check "everything else in the folder is removed" [ "$(ls "$folder")" = kept ]
    unprotect "$folder/kept"
    rm -r "$folder"
fi

# --- however it ends ---

start env
kill -TERM "$sandbox"
await "$sandbox"
status_is 143 "SIGTERM is passed on"
nothing_left SIGTERM

start env
kill -KILL "$sandbox"
await "$sandbox"
nothing_left SIGKILL

start setsid -w
keeper=$(cut -d ' ' -f 4 "/proc/${pids%% *}/stat")
group=$(cut -d ' ' -f 5 "/proc/$(cut -d ' ' -f 4 "/proc/$keeper/stat")/stat")
kill -KILL "-$group"
await "$sandbox"
nothing_left "SIGKILL to its process group"

start env
keeper=$(cut -d ' ' -f 4 "/proc/${pids%% *}/stat")
kill -KILL "$keeper"
await "$sandbox"
status_is 70 "a sandbox whose keeper is killed gives 70"
nothing_left "its keeper was killed"

start env
kill -KILL "$(cut -d ' ' -f 4 "/proc/$command/stat")"
await "$sandbox"
status_is 70 "a sandbox whose supervisor is killed gives 70"
nothing_left "its supervisor was killed"

# --- masters that die and come back ---

# shellcheck disable=SC2016
run "$REDLOCK" sandbox -- sh -c '
    kill -KILL "$(cat "$REDLOCK_SANDBOX/1.pid")"
    until "$0" nodes | grep -q "1.sock  down"; do sleep 0.02; done
    "$0" lock k --no-wait -- echo works without
    "$1" "$REDLOCK_SANDBOX/1.conf"
    until "$0" nodes | grep -q "1.sock  up"; do sleep 0.02; done
    echo "$REDLOCK_SANDBOX"
    echo "again $(cat "$REDLOCK_SANDBOX/1.pid")"' "$REDLOCK" "$server"
status_is 0 "a master that is killed does not end the sandbox"
prints "works without" "the sandbox goes on without a killed master"
prints "again" "a killed master can be started again"
folder=$(grep '^/' "$work/out")
check "a master that was started again is dead afterwards" \
    until_true is_dead "$(sed -n 's/^again //p' "$work/out")"
check "all other masters are dead afterwards" is_deserted
check "the folder is removed afterwards" is_gone "$folder"

# The sandbox ends while a master is about to start.
# shellcheck disable=SC2016
run "$REDLOCK" sandbox -- sh -c '
    echo "$REDLOCK_SANDBOX"
    kill -KILL "$(cat "$REDLOCK_SANDBOX/1.pid")"
    "$0" "$REDLOCK_SANDBOX/1.conf"' "$server"
folder=$(head -n 1 "$work/out")
check "a master started at the last moment is dead as well" until_true is_deserted
check "the folder of a master started at the last moment is removed" is_gone "$folder"

# --- masters that are no children of the keeper ---

cp "$(readlink -f "$server")" "$work/other-server"
cat >"$work/script" <<SCRIPT
#!/bin/sh
"$work/other-server" "\$@"
exit
SCRIPT
chmod +x "$work/script"

# redlock_by_script ...: redlock sandbox --server SCRIPT, whose server is its child.
cat >"$work/redlock_by_script" <<SCRIPT
#!/bin/sh
shift
exec "$REDLOCK" sandbox --server "$work/script" "\$@"
SCRIPT
chmod +x "$work/redlock_by_script"

# start_by_script: as start, with the script.
start_by_script() {
    command_under_test=$REDLOCK
    REDLOCK=$work/redlock_by_script
    start "$@"
    REDLOCK=$command_under_test
}

start_by_script env
kill -TERM "$sandbox"
await "$sandbox"
nothing_left "SIGTERM, with a server that is a script,"

start_by_script env
kill -KILL "$sandbox"
await "$sandbox"
nothing_left "SIGKILL, with a server that is a script,"

start_by_script env
keeper=$(cut -d ' ' -f 4 "/proc/${pids%% *}/stat")
keeper=$(cut -d ' ' -f 4 "/proc/$keeper/stat")
kill -KILL "$keeper"
await "$sandbox"
status_is 70 "the same with a server that is a script"
nothing_left "its keeper was killed, with a server that is a script,"

# Each master takes the socket of the one before, which goes on, but cannot be reached.
# shellcheck disable=SC2016
run "$REDLOCK" sandbox -n 2 -- sh -c '
    for _ in 1 2 3; do
        old=$(cat "$REDLOCK_SANDBOX/1.pid")
        "$0" "$REDLOCK_SANDBOX/1.conf"
        while [ "$(cat "$REDLOCK_SANDBOX/1.pid")" = "$old" ]; do sleep 0.02; done
        cat "$REDLOCK_SANDBOX/1.pid"
    done' "$work/other-server"
status_is 0 "masters are started by hand with another program"
# shellcheck disable=SC2046
check "masters started by hand are dead afterwards" until_true all_dead $(cat "$work/out")

# The server has its socket, and does not listen yet.
cat >"$work/binds" <<'SCRIPT'
import os, socket, sys, time
if os.fork():
    sys.exit()
os.setsid()
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ['REDLOCK_SANDBOX'] + '/2.sock')
with open(sys.argv[1] + '.part', 'w', encoding='ascii') as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + '.part', sys.argv[1])
time.sleep(600)
SCRIPT
# shellcheck disable=SC2016
run "$REDLOCK" sandbox -n 1 -- sh -c 'python3 "$0" "$1"; until [ -e "$1" ]; do sleep 0.02; done' \
    "$work/binds" "$work/bound"
status_is 0 "a server that begins to listen later is started"
check "a server that begins to listen later is dead afterwards" \
    until_true all_dead "$(cat "$work/bound")"

# The process listens outside the folder; a symbolic link in the folder leads to its socket.
cat >"$work/listens" <<'SCRIPT'
import os, socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1] + '.part')
server.listen(5)
os.rename(sys.argv[1] + '.part', sys.argv[1])
time.sleep(600)
SCRIPT
python3 "$work/listens" "$work/outside" &
outside=$!
until_true [ -S "$work/outside" ]
# shellcheck disable=SC2016
run "$REDLOCK" sandbox -n 1 -- sh -c 'ln -s "$0" "$REDLOCK_SANDBOX/outside.sock"' "$work/outside"
status_is 0 "a sandbox ends with a link in its folder to a socket outside"
check "the process behind the link is left alive" kill -0 "$outside"
kill -KILL "$outside"
await "$outside"

# without_proc COMMAND...: needs the right to mount, and $LD_LIBRARY_PATH, because paths relative to a
# program need /proc.
# shellcheck disable=SC2016
without_proc() {
    unshare --mount --map-root-user sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
if without_proc "$REDLOCK" --version >"$work/out" 2>&1; then
    # shellcheck disable=SC2016
    run without_proc "$REDLOCK" sandbox --server "$work/script" -n 2 -- sh -c '
        cat "$REDLOCK_SANDBOX/1.pid"
        kill -KILL "$(cat "$REDLOCK_SANDBOX/2.pid")"
        "$0" "$REDLOCK_SANDBOX/2.conf"
        until "$1" -s "$REDLOCK_SANDBOX/2.sock" ping >/dev/null 2>&1; do sleep 0.02; done
        cat "$REDLOCK_SANDBOX/2.pid"
        echo "$REDLOCK_SANDBOX"' "$work/other-server" "$rediscli"
    status_is 0 "without /proc a sandbox works"
    # shellcheck disable=SC2046
    check "without /proc the masters are dead afterwards" \
        until_true all_dead $(grep -v / "$work/out")
    check "without /proc the folder is removed" is_gone "$(grep / "$work/out")"
fi

# --- a keeper that is killed before there is a master ---

cat >"$work/slow" <<SCRIPT
#!/bin/sh
echo "\$PPID \$\$" >"$work/keeper.part"
mv "$work/keeper.part" "$work/keeper"
sleep 600
SCRIPT
chmod +x "$work/slow"
mkdir "$work/early"
TMPDIR=$work/early "$REDLOCK" sandbox -n 1 --server "$work/slow" true 2>"$work/err" &
sandbox=$!
until_true [ -e "$work/keeper" ]
read -r keeper slow <"$work/keeper"
kill -KILL "$keeper"
await "$sandbox"
status_is 70 "a sandbox whose keeper is killed at the start gives 70"
check "a keeper that is killed at the start leaves no folder" rmdir "$work/early"
check "a keeper that is killed at the start leaves no server" until_true all_dead "$slow"

finish
