#!/usr/bin/env python3
"""fence_client.py - change a document of fence_http.py under a lock with a fencing token.

    fence_client.py get URL                        print it, and announce the token
    fence_client.py put URL                        write what comes on stdin

    redlock lock --fence report -- sh -c '
        old=$(fence_client.py get "$URL") && make_it_new "$old" | fence_client.py put "$URL"'

The fencing token comes from $REDLOCK_FENCING_TOKEN. When the service has seen a later holder the exit status is 76,
that of redlock for a lost lock.
"""
import os
import sys
import urllib.error
import urllib.request

LOST = 76


def main(method, url):
    fence = os.environ.get('REDLOCK_FENCING_TOKEN')
    if not fence:
        sys.exit('REDLOCK_FENCING_TOKEN is not set: use redlock lock --fence')
    body = sys.stdin.buffer.read() if method == 'PUT' else None
    request = urllib.request.Request(url, body, {'Redlock-Fence': fence}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refusal:
        sys.stderr.write(refusal.read().decode())
        sys.exit(LOST if refusal.code == 412 else 1)
    if method == 'GET':
        sys.stdout.buffer.write(text)


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in ('get', 'put'):
        sys.exit(__doc__)
    main(sys.argv[1].upper(), sys.argv[2])
