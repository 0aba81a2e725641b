# redlock.bash - completes the commands of redlock, their options, and the command behind "--".
#
# It asks the help of this redlock what there is, so it knows neither more nor less. It asks no
# master, so it knows no keys.

_redlock_commands() {
    redlock --help 2>/dev/null | awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }'
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

_redlock() {
    local word=${COMP_WORDS[COMP_CWORD]} i

    COMPREPLY=()
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
            return
        fi
    done
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_redlock_commands) --help --version" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_redlock_options "${COMP_WORDS[1]}")" -- "$word" | sort -u)
    else
        mapfile -t COMPREPLY < <(
            [ "$COMP_CWORD" -ne 2 ] || compgen -W "$(_redlock_actions "${COMP_WORDS[1]}")" -- "$word"
            compgen -f -- "$word"
        )
    fi
}

complete -o filenames -F _redlock redlock
