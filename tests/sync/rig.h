/* sync/rig.h - real masters, the façade, and threads that use it. */
#ifndef RLK_TESTS_SYNC_RIG_H
#define RLK_TESTS_SYNC_RIG_H

#include <pthread.h>
#include <stdatomic.h>

#include <redlock/redlock.h>

#include "lib/master.h"
#include "lib/runner.h"

#define RIG_MASTERS 3

/* A ttl that does not end while a test runs. */
#define RIG_TTL_MS 120000u

struct rig {
    struct master *masters[RIG_MASTERS];
    const char *uris[RIG_MASTERS];
    struct redlock_options options;
    struct redlock_sync *s;
};

/* Start the masters, fill in the options, open, and wait until all masters are connected. */
void rig_start(struct rig *r);

/* The same, but do not open: a test changes the options first. */
void rig_prepare(struct rig *r);
void rig_open(struct rig *r);

/* Close what is open, and end the masters. */
void rig_end(struct rig *r);

/* One try for a lock that is not renewed. */
struct redlock_request rig_request(const char *key);

/* Acquire, or fail the test. */
struct redlock_sync_lock *rig_acquire(struct rig *r, const char *key);

/* The same, and wait until every master has the key: an acquire does not wait for the last ones. */
struct redlock_sync_lock *rig_acquire_everywhere(struct rig *r, const char *key);

/* Wait until a client is in the waiting list of a key on some master: so its call has begun. */
void rig_wait_listed(struct rig *r, const char *key);

/* Stop or continue all masters. */
void rig_stop_masters(struct rig *r);
void rig_continue_masters(struct rig *r);

/* Fail the test unless no master has any key. A release that was answered by a majority may still
 * be on its way to the others, so this waits for them. */
void rig_expect_clean(struct rig *r);

/* Wait until a condition holds, or fail the test. */
void rig_wait(bool (*holds)(void *arg), void *arg);
void rig_wait_for(const atomic_int *flag);

/* Whether a file descriptor is readable within so many milliseconds. */
bool rig_is_readable(int fd, int within_ms);

/* Run a function in a thread; wait for its end. */
pthread_t rig_thread(void *(*run)(void *arg), void *arg);
void rig_join(pthread_t thread);

#endif
