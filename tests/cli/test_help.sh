#!/bin/sh
# Help, versions and mistakes on the command line. No masters are needed.
. "$(dirname "$0")/lib.sh"

run "$REDLOCK" --help
status_is 0 "--help gives 0"
prints "usage: redlock" "--help shows the usage"
prints "redlock sandbox" "--help shows how to try redlock"
run "$REDLOCK" --version
status_is 0 "--version gives 0"
check "--version prints a version" grep -Eqx 'redlock [0-9]+\.[0-9]+\.[0-9]+' "$work/out"
run "$REDLOCK"
status_is 64 "without a command it gives 64"
says "redlock --help" "without a command redlock points to the help"
"$REDLOCK" --help | awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }' | sort -u >"$work/commands"
all_named() {
    while read -r command; do grep -qw "$command" "$work/err" || return 1; done <"$work/commands"
}
check "and names each command" all_named
run "$REDLOCK" dance
status_is 64 "an unknown command gives 64"
says "'dance'" "an unknown command is named"
run "$REDLOCK" lcok k -- true
says "unknown command 'lcok' (did you mean lock?)" "a misspelled command gives the one that was meant"
run "$REDLOCK" lock k --wiat=5s -- true
says "unknown option --wiat (did you mean --wait?)" "so does a misspelled option"
run "$REDLOCK" lock k --pasword=hunter2 -- true
says_not "did you mean --password?" "but not one that is refused"
run "$REDLOCK" --nodes x lock k
status_is 64 "an option before the command gives 64"

for command in lock hold elect acquire extend release break transfer status list history nodes masters doctor exporter sandbox web; do
    run "$REDLOCK" "$command" --help
    status_is 0 "$command --help gives 0"
    prints "usage: redlock $command" "$command --help shows the usage"
    check "$command --help has an example" grep -q '^example' "$work/out"
    prints "exit status:" "$command --help lists the exit status"
    cp "$work/out" "$work/help"
    run "$REDLOCK" help "$command"
    # It explains the options about the masters.
    [ "$command" = masters ] || check "help $command prints the same" cmp "$work/out" "$work/help"
    run env REDLOCK_PASSWORD=hunter2 REDLOCK_NODES=redis://u:hunter2@h "$REDLOCK" "$command" --help
    says_not hunter2 "$command --help shows no password"
    run "$REDLOCK" "$command" --no-such-option
    status_is 64 "$command gives 64 for an unknown option"
    says "--no-such-option" "$command names it"
    says "redlock $command --help" "$command points to its help"
    run "$REDLOCK" "$command" -Z
    says "option -Z" "$command names an unknown letter"
    status=0
    "$REDLOCK" "$command" --help >/dev/full 2>"$work/err" || status=$?
    status_is 70 "$command --help gives 70 when stdout is full"
done

# --- what only programs start ---

run "$REDLOCK" companion 1
status_is 64 "companion gives 64 when it is started by hand"
says "is started by a program that uses libredlock" "it says who starts it"
echo mine >"$work/file"
run "$REDLOCK" companion 1 4<>"$work/file"
status_is 64 "also with a file of somebody else"
check "which it leaves as it is" [ "$(cat "$work/file")" = mine ]
run "$REDLOCK" companion --help
status_is 0 "companion --help gives 0"

# --- the options that the commands share ---

# options FILE: the long ones that a help names
options() {
    grep -oE -- '(^|[ (])--[a-z][a-z-]+' "$1" | tr -d ' (' | sort -u
}

run "$REDLOCK" help masters
status_is 0 "help masters gives 0"
options "$work/out" >"$work/explained"
"$REDLOCK" nodes --help >"$work/help"
options "$work/help" | grep -vx -e --verbose -e --help -e --json >"$work/named"
grep -vx -e --ttl "$work/explained" >"$work/shared"
check "help masters explains the options that nodes --help names, and no others" \
    cmp "$work/shared" "$work/named"

# --- the man page knows the table of the settings ---

# section FROM TO: the lines of the man page between two headings, without backslashes
section() {
    sed -n "/^\.S[HS] $1\$/,/^\.S[HS] $2\$/p" "$(dirname "$0")/../../docs/man/redlock.1" | tr -d '\\'
}

section 'OPTIONS ABOUT THE MASTERS' TLS | sed -n '/^\.T[PQ]$/{n;/^\.BI* --/p}' >"$work/section"
options "$work/section" >"$work/documented"
check "the man page has the options that help masters explains, and no others" \
    cmp "$work/shared" "$work/documented"
section ENVIRONMENT FILES >"$work/section"
"$REDLOCK" help masters | grep -oE 'REDLOCK_[A-Z_]+[A-Z]' | sort -u >"$work/variables"
for variable in $(cat "$work/variables"); do
    check "the man page has $variable" grep -qw "$variable" "$work/section"
done
echo 'no-such = 1' >"$work/nodes"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" "$REDLOCK" nodes
sed 's/.*: write \(.*\), or the URIs.*/\1/; s/, \| or /\n/g' "$work/err" >"$work/names"
section FILES EXAMPLES >"$work/section"
check "a file of masters has settings" [ "$(wc -l <"$work/names")" -ge 8 ]
while read -r name; do
    check "the man page has the setting $name of a file" grep -qwe "$name =" "$work/section"
done <"$work/names"

# --- mistakes ---

run "$REDLOCK" lock k --ttl
status_is 64 "a missing value gives 64"
says "--ttl needs a value" "the option whose value is missing is named"
run "$REDLOCK" lock k --no-wait=3 -- true
says "--no-wait takes no value" "an option with an unexpected value is named"
run "$REDLOCK" lock --help=3
says "--help takes no value" "also when it is one of all commands"
run "$REDLOCK" sandbox --masters
says "--masters needs a value" "an option is named as it was written, not by its letter"

# --- a process without file descriptors ---

if prlimit --nofile=64 true 2>/dev/null; then
    run prlimit --nofile=5 "$REDLOCK" nodes --nodes unix:///none
    status_is 70 "with too few file descriptors redlock exits with 70"
    says "(ulimit -n)" "and says what to raise"
    says_not "[err]" "not in libevent's words"
fi

finish
