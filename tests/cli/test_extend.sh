#!/bin/sh
# redlock extend: prolongs the lock with that token, and no other lock.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

wrong=0000000000000000000000000000000000000000

# ttls ABOVE KEY: on how many masters the key lives for more milliseconds than that.
ttls() {
    count=0
    for number in 1 2 3 4 5; do
        [ "$(master "$number" pttl "$2")" -le "$1" ] || count=$((count + 1))
    done
    echo "$count"
}
on_a_majority() { [ "$(ttls "$@")" -ge 3 ]; }
nowhere() { [ "$(ttls "$@")" -eq 0 ]; }

run "$REDLOCK" acquire k --ttl 30s --owner me
token=$(cat "$work/out")
check "before the extension the lock ends soon" nowhere 30000 k
run "$REDLOCK" extend k --token "$token" --ttl 2m
status_is 0 "extend succeeds"
check "extend prints for how long the lock is valid" grep -Eqx '1[0-9]{5}ms' "$work/out"
check "extend prints nothing on stderr" [ ! -s "$work/err" ]
check "the lock lives longer on the masters" on_a_majority 100000 k
run "$REDLOCK" extend k --token "$token"
status_is 0 "an extension by less succeeds"
check "an extension by less does not shorten the lock" on_a_majority 90000 k

run "$REDLOCK" extend k --token "$token" --fence
status_is 0 "a lock without a fencing token can get one"
fence=$(sed -n 2p "$work/out")
check "extend --fence prints it" grep -Eqx '[0-9]{10,16}' <<FENCE
$fence
FENCE
run "$REDLOCK" extend k --token "$token" --fence
check "each extension with --fence gets a larger one" [ "$(sed -n 2p "$work/out")" -gt "$fence" ]

run "$REDLOCK" extend k --token "$wrong" --ttl 4m
status_is 75 "a wrong token gives 75"
says "'k' is held by somebody else" "with a wrong token extend says why"
says "token $(printf %.8s "$token")..." "with a wrong token extend says whose lock it is"
says_not "$token" "but not the whole token, with which anybody could release it"
check "with a wrong token extend prints nothing on stdout" [ ! -s "$work/out" ]
check "with a wrong token extend changes nothing" nowhere 120000 k

run "$REDLOCK" release k --token "$token"
until_true is_free k
run "$REDLOCK" extend k --token "$token"
status_is 75 "a lock that is gone gives 75"
says "'k' is gone" "extend says that the lock is gone"
check "extend does not bring the lock back" is_free k

# Two masters have lost the key: it is extended on the others, and set on these two, unless one is late by
# more than a tenth of a second.
extend_lost() {
    each_master set k "$token" px 20000
    for number in 1 2; do master "$number" del k >/dev/null; done
    run "$REDLOCK" extend k --token "$token" --ttl 60s
    everywhere k "$token" && [ "$(ttls 20000 k)" -eq 5 ]
}
some_time extend_lost
status_is 0 "a lock that a minority has lost can be extended"
check "extend sets the key again where it was lost" everywhere k "$token"
check "after an extension the keys end at the same time everywhere" [ "$(ttls 20000 k)" -eq 5 ]
for number in 1 2; do master "$number" del k >/dev/null; done
halt 3
run "$REDLOCK" extend k --token "$token" --node-timeout 500ms
status_is 69 "without a majority of masters that confirm it gives 69"
says "cannot extend 'k': 2 of 5 masters confirm it, 3 are needed: unix:///" \
    "without a majority extend names the cause"
says ".sock (does not have the key" "without a majority extend names the masters without the key"
says "3.sock (connecting" "without a majority extend names the masters that do not answer"
check "without a majority extend sets the key nowhere" \
    [ "$(master 1 exists k)$(master 2 exists k)" = 00 ]
resume 3
for number in 1 2; do master "$number" set k other px 20000 >/dev/null; done
run "$REDLOCK" extend k --token "$token" --ttl 90s
status_is 0 "a lock that somebody else has on a minority can be extended"
check "another holder on a minority keeps its time" [ "$(master 1 pttl k)" -le 20000 ]
master 3 set k other px 20000 >/dev/null
run "$REDLOCK" extend k --token "$token" --ttl 2m
status_is 75 "a lock that a majority has lost cannot be extended"
check "another holder on a majority keeps its time" [ "$(master 3 pttl k)" -le 20000 ]
each_master del k

# shellcheck disable=SC2016
run "$REDLOCK" lock k --no-renew -- sh -c '
    "$0" extend "$REDLOCK_KEY" --token "$REDLOCK_TOKEN" --ttl 60s' "$REDLOCK"
status_is 0 "extend accepts the token of redlock lock"

run "$REDLOCK" extend k
status_is 64 "extend needs --token"
run "$REDLOCK" extend k --token "$token" --token-file /dev/null
status_is 64 "extend accepts only one token"
run "$REDLOCK" extend k --token-file /dev/null
status_is 64 "extend refuses an empty file"
says "cannot read the token from the first line of /dev/null" "and names it"
"$REDLOCK" acquire filed --fence --ttl 30s >"$work/token"
run "$REDLOCK" extend filed --token-file "$work/token" --ttl 60s
status_is 0 "extend reads the token from the first line of a file"
run "$REDLOCK" release filed --token-file - <"$work/token"
status_is 0 "release reads the token from standard input"
says "released 'filed'" "and releases the lock"
run "$REDLOCK" extend --token "$token"
status_is 64 "extend needs KEY"
run "$REDLOCK" extend k --token "$token" --ttl 6m
status_is 64 "a ttl above --max-ttl is refused"
run "$REDLOCK" acquire k --ttl 30s
token=$(cat "$work/out")
status=0
"$REDLOCK" extend k --token "$token" --ttl 2m >/dev/full 2>"$work/err" || status=$?
status_is 70 "extend gives 70 when stdout is full"
run "$REDLOCK" acquire late --ttl 30s # its own key: a master may still have k of an earlier holder
token=$(cat "$work/out")
halt 1 2 3
run "$REDLOCK" extend late --token "$token"
status_is 69 "with three of five stopped it gives 69"
says "no majority of the masters" "with three of five stopped extend says why"
resume 1 2 3

# --- for a shell ---

acquire_for_shell() {
    eval "$("$REDLOCK" acquire shell --ttl 60s --fence --owner "it's mine; false" --shell)"
    # shellcheck disable=SC2154
    everywhere shell "$token" || { each_master del shell; return 1; }
}
check "acquire --shell sets the token, whatever it contains" some_time acquire_for_shell
# shellcheck disable=SC2154
check "and the fencing token" [ "$fencing_token" -gt 0 ]
first=$fencing_token
# shellcheck disable=SC2154
check "and the validity of the lock, as a number" [ "$valid_ms" -gt 50000 ]
eval "$("$REDLOCK" extend shell --token "$token" --ttl 2m --shell)"
check "extend --shell sets the validity, too" [ "$valid_ms" -gt 100000 ]
# shellcheck disable=SC2154
check "and the deadline" [ "$deadline_us" -gt 0 ]
check "but leaves the fencing token as it is without --fence" [ "$fencing_token" -eq "$first" ]
eval "$("$REDLOCK" extend shell --token "$token" --ttl 2m --fence --shell)"
check "with --fence, a new one" [ "$fencing_token" -gt "$first" ]

# A script must not go on without the lock.
shell_fails() { # SHELL COMMAND OPTION...
    ran=$1
    shift
    status=0
    # shellcheck disable=SC2016
    env token=old fencing_token=1 valid_ms=1 deadline_us=1 "$ran" -c '
        eval "$("$@" --shell)" || { code=$?; echo "$code,${token-},${fencing_token-},$valid_ms$deadline_us"; exit 9; }
        echo it goes on' "$ran" "$@" >"$work/out" 2>"$work/err" || status=$?
}
for ran in sh dash bash; do
    command -v "$ran" >/dev/null || continue
    shell_fails "$ran" "$REDLOCK" acquire shell --no-wait
    status_is 9 "in $ran eval fails when acquire --shell gets no lock"
    check "the script sees the exit status of redlock, and no old token" grep -qx '75,,,' "$work/out"
    shell_fails "$ran" "$REDLOCK" acquire shell --no-wait -E 33 -q
    check "also with -E" grep -qx '33,,,' "$work/out"
    shell_fails "$ran" "$REDLOCK" acquire shell --ttl nonsense
    check "also after a mistake in the command line" grep -qx '64,,,' "$work/out"
    shell_fails "$ran" "$REDLOCK" extend shell --token "$wrong"
    check "eval also fails when extend --shell fails, and the script keeps its token" \
        grep -qx '75,old,1,' "$work/out"
done
run "$REDLOCK" acquire free -q -E 0 --no-wait
status_is 64 "acquire refuses -E 0, because a script would go on without the lock"
says "-E 0 is not allowed" "and says so"
for command in acquire extend; do
    run "$REDLOCK" "$command" free --token "$token" --json --shell
    [ "$command" = extend ] || run "$REDLOCK" acquire free --json --shell
    status_is 64 "$command refuses --json with --shell"
done

status=0
"$REDLOCK" acquire other --shell >/dev/full 2>"$work/err" || status=$?
status_is 70 "acquire --shell exits with 70 when stdout is full"
check "and leaves no lock" until_true is_free other

finish
