# tests/cli/lib_elect.sh - candidates of the election e, to be sourced after lib.sh.

filled() { [ -s "$1" ]; }
said() { grep -qF -e "$2" "$work/$1.err"; }

# What a leader runs: it notes its name and term in the log, and any command of another leader that
# is alive. It ends when a file NAME.stop is there.
cat >"$work/leader" <<'SCRIPT'
folder=${0%/*}
for file in "$folder"/*.pid; do
    [ -e "$file" ] || continue
    read -r pid <"$file"
    if grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null; then
        echo "overlap: $REDLOCK_ID and ${file##*/}" >>"$folder/log"
    fi
done
echo "$REDLOCK_ID $REDLOCK_TERM" >>"$folder/log"
echo $$ >"$folder/$REDLOCK_ID.part"
mv "$folder/$REDLOCK_ID.part" "$folder/$REDLOCK_ID.pid"
while ! [ -e "$folder/$REDLOCK_ID.stop" ]; do sleep 0.02; done
exit 7
SCRIPT
sed 's/^folder=.*/trap "" TERM; &/' "$work/leader" >"$work/stubborn"

# stand NAME [OPTION...]: a candidate in the background, with the script $script; sets $candidate.
script=$work/leader
stand() {
    id=$1
    shift
    rm -f "$work/$id.pid" "$work/$id.stop"
    "$REDLOCK" elect e --id "$id" -v "$@" -- sh "$script" >"$work/$id.out" 2>"$work/$id.err" &
    candidate=$!
}

# lead NAME [OPTION...]: the same, and waits until it leads; sets $command.
lead() {
    stand "$@"
    leads "$1"
}

# leads NAME: waits until it runs its command; sets $command.
leads() {
    until_late filled "$work/$1.pid" && command=$(cat "$work/$1.pid")
}

# follow NAME [OPTION...]: the same, and waits until it waits.
follow() {
    stand "$@"
    until_late said "$1" "queue position"
}

# runs NAME: how often its command was started.
runs() { grep -c "^$1 " "$work/log"; }
ran_again() { [ "$(runs "$1")" -gt "$2" ]; }

terms_grow() { cut -d' ' -f2 "$work/log" | sort -nuc 2>/dev/null; }
