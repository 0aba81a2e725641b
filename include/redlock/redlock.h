/* redlock/redlock.h - the whole of libredlock. Include this one.
 *
 * libredlock lets programs agree, over N independent Redis or Valkey masters, on
 * who may do a thing now. A lock is held when a majority of the masters has
 * granted it and enough of its time to live is left.
 *
 *     redlock/manager.h   struct redlock: the masters, on your event loop
 *     redlock/lock.h      acquire, cancel, release; what a held lock tells
 *     redlock/query.h     who holds a key
 *     redlock/examine.h   whether the masters are fit to keep locks
 *     redlock/error.h     every status code
 *     redlock/version.h   the version
 *
 * The rules that hold for every function, each of them tested:
 *
 *  1. Nothing blocks, prints, starts a thread, installs a signal handler, or ends
 *     the process. There is no global state.
 *  2. A manager belongs to one thread: the one that runs its event_base. Every call
 *     about it and its locks is made from that thread. Several managers may live in
 *     several threads.
 *  3. A call that takes a callback and returns 0 calls it back exactly once. A call
 *     that returns an error does not call back.
 *  4. A callback never runs inside a library call: always later, from the loop.
 *  5. From inside a callback every function may be called, redlock_close included.
 *  6. The state is final before the callback runs: what it sees will not change by
 *     itself, except that time goes on.
 *  7. Callbacks run in the order in which they fell due: when the thing that each tells was first
 *     decided. What is told is how things are when it runs: a later decision about the same thing
 *     (a cancel after a win, a loss after trouble, a win that has grown too old) takes the place of
 *     the earlier one, and does not go to the end of the line.
 *  8. Inputs are copied before a call returns. What a callback or an accessor hands
 *     out is borrowed: its life is said where it is declared.
 *  9. After fork() the child gets REDLOCK_EFORK from every call on the parent's
 *     manager, and never touches the parent's sockets. It makes its own manager.
 *
 * 10. A struct that begins with its `size` may be longer in a later version: fields are only ever
 *     appended, never moved. So a program runs with an older and with a newer library than it
 *     was built for. Of what it hands in, the library reads no more than `size`: the fields
 *     behind it have their defaults. A field that the library does not know yet must be zero, or
 *     the call returns REDLOCK_EINVAL. Of what it gets filled in, no more than `size` is written,
 *     and what the library does not know is zero. In what a callback gets, `size` is the
 *     library's: look at it before reading a field that was added after 0.1.
 *
 * All headers compile as C99 and as C++.
 */
#ifndef REDLOCK_H
#define REDLOCK_H

#include <redlock/error.h>
#include <redlock/examine.h>
#include <redlock/lock.h>
#include <redlock/manager.h>
#include <redlock/query.h>
#include <redlock/version.h>

#endif
