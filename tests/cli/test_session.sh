#!/bin/sh
# Passwords, where the names of the masters come from, what a file says besides, and what CMD inherits.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

nodes=$REDLOCK_NODES
some() { # some NUMBER...: the URIs of some masters
    for number in "$@"; do printf 'unix://%s/%s.sock ' "$REDLOCK_SANDBOX" "$number"; done
}

# --- passwords ---

for number in 1 2 3 4 5; do master "$number" config set requirepass hunter2 >/dev/null; done
run "$REDLOCK" lock k --no-wait -- true
status_is 69 "without the password there is no majority"
echo hunter2 >"$work/password"
run "$REDLOCK" lock k --no-wait --password-file "$work/password" -- env
status_is 0 "--password-file gives it"
check "and the command does not see it" missing hunter2 "$work/out"
mkfifo "$work/fifo"
echo hunter2 >"$work/fifo" &
run "$REDLOCK" lock k --no-wait --password-file "$work/fifo" -- true
status_is 0 "a FIFO that somebody writes to will do"
await $!
run "$REDLOCK" lock k --no-wait --password-file "$work/fifo" -- true
status_is 64 "one that nobody writes to is not waited for"
says "it is a FIFO, and nobody writes to it" "and it is said"
(sleep 3; echo hunter2) | "$REDLOCK" lock k --no-wait --password-file /dev/stdin -- true
status=$?
status_is 0 "but a pipe is, for whoever types slowly"
run env REDLOCK_PASSWORD_FILE="$work/password" "$REDLOCK" nodes -v
status_is 0 "REDLOCK_PASSWORD_FILE gives it"
says_not hunter2 "and it is not shown"
run env REDLOCK_PASSWORD=hunter2 "$REDLOCK" lock k -v --no-wait -- env
status_is 0 "REDLOCK_PASSWORD gives it"
says_not hunter2 "and the command does not inherit it"
run env REDLOCK_PASSWORD=wrong7 "$REDLOCK" lock k --no-wait -- true
status_is 69 "a wrong password gives 69"
says_not wrong7 "and is not shown"
run "$REDLOCK" lock k --no-wait --password hunter2 -- true
status_is 64 "a password on the command line is refused"
says_not hunter2 "and not shown"
run "$REDLOCK" lock k --no-wait --password=hunter2 -- true
status_is 64 "also behind a ="
says_not hunter2 "and not shown there"
run "$REDLOCK" lock k --passwd=hunter2 -- true
says_not hunter2 "nor is one behind an option that does not exist"
run "$REDLOCK" lock k --nodes 'redis://u:hunter2@[bad' -- true
status_is 64 "a URI that is wrong gives 64"
says_not hunter2 "and its password is not shown"
run "$REDLOCK" nodes --nodes 'redis://u:hunter2@127.0.0.1:1'
status_is 69 "a master that is down gives 69"
says_not hunter2 "and the password in its URI is not shown"
run "$REDLOCK" lock k --password-file "$work/none" -- true
status_is 64 "a password file that cannot be read gives 64"
run env REDLOCK_NODES="redis://:hunter2@127.0.0.1:1 $nodes" REDLOCK_PASSWORD=hunter2 \
    "$REDLOCK" lock k --no-wait -- env
status_is 0 "a URI in REDLOCK_NODES may have a password"
says_not hunter2 "which the command does not inherit"
for number in 1 2 3 4 5; do
    "$rediscli" -s "$REDLOCK_SANDBOX/$number.sock" --no-auth-warning -a hunter2 \
        config set requirepass '' >/dev/null
done

# --- where the masters come from ---

export HOME="$work/home"
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config/redlock" "$work/xdg/redlock"
run env -u REDLOCK_NODES "$REDLOCK" lock k --no-wait --nodes "$(echo "$nodes" | tr ' ' ,)" -- true
status_is 0 "--nodes takes URIs with commas between them"
run "$REDLOCK" nodes --nodes "$(some 1 2 3)"
check "--nodes, with blanks between them, goes before REDLOCK_NODES" [ "$(wc -l <"$work/out")" -eq 3 ]
if ! [ -e /etc/redlock/nodes ]; then
    run env -u REDLOCK_NODES "$REDLOCK" lock k -- true
    status_is 64 "without masters it gives 64"
    says "export REDLOCK_NODES=" "and shows how to name them"
fi
{
    echo '# the masters'
    some 1 2 | tr ' ' '\n'
    echo "$(some 3) # the third"
} >"$HOME/.config/redlock/nodes"
run env -u REDLOCK_NODES "$REDLOCK" nodes
check "\$HOME/.config/redlock/nodes names them, with comments" [ "$(wc -l <"$work/out")" -eq 3 ]
some 1 >"$work/xdg/redlock/nodes"
run env -u REDLOCK_NODES XDG_CONFIG_HOME="$work/xdg" "$REDLOCK" nodes
check "\$XDG_CONFIG_HOME/redlock/nodes goes before it" [ "$(wc -l <"$work/out")" -eq 1 ]
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/xdg/redlock/nodes" "$REDLOCK" nodes
check "REDLOCK_CONFIG names another file" [ "$(wc -l <"$work/out")" -eq 1 ]
{ printf '\357\273\277'; some 1 2; } >"$work/marked"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/marked" "$REDLOCK" nodes
check "a byte order mark is skipped" [ "$(grep -c '  up ' "$work/out")" -eq 2 ]
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/fifo" "$REDLOCK" nodes
status_is 64 "a FIFO that nobody writes to is no configuration"
says "cannot read the masters from $work/fifo (REDLOCK_CONFIG): it is a FIFO" "and it is said"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/none" "$REDLOCK" nodes
status_is 64 "which must be there"

# --- what a file says besides ---

config() { # config LINE...: nodes that a file names, with these lines behind them
    some 1 2 3 | tr ' ' '\n' >"$work/nodes"
    printf '%s\n' "$@" >>"$work/nodes"
}
with_config() { run env -u REDLOCK_NODES -u REDLOCK_QUARANTINE REDLOCK_CONFIG="$work/nodes" "$@"; }

config 'key-prefix = app:' 'max-ttl=20s  # of all' 'quarantine = off'
with_config "$REDLOCK" lock k --no-wait -- "$rediscli" -s "$REDLOCK_SANDBOX/1.sock" exists app:k
prints 1 "a file names the prefix"
status_is 0 "and the quarantine"
with_config "$REDLOCK" lock k --no-wait --ttl 30s -- true
status_is 64 "and the longest ttl"
says "--max-ttl, 20.0 s" "which is named"
with_config "$REDLOCK" lock k --no-wait --ttl 30s --max-ttl 1m --key-prefix '' -- \
    "$rediscli" -s "$REDLOCK_SANDBOX/1.sock" exists app:k
prints 0 "the options come first, an empty prefix, too"
with_config env REDLOCK_MAX_TTL=1m REDLOCK_KEY_PREFIX= "$REDLOCK" lock k --no-wait --ttl 30s -- \
    "$rediscli" -s "$REDLOCK_SANDBOX/1.sock" exists app:k
prints 0 "and so do the variables"
run env REDLOCK_CONFIG="$work/nodes" "$REDLOCK" lock k --no-wait --ttl 30s -- true
status_is 0 "it is about the masters that it names only"
config 'max-ttl = 20x'
with_config "$REDLOCK" nodes
status_is 64 "a value that is wrong gives 64"
says "$work/nodes:4: max-ttl '20x' is not a time" "and its line is named"
config 'quarantine = of'
with_config "$REDLOCK" nodes
says "$work/nodes:4: quarantine 'of' is unknown" "of a quarantine, too"
config '' 'max-tll = 20s'
with_config "$REDLOCK" nodes
says "$work/nodes:5: 'max-tll' is unknown" "and of what is unknown"
config 'max-ttl = 20s' 'max-ttl = 30s'
with_config "$REDLOCK" nodes
says "$work/nodes:5: max-ttl was given in line 4 already" "and of what is given twice"
config '# the fourth' 'redis//:hunter2@d.example'
with_config "$REDLOCK" nodes
status_is 64 "a URI that is wrong gives 64"
says "$work/nodes:5: master 4 of 4 has a URI that is not valid" "and its line is named"
says_not hunter2 "and its password is not"
config "$(some 2)"
with_config "$REDLOCK" nodes
says "$work/nodes:4: master 2 and master 4 are the same" "and that of a master that is there twice"

# --- what the command inherits ---

# shellcheck disable=SC2016
nested='"$0" extend k --token "$REDLOCK_TOKEN" --ttl 50s && env'
outer() { run env -u REDLOCK_NODES "$REDLOCK" lock k --no-wait "$@" -- sh -c "$nested" "$REDLOCK"; }
outer --nodes "$(some 1 2 3)" --key-prefix app: --max-ttl 1m --quarantine off
status_is 0 "a redlock in the command is about the same lock"
prints "REDLOCK_KEY_PREFIX=app:" "with the prefix"
prints "REDLOCK_MAX_TTL=60000ms" "the longest ttl"
prints "REDLOCK_QUARANTINE=off" "and the quarantine"
config 'key-prefix = app:' 'max-ttl = 1m' 'quarantine = off'
with_config "$REDLOCK" lock k --no-wait -- env -u REDLOCK_CONFIG sh -c "$nested" "$REDLOCK"
status_is 0 "also when a file says so"
with_config "$REDLOCK" lock k --no-wait --key-prefix '' -- sh -c "$nested" "$REDLOCK"
status_is 0 "and when it is overridden"

for number in 1 2 3; do
    master "$number" config set requirepass hunter2 >/dev/null
done
echo hunter2 >"$work/password"
(cd "$work" && outer --nodes "$(some 1 2 3)" --password-file password --quarantine off
echo "$status" >"$work/status")
status=$(cat "$work/status")
status_is 0 "a password file is handed on, from whatever folder"
check "and not what is in it" missing hunter2 "$work/out"
for number in 1 2 3; do
    "$rediscli" -s "$REDLOCK_SANDBOX/$number.sock" --no-auth-warning -a hunter2 \
        config set requirepass '' >/dev/null
done
{ some 1 2 3; echo redis://ann:hunter2@127.0.0.1:1; } | tr ' ' '\n' >"$work/nodes"
with_config "$REDLOCK" lock k --no-wait --quarantine off -- sh -c "$nested" "$REDLOCK"
status_is 0 "with a password in the file that file is handed on"
prints "REDLOCK_CONFIG=$work/nodes" "by its name"
check "and not the password" missing hunter2 "$work/out"
run env REDLOCK_NODES="$(some 1 2 3)redis://ann:hunter2@127.0.0.1:1 redis://:hunter2@127.0.0.1:2" \
    "$REDLOCK" lock k --no-wait -- env
prints "redis://ann@127.0.0.1:1 redis://127.0.0.1:2" "URIs are handed on without their passwords"
check "which nobody sees" missing hunter2 "$work/out"

finish
