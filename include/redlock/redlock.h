/* redlock/redlock.h - the whole of libredlock. Include this one.
 *
 * libredlock provides distributed locks and leader election on N independent Redis or Valkey
 * masters (Redlock). A lock is held when a majority of the masters has granted it and enough of its
 * TTL is left.
 *
 * Read manager.h and lock.h first. If the program has threads and no event loop, read sync.h
 * instead.
 *
 *     redlock/manager.h   struct redlock: the masters, on your event loop
 *     redlock/lock.h      acquire, extend and release a lock, and ask about it
 *     redlock/query.h     who holds a key
 *     redlock/list.h      which keys are locked
 *     redlock/history.h   who has had a lock
 *     redlock/record.h    which masters there are, as they have it on record
 *     redlock/change.h    replaces a master while clients run
 *     redlock/election.h  leader election
 *     redlock/companion.h releases the locks of a program that died
 *     redlock/settings.h  the masters and settings of the command redlock, for a program
 *     redlock/loop.h      for programs with another event loop
 *     redlock/examine.h   whether the masters are fit for locks
 *     redlock/sync.h      the blocking API: for threads, without an event loop
 *     redlock/sync_election.h   elections in the blocking API
 *     redlock/redlock.hpp       both of these for C++17; not included here
 *     redlock/stats.h     statistics of a manager and of each master
 *     redlock/trace.h     a trace of every event
 *     redlock/testing.h   masters for the unit tests of a program; not included here
 *     redlock/error.h     every status code
 *     redlock/version.h   the version
 *
 * These rules apply to every function. For the functions of redlock/sync*.h, the rules in
 * redlock/sync.h replace the first five. Each rule is tested.
 *
 *  1. No function blocks, prints, starts a thread, installs a signal handler, or ends the process.
 *     There is no global state. (Only redlock_settings_read() may block: it reads files.)
 *  2. A manager belongs to one thread: the thread that runs its event_base. Call every function
 *     about the manager and its locks from that thread. Several managers may live in several
 *     threads.
 *  3. A call that takes a callback and returns 0 calls it back exactly once. A call that returns an
 *     error does not call back.
 *  4. A callback never runs inside a library call. It runs later, from the loop.
 *  5. A callback may call every function, redlock_close() included. (Only a trace_cb is an
 *     exception to rules 4 and 5: see redlock/trace.h.)
 *  6. The state is final before the callback runs. While the callback runs, nothing changes except
 *     the time.
 *  7. Callbacks run in the order in which their results were decided. A callback reports the state
 *     at the moment when it runs. A later decision about the same call (a cancel after a win, a
 *     loss after trouble, a win that has become too old) replaces the earlier one and keeps its
 *     place in the order.
 *  8. Inputs are copied before a call returns. What a callback or an accessor gives you is
 *     borrowed; its declaration says how long it lives.
 *  9. After fork() the child gets REDLOCK_EFORK from every call on the parent's manager, and never
 *     touches the parent's sockets. The child must make its own manager, on an event_base of its
 *     own. A child that runs or frees the inherited event_base must call event_reinit() on it
 *     first. Otherwise parent and child share one epoll set, in which libevent removes the
 *     parent's sockets and timers when the child removes its copies. The parent then hears nothing
 *     more: its locks end without a notification, and neither process can tell. Before
 *     event_reinit(), a child must not touch the event_base; it may exec or _exit().
 * 10. A struct that begins with its `size` may be longer in a later version: fields are only
 *     appended, never moved. So a program runs with an older and with a newer library than it was
 *     built for. The library reads no more than `size` bytes of a struct that the program passes;
 *     the fields after them have their defaults. A field that the library does not know must be
 *     zero, otherwise the call returns REDLOCK_EINVAL. The library writes no more than `size` bytes
 *     of a struct that it fills in, and zero where it does not know the field. In a struct that a
 *     callback gets, `size` is the library's: check it before you read a field that was added
 *     after 0.1.
 *
 * All headers compile as C99 and as C++.
 */
#ifndef REDLOCK_H
#define REDLOCK_H

#include <redlock/change.h>
#include <redlock/companion.h>
#include <redlock/election.h>
#include <redlock/error.h>
#include <redlock/examine.h>
#include <redlock/history.h>
#include <redlock/list.h>
#include <redlock/lock.h>
#include <redlock/loop.h>
#include <redlock/manager.h>
#include <redlock/query.h>
#include <redlock/record.h>
#include <redlock/settings.h>
#include <redlock/stats.h>
#include <redlock/sync.h>
#include <redlock/sync_election.h>
#include <redlock/trace.h>
#include <redlock/version.h>

#endif
