# shellcheck shell=bash
# stages.sh - how test, check, deep and torture build and run tests; to be sourced after lib.sh.
#
#   need_test_packages          what every build of the tests needs
#   build NAME [OPTION...]      set up or refresh build-test/NAME with these options of meson
#   stage TITLE NAME [OPTION...] [-- ARGUMENT...]
#                               build it, and run `meson test` with the arguments
#   stage_of 'SUITE...' NAME [OPTION...] [-- ARGUMENT...]
#                               build only what these suites need, and run them; "-walk" leaves out
#                               those tests that are also in the suite walk, and "+compiled" compiles
#                               everything else, too, without linking it
#   build_aside NAME [OPTION...]
#                               in build_ahead(), a function of the script: what later stages need. It
#                               runs again and again, each time while the tests of a stage run
#   sum_up                      the last line: "N passed, N failed"; its status is the result
#   sanitized, threaded         the options of a build under the sanitizers, or that of threads
#   released                    those of a build as it is released
#   stop_when_interrupted       for a subshell; the script itself does so

builds=build-test
suites=() # whose tests to build and to run; empty: everything
broken=0
ran=()
# The quicker one of the two linkers of binutils. The builds as it is released have the other one.
linker=()
if command -v ld.gold >/dev/null; then
    linker=(-Dc_link_args=-fuse-ld=gold -Dcpp_link_args=-fuse-ld=gold)
fi
# For builds that only say what is wrong, and where: the lines, but not the variables, for a debugger.
lines=(-Dc_args=-g1 -Dcpp_args=-g1 "${linker[@]}")
# The sanitizers take most of the time to build, and half of it with less optimization. They make the
# compiler warn of what cannot be: warnings are errors in the other builds.
less=(-Doptimization=1 -Dbench=false -Dwerror=false "${lines[@]}")
# shellcheck disable=SC2034
sanitized=('-Db_sanitize=address,undefined' "${less[@]}")
# shellcheck disable=SC2034
threaded=('-Db_sanitize=thread' "${less[@]}")
# As the library is released: what it is counted in. A profile needs the debug information, which
# changes no instruction.
# shellcheck disable=SC2034
released=(-Doptimization=3 -Ddebug=true -Db_lto=true -Dbench=false)
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
# What a test leaves to its fixture must not write to the test's local variables.
export ASAN_OPTIONS=${ASAN_OPTIONS:-halt_on_error=1:abort_on_error=1:print_summary=1:detect_stack_use_after_return=1}

# On an interrupt meson ends its tests and exits, but the script would go on.
stop_when_interrupted() {
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap end_ahead EXIT
}
stop_when_interrupted

need_test_packages() {
    need_packages gcc libc6-dev binutils python3 meson ninja-build pkg-config libevent-dev \
        libhiredis-dev libssl-dev openssl libuv1-dev libasio-dev libsqlite3-dev liblua5.1-0-dev check \
        redis-server iproute2 mandoc nftables python3-yaml "$@"
    mkdir -p "$builds"
}

configure() { # NAME [OPTION...]
    local dir=$builds/$1 mark="$$ $*"
    shift

    [ "$(cat "$dir/.configured" 2>/dev/null)" != "$mark" ] || return 0
    if [ ! -e "$dir/build.ninja" ]; then
        [ $# -gt 0 ] || set -- "${linker[@]}" # without options: the build of each day
        quietly meson setup "$dir" -Dwerror=true "$@" || return
    elif [ $# -gt 0 ]; then
        quietly meson configure "$dir" "$@" || return
    fi
    echo "$mark" >"$dir/.configured" # once in a run
}

# Sets the caller's `goals`: what ninja makes for the suites, or nothing for everything.
find_goals() { # NAME
    goals=()
    if [ ${#suites[@]} -gt 0 ]; then
        mapfile -t goals < <(python3 -B tests/lib/pick.py "$builds/$1" --goals "${suites[@]}")
        [ ${#goals[@]} -gt 0 ] || return
    fi
    [[ " ${suites[*]} " != *' +compiled '* ]] || mapfile -t -O ${#goals[@]} goals < <(find_objects "$1")
}

find_objects() { # NAME
    local rule

    for rule in c_COMPILER cpp_COMPILER; do
        ninja -C "$builds/$1" -t targets rule "$rule" | grep '\.o$'
    done
}

build() { # NAME [OPTION...]
    local goals

    configure "$@" && find_goals "$1" && quietly ninja -C "$builds/$1" "${goals[@]}"
}

# ---- builds for later, while tests wait more than they compute ----

ahead=

# Nothing is said: a build that fails fails again in its stage. One that is interrupted goes on there.
build_aside() { # NAME [OPTION...]
    local goals

    configure "$@" && find_goals "$1" || return 0
    nice ninja -j 1 -C "$builds/$1" "${goals[@]}" &
    ninja=$!
    wait $ninja || true
    ninja=
}

begin_ahead() {
    [ "$(type -t build_ahead)" = function ] || return 0
    (
        ninja=
        trap - EXIT
        # Not before meson has ended, if that is what runs.
        trap '[ -z "$ninja" ] || kill "$ninja" || true; wait; exit 143' TERM
        build_ahead
    ) >/dev/null 2>&1 &
    ahead=$!
}

end_ahead() {
    [ -n "$ahead" ] || return 0
    kill "$ahead" 2>/dev/null || true
    wait "$ahead" || true
    ahead=
}

run() { # NAME [ARGUMENT OF MESON TEST...]
    local dir=$builds/$1 suite
    shift

    for suite in "${suites[@]}"; do
        case $suite in
        -*) set -- "$@" "--no-suite=${suite#-}" ;;
        +*) ;;
        *) set -- "$@" "--suite=$suite" ;;
        esac
    done
    rm -f "$dir/meson-logs/testlog.json"
    ran+=("$dir")
    begin_ahead
    # Many tests wait more than they compute, so run more at once than there are processors.
    # The timeouts are for tests that hang, not for a machine that is busy.
    meson test -C "$dir" --no-rebuild --num-processes $((3 * $(nproc))) --timeout-multiplier 4 "$@" ||
        true # tally.py says what failed
    end_ahead
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
    local suites

    read -ra suites <<<"$1"
    stage "$2: $1" "${@:2}"
}

sum_up() {
    python3 -B tests/lib/tally.py --broken $broken "${ran[@]}"
}
