#!/bin/sh
# redlock doctor, on masters with one fault after the other.
. "$(dirname "$0")/lib.sh"
in_sandbox "$0"

# nodes NUMBER...: the URIs of these masters, without a policy.
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
# is_old NUMBER: the master reports an uptime above 10 ms; it reports whole seconds.
is_old() {
    master "$1" info server | grep -q '^uptime_in_seconds:\([2-9]\|[1-9][0-9]\)'
}
# listens: somebody is subscribed to the channel "stays" of master 4.
listens() {
    master 4 pubsub numsub stays | grep -qx 1
}
# json EXPRESSION CLAIM: a condition on `d`, the printed object.
json() {
    check "$2" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), d' "$work/out" "$1"
}

# --- nothing is wrong ---

doctor 1 2 3 -- --quarantine lenient
status_is 0 "masters without a fault give 0"
check "doctor prints a line for each master" \
    [ "$(grep -c '\.sock  fine  *redis\|\.sock  fine  *valkey' "$work/out")" -eq 3 ]
prints "3 of 3 masters vote, quorum 2; 1 more may fail." \
    "doctor prints how many masters vote"
prints "in memory" "doctor prints how the masters keep their data"
check "doctor prints nothing on stderr" [ ! -s "$work/err" ]
doctor 1 2 3 -- --quarantine lenient -q
status_is 0 "-q gives the same status"
check "-q prints nothing when all is well" [ ! -s "$work/out" ]
doctor 4 5 1 -- --quarantine off --json
status_is 1 "with quarantine off it warns of masters that forget"
json 'd["verdict"] == "warning" and d["voting"] == 3 and d["usable"] == 3' "--json prints an object"
json 'all(n["state"] == "up" and n["pings"] == 20 and n["denied"] == [] for n in d["nodes"])' \
    "with the facts of each master"
json '{f["code"] for f in d["findings"]} == {"volatile"} and len(d["findings"]) == 3' \
    "and the findings"
doctor 4 5 1 -- --quarantine off -q
status_is 1 "-q gives 1 after a warning"
prints "warning: all masters: may lose locks" "-q prints what should be fixed"
says_not "quorum" "-q prints nothing else"
doctor 4 5 1 -- --quarantine off
prints "warning: all masters: may lose locks" \
    "a warning that is true of all masters is printed once"
check "a warning that is true of all masters is not repeated" \
    [ "$(grep -c 'may lose locks' "$work/out")" -eq 1 ]
check "no key is left behind" [ "$(master 4 dbsize)" = 0 ]
master 4 subscribe stays >/dev/null &
until_true listens
doctor 4 5 1 -- --quarantine off
check "other clients stay connected" listens
kill $!
run "$REDLOCK" doctor me
status_is 64 "an operand gives 64"

# --- masters that were just started ---

doctor 1 2 3 -- --quarantine strict --max-ttl 24h
status_is 1 "masters that were just started give 1"
prints_line "no vote: " "does not vote for another" "doctor says for how long each does not vote"
prints "No lock can be acquired for another" "doctor says that no lock can be acquired yet"
prints "0 of 3 masters vote" "doctor says that 0 of 3 masters vote"

# --- eviction, memory, replicas, refusals ---

master 1 config set maxmemory 100mb >/dev/null
master 1 config set maxmemory-policy allkeys-lru >/dev/null
doctor 1 2 3 -- --quarantine lenient
status_is 1 "a master that evicts gives 1"
prints_line "warning: $(nodes 1 | tr -d ' '):" "allkeys-lru" \
    "a master that evicts is named in a warning"
prints "CONFIG SET maxmemory-policy noeviction" "doctor prints the command that fixes eviction"
for number in 1 2 3; do until_true is_old "$number"; done
doctor 1 2 3 -- --quarantine strict --max-ttl 10ms
status_is 1 "a master that evicts gives 1 with the strict policy, too"
prints_line "no vote: $(nodes 1 | tr -d ' '):" "allkeys-lru" \
    "with the strict policy a master that evicts does not vote"
prints "No other master may fail" "with the strict policy no other master may fail"
master 1 config set maxmemory 1 >/dev/null
master 1 config set maxmemory-policy noeviction >/dev/null
doctor 1 2 3 -- --quarantine lenient
prints_line "unusable: $(nodes 1 | tr -d ' '):" "OOM" "a full master is unusable"
master 1 config set maxmemory 0 >/dev/null
master 1 config set min-replicas-to-write 1 >/dev/null
doctor 1 2 3 -- --quarantine lenient
prints "NOREPLICAS" "a master that needs replicas refuses locks"
prints "CONFIG SET min-replicas-to-write 0" \
    "doctor prints the command that fixes min-replicas-to-write"
master 1 config set min-replicas-to-write 0 >/dev/null
doctor 1 2 3 -- --quarantine lenient
status_is 0 "after all fixes doctor gives 0"

# --- persistence ---

master 2 config set appendonly yes >/dev/null
doctor 2 -- --quarantine off
prints_line "may lose locks" "does not write to the disk before each reply" \
    "with a log each second a master may forget"
prints "aof everysec" "doctor prints appendfsync everysec"
master 2 config set appendfsync always >/dev/null
doctor 2 -- --quarantine off
check "appendfsync always does not forget" missing "may forget" "$work/out"
prints "aof always" "doctor prints appendfsync always"
prints "With 1 master, none may fail" "one master is too few"
master 2 config set appendonly no >/dev/null

# --- rights ---

if master 3 acl whoami | grep -q '^default'; then
    master 3 acl setuser app on '>pw' '~*' +@all -eval -script -client +client\|kill >/dev/null
    for number in 1 2; do master "$number" acl setuser app on '>pw' '~*' +@all >/dev/null; done
    export REDLOCK_PASSWORD=pw
    doctor 1 2 3 -- --quarantine lenient --username app
    status_is 1 "rights that one of three masters denies give 1"
    prints_line "denies the user app EVAL (no lock can be renewed there" "SCRIPT LOAD" \
        "doctor says what each denied right costs"
    prints "ACL SETUSER app +eval +script|load +client|setname" \
        "doctor prints the command that grants the rights"
    line=$(grep -o 'ACL SETUSER app +eval.*' "$work/out")
    # shellcheck disable=SC2086
    master 3 $line >/dev/null
    doctor 1 2 3 -- --quarantine lenient --username app
    status_is 0 "after the grant doctor gives 0"
    for number in 1 2 3; do master "$number" acl setuser app '&*' >/dev/null; done
    master 3 acl setuser app -subscribe >/dev/null
    doctor 1 2 3 -- --quarantine lenient --username app
    status_is 0 "a master without SUBSCRIBE is fit for locks"
    prints_line "denies the user app SUBSCRIBE (nothing there wakes us" "so we poll" \
        "doctor says that waiters poll without SUBSCRIBE"
    prints "ACL SETUSER app +subscribe" "doctor prints the command that grants SUBSCRIBE"
    doctor 1 2 3 -- --quarantine lenient --username app --json
    json 'd["nodes"][2]["denied"] == ["SUBSCRIBE"]' "--json names SUBSCRIBE"
    master 3 acl setuser app +subscribe >/dev/null
    if master 3 acl setuser app resetchannels '&*redlock:wake:*' 2>/dev/null | grep -q OK; then
        doctor 1 2 3 -- --quarantine lenient --username app --json
        json 'd["nodes"][2]["denied"] == ["channel __redis__:invalidate"]' \
            "--json names the channel of the invalidations"
    fi
    master 3 acl setuser app '&*' >/dev/null
    master 3 acl setuser app -xadd >/dev/null
    doctor 1 2 3 -- --quarantine lenient --username app
    status_is 0 "without audit nobody needs XADD"
    says_not "xadd" "and the minimum does not include it"
    doctor 1 2 3 -- --quarantine lenient --username app --audit=100
    status_is 1 "with audit doctor tries XADD"
    prints "denies the user app XADD (nothing is added to its audit stream)" "doctor names XADD"
    prints "+zscore +xadd +xrevrange" "and the minimum includes it, and what redlock history needs"
    for number in 1 2; do master "$number" acl setuser app -xadd >/dev/null; done
    run "$REDLOCK" lock audited -v --nodes "$(nodes 1 2 3)" --quarantine lenient --no-record --username app \
        --audit=100 -- true
    status_is 0 "without XADD a lock is acquired"
    says "adds nothing to the audit stream: " "and -v says that the audit stream gets nothing"
    says "allow our user XADD (ACL SETUSER: +xadd)" "and what to do"
    for number in 1 2 3; do
        master "$number" acl setuser app +xadd -xrevrange >/dev/null
        master "$number" xadd redlock:audit '*' a b >/dev/null
    done
    run "$REDLOCK" history audited --nodes "$(nodes 1 2 3)" --quarantine lenient --username app
    status_is 69 "without XREVRANGE history reads nothing"
    says "(ACL SETUSER: +xrevrange)" "and says what to do"
    for number in 1 2 3; do
        master "$number" acl setuser app +xrevrange >/dev/null
        master "$number" del redlock:audit >/dev/null
    done
    master 3 acl setuser app resetkeys '~job:*' >/dev/null
    doctor 1 2 3 -- --quarantine lenient --username app --key-prefix other:
    prints "denies the user app the keys that begin with other:" "denied keys are reported"
    prints "Is the key prefix right (now: other:)? If it is: ACL SETUSER app ~other:*" \
        "doctor asks for the prefix, and prints the command that grants the keys"
    doctor 1 2 3 -- --quarantine lenient --username app --key-prefix job:
    status_is 0 "a prefix that is granted gives 0"
    for number in 1 2; do master "$number" acl setuser app resetkeys '~job:*' >/dev/null; done
    doctor 1 2 3 -- --quarantine lenient --username app
    status_is 69 "a prefix that was forgotten gives 69"
    prints "unusable: all masters: denies the user app keys without a prefix" \
        "without the prefix doctor says that no lock can be acquired"
    prints "Is the key prefix right (now: none)?" "without the prefix doctor asks for it"
    check "without the prefix doctor does not suggest wider rights" missing "~\*" "$work/out"
    for number in 1 2; do master "$number" acl setuser app '~*' >/dev/null; done
    master 3 acl setuser app -@all +set +get +del +pexpire +pttl +eval +evalsha '~*' >/dev/null
    doctor 1 2 3 -- --quarantine lenient --username app
    status_is 1 "a user with the minimum permissions gives 1"
    prints "nobody sees whether it restarted" \
        "without INFO doctor says that restarts cannot be seen"
    check "without INFO the line has no gap in place of the version" \
        missing " , answers" "$work/out"
    prints "+script|load +time +info +client|setname +client|kill +config|get" \
        "doctor lists the missing rights"
    doctor 1 2 3 -- --username nobody
    status_is 69 "a user that no master has gives 69"
    prints "rejected our user or password" "doctor says that user and password are refused"
    says_not pw "doctor does not print the refused password"
    unset REDLOCK_PASSWORD
fi

run "$REDLOCK" doctor --quarantine lenient --nodes \
    "$(nodes 1) $(nodes 2) unix://$REDLOCK_SANDBOX/3.sock?db=999"
status_is 1 "a database that one of three does not have gives 1"
prints_line "unusable: " "refused database 999" "doctor names the refused database"
prints "CONFIG GET databases" "doctor says how to find the databases"

# --- lists that are wrong ---

ln -s 1.sock "$REDLOCK_SANDBOX/alias.sock"
doctor 1 2 alias -- --quarantine lenient
status_is 78 "a server that is listed twice gives 78"
prints_line "alias.sock" "/1.sock" "doctor prints both names of a server that is listed twice"
prints "List each master once" "doctor says what to do about a server that is listed twice"
rm "$REDLOCK_SANDBOX/alias.sock"
doctor 1 2 3 4 -- --quarantine lenient
status_is 0 "an even number of masters gives 0"
prints "4 masters tolerate no more failures than 3" "doctor remarks on an even number of masters"
master 3 replicaof 127.0.0.1 1 >/dev/null
doctor 1 2 3 -- --quarantine lenient
prints_line "unusable: $(nodes 3 | tr -d ' '):" "is a replica" "a replica is unusable"
master 3 replicaof no one >/dev/null
doctor 1 2 3 -- --quarantine lenient
prints "was a replica and was promoted to master" "a replica that was promoted is reported"

# --- files that others can read ---

chmod o+x "$REDLOCK_SANDBOX" "$work"
echo wrong >"$work/password"
chmod 644 "$work/password"
doctor 1 2 3 -- --quarantine lenient --password-file "$work/password"
prints "Every user of this machine can read the passwords in $work/password." \
    "a password file that every user can read is found"
prints "Run chmod o= $work/password." "and doctor says what to do"
doctor 1 2 3 -- --quarantine lenient --password-file "$work/password" --json
json 'd["findings"][-1]["code"] == "readable" and d["findings"][-1]["severity"] == "warning"' \
    "so it does with --json"
chmod 640 "$work/password"
doctor 1 2 3 -- --quarantine lenient --password-file "$work/password"
says_not "Every user of this machine" "one that others cannot read is no finding"
chmod 644 "$work/password"
chmod o-x "$work"
doctor 1 2 3 -- --quarantine lenient --password-file "$work/password"
says_not "Every user of this machine" "nor is one in a folder that others cannot enter"
chmod o+x "$work"
for number in 1 2 3; do printf 'unix://%s/%s.sock\n' "$REDLOCK_SANDBOX" "$number"; done >"$work/nodes"
chmod 644 "$work/nodes"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" "$REDLOCK" doctor --quarantine lenient
says_not "Every user of this machine" "a list of masters without a password is no finding"
run env REDLOCK_CONFIG="$work/nodes" "$REDLOCK" nodes -v
says "REDLOCK_NODES is given, so $work/nodes is not read, nor its settings" \
    "-v says that REDLOCK_NODES switches off the file"
echo 'redis://me:secret@127.0.0.1:1' >>"$work/nodes"
run env -u REDLOCK_NODES REDLOCK_CONFIG="$work/nodes" "$REDLOCK" doctor --quarantine lenient
prints "can read the passwords in $work/nodes." "one with a password is found"
says_not "secret" "the password is not shown"
chmod o-x "$REDLOCK_SANDBOX"

# --- stopped and dead masters ---

halt 4
doctor 1 2 4 -- --quarantine lenient
status_is 1 "one of three that is stopped gives 1"
prints_line "unusable: $(nodes 4 | tr -d ' '):" "did not finish the handshake" \
    "a stopped master is unusable"
resume 4
kill -KILL "$(master_pid 5)"
until_true all_dead "$(master_pid 5)"
doctor 1 2 5 -- --quarantine lenient
status_is 1 "one of three that is dead gives 1"
prints_line "unusable: $(nodes 5 | tr -d ' '):" "cannot be reached" "a dead master is unusable"
prints "2 of 3 masters vote, quorum 2; 0 more may fail." \
    "doctor says that no more masters may fail"
kill -KILL "$(master_pid 4)"
until_true all_dead "$(master_pid 4)"
doctor 1 4 5 -- --quarantine lenient
status_is 69 "two of three that are dead give 69"
prints "No lock can be acquired: 1 of 3 masters are usable, 2 are needed" \
    "doctor says that no lock can be acquired"
doctor 1 4 5 -- --quarantine lenient --json
status_is 69 "two of three that are dead give 69 with --json, too"
json '[f["code"] for f in d["findings"]] == ["down", "down", "no-majority"]' \
    "--json reports the same findings"

finish
