/* live/site.h - real masters, and managers of the library on one loop. */
#ifndef RLK_TESTS_LIVE_SITE_H
#define RLK_TESTS_LIVE_SITE_H

#include <redlock/redlock.h>

#include "io/outcome.h"
#include "io/suspend.h"
#include "io/watch.h"
#include "lib/loop.h"
#include "lib/master.h"
#include "lib/runner.h"

struct event_base;

/* Timeouts that never pass by themselves: a master that runs answers in time, however busy the
 * machine is. */
#define SITE_NEVER_MS 60000u

struct site {
    struct event_base *base;
    size_t n;
    struct master *masters[OUTCOME_MOST];
    const char *uris[OUTCOME_MOST];
    struct redlock_options options;
    /* The managers; a test that needs one client uses the first. */
    struct redlock *rl[2];
};

/* Make the loop and start n masters. `options` NULL: plain masters on unix sockets. */
void site_start(struct site *s, size_t n, const struct master_options *options);

/* Give a user these rights, in words of ACL SETUSER, on each master; the managers that are made
 * next log in as that user. Returns false, and skips the test, if the masters cannot say what the
 * words mean (master_user()). */
bool site_user(struct site *s, const char *rights);

/* Make both managers, and wait until each has all its nodes up. */
void site_open(struct site *s);

/* Both, with plain masters. */
void site_start_open(struct site *s, size_t n);

/* Make both managers, and do not wait. */
void site_open_at_once(struct site *s);

/* Close what is open, and end everything. */
void site_end(struct site *s);

/* After a test: end the site that was started last, unless it is ended. Then the test's local
 * variables are gone; so what a callback writes during a close must be static. */
void site_end_all(void);

/* Acquire with the first manager, or with the given one. A lock is released by its handle,
 * whichever manager it is from. */
struct outcome site_acquire(struct site *s, const char *key);
struct outcome site_acquire_with(struct site *s, size_t manager,
                                 const struct redlock_request *request);
struct outcome site_must_acquire(struct site *s, const char *key); /* fails the test otherwise */
int site_release(struct site *s, struct redlock_lock *lock);

/* Make the timeouts pass for the library: its client is suspended, the masters are not. A lock
 * of OUTCOME_TTL_MS outlives one call. */
void site_time_out(struct site *s);

/* Close a manager that waits for masters that do not answer. */
void site_close_to_timeout(struct site *s, size_t manager);

/* Wait until a master answers a command, formatted as in hiredis, with this text. */
void site_wait_answer(struct site *s, size_t node, const char *answer, const char *command);

/* Write its incarnation key by hand, as if its data were a day old. Returns the key; valid until
 * the next command to this master. */
const char *site_make_old(struct site *s, size_t node);

/* Wait until no running master has any key. */
void site_wait_clean(struct site *s);

#endif
