# shellcheck shell=bash
# stages.sh - how test, check, deep and torture build and run tests; to be sourced after lib.sh.
#
#   need_test_packages          what every build of the tests needs
#   build NAME [OPTION...]      set up or refresh build-test/NAME with these options of meson
#   stage TITLE NAME [OPTION...] [-- ARGUMENT...]
#                               build the goals, and run `meson test` with the arguments
#   stage_of 'SUITE...' NAME [OPTION...] [-- ARGUMENT...]
#                               build only what these suites need, and run them
#   sum_up                      the last line: "N passed, N failed"; its status is the result
#   sanitized, threaded         the options of a build under the sanitizers, or that of threads
#   released                    those of a build as it is released
#   stop_when_interrupted       for a subshell; the script itself does so

builds=build-test
goals=() # what to build; empty: everything
broken=0
ran=()
# The sanitizers take most of the time to build, and half of it with less optimization. They make the
# compiler warn of what cannot be: warnings are errors in the other builds.
less=(-Doptimization=1 -Dbench=false -Dwerror=false)
# shellcheck disable=SC2034
sanitized=('-Db_sanitize=address,undefined' "${less[@]}")
# shellcheck disable=SC2034
threaded=('-Db_sanitize=thread' "${less[@]}")
# As the library is released: what it is counted in. A profile needs the debug information, which
# changes no instruction.
# shellcheck disable=SC2034
released=(-Doptimization=3 -Ddebug=true -Db_lto=true -Dbench=false)
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}

# On an interrupt meson ends its tests and exits, but the script would go on.
stop_when_interrupted() {
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
stop_when_interrupted

need_test_packages() {
    need_packages gcc libc6-dev binutils python3 meson ninja-build pkg-config libevent-dev \
        libhiredis-dev libssl-dev openssl libuv1-dev libsqlite3-dev check redis-server \
        iproute2 nftables "$@"
    mkdir -p "$builds"
}

configure() { # NAME [OPTION...]
    local dir=$builds/$1
    shift

    if [ ! -e "$dir/build.ninja" ]; then
        quietly meson setup "$dir" -Dwerror=true "$@"
    elif [ $# -gt 0 ]; then
        quietly meson configure "$dir" "$@"
    fi
}

build() { # NAME [OPTION...]
    configure "$@" && quietly ninja -C "$builds/$1" "${goals[@]}"
}

run() { # NAME [ARGUMENT OF MESON TEST...]
    local dir=$builds/$1
    shift

    rm -f "$dir/meson-logs/testlog.json"
    ran+=("$dir")
    # Many tests wait more than they compute, so run more at once than there are processors.
    meson test -C "$dir" --no-rebuild --num-processes $((3 * $(nproc))) "$@" ||
        true # tally.py says what failed
}

does_not_build() { # TITLE
    oops "== $1: does not build"
    broken=$((broken + 1))
}

# Sets the caller's `options`, those before "--", and `rest`, those after it.
cut_options() { # [OPTION...] [-- ARGUMENT...]
    options=() rest=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    rest=("$@")
}

stage() { # TITLE NAME [OPTION OF MESON...] [-- ARGUMENT OF MESON TEST...]
    local title=$1 name=$2 options rest
    shift 2
    cut_options "$@"
    say "== $title"
    if build "$name" "${options[@]}"; then
        run "$name" "${rest[@]}"
    else
        does_not_build "$title"
    fi
}

stage_of() { # 'SUITE...' NAME [OPTION OF MESON...] [-- ARGUMENT OF MESON TEST...]
    local suites name=$2 options rest
    read -ra suites <<<"$1"
    shift 2
    cut_options "$@"
    say "== $name: ${suites[*]}"
    if configure "$name" "${options[@]}" &&
        python3 -B tests/lib/pick.py "$builds/$name" --make "${suites[@]}"; then
        run "$name" "${suites[@]/#/--suite=}" "${rest[@]}"
    else
        does_not_build "$name"
    fi
}

sum_up() {
    python3 -B tests/lib/tally.py --broken $broken "${ran[@]}"
}
