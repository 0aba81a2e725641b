#!/bin/bash
# What TAB offers in bash. zsh and fish get their files read, where they are installed.
. "$(dirname "$0")/lib.sh"

files=$(cd "$(dirname "$0")/../../completions" && pwd)
PATH=$(dirname "$REDLOCK"):$PATH
# shellcheck source=../../completions/redlock.bash
. "$files/redlock.bash"

# offers WORD... : sets $offered to what there is for the last word, a line each.
offers() {
    COMP_WORDS=(redlock "$@")
    COMP_CWORD=$#
    _redlock
    offered=$(printf '%s\n' "${COMPREPLY[@]}")
}

has() {
    printf '%s\n' "$offered" | grep -qxe "$1"
}

lacks() {
    ! has "$1"
}

offers ''
for command in lock hold elect acquire extend release break transfer status nodes masters doctor sandbox web exporter --version; do
    check "a command: $command" has "$command"
done
offers el
check "commands that begin with a word" [ "$offered" = elect ]
offers lock k --
for option in --wait --ttl --fence --at-least --cacert --sni --help; do
    check "an option of lock: $option" has "$option"
done
check "no option of another command" lacks --observe
offers elect e --obs
check "an option of elect" [ "$offered" = --observe ]
offers masters ''
for action in replace add remove delete; do
    check "an action of masters: $action" has "$action"
done
offers masters replace del
check "an action comes first" lacks delete
offers lock ''
check "lock has no actions" lacks replace
offers help ''
check "help offers the commands" has transfer
check "and its other topics" has masters
offers break k --now ''
check "the values of break --now" [ "$offered" = "$(printf 'fenced\nstopped')" ]
offers lock --quarantine l
check "the values of --quarantine" [ "$offered" = lenient ]
cd "$work" && touch a-file || exit
offers lock ''
check "a KEY is not completed with a file" lacks a-file
offers lock --wait ''
check "a time is not completed with a file" lacks a-file
offers extend k --token-file a-
check "an option that takes a file is completed with one" [ "$offered" = a-file ]
offers lock --password-file a-
check "so is an option about the masters" [ "$offered" = a-file ]
offers ''
check "nothing is offered twice" [ -z "$(printf '%s\n' "$offered" | sort | uniq -d)" ]
offers lock k -- --wa
check "no option of ours behind --" lacks --wait
offers lock k -- ech
check "a command behind --" has echo

# Each option that a command has is offered.
for command in lock hold elect acquire extend release break transfer status nodes masters doctor sandbox web exporter; do
    offers "$command" x --
    missing=$("$REDLOCK" "$command" --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--.*' |
        grep -vxFf <(printf '%s\n' "$offered"))
    check "all options of $command" [ -z "$missing" ]
done

for shell in zsh fish; do
    if command -v "$shell" >/dev/null; then
        check "$shell can read its file" "$shell" -n "$files/redlock.$shell"
    else
        skip "$shell can read its file" "$shell is not installed"
    fi
done
finish
