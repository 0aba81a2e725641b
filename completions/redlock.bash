# redlock.bash - completes the commands of redlock, their options, and the command behind "--".
#
# It asks the help of this redlock what there is, so it knows neither more nor less. It asks no
# master, so it knows no keys.

_redlock_commands() {
    redlock --help 2>/dev/null | awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }' | sort -u
}

_redlock_options() { # COMMAND
    redlock "$1" --help 2>/dev/null | grep -oE -- '(^|[ (])--[a-z][a-z-]+' | tr -d ' ('
}

# The words that may follow a command, as in "redlock masters replace": its usage has them.
_redlock_actions() { # COMMAND
    redlock "$1" --help 2>/dev/null | awk -v command="$1" '
        /^$/ { exit }
        { sub(/^usage:/, "") }
        $1 == "redlock" && $2 == command && $3 ~ /^[a-z]+$/ { print $3 }'
}

# What the help calls the value of an option: FILE, TIME, ...; nothing if it has none.
_redlock_value() { # COMMAND OPTION
    { redlock "$1" --help; redlock help masters; } 2>/dev/null |
        grep -oE -- "(^|[ (])$2[ =]+[A-Z]+" | sed 's/.*[ =]//; q'
}

# Behind -- is the command that is run, and perhaps behind the first KEY of `redlock lock`; behind an
# option its value. A KEY is known to nobody.
_redlock_offer() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} value i

    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            compgen -c -f -- "$word"
            return
        fi
    done
    if [ "$COMP_CWORD" -eq 1 ]; then
        compgen -W "$(_redlock_commands) --help --version" -- "$word"
    elif [[ $word == -* ]]; then
        compgen -W "$(_redlock_options "$command")" -- "$word"
    elif [ "$command" = help ]; then
        compgen -W "$(_redlock_commands)" -- "$word"
    elif [ "$before" = --now ]; then
        compgen -W 'fenced stopped' -- "$word"
    elif [ "$before" = --quarantine ]; then
        compgen -W 'strict lenient off' -- "$word"
    elif [[ $before == --* ]] && value=$(_redlock_value "$command" "$before") && [ -n "$value" ]; then
        case $value in F | FILE | PATH) compgen -f -- "$word" ;; esac
    elif [ "$COMP_CWORD" -eq 2 ]; then
        compgen -W "$(_redlock_actions "$command")" -- "$word"
    elif [ "$command" = lock ]; then
        compgen -c -f -- "$word"
    fi
}

_redlock() {
    mapfile -t COMPREPLY < <(_redlock_offer | sort -u)
}

complete -o filenames -F _redlock redlock
