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

/* Time-outs that never pass by themselves: however busy the machine is, a master that runs answers
 * in time. */
#define SITE_NEVER_MS 60000u

struct site {
    struct event_base *base;
    size_t n;
    struct master *masters[OUTCOME_MOST];
    const char *uris[OUTCOME_MOST];
    struct redlock_options options;
    /* The managers; a test that needs one contender uses the first. */
    struct redlock *rl[2];
};

/* Make the loop and start n masters. NULL: plain ones on unix sockets. */
void site_start(struct site *s, size_t n, const struct master_options *options);

/* Make both managers, and wait until each has all its nodes up. */
void site_open(struct site *s);

/* Make both, and wait for nothing. */
void site_open_at_once(struct site *s);

/* Close what is open, and end everything. */
void site_end(struct site *s);

/* With the first manager; the lock is released with its handle, by either. */
struct outcome site_acquire(struct site *s, const char *key);
struct outcome site_acquire_with(struct site *s, size_t manager,
                                 const struct redlock_request *request);
int site_release(struct site *s, struct redlock_lock *lock);

/* For the library they have passed: a suspend of this machine, but not of the masters. A lock of
 * OUTCOME_TTL_MS outlives one of these. */
void site_time_out(struct site *s);

/* Close a manager that waits for masters that do not answer. */
void site_close_in_silence(struct site *s, size_t manager);

/* Wait until a master answers a command, formatted as in hiredis, with this text. */
void site_wait_answer(struct site *s, size_t node, const char *answer, const char *command);

/* Its incarnation key by hand: its data have been there for a day. Returns the key, until the next
 * command to this master. */
const char *site_make_old(struct site *s, size_t node);

/* Wait until no master that runs has any key. */
void site_wait_clean(struct site *s);

#endif
