#!/bin/sh
# redlock started with stdin, stdout or stderr closed: no connection and no pipe takes their numbers.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# Prints what descriptors 0, 1 and 2 are, of this process and of its parent, redlock.
cat >"$work/look" <<'SCRIPT'
files=$(readlink /proc/$$/fd/[012] /proc/$PPID/fd/[012])
echo "$files" >"$1"
exit 5
SCRIPT

# closed CLOSINGS COMMAND...: run a command that way.
closed() {
    closings=$1
    shift
    rm -f "$work/files"
    status=0
    eval '"$@" </dev/null >"$work/out" 2>"$work/err"' "$closings" || status=$?
}

# Every descriptor is open, and is one that redlock was given, or /dev/null.
only_given() {
    [ "$(wc -l <"$work/files")" -eq 6 ] && ! grep -qvE "^($work/(out|err)|/dev/null)\$" "$work/files"
}

for closings in '' '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
    name=${closings:-nothing}
    closed "$closings" "$REDLOCK" lock k -v -- sh "$work/look" "$work/files"
    status_is 5 "lock with $name closed runs its command"
    check "with $name closed the command gets only files that redlock was given" only_given
    check "with $name closed the lock is released afterwards" is_free k
    closed "$closings" "$REDLOCK" sandbox -n 2 -v -- sh "$work/look" "$work/files"
    status_is 5 "sandbox with $name closed runs its command"
    check "with $name closed sandbox passes on only files that it was given" only_given
done

closed '0<&-' "$REDLOCK" lock k -- cat
status_is 1 "a command that reads a closed stdin fails"
closed '1>&-' "$REDLOCK" lock k -- echo lost
check "a command that writes to a closed stdout fails" [ "$status" -gt 0 ]

# --- a pipe that nobody reads ---

export REDLOCK_AUDIT=100
"$REDLOCK" lock k -- true
for command in '--help' 'help masters' 'list --all' 'status k' 'status k --json' 'history k' nodes masters doctor \
    'elect e --observe'; do
    # shellcheck disable=SC2086
    unread "$REDLOCK" $command
    status_is 141 "redlock $command ends as if SIGPIPE had ended it"
    check "redlock $command says nothing of its pipe" missing stdout "$work/err"
done
unread "$REDLOCK" acquire k
status_is 70 "acquire fails when nobody can read its token"
check "and releases the lock" until_true is_free k

finish
