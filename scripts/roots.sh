# shellcheck shell=bash
# roots.sh - roots of Debian, each with nothing of this machine but /proc and /dev; sourced after
# stages.sh.
#
#   make_root ROOT SUITE [OPTION OF DEBOOTSTRAP...]
#                             unless it is there; with fresh=yes, anew
#   inside ROOT COMMAND...    run it there
#   clone_into ROOT           the last commit, as /src
#   lacks REASON              end: something cannot be had here
#
# The roots are kept in build-test/systems, or in $REDLOCK_SYSTEMS.

# shellcheck disable=SC2034
roots=${REDLOCK_SYSTEMS:-$PWD/$builds/systems}
fresh=no

# What cannot be had is no failure of ours: the system's result says why.
lacks() {
    echo "not to be had: $*"
    exit 77
}

# How this machine reaches its mirror holds in the root, too.
settings_of_apt() {
    apt-config dump | grep -E '^Acquire::(Check-|https?::(Proxy|Timeout))' || true
}

make_root() { # ROOT SUITE [OPTION OF DEBOOTSTRAP...]
    local root=$1 suite=$2 mirror
    shift 2

    [ "$fresh" = no ] || rm -rf "$root"
    [ ! -e "$root/made" ] || return 0
    [ "$(id -u)" = 0 ] || lacks 'a root can be made by root only'
    need_packages debootstrap
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || lacks 'apt names no mirror of Debian'
    rm -rf "$root"
    mkdir -p "$roots/packages"
    debootstrap --variant=minbase --cache-dir="$roots/packages" "$@" "$suite" "$root" "$mirror" ||
        lacks "debootstrap could not make a root of $suite"
    settings_of_apt >"$root/etc/apt/apt.conf.d/90host"
    touch "$root/made"
}

# The mounts end with the command.
inside() { # ROOT COMMAND...
    local root=$1
    shift

    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -ec '
        root=$1; shift
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" "$@"
    ' sh "$root" "$@"
}

# A clone of the last commit, as a user has it.
clone_into() { # ROOT
    rm -rf "$1/src"
    git clone -q --no-hardlinks . "$1/src"
}
