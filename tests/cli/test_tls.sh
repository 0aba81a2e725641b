#!/bin/sh
# TLS on masters of our own, with a CA of our own: each refusal is a sentence that says what to do.
. "$(dirname "$0")/lib.sh"

built=$REDLOCK
ports=$(python3 -c 'if True:
    import socket
    sockets = [socket.socket() for _ in range(4)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    print(*(s.getsockname()[1] for s in sockets))')
# shellcheck disable=SC2086
set -- $ports
open=$1 closed=$2 other=$3 plain=$4

key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
certificate() { # certificate NAME ALTERNATIVES: NAME.crt and NAME.key, by our CA
    echo "subjectAltName=$2" >"$work/extensions"
    # shellcheck disable=SC2086
    openssl req $key -keyout "$work/$1.key" -out "$work/$1.csr" -subj "/CN=$1" &&
        openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" \
            -CAcreateserial -days 2 -extfile "$work/extensions" -out "$work/$1.crt"
}
{
    # shellcheck disable=SC2086
    openssl req -x509 $key -keyout "$work/ca.key" -out "$work/ca.crt" -days 2 -subj '/CN=Our CA'
    certificate server DNS:localhost,IP:127.0.0.1
    certificate other DNS:db.example,DNS:*.db.example
    certificate client DNS:client
} >"$work/openssl" 2>&1 || exit 1

serve() { # serve TLS_PORT CERTIFICATE AUTH_CLIENTS PLAIN_PORT
    "$server" --port "$4" --bind 127.0.0.1 --save '' --tls-port "$1" --tls-auth-clients "$3" \
        --tls-cert-file "$work/$2.crt" --tls-key-file "$work/$2.key" \
        --tls-ca-cert-file "$work/ca.crt" >"$work/log.$1" 2>&1 &
}
serve "$open" server no "$plain"
serve "$closed" server yes 0
serve "$other" other no 0
waited=0
until grep -l 'Ready to accept' "$work/log.$open" "$work/log.$closed" "$work/log.$other" |
    wc -l | grep -qx 3; do
    waited=$((waited + 1))
    if [ "$waited" -gt 600 ]; then
        skip "TLS" "$server has none here: $(tail -n 1 "$work/log.$open")"
        finish
    fi
    sleep 0.1
done

be_patient
nodes() { # nodes URI [OPTION...]
    uri=$1
    shift
    run "$REDLOCK" nodes --quarantine=off --nodes "$uri" "$@"
}
ca="--cacert=$work/ca.crt"
ours="--cert=$work/client.crt --key=$work/client.key"

nodes "rediss://localhost:$open" "$ca"
status_is 0 "a master with TLS is up"
prints ", verified" "and verified"
nodes "rediss://127.0.0.1:$open?cacert=$work/ca.crt"
prints "TLSv1" "an address is verified, too, and the CA may be in the URI"
nodes "rediss://localhost:$open"
status_is 69 "a CA that the system does not know is refused"
prints "'Our CA', a CA that this system does not know; give the file" "and named"
nodes "rediss://localhost:$open" "--cacert=$work/client.crt"
prints "has no CA of that name and key" "a file with another CA does not help"
nodes "rediss://localhost:$open" --tls-verify=none
status_is 0 "--tls-verify=none accepts it"
prints ", not verified" "and says so"
run "$REDLOCK" doctor --quarantine=off --nodes "rediss://localhost:$open" --tls-verify=none
prints "nobody verifies" "and redlock doctor warns"
uri=rediss://localhost:$open
nobody="nobody verifies the certificates of 1 of 1 masters"
run "$REDLOCK" lock k --quarantine=off --nodes "$uri?verify=none" -- true
status_is 0 "so does redlock lock"
says "$nobody" "which says it"
run "$REDLOCK" lock k -q --quarantine=off --nodes "$uri?verify=none" -- true
says_not "$nobody" "and does not with --quiet"
run "$REDLOCK" lock k --quarantine=off --nodes "$uri" "$ca" -- true
says_not "$nobody" "nor of one that is verified"
run "$REDLOCK" acquire k --ttl 1s --quarantine=off --nodes "$uri" --tls-verify=none
says "$nobody" "redlock acquire says it"
run "$REDLOCK" elect e --quarantine=off --nodes "$uri" --tls-verify=none --once -- true
says "$nobody" "redlock elect says it"
nodes "rediss://localhost:$other" "$ca"
prints "for db.example, *.db.example, not for localhost" "a wrong name is refused, with the right ones"
nodes "rediss://localhost:$other" "$ca" --sni a.db.example
status_is 0 "--sni names another one"
nodes "rediss://localhost:$closed" "$ca"
prints "accepts only clients with a certificate" "a master that wants a certificate says so"
# shellcheck disable=SC2086
nodes "rediss://localhost:$closed" "$ca" $ours
status_is 0 "and takes ours"
nodes "rediss://localhost:$plain" "$ca" --node-timeout 3s
prints "its tls-port" "rediss:// on a plain port says what to do"
nodes "redis://localhost:$open"
prints "write rediss://" "redis:// on a TLS port says what to do"

nodes "redis://localhost:$plain" "$ca"
status_is 64 "a CA for masters without TLS is refused"
says "begins with rediss://" "because nothing would be encrypted"
nodes "rediss://localhost:$open" "--cacert=$work/none"
says "cacert=$work/none cannot be read: No such file" "a file that is missing is named"
nodes "rediss://localhost:$open" "--cacert=$work/ca.key"
says "has no certificate of a CA" "a file of another kind is refused"
nodes "rediss://localhost:$open" "$ca" "--cert=$work/client.crt"
says "cert= is set without key=" "a certificate needs its key"
nodes "rediss://localhost:$open" "$ca" "--cert=$work/client.crt" "--key=$work/server.key"
says "is not the key of the certificate" "and no other one"
nodes "rediss://localhost:$open" --tls-verify=no
says "it must be full or none" "a word that is no word for it is refused"

# shellcheck disable=SC2086
run env REDLOCK_TLS_CACERT="$work/ca.crt" REDLOCK_TLS_CERT="$work/client.crt" \
    REDLOCK_TLS_KEY="$work/client.key" "$REDLOCK" lock k --quarantine=off \
    --nodes "rediss://localhost:$closed" -- \
    sh -c "cd / && exec '$REDLOCK' nodes"
status_is 0 "variables have the files, and CMD inherits them"
cat >"$work/nodes" <<NODES
rediss://localhost:$closed
cacert = $work/ca.crt
cert = $work/client.crt
key = $work/client.key
NODES
run env REDLOCK_CONFIG="$work/nodes" "$REDLOCK" nodes --quarantine=off
status_is 0 "so may a file"

# OpenSSL is in a module, which is opened when a URI wants TLS.
run "$REDLOCK" lock k --quarantine=off --nodes "redis://localhost:$plain" -- sh -c 'cat /proc/$PPID/maps'
prints "/libredlock.so.0" "CMD can see what redlock has loaded"
says_not "libcrypto" "which is no OpenSSL without TLS"
run "$REDLOCK" lock k --quarantine=off --nodes "rediss://localhost:$open" "$ca" -- sh -c 'cat /proc/$PPID/maps'
prints "libcrypto" "and OpenSSL with TLS"
prints "/libredlock/tls-" "by the module beside the library"

# Meson names the library of the build.
mkdir -p "$work/copy/cli"
cp "$built" "$work/copy/cli/redlock"
cp "$(dirname "$built")/../libredlock.so.0" "$work/copy"
run env -u LD_LIBRARY_PATH "$work/copy/cli/redlock" lock k --quarantine=off --nodes "redis://localhost:$plain" --node-timeout 20s -- true
status_is 0 "a copy without the module locks without TLS"
run env -u LD_LIBRARY_PATH "$work/copy/cli/redlock" nodes --nodes "rediss://localhost:$open" "$ca" --node-timeout 20s
status_is 64 "and refuses rediss://"
says "the module for TLS cannot be loaded; install it with the library" "because the module is missing"
says "$work/copy/libredlock/tls-" "which it names"
cp -R "$(dirname "$built")/../libredlock" "$work/copy"
run env -u LD_LIBRARY_PATH "$work/copy/cli/redlock" nodes --quarantine=off --nodes "rediss://localhost:$open" "$ca" --node-timeout 20s
status_is 0 "with the module it has TLS"

cd "$work/copy" || exit 1
run env LD_LIBRARY_PATH=. "$work/copy/cli/redlock" nodes --nodes "rediss://localhost:$open" "$ca"
status_is 64 "a library that was found by a relative path opens no module"
says "found by a relative path" "and says so"
cd "$work" || exit 1

# The supervisor connects anew, with the same certificates.
export REDLOCK_CONFIG="$work/nodes"
"$REDLOCK" lock k --quarantine=off --ttl 60s -- sh -c ': >"$0"; exec sleep 600' "$work/began" &
locker=$!
until_late [ -e "$work/began" ]
kill -KILL "$locker"
await "$locker"
run "$REDLOCK" lock k --quarantine=off --wait 30s -- true
status_is 0 "the lock of a redlock that was killed is released over TLS"

finish
