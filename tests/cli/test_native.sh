#!/bin/sh
# Releases by the command of the server that deletes a key by its value, where it has one: counted by
# the server itself, so a script that does the same work in its place is noticed.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# A master says for a word of COMMAND INFO whether it knows the command.
knows() { # COMMAND
    [ -n "$(master 1 --raw command info "$1" | head -n 1)" ]
}

calls() { # MASTER COMMAND: how often it was carried out; nothing was not
    master "$1" info commandstats | sed -n "s/^cmdstat_$2:calls=\([0-9]*\),.*/\1/p"
}

deleted_by() { # COMMAND, at every master
    for i in 1 2 3 4 5; do
        [ "$(calls $i "$1")" ] || return 1
    done
}

command=
for candidate in delex delifeq; do
    if [ -z "$command" ] && knows $candidate; then
        command=$candidate
    fi
done

each_master config resetstat >/dev/null
run "$REDLOCK" lock native --ttl 60s -- true
status_is 0 "a lock is taken and released"
check "and nobody has it then" until_true is_free native
if [ -n "$command" ]; then
    check "each master deleted the key by its own command" until_true deleted_by "$command"
else
    skip "each master deleted the key by its own command" "this server has none (DELEX, DELIFEQ)"
fi
finish
