#!/usr/bin/env python3
"""fence_http.py - a service that refuses a stale holder.

    fence_http.py FOLDER [PORT]                    keeps documents in FOLDER

    PUT /NAME, with a header Redlock-Fence: N      writes it
    GET /NAME, with that header                    reads it in order to change it: from now on a
                                                   smaller token is refused, in a GET too
    GET /NAME, without it                          only reads it

A fencing token below the largest one seen gets 412, a PUT without a token 428. Every answer
has the largest one in its Redlock-Fence header. fence_client.py is a client.
"""
import fcntl
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONGEST_BODY = 1 << 20


class Stale(Exception):
    pass


class Store:
    """A file for each document: the largest fencing token seen, a newline, the body."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        # A second service on the same folder would compare behind the back of this one.
        self.descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def load(self, name):
        try:
            with open(os.path.join(self.folder, name), 'rb') as file:
                fence, body = file.read().split(b'\n', 1)
                return int(fence), body
        except FileNotFoundError:
            return 0, b''

    def save(self, name, fence, body):
        """One rename writes token and body, so they outlive a crash together."""
        path = os.path.join(self.folder, name)
        with open(path + '.new', 'wb') as file:
            file.write(b'%d\n' % fence + body)
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + '.new', path)
        os.fsync(self.descriptor)

    def use(self, name, fence, body=None):
        """Write the body, or announce the token and read. Nobody gets between the comparison and
        the writing. Equal is allowed: the holder comes again."""
        with self.lock:
            seen, old = self.load(name)
            if fence < seen:
                raise Stale(f'{seen}')
            new = old if body is None else body
            if fence > seen or new != old:
                self.save(name, fence, new)
            return new


class Handler(BaseHTTPRequestHandler):
    timeout = 60

    def answer(self, status, body, fence=None):
        self.send_response(status)
        if fence is not None:
            self.send_header('Redlock-Fence', str(fence))
        self.send_header('Cache-Control', 'no-store')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fence(self):
        """None without the header; ValueError when it is not a fencing token."""
        text = self.headers.get('Redlock-Fence')
        if text is not None and not (re.fullmatch('[0-9]{1,16}', text) and int(text) < 1 << 53):
            raise ValueError('Redlock-Fence is a number below 2^53\n')
        return None if text is None else int(text)

    def body(self):
        """All of it, or ValueError: half a body is no body."""
        length = self.headers.get('Content-Length', '')
        if not re.fullmatch('[0-9]{1,8}', length) or int(length) > LONGEST_BODY:
            raise ValueError('Content-Length is missing, or too large\n')
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise ValueError('the body is cut off\n')
        return body

    def serve(self, writes):
        store = self.server.store
        name = re.fullmatch('/([A-Za-z0-9_-]{1,64})', self.path)
        if not name:
            return self.answer(404, b'no such document\n')
        name = name.group(1)
        try:
            body = self.body() if writes else None
            fence = self.fence()
            if fence is not None:
                return self.answer(200, store.use(name, fence, body), fence)
        except ValueError as why:
            return self.answer(400, str(why).encode())
        except Stale as seen:
            text = f'the token {fence} is stale: a later holder has been here with {seen}\n'
            return self.answer(412, text.encode(), seen)
        if writes:
            return self.answer(428, b'a PUT needs a Redlock-Fence: redlock lock --fence\n')
        seen, body = store.load(name)
        return self.answer(200, body, seen)

    def do_GET(self):
        self.serve(False)

    def do_PUT(self):
        self.serve(True)

    def log_message(self, *_):
        pass


def main(folder, port='0'):
    server = ThreadingHTTPServer(('127.0.0.1', int(port)), Handler)
    server.store = Store(folder)
    print(f'http://127.0.0.1:{server.server_port}/', flush=True)
    server.serve_forever()


if __name__ == '__main__':
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
