#compdef redlock
# redlock.zsh - the same as redlock.bash.

_redlock() {
    local end=${words[(i)--]}

    if (( CURRENT == 2 )); then
        compadd -- --help --version $(redlock --help 2>/dev/null |
            awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }')
    elif (( end < CURRENT )); then
        shift $end words
        (( CURRENT -= end ))
        _normal
    elif [[ $PREFIX == -* ]]; then
        compadd -- $(redlock ${words[2]} --help 2>/dev/null |
            grep -oE -- '(^|[ (])--[a-z][a-z-]+' | tr -d ' (' | sort -u)
    else
        _files
    fi
}

_redlock "$@"
