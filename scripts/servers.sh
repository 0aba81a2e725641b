# shellcheck shell=bash disable=SC2016,SC2034
# servers.sh - the Redis and Valkey servers of Debian's releases, each unpacked into a folder of its
# own; to be sourced after lib.sh.
#
#   server_names                all of them, the oldest first: redis-bullseye, valkey-trixie, ...
#   have_server NAME            unpack it, or use what is there; sets $server to a program that runs
#                               it, and $version. Beside it there are a redis-server and a redis-cli,
#                               also for Valkey. If it cannot be had, $refused says why
#
# apt checks the signatures and downloads; nothing is installed, and root is not needed. The folders
# are in $server_folder, and stay there.
server_folder=${XDG_CACHE_HOME:-$HOME/.cache}/redlock-compat

# Debian keeps old releases on its mirrors for some years after their end.
declare -A server_suites=(
    [stretch]=stretch [buster]=buster [bullseye]=bullseye [bookworm]=bookworm
    [bookworm-backports]='bookworm bookworm-backports' [trixie]=trixie [sid]=sid
    [experimental]='sid experimental'
)

server_names() {
    printf '%s\n' redis-{stretch,buster,bullseye,bookworm,trixie,sid,experimental} \
        valkey-{bookworm-backports,trixie,sid,experimental}
}

# The first keyring is where Debian's own package puts it, also on Ubuntu.
debian_keyring() {
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg

    [ ! -e $keyring ] || echo "[signed-by=$keyring]"
}

# apt with lists, settings and an empty system of its own. Suites that are no longer released are
# signed, too, but their dates have passed.
apt_for() { # RELEASE PROGRAM ARGUMENT...
    local apt=$server_folder/apt/$1 program=$2
    shift 2

    "$program" -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
        -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none \
        -o Acquire::Check-Valid-Until=false -o APT::Update::Error-Mode=any \
        -o APT::Install-Recommends=false -o Acquire::Retries=2 "$@"
}

# Lists that are younger than a day are not asked for again.
know_release() { # RELEASE
    local apt=$server_folder/apt/$1 suite mirror

    [ -z "$(find "$apt/fresh" -mtime -1 2>/dev/null)" ] || return 0
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        refused='apt names no mirror of Debian'
        return 1
    fi
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    for suite in ${server_suites[$1]}; do
        echo "deb $(debian_keyring) $mirror $suite main"
    done >"$apt/sources.list"
    if ! apt_for "$1" apt-get -qq update >"$apt/log" 2>&1; then
        refused="no list of packages: $(sed -n 's/^E: //p' "$apt/log" | head -1)"
        return 1
    fi
    touch "$apt/fresh"
}

# The version that this very release has, not one that it is an addition to.
newest_in() { # RELEASE PACKAGE
    apt_for "$1" apt-cache madison "$2" |
        awk -F ' *[|] *' -v suite=" $1/main " 'index($3 " ", suite) { print $2; exit }'
}

# "NAME=VERSION" of a server and of the libraries that it needs. The other packages are for a system
# that it is installed into.
packages_of() { # RELEASE PACKAGE VERSION
    apt_for "$1" apt-get -s -qq -t "$1" install "$2=$3" | sed -nE \
        's/^Inst ((lib|zlib|lua-|redis|valkey)[^ ]*) \(([^ ]*) .*/\1=\3/p'
}

# A server without the C library of its release runs on a newer one, into which the tests can preload
# what was built for it.
unpack_packages() { # FOLDER OF PACKAGES, FOLDER
    local own ours deb

    own=$(find "$1" -name 'libc6_*' | sed 's/.*libc6_//; s/_.*//')
    ours=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
    for deb in "$1"/*.deb; do
        case $deb in
        */libc6_*) ! dpkg --compare-versions "$own" lt "$ours.99" || continue ;;
        esac
        dpkg-deb -x "$deb" "$2"
    done
}

# Programs that are unpacked, and not installed, find their libraries by these.
write_starter() { # FOLDER PROGRAM
    local at=$1 loader libraries

    libraries=$(find "$at/lib" "$at/usr/lib" -name '*.so.*' -printf '%h\n' 2>/dev/null | sort -u |
        paste -sd:)
    loader=$(find "$at" -name 'ld-linux*.so.*' | head -1)
    {
        echo '#!/bin/sh'
        if [ -n "$loader" ]; then
            echo "exec '$loader' --argv0 '$2' --library-path '$libraries' '$at/usr/bin/$2' \"\$@\""
        else
            echo "LD_LIBRARY_PATH='$libraries' exec '$at/usr/bin/$2' \"\$@\""
        fi
    } >"$at/bin/$2"
    chmod +x "$at/bin/$2"
}

# A program that looks for a redis-server in PATH finds this server, of either kind.
name_as_redis() { # FOLDER KIND
    [ "$2" = redis ] || ln -s "$2-server" "$1/redis-server"
    [ "$2" = redis ] || ln -s "$2-cli" "$1/redis-cli"
}

unpack_server() { # NAME RELEASE KIND PACKAGES
    local at=$server_folder/$1 new=$server_folder/$1.new

    rm -rf "$new"
    mkdir -p "$new/bin" "$new/packages"
    # shellcheck disable=SC2086
    if ! (cd "$new/packages" && apt_for "$2" apt-get -qq download $4) >"$new/log" 2>&1; then
        refused="no packages: $(sed -n 's/^E: //p' "$new/log" | head -1)"
        return 1
    fi
    unpack_packages "$new/packages" "$new"
    rm -rf "$new/packages" "$at"
    mv "$new" "$at"
    write_starter "$at" "$3-server"
    write_starter "$at" "$3-cli"
    name_as_redis "$at/bin" "$3"
    echo "$4" >"$at/unpacked"
}

have_server() { # NAME
    local kind=${1%%-*} release=${1#*-} packages

    server=$server_folder/$1/bin/$kind-server
    know_release "$release" || return 1
    version=$(newest_in "$release" "$kind-server")
    if [ -z "$version" ]; then
        refused="$release has no $kind-server of its own"
        return 1
    fi
    packages=$(packages_of "$release" "$kind-server" "$version")
    if [ "$(cat "$server_folder/$1/unpacked" 2>/dev/null)" != "$packages" ]; then
        unpack_server "$1" "$release" "$kind" "$packages" || return 1
    fi
    if ! version=$("$server" --version 2>&1); then
        refused="it does not run here: ${version##*$'\n'}"
        return 1
    fi
    version=$(sed -E 's/.* v=([^ ]*).*/\1/' <<<"$version")
}
