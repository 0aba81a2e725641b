#compdef redlock
# redlock.zsh - nearly the same as redlock.bash; it offers files behind any option.

_redlock() {
    local end=${words[(i)--]}

    if (( CURRENT == 2 )); then
        compadd -- --help --version $(redlock --help 2>/dev/null |
            awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }' | sort -u)
    elif (( end < CURRENT )); then
        shift $end words
        (( CURRENT -= end ))
        _normal
    elif [[ $PREFIX == -* ]]; then
        compadd -- $(redlock ${words[2]} --help 2>/dev/null |
            grep -oE -- '(^|[ (])--[a-z][a-z-]+' | tr -d ' (' | sort -u)
    elif [[ ${words[2]} == help ]]; then
        compadd -- $(redlock --help 2>/dev/null |
            awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }' | sort -u)
    elif [[ ${words[CURRENT - 1]} == --now ]]; then
        compadd -- fenced stopped
    elif [[ ${words[CURRENT - 1]} == --quarantine ]]; then
        compadd -- strict lenient off
    elif [[ ${words[CURRENT - 1]} == --* ]]; then
        _files
    else
        (( CURRENT != 3 )) || compadd -- $(redlock ${words[2]} --help 2>/dev/null |
            awk -v command=${words[2]} '/^$/ { exit } { sub(/^usage:/, "") }
                $1 == "redlock" && $2 == command && $3 ~ /^[a-z]+$/ { print $3 }')
    fi
}

_redlock "$@"
