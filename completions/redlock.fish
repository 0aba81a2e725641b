# redlock.fish - the same as redlock.bash.

function __redlock_commands
    redlock --help 2>/dev/null | awk '$1 == "redlock" && $2 ~ /^[a-z]+$/ { print $2 }' | sort -u
end

function __redlock_options
    set -l words (commandline -opc)
    redlock $words[2] --help 2>/dev/null | grep -oE -- '(^|[ (])--[a-z][a-z-]+' | tr -d ' (' | sort -u
end

function __redlock_actions
    set -l words (commandline -opc)
    redlock $words[2] --help 2>/dev/null | awk -v command=$words[2] '
        /^$/ { exit }
        { sub(/^usage:/, "") }
        $1 == "redlock" && $2 == command && $3 ~ /^[a-z]+$/ { print $3 }'
end

function __redlock_has_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and not contains -- -- $words
end

complete -c redlock -n 'test (count (commandline -opc)) -eq 1' -f -a '(__redlock_commands) --help --version'
complete -c redlock -n __redlock_has_command -a '(__redlock_options)'
complete -c redlock -n 'test (count (commandline -opc)) -eq 2' -a '(__redlock_actions)'
complete -c redlock -n 'contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand)'
