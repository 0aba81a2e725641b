/* redlock/sync_election.h - the blocking API for leader election.
 *
 *     redlock_sync_election_new(s, &options, &election);      options.stops_later = 1
 *     while (redlock_sync_election_campaign(election, REDLOCK_FOREVER, canceler, &term) == 0) {
 *         do {
 *             while (there_is_work && redlock_clock_us() + TIME_OF_A_STEP_US <
 *                                         redlock_sync_election_deadline_us(election)) {
 *                 do_a_step(term);
 *             }
 *         } while (redlock_sync_election_wait_demoted(election, term, A_MOMENT_MS, canceler,
 *                                                     NULL) == REDLOCK_EDEADLINE);
 *         redlock_sync_election_stopped(election);
 *     }
 *     redlock_sync_election_free(election);
 *
 * Each function does the same as the function without `sync_` in redlock/election.h, and follows
 * the rules of redlock/sync.h: any thread may call it, and a call blocks until it has finished.
 *
 * Set options.stops_later if threads work for the leader, because they need time to notice that its
 * leadership has ended. Without it, the lock is released as soon as options.demoted_cb returns.
 */
#ifndef REDLOCK_SYNC_ELECTION_H
#define REDLOCK_SYNC_ELECTION_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/election.h>
#include <redlock/export.h>
#include <redlock/lock.h>
#include <redlock/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_sync_election;

/* Make an election. It observes who leads, and does not campaign yet.
 *
 * options       as for redlock_election_new(); copied. A candidate needs demoted_cb or stops_later;
 *               all other callbacks are optional. They run on the I/O thread, with the manager's
 *               struct redlock_election. There they may pass it to the functions of
 *               redlock/election.h; only redlock_election_free() returns REDLOCK_ESTATE.
 * ret_election  written on success only. End it with redlock_sync_election_free().
 *
 * Returns the codes of redlock_election_new(); REDLOCK_ESYSTEM when there is no file descriptor
 * left; REDLOCK_ESTATE also on an I/O thread. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_new(struct redlock_sync *s,
                                             const struct redlock_election_options *options,
                                             struct redlock_sync_election **ret_election);

/* Resign, wait until the lock is released, and free the election.
 *
 * Before this call, stop everything that only a leader may do. Other threads that wait for this
 * election get REDLOCK_ECANCELED. No thread may use the election any more.
 *
 * Returns 0, or REDLOCK_ECANCELED when `s` was closed: the election is gone. Otherwise nothing has
 * happened: REDLOCK_EINVAL for NULL; REDLOCK_ESTATE on an I/O thread; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_free(struct redlock_sync_election *election);

/* Become a candidate, and wait until this election leads.
 *
 * It stays a candidate, whatever this returns, until redlock_sync_election_resign(). So call it
 * again to go on waiting, or, after a leadership, to wait for the next one.
 *
 * wait_ms   how long to wait. 0: not at all; REDLOCK_FOREVER: without a limit.
 * canceler  made for the same `s`; NULL: the call cannot be cancelled.
 * ret_term  the term, written on success only; may be NULL.
 *
 * Returns 0 when it leads, or led a moment ago (redlock_sync_election_is_leader() tells).
 * Otherwise:
 *   - REDLOCK_EDEADLINE: wait_ms has passed. redlock_sync_error_reason() is
 *     redlock_election_failure(), and redlock_sync_error_text() says which masters did not grant
 *     the leadership;
 *   - REDLOCK_ECANCELED: cancelled, resigned or closed;
 *   - REDLOCK_EINVAL: a NULL, an observer, or a canceler of another `s`;
 *   - REDLOCK_ESTATE: `s` is closing, or this is an I/O thread;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_campaign(struct redlock_sync_election *election,
                                                  uint32_t wait_ms,
                                                  struct redlock_sync_canceler *canceler,
                                                  uint64_t *ret_term);

/* Wait until the leadership with this term has ended.
 *
 * term          from redlock_sync_election_campaign().
 * wait_ms       as for redlock_sync_election_campaign(); 0: only ask.
 * canceler      as for redlock_sync_election_campaign().
 * ret_demotion  why the last leadership ended, written on success only. Set ret_demotion->size
 *               first; no more than that is written. NULL: not wanted.
 *
 * Returns 0; at once if this election does not lead with this term. Otherwise:
 *   - REDLOCK_EDEADLINE: it still leads after wait_ms;
 *   - REDLOCK_ECANCELED: cancelled, or the election is being freed or closed;
 *   - REDLOCK_EINVAL; REDLOCK_ESTATE (`s` is closing, or this is an I/O thread);
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_wait_demoted(struct redlock_sync_election *election,
                                                      uint64_t term, uint32_t wait_ms,
                                                      struct redlock_sync_canceler *canceler,
                                                      struct redlock_demotion *ret_demotion);

/* Resign, as redlock_election_resign() does: only observe from now on. Campaigns in other threads
 * return REDLOCK_ECANCELED.
 *
 * Waits only for the I/O thread. When this returns, redlock_sync_election_is_leader() is 0. The
 * lock is released soon after; with stops_later, after redlock_sync_election_stopped().
 *
 * Returns the codes of redlock_election_resign(); REDLOCK_ESTATE also on an I/O thread. Since
 * 0.1. */
REDLOCK_EXPORT int redlock_sync_election_resign(struct redlock_sync_election *election);

/* Resign, so that a certain candidate is elected next, as redlock_election_hand_over() does. The
 * rest is as for redlock_sync_election_resign(). Before redlock_sync_election_stopped() this may
 * still be called after the end of leadership.
 *
 * to, within_ms   as for redlock_election_hand_over().
 *
 * Returns the codes of redlock_election_hand_over(); after REDLOCK_EINVAL it leads as before,
 * and redlock_sync_error_text() says why. REDLOCK_ESTATE also on an I/O thread. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_hand_over(struct redlock_sync_election *election,
                                                   const char *to, uint32_t within_ms);

/* With stops_later: tell the library that everything that only a leader may do has stopped, as
 * redlock_election_stopped() does. Waits only for the I/O thread.
 *
 * Returns the codes of redlock_election_stopped(). REDLOCK_ESTATE also while this election still
 * leads, even if the deadline has just passed, so call redlock_sync_election_wait_demoted() first;
 * and on an I/O thread. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_stopped(struct redlock_sync_election *election);

/* ---- accessors: from any thread, I/O threads included; they never wait ---- */

/* Like redlock_election_is_leader(), redlock_election_deadline_us() and redlock_election_term().
 * They read what the I/O thread knows, and the clock. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_is_leader(const struct redlock_sync_election *election);
REDLOCK_EXPORT uint64_t
redlock_sync_election_deadline_us(const struct redlock_sync_election *election);
REDLOCK_EXPORT uint64_t redlock_sync_election_term(const struct redlock_sync_election *election);

/* A file descriptor to poll: readable while this election does not lead, writable while it leads.
 * Do not read from it or write to it. It is closed together with the election.
 *
 * It changes only after the I/O thread has run. redlock_sync_election_is_leader() does not depend
 * on that thread.
 *
 * Returns a file descriptor; REDLOCK_EINVAL for NULL; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_fd(const struct redlock_sync_election *election);

/* ---- who leads ---- */

/* Like struct redlock_leader, with its own copies of the texts. */
struct redlock_sync_leader {
    /* sizeof(struct redlock_sync_leader), set by the caller. */
    size_t size;
    /* See struct redlock_leader. */
    uint64_t term;
    int known;
    int is_me;
    char id[REDLOCK_MAX_OWNER + 1];
    char value[REDLOCK_MAX_VALUE + 1];
};

/* Who leads, as redlock_election_leader() says. Waits only for the I/O thread.
 *
 * ret_leader   set ret_leader->size first; no more than that is written.
 *
 * Returns the codes of redlock_election_leader(); REDLOCK_ESTATE when `s` was closed, or on an I/O
 * thread. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_leader(struct redlock_sync_election *election,
                                                struct redlock_sync_leader *ret_leader);

#ifdef __cplusplus
}
#endif

#endif
