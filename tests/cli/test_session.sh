#!/bin/sh
# Passwords, where the URIs of the masters come from, the settings in a file, and what CMD inherits.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

plain_redlock=$(sed -n "s/^exec '\(.*\)' .*/\1/p" "$REDLOCK")
nodes=$REDLOCK_NODES
some() { # some NUMBER...: the URIs of some masters
    for number in "$@"; do printf 'unix://%s/%s.sock ' "$REDLOCK_SANDBOX" "$number"; done
}

# --- passwords ---

# A master may keep the key of the lock before a moment longer: --wait covers that.
for number in 1 2 3 4 5; do master "$number" config set requirepass hunter2 >/dev/null; done
run "$REDLOCK" lock k --no-wait -- true
status_is 69 "without the password there is no majority"
echo hunter2 >"$work/password"
run "$REDLOCK" lock k --wait 30s --password-file "$work/password" -- env
status_is 0 "--password-file gives it"
check "the command does not see the password" missing hunter2 "$work/out"
mkfifo "$work/fifo"
echo hunter2 >"$work/fifo" &
run "$REDLOCK" lock k --wait 30s --password-file "$work/fifo" -- true
status_is 0 "--password-file may be a FIFO with a writer"
await $!
run "$REDLOCK" lock k --no-wait --password-file "$work/fifo" -- true
status_is 64 "a FIFO without a writer gives 64"
says "it is a FIFO, and nobody writes to it" "redlock says that the FIFO has no writer"
(sleep 3; echo hunter2) | "$REDLOCK" lock k --wait 30s --password-file /dev/stdin -- true
status=$?
status_is 0 "a pipe is waited for, so the password may be typed slowly"
run env REDLOCK_PASSWORD_FILE="$work/password" "$REDLOCK" nodes -v
status_is 0 "REDLOCK_PASSWORD_FILE gives it"
says_not hunter2 "REDLOCK_PASSWORD_FILE: the password is not shown"
run env REDLOCK_PASSWORD=hunter2 "$REDLOCK" lock k -v --wait 30s -- env
status_is 0 "REDLOCK_PASSWORD gives it"
says_not hunter2 "the command does not inherit REDLOCK_PASSWORD"
run env REDLOCK_PASSWORD=wrong7 "$REDLOCK" lock k --no-wait -- true
status_is 69 "a wrong password gives 69"
says_not wrong7 "a wrong password is not shown"
run "$REDLOCK" lock k --no-wait --password hunter2 -- true
status_is 64 "a password on the command line is refused"
says_not hunter2 "a password on the command line is not shown"
run "$REDLOCK" lock k --no-wait --password=hunter2 -- true
status_is 64 "a password after a = is refused"
says_not hunter2 "a password after a = is not shown"
run "$REDLOCK" lock k --passwd=hunter2 -- true
says_not hunter2 "a password after an unknown option is not shown"
run "$REDLOCK" lock k --nodes 'redis://u:hunter2@[bad' -- true
status_is 64 "an invalid URI gives 64"
says_not hunter2 "the password of an invalid URI is not shown"
run "$REDLOCK" nodes --nodes 'redis://u:hunter2@127.0.0.1:1'
status_is 69 "a master that is down gives 69"
says_not hunter2 "the password of a URI is not shown when its master is down"
run "$REDLOCK" lock k --password-file "$work/none" -- true
status_is 64 "a password file that cannot be read gives 64"
run env REDLOCK_NODES="redis://:hunter2@127.0.0.1:1 $nodes" REDLOCK_PASSWORD=hunter2 \
    "$REDLOCK" lock k --wait 30s -- env
status_is 0 "a URI in REDLOCK_NODES may have a password"
says_not hunter2 "the command does not inherit the password of a URI"
for number in 1 2 3 4 5; do
    "$rediscli" -s "$REDLOCK_SANDBOX/$number.sock" --no-auth-warning -a hunter2 \
        config set requirepass '' >/dev/null
done

# --- where the masters come from ---

export HOME="$work/home"
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config/redlock" "$work/xdg/redlock"
run env -u REDLOCK_NODES "$REDLOCK" lock k --wait 30s --nodes "$(echo "$nodes" | tr ' ' ,)" -- true
status_is 0 "--nodes takes URIs with commas between them"
run "$REDLOCK" nodes --nodes "$(some 1 2 3)"
check "--nodes takes URIs with blanks between them, and overrides REDLOCK_NODES" \
    [ "$(grep -c "^unix:" "$work/out")" -eq 3 ]
if ! [ -e /etc/redlock/nodes ]; then
    run env -u REDLOCK_NODES "$REDLOCK" lock k -- true
    status_is 64 "a command without masters gives 64"
    says "export REDLOCK_NODES=" "without masters redlock shows how to name them"
fi
{
    echo '# the masters'
    some 1 2 | tr ' ' '\n'
    echo "$(some 3) # the third"
} >"$HOME/.config/redlock/nodes"
run env -u REDLOCK_NODES "$REDLOCK" nodes
check "\$HOME/.config/redlock/nodes names the masters, with comments" \
    [ "$(grep -c "^unix:" "$work/out")" -eq 3 ]
some 1 >"$work/xdg/redlock/nodes"
run env -u REDLOCK_NODES XDG_CONFIG_HOME="$work/xdg" "$REDLOCK" nodes
check "\$XDG_CONFIG_HOME/redlock/nodes overrides it" [ "$(grep -c "^unix:" "$work/out")" -eq 1 ]
gone="unix://$work/gone"
run env REDLOCK_NODES="$gone" "$REDLOCK" lock k --no-wait -- true
status_is 69 "masters that are gone give 69"
says "These masters are those of REDLOCK_NODES; $HOME/.config/redlock/nodes is not read." \
    "the list is named, and the file that is not read because of it"
run "$REDLOCK" lock k --no-wait --nodes "$gone" -- true
says "These masters are those of --nodes; " "that the list comes from the option is said, too"
echo "$gone" >"$work/gone.nodes"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/gone.nodes" "$REDLOCK" lock k --no-wait -- true
says "These masters are those of $work/gone.nodes" "and the name of a file"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/xdg/redlock/nodes" "$REDLOCK" nodes
check "REDLOCK_CONFIG names another file" [ "$(grep -c "^unix:" "$work/out")" -eq 1 ]
{ printf '\357\273\277'; some 1 2; } >"$work/marked"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/marked" "$REDLOCK" nodes
check "a byte order mark is skipped" [ "$(grep -c '  up ' "$work/out")" -eq 2 ]
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/fifo" "$REDLOCK" nodes
status_is 64 "a FIFO without a writer is refused as a configuration"
says "cannot read the masters from $work/fifo (REDLOCK_CONFIG): it is a FIFO" \
    "redlock says that the configuration is a FIFO"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/none" "$REDLOCK" nodes
status_is 64 "a missing REDLOCK_CONFIG is refused"

# --- settings in a file ---

config() { # config LINE...: a file that names masters, followed by these lines
    some 1 2 3 | tr ' ' '\n' >"$work/nodes"
    printf '%s\n' "$@" >>"$work/nodes"
}
with_config() { run env -u REDLOCK_NODES -u REDLOCK_QUARANTINE REDLOCK_CONFIG="$work/nodes" "$@"; }

# Prints the key as soon as master 1 has it: the majority that decides may be the other two.
cat >"$work/await_key" <<SCRIPT
until [ "\$('$rediscli' -s '$REDLOCK_SANDBOX/1.sock' exists "\$1")" = 1 ]; do sleep 0.05; done
echo "\$1"
SCRIPT
with_key() { with_config timeout 60 "$@"; }

config 'key-prefix = app:' 'max-ttl=20s  # of all' 'quarantine = off'
with_key "$REDLOCK" lock k --wait 30s -- sh "$work/await_key" app:k
prints app:k "a file may set the prefix"
status_is 0 "a file may set the quarantine"
with_config "$REDLOCK" lock k --wait 30s --ttl 30s -- true
status_is 64 "a file may set the longest ttl"
says "--max-ttl 20.0 s" "the longest ttl of the file is named"
with_key "$REDLOCK" lock k --wait 30s --ttl 30s --max-ttl 1m --key-prefix '' -- \
    sh "$work/await_key" k
prints k "options override the file, even an empty prefix"
with_key env REDLOCK_MAX_TTL=1m REDLOCK_KEY_PREFIX= "$REDLOCK" lock k --wait 30s --ttl 30s -- \
    sh "$work/await_key" k
prints k "environment variables override the file"
run env REDLOCK_CONFIG="$work/nodes" "$REDLOCK" lock k --wait 30s --ttl 30s -- true
status_is 0 "a file's settings apply only to the masters that it names"
config 'max-ttl = 20x'
with_config "$REDLOCK" nodes
status_is 64 "a wrong value in a file gives 64"
says "$work/nodes:4: max-ttl '20x' is not a time" "the line of a wrong time is named"
config 'quarantine = of'
with_config "$REDLOCK" nodes
says "$work/nodes:4: quarantine 'of' is unknown" "the line of a wrong quarantine is named"
config 'audit = many'
with_config "$REDLOCK" nodes
says "$work/nodes:4: audit 'many' is not a number from 0 to 10000000" \
    "the line of a wrong number is named"
run "$REDLOCK" nodes --audit=10000001
status_is 64 "an audit stream that is too long gives 64"
says "--audit '10000001' is not a number from 0 to 10000000" "and its range is named"
config 'audit = 7' 'quarantine = off'
with_config "$REDLOCK" lock k --wait 30s -- env
prints "REDLOCK_AUDIT=7" "a file may set the audit stream, and CMD inherits it"
with_config "$REDLOCK" lock k --wait 30s --audit -- env
prints "REDLOCK_AUDIT=10000" "--audit alone means 10000 entries"
run env REDLOCK_AUDIT=5 "$REDLOCK" lock k --wait 30s -- env
prints "REDLOCK_AUDIT=5" "a variable may set it"
config 'node-timeout = 7s' 'quarantine = off'
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" "$plain_redlock" lock k --wait 30s -- env
prints "REDLOCK_NODE_TIMEOUT=7000ms" "a file may set the node timeout, and CMD inherits it"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" REDLOCK_NODE_TIMEOUT=8s \
    "$plain_redlock" lock k --wait 30s -- env
prints "REDLOCK_NODE_TIMEOUT=8000ms" "a variable overrides it"
config '' 'max-tll = 20s'
with_config "$REDLOCK" nodes
says "$work/nodes:5: unknown setting 'max-tll'" "the line of an unknown setting is named"
config 'max-ttl = 20s' 'max-ttl = 30s'
with_config "$REDLOCK" nodes
says "$work/nodes:5: max-ttl is given twice: see line 4" \
    "the line of a setting that is given twice is named"
config '# the fourth' 'redis//:hunter2@d.example'
with_config "$REDLOCK" nodes
status_is 64 "an invalid URI in a file gives 64"
says "$work/nodes:5: master 4 of 4 has a URI that is not valid" \
    "the line of an invalid URI is named"
says_not hunter2 "the password of an invalid URI in a file is not shown"
config "$(some 2)"
with_config "$REDLOCK" nodes
says "$work/nodes:4: master 2 and master 4 are the same" \
    "the line of a master that is listed twice is named"

# --- the login in a file ---

for number in 1 2 3; do
    master "$number" acl setuser ann on '>hunter2' '~*' '&*' +@all >/dev/null
    master "$number" acl setuser default off >/dev/null
done
as_ann() { # as_ann NUMBER COMMAND...
    socket=$REDLOCK_SANDBOX/$1.sock
    shift
    "$rediscli" -s "$socket" --user ann --no-auth-warning -a hunter2 "$@"
}
echo hunter2 >"$work/secret"
echo wrong7 >"$work/wrong"
config 'username = ann' "password-file = $work/secret" 'quarantine = off'
with_config "$REDLOCK" nodes
status_is 0 "a file may name the user and the password file"
with_config "$REDLOCK" lock k --wait 30s -- sh -c 'env; "$0" extend k --token "$REDLOCK_TOKEN"' "$REDLOCK"
status_is 0 "a redlock inside CMD logs in as this file says"
prints "REDLOCK_PASSWORD_FILE=$work/secret" "CMD inherits the name of the password file"
prints "REDLOCK_USERNAME=ann" "CMD inherits the user"
check "CMD does not inherit the password" missing hunter2 "$work/out"
with_config "$REDLOCK" nodes --password-file "$work/wrong"
status_is 69 "--password-file overrides the file"
with_config env REDLOCK_PASSWORD_COMMAND='echo wrong7' "$REDLOCK" nodes
status_is 69 "a variable with a command overrides it"
with_config env REDLOCK_PASSWORD=wrong7 "$REDLOCK" nodes
status_is 69 "a variable with the password overrides it"
with_config env REDLOCK_USERNAME=bob "$REDLOCK" nodes
status_is 69 "a variable with the user overrides the file"
run env REDLOCK_NODES="$(some 1 2 3)" REDLOCK_CONFIG="$work/nodes" "$REDLOCK" nodes
status_is 69 "the login of a file is only for the masters that it names"
config 'username = ann' "password-command = cat $work/secret   # the store" 'quarantine = off'
with_config "$REDLOCK" lock k --wait 30s -- env
status_is 0 "a file may name a command that prints the password"
prints "REDLOCK_PASSWORD_COMMAND=cat $work/secret" "CMD inherits it"
chmod g+w "$work/nodes"
with_config "$REDLOCK" nodes
status_is 64 "a command in a file that others can change is not run"
says "$work/nodes:5: password-command is not run, because others can change this file" \
    "redlock says what is wrong with the file"
with_config "$REDLOCK" nodes --password-command "cat $work/secret"
status_is 0 "an option overrides it"
chmod g-w "$work/nodes"
config 'username = ann' "password-command = exit 7"
with_config "$REDLOCK" nodes
status_is 64 "a command that fails gives 64"
says "the password command gave no password: it ended with status 7" "redlock says how it ended"
config 'username = ann' "password-file = $work/secret" 'password-command = cat x'
with_config "$REDLOCK" nodes
status_is 64 "a file and a command in one file are refused"
says "$work/nodes:5: password-file and $work/nodes:6: password-command are both given" \
    "both lines are named"
config 'username = ann' 'password-file ='
with_config "$REDLOCK" nodes
says "$work/nodes:5: password-file is empty" "the line of an empty setting is named"
config 'username = ann'
with_config "$REDLOCK" nodes
says "$work/nodes:4: username needs a password" "the line of a user without a password is named"
config 'password = hunter2'
with_config "$REDLOCK" nodes
status_is 64 "a password in a file of masters is refused"
says "$work/nodes:4: a password cannot be given here" "redlock says where it belongs"
says_not hunter2 "and does not show it"
for number in 1 2 3; do as_ann "$number" acl setuser default on >/dev/null; done

# --- what the command inherits ---

# shellcheck disable=SC2016
nested='"$0" extend k --token "$REDLOCK_TOKEN" --ttl 50s && env'
outer() { run env -u REDLOCK_NODES "$REDLOCK" lock k --wait 30s "$@" -- sh -c "$nested" "$REDLOCK"; }
outer --nodes "$(some 1 2 3)" --key-prefix app: --max-ttl 1m --quarantine off
status_is 0 "a redlock inside CMD uses the same lock"
prints "REDLOCK_KEY_PREFIX=app:" "CMD inherits the prefix"
prints "REDLOCK_MAX_TTL=60000ms" "CMD inherits the longest ttl"
prints "REDLOCK_QUARANTINE=off" "CMD inherits the quarantine"
config 'key-prefix = app:' 'max-ttl = 1m' 'quarantine = off'
with_config "$REDLOCK" lock k --wait 30s -- env -u REDLOCK_CONFIG sh -c "$nested" "$REDLOCK"
status_is 0 "a redlock inside CMD uses the settings of a file"
with_config "$REDLOCK" lock k --wait 30s --key-prefix '' -- sh -c "$nested" "$REDLOCK"
status_is 0 "a redlock inside CMD uses settings that override the file"

for number in 1 2 3; do
    master "$number" config set requirepass hunter2 >/dev/null
done
echo hunter2 >"$work/password"
(cd "$work" && outer --nodes "$(some 1 2 3)" --password-file password --quarantine off
echo "$status" >"$work/status")
status=$(cat "$work/status")
status_is 0 "CMD inherits the password file by its full path"
check "CMD does not inherit the content of the password file" missing hunter2 "$work/out"
for number in 1 2 3; do
    "$rediscli" -s "$REDLOCK_SANDBOX/$number.sock" --no-auth-warning -a hunter2 \
        config set requirepass '' >/dev/null
done
{ some 1 2 3; echo redis://ann:hunter2@127.0.0.1:1; } | tr ' ' '\n' >"$work/nodes"
with_config "$REDLOCK" lock k --wait 30s --quarantine off -- sh -c "$nested" "$REDLOCK"
status_is 0 "CMD inherits a file that contains a password"
prints "REDLOCK_CONFIG=$work/nodes" "CMD inherits that file by its name"
echo 'tls-verify = none' >>"$work/nodes"
with_config "$REDLOCK" lock k --wait 30s --quarantine off --tls-verify=full -- env
prints "REDLOCK_TLS_VERIFY=full" "CMD inherits --tls-verify=full, which the file does not say"
check "CMD does not inherit the password in that file" missing hunter2 "$work/out"
run env REDLOCK_NODES="$(some 1 2 3)redis://ann:hunter2@127.0.0.1:1 redis://:hunter2@127.0.0.1:2" \
    "$REDLOCK" lock k --wait 30s -- env
prints "redis://ann@127.0.0.1:1 redis://127.0.0.1:2" "CMD inherits URIs without their passwords"
check "the passwords of URIs are not shown" missing hunter2 "$work/out"

finish
