# shellcheck shell=bash disable=SC2034
# lib.sh - functions for the scripts in this folder; sourced by bash.
#
#   say, fine, oops, die   a line on the terminal, coloured only there
#   quietly COMMAND...     run it, and show its output only when it fails
#   need_packages NAME...  install the Debian packages that are missing, and nothing else

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' blue=$'\e[34m'
    plain=$'\e[0m'
else
    bold='' dim='' red='' green='' yellow='' blue='' plain=''
fi

say() {
    printf '%s\n' "$bold$*$plain"
}

fine() {
    printf '%s\n' "$green$*$plain"
}

oops() {
    printf '%s\n' "$red$*$plain"
}

die() {
    printf '%s\n' "${0##*/}: $*" >&2
    exit 1
}

# The log file is removed while it is still open, so that an interrupt leaves nothing.
quietly() {
    local log fd status=0

    log=$(mktemp)
    exec {fd}<>"$log"
    rm -f "$log"
    "$@" >&$fd 2>&1 {fd}>&- || status=$?
    [ $status = 0 ] || cat "/proc/self/fd/$fd"
    exec {fd}>&-
    return $status
}

# What the package is needed for is installed, from wherever it came.
have_package() {
    case $1 in
    libc6-dev) [ -e /usr/include/stdio.h ] ;;
    ninja-build) command -v ninja ;;
    frama-c-base) command -v frama-c ;;
    binutils) command -v nm ;;
    libevent-dev) pkg-config --exists libevent_core libevent_extra ;;
    libhiredis-dev) pkg-config --exists hiredis ;;
    libssl-dev) pkg-config --exists openssl ;;
    libuv1-dev) pkg-config --exists libuv ;;
    libasio-dev) [ -e /usr/include/asio.hpp ] ;;
    libsqlite3-dev) pkg-config --exists sqlite3 ;;
    liblua5.1-0-dev) pkg-config --exists lua5.1 ;;
    lua5.1) command -v luac5.1 ;;
    check) pkg-config --exists check ;;
    systemtap-sdt-dev) find /usr/include -path '*/sys/sdt.h' | grep -q . ;;
    musl-tools) command -v musl-gcc ;;
    python3-yaml) python3 -c 'import yaml' ;;
    redis-server) command -v redis-server || command -v valkey-server ;;
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    prometheus) command -v promtool ;;
    iproute2) PATH=$PATH:/usr/sbin:/sbin command -v ip ;;
    nftables) PATH=$PATH:/usr/sbin:/sbin command -v nft ;;
    etcd-server) command -v etcd >/dev/null ;;
    etcd-client) command -v etcdctl >/dev/null ;;
    libcurator-recipes-java) [ -e /usr/share/java/curator-recipes.jar ] ;;
    *) command -v "$1" ;;
    esac
} >/dev/null 2>&1

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Debian's redis-server, prometheus and etcd-server contain services that start at once and at every
# boot. The scripts need only the programs. Where systemd runs, a unit is masked until the next boot and
# disabled for those after it; RUNLEVEL=1 keeps invoke-rc.d from starting it anywhere else.
install_packages() {
    local apt=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get)
    local unwanted=()

    if [ -d /run/systemd/system ]; then
        case " $* " in *' redis-server '*) unwanted+=(redis-server.service) ;; esac
        case " $* " in *' prometheus '*) unwanted+=(prometheus.service) ;; esac
        case " $* " in *' etcd-server '*) unwanted+=(etcd.service) ;; esac
    fi
    if ! as_root "${apt[@]}" install -qq --no-install-recommends --dry-run "$@" \
        >/dev/null 2>&1; then
        quietly as_root "${apt[@]}" update -qq
    fi
    [ ${#unwanted[@]} -eq 0 ] || as_root systemctl -q mask --runtime "${unwanted[@]}"
    quietly as_root "${apt[@]}" install -y -qq --no-install-recommends "$@"
    if [ ${#unwanted[@]} -gt 0 ]; then
        as_root systemctl -q disable "${unwanted[@]}"
        as_root systemctl -q unmask --runtime "${unwanted[@]}"
    fi
}

# Names of Debian packages; pkg-config comes before the packages that it looks for.
need_packages() {
    local package missing=()

    for package; do
        have_package "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        die "please install what Debian calls: ${missing[*]}"
    fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "please run as root: apt-get install --no-install-recommends ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    install_packages "${missing[@]}"
    for package in "${missing[@]}"; do
        have_package "$package" || die "$package was installed, but is not found"
    done
}

# The mirror of Debian that apt uses here; nothing: it uses none.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null |
        sort -u | head -1
}
