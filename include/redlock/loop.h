/* redlock/loop.h - run a libevent loop inside another event loop: epoll, libuv, GLib and others.
 *
 *  1. Once: let the other loop watch redlock_loop_fd() for reading.
 *  2. Before the other loop sleeps: ask redlock_loop_timeout_ms(), and sleep no longer than that.
 *  3. When the file descriptor is readable or the time has passed: call event_base_loop(base,
 *     EVLOOP_NONBLOCK). An extra call does no harm.
 *
 * Both functions are about the event_base, and so about everything on it: managers as well as
 * events of the application. docs/examples has complete programs: epoll.c, uv.c and asio.cpp.
 */
#ifndef REDLOCK_LOOP_H
#define REDLOCK_LOOP_H

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/* A file descriptor that is readable when `base` has an event on a file descriptor that is ready.
 * Watch it with poll(2), with epoll(7) (level-triggered), or with a loop that uses one of these. Do
 * not read from it and do not close it: it is the epoll set of `base`, and is gone when `base` is
 * freed.
 *
 * Call this once: it searches the file descriptors of the process one by one.
 *
 * base  must use epoll, as every base does on Linux unless the program or the environment asks for
 *       something else. Must not have been made with EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST.
 *
 * Returns a file descriptor; REDLOCK_EINVAL for NULL, or for a base that does not meet these
 * conditions; REDLOCK_ENOMEM; REDLOCK_ESYSTEM.
 * From: the thread of `base`, but not inside its event_base_loop(). Since 0.1. */
REDLOCK_EXPORT int redlock_loop_fd(struct event_base *base);

/* How long the other loop may sleep, in milliseconds, rounded up; suitable for poll(2) and
 * epoll_wait(2).
 *   - 0: not at all. There is work that no file descriptor shows, such as what the last calls of
 *     this library have started.
 *   - -1: without a limit, until the file descriptor is readable; also for NULL.
 *
 * Any call that changes `base` may change the result, so ask right before the loop sleeps.
 *
 * From: the thread of `base`, but not inside its event_base_loop(). Since 0.1. */
REDLOCK_EXPORT int redlock_loop_timeout_ms(struct event_base *base);

#ifdef __cplusplus
}
#endif

#endif
