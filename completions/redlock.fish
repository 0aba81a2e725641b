# redlock.fish - nearly the same as redlock.bash; it offers files for a KEY, too.

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

function __redlock_follows
    test (commandline -opc)[-1] = $argv[1]
end

function __redlock_has_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and not contains -- -- $words
end

complete -c redlock -n 'test (count (commandline -opc)) -eq 1' -f -a '(__redlock_commands) --help --version'
complete -c redlock -n __redlock_has_command -a '(__redlock_options)'
complete -c redlock -n 'test (count (commandline -opc)) -eq 2' -a '(__redlock_actions)'
complete -c redlock -n 'contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand)'
complete -c redlock -n 'test (count (commandline -opc)) -eq 2; and __redlock_follows help' -f -a '(__redlock_commands)'
complete -c redlock -n '__redlock_follows --now' -f -a 'fenced stopped'
complete -c redlock -n '__redlock_follows --quarantine' -f -a 'strict lenient off'
