/* redlock/loop.h - a libevent loop inside another event loop: epoll, libuv, GLib and others.
 *
 * - Once: watch redlock_loop_fd() for reading in the other loop.
 * - Before the other loop sleeps: no longer than redlock_loop_timeout_ms() says.
 * - After it has slept, when the fd is readable or that time is over:
 *   event_base_loop(base, EVLOOP_NONBLOCK). A call too many does no harm.
 *
 * Both functions are about the event_base alone, and so about everything on it: managers, and
 * events of the application. docs/examples/epoll.c and docs/examples/uv.c are two complete
 * programs.
 */
#ifndef REDLOCK_LOOP_H
#define REDLOCK_LOOP_H

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/* A file descriptor that is readable when an event of `base` is ready that has a file descriptor.
 * It can be watched by poll(2), by epoll(7) (level-triggered), and by whatever uses these. Do not
 * read from it and do not close it: it is the epoll set of `base`, and is gone with it.
 *
 * Call this once: it looks at the file descriptors of the process one by one.
 *
 * base  uses epoll, as every base does on Linux unless the program or the environment asks for
 *       something else, and was made without EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST.
 *
 * Returns a file descriptor; REDLOCK_EINVAL for NULL, or for a base that is not as said above;
 * REDLOCK_ENOMEM; REDLOCK_ESYSTEM.
 * From: the thread of `base`, not in an event_base_loop() of it. Since 0.1. */
REDLOCK_EXPORT int redlock_loop_fd(struct event_base *base);

/* How long the other loop may sleep, in milliseconds, rounded up. 0: not at all, because something
 * is to be done that no file descriptor shows, such as what the last calls of this library have
 * begun. -1: as long as it likes, until the file descriptor is readable; also for NULL. So the
 * result fits poll(2) and epoll_wait(2).
 *
 * It is only true until something is called that changes `base`, so ask last.
 *
 * From: the thread of `base`, not in an event_base_loop() of it. Since 0.1. */
REDLOCK_EXPORT int redlock_loop_timeout_ms(struct event_base *base);

#ifdef __cplusplus
}
#endif

#endif
