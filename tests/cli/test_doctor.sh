#!/bin/sh
# redlock doctor, on masters that have each fault in turn.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# nodes NUMBER...: their URIs, without any policy of their own.
nodes() {
    for number in "$@"; do printf 'unix://%s/%s.sock ' "$REDLOCK_SANDBOX" "$number"; done
}
# doctor [NUMBER...] -- [OPTION...]: examine some masters.
doctor() {
    numbers=
    while [ "$1" != -- ]; do
        numbers="$numbers $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    run "$REDLOCK" doctor --nodes "$(nodes $numbers)" "$@"
}
# prints_line WORD WORD CLAIM: both in one line.
prints_line() {
    # shellcheck disable=SC2016
    check "$3" sh -c 'grep -F -e "$1" "$0" | grep -qF -e "$2"' "$work/out" "$1" "$2"
}
# is_old NUMBER: longer than 10 ms, by its own account, which is in seconds.
is_old() {
    master "$1" info server | grep -q '^uptime_in_seconds:\([2-9]\|[1-9][0-9]\)'
}
# json EXPRESSION CLAIM: of `d`, what was printed.
json() {
    check "$2" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), d' "$work/out" "$1"
}

# --- nothing is wrong ---

doctor 1 2 3 -- --quarantine observed
status_is 0 "masters without a fault give 0"
check "with a line for each" [ "$(grep -c '\.sock  fine  *redis\|\.sock  fine  *valkey' "$work/out")" -eq 3 ]
prints "3 of 3 masters vote, 2 make a majority; 1 more may fail." "and the sum"
prints "in memory" "and how they keep their data"
check "and nothing on stderr" [ ! -s "$work/err" ]
doctor 4 5 1 -- --quarantine off --json
status_is 1 "with quarantine off it warns of masters that forget"
json 'd["verdict"] == "warning" and d["voting"] == 3 and d["usable"] == 3' "--json prints an object"
json 'all(n["state"] == "up" and n["pings"] == 20 and n["denied"] == [] for n in d["nodes"])' \
    "with the facts of each master"
json '{f["code"] for f in d["findings"]} == {"forgets"} and len(d["findings"]) == 3' \
    "and the findings"
doctor 4 5 1 -- --quarantine off
prints "warning: all masters: may forget locks" "what is true of all is said once"
check "and not again" [ "$(grep -c 'may forget locks' "$work/out")" -eq 1 ]
check "no key is left behind" [ "$(master 4 dbsize)" = 0 ]
run "$REDLOCK" doctor me
status_is 64 "an operand gives 64"

# --- a fresh set ---

doctor 1 2 3 -- --quarantine strict --max-ttl 24h
status_is 1 "a fresh set gives 1"
prints_line "no vote: " "does not vote for another" "and says for how long it does not vote"
prints "No lock can be acquired for another" "and that nothing can be locked yet"
prints "0 of 3 masters vote" "and counts them"

# --- eviction, memory, replicas, refusals ---

master 1 config set maxmemory 100mb >/dev/null
master 1 config set maxmemory-policy allkeys-lru >/dev/null
doctor 1 2 3 -- --quarantine observed
status_is 1 "a master that evicts gives 1"
prints_line "warning: $(nodes 1 | tr -d ' '):" "allkeys-lru" "and is named"
prints "CONFIG SET maxmemory-policy noeviction" "with the line that mends it"
for number in 1 2 3; do until_true is_old "$number"; done
doctor 1 2 3 -- --quarantine strict --max-ttl 10ms
status_is 1 "under the strict policy, too"
prints_line "no vote: $(nodes 1 | tr -d ' '):" "allkeys-lru" "where it does not vote"
prints "No other master may fail" "and is missed"
master 1 config set maxmemory 1 >/dev/null
master 1 config set maxmemory-policy noeviction >/dev/null
doctor 1 2 3 -- --quarantine observed
prints_line "unusable: $(nodes 1 | tr -d ' '):" "OOM" "a full master is unusable"
master 1 config set maxmemory 0 >/dev/null
master 1 config set min-replicas-to-write 1 >/dev/null
doctor 1 2 3 -- --quarantine observed
prints "NOREPLICAS" "one that wants replicas refuses locks"
prints "CONFIG SET min-replicas-to-write 0" "and is fixed so"
master 1 config set min-replicas-to-write 0 >/dev/null
doctor 1 2 3 -- --quarantine observed
status_is 0 "once all is fixed it gives 0"

# --- persistence ---

master 2 config set appendonly yes >/dev/null
doctor 2 -- --quarantine off
prints_line "may forget locks" "does not write to the disk before each answer" "a log each second forgets"
prints "aof everysec" "and is shown"
master 2 config set appendfsync always >/dev/null
doctor 2 -- --quarantine off
check "appendfsync always does not forget" missing "may forget" "$work/out"
prints "aof always" "and is shown"
prints "With 1 master, none may fail" "one master is too few"
master 2 config set appendonly no >/dev/null

# --- rights ---

if master 3 acl whoami | grep -q '^default'; then
    master 3 acl setuser app on '>pw' '~*' +@all -eval -script -client +client\|kill >/dev/null
    for number in 1 2; do master "$number" acl setuser app on '>pw' '~*' +@all >/dev/null; done
    export REDLOCK_PASSWORD=pw
    doctor 1 2 3 -- --quarantine observed --username app
    status_is 1 "rights that one of three masters denies give 1"
    prints_line "denies the user app EVAL (no lock can be renewed there" "SCRIPT LOAD" "with their cost"
    prints "ACL SETUSER app +eval +script|load +client|setname" "and the line that grants them"
    line=$(grep -o 'ACL SETUSER app.*' "$work/out")
    # shellcheck disable=SC2086
    master 3 $line >/dev/null
    doctor 1 2 3 -- --quarantine observed --username app
    status_is 0 "which mends it"
    master 3 acl setuser app resetkeys '~job:*' >/dev/null
    doctor 1 2 3 -- --quarantine observed --username app --key-prefix other:
    prints "denies the user app the keys that begin with other:redlock:" "keys that are denied are told"
    prints "ACL SETUSER app ~other:*" "with the line that grants them"
    doctor 1 2 3 -- --quarantine observed --username app --key-prefix job:
    status_is 0 "the prefix that is granted is fine"
    master 3 acl setuser app -@all +set +get +del +pexpire +pttl +eval +evalsha '~*' >/dev/null
    doctor 1 2 3 -- --quarantine observed --username app
    status_is 1 "a user with the least gives 1"
    prints "nobody sees whether it restarted" "without INFO it says what nobody sees"
    check "and leaves no gap where the version would be" missing " , answers" "$work/out"
    prints "+script|load +time +info +client|setname +client|kill +config|get" "and lists what is missing"
    doctor 1 2 3 -- --username nobody
    status_is 69 "a user that no master has gives 69"
    prints "refused our user and password" "and says so"
    says_not pw "without the password"
    unset REDLOCK_PASSWORD
fi

run "$REDLOCK" doctor --quarantine observed --nodes \
    "$(nodes 1) $(nodes 2) unix://$REDLOCK_SANDBOX/3.sock?db=999"
status_is 1 "a database that one of three does not have gives 1"
prints_line "unusable: " "refused database 999" "and is named"
prints "CONFIG GET databases" "with what to do"

# --- lists that are wrong ---

ln -s 1.sock "$REDLOCK_SANDBOX/alias.sock"
doctor 1 2 alias -- --quarantine observed
status_is 64 "a server that is listed twice gives 64"
prints_line "alias.sock" "/1.sock" "and both of its names"
prints "List each master once" "and what to do"
rm "$REDLOCK_SANDBOX/alias.sock"
doctor 1 2 3 4 -- --quarantine observed
status_is 0 "an even number is only a remark"
prints "4 masters tolerate no more failures than 3" "which is made"
master 3 replicaof 127.0.0.1 1 >/dev/null
doctor 1 2 3 -- --quarantine observed
prints_line "unusable: $(nodes 3 | tr -d ' '):" "is a replica" "a replica is unusable"
master 3 replicaof no one >/dev/null
doctor 1 2 3 -- --quarantine observed
prints "was a replica and was promoted to master" "one that was promoted is told"

# --- silence and death ---

halt 4
doctor 1 2 4 -- --quarantine observed
status_is 1 "one of three that is stopped gives 1"
prints_line "unusable: $(nodes 4 | tr -d ' '):" "did not answer our greeting" "and is silent"
resume 4
kill -KILL "$(master_pid 5)"
until_true all_dead "$(master_pid 5)"
doctor 1 2 5 -- --quarantine observed
status_is 1 "one of three that is dead gives 1"
prints_line "unusable: $(nodes 5 | tr -d ' '):" "cannot be reached" "and is unusable"
prints "2 of 3 masters vote, 2 make a majority; 0 more may fail." "and no more may fail"
kill -KILL "$(master_pid 4)"
until_true all_dead "$(master_pid 4)"
doctor 1 4 5 -- --quarantine observed
status_is 69 "two of three that are dead give 69"
prints "No lock can be acquired: 1 of 3 masters are usable, 2 are needed" "and no lock"
doctor 1 4 5 -- --quarantine observed --json
status_is 69 "with --json, too"
json '[f["code"] for f in d["findings"]] == ["down", "down", "no-majority"]' "and says the same"

finish
