/* redlock/sync_election.h - leader election for programs that have threads and no event loop.
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
 * A function here does what its namesake in redlock/election.h does, and the rules of
 * redlock/sync.h hold: any thread may call any of them, and a call waits for its end.
 *
 * Use options.stops_later when threads work for the leader: they need time to notice that
 * leadership has ended. Without it the lock is released as soon as options.demoted_cb has returned.
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
 * options       as for redlock_election_new(). A candidate needs demoted_cb or stops_later;
 *               every callback may be NULL otherwise. They are called on the I/O thread, with the
 *               manager's struct redlock_election, for which the functions of redlock/election.h
 *               may be called there; redlock_election_free() returns REDLOCK_ESTATE.
 * ret_election  written on success only. End it with redlock_sync_election_free().
 *
 * Returns as redlock_election_new(); REDLOCK_ESYSTEM: no file descriptor. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_new(struct redlock_sync *s,
                                             const struct redlock_election_options *options,
                                             struct redlock_sync_election **ret_election);

/* Resign, wait until the lock is released, and free the election. Everything must have stopped that
 * only a leader may do. Calls of other threads that wait for the election return
 * REDLOCK_ECANCELED, and no call about it may begin any more.
 *
 * Returns 0, or REDLOCK_ECANCELED when `s` was closed: the election is gone. Returns REDLOCK_EINVAL
 * for NULL; REDLOCK_ESTATE on an I/O thread; REDLOCK_EFORK: nothing has happened. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_free(struct redlock_sync_election *election);

/* Be a candidate from now on, and wait until this election leads.
 *
 * It stays a candidate whatever this returns, until redlock_sync_election_resign(). So the call may
 * be repeated to go on waiting, and after leadership to wait for the next one.
 *
 * wait_ms   how long to wait: 0: not at all; REDLOCK_FOREVER: without a limit.
 * canceler  of the same `s`; NULL: cannot be cancelled.
 * ret_term  the term, written on success only; may be NULL.
 *
 * Returns 0: it leads, or led just now (redlock_sync_election_is_leader()); REDLOCK_EDEADLINE:
 * wait_ms has passed (redlock_sync_error_reason() is redlock_election_failure(), and
 * redlock_sync_error_text() says which masters have not granted leadership);
 * REDLOCK_ECANCELED: cancelled, resigned or closed; REDLOCK_EINVAL (also for an observer);
 * REDLOCK_ESTATE; REDLOCK_ENOMEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_campaign(struct redlock_sync_election *election,
                                                  uint32_t wait_ms,
                                                  struct redlock_sync_canceler *canceler,
                                                  uint64_t *ret_term);

/* Wait until leadership of this term has ended.
 *
 * term          from redlock_sync_election_campaign().
 * ret_demotion  why leadership ended last: the caller sets ret_demotion->size, and no more than
 *               that is written, on success only. NULL: not wanted.
 *
 * Returns 0, at once when this election does not lead in this term; REDLOCK_EDEADLINE: it still
 * leads after wait_ms; REDLOCK_ECANCELED; REDLOCK_EINVAL; REDLOCK_ESTATE (closing, or on an I/O
 * thread); REDLOCK_ENOMEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_wait_demoted(struct redlock_sync_election *election,
                                                      uint64_t term, uint32_t wait_ms,
                                                      struct redlock_sync_canceler *canceler,
                                                      struct redlock_demotion *ret_demotion);

/* Be an observer from now on, as redlock_election_resign(). Campaigns of other threads return
 * REDLOCK_ECANCELED. Waits for the I/O thread only: is_leader is 0 when this returns, and the
 * lock is released soon after (with stops_later: after redlock_sync_election_stopped()).
 *
 * Returns as redlock_election_resign(). Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_resign(struct redlock_sync_election *election);

/* With stops_later: everything has stopped that only a leader may do, as
 * redlock_election_stopped(). Waits for the I/O thread only.
 *
 * Returns as redlock_election_stopped(): REDLOCK_ESTATE also while this election still leads, even
 * if the deadline has just passed: redlock_sync_election_wait_demoted() first. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_stopped(struct redlock_sync_election *election);

/* ---- from any thread, on an I/O thread too, without waiting ---- */

/* As redlock_election_is_leader(), redlock_election_deadline_us() and redlock_election_term(): they
 * read what the I/O thread has learnt last, and the clock. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_is_leader(const struct redlock_sync_election *election);
REDLOCK_EXPORT uint64_t
redlock_sync_election_deadline_us(const struct redlock_sync_election *election);
REDLOCK_EXPORT uint64_t redlock_sync_election_term(const struct redlock_sync_election *election);

/* A file descriptor to be polled: readable while this election does not lead, writable while it
 * leads. Do not read from it or write to it. It is closed with the election. Whoever polls it
 * depends on the I/O thread; redlock_sync_election_is_leader() does not.
 *
 * Returns a file descriptor; REDLOCK_EINVAL for NULL; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_fd(const struct redlock_sync_election *election);

/* ---- who leads ---- */

/* As struct redlock_leader, with texts of its own. */
struct redlock_sync_leader {
    /* sizeof(struct redlock_sync_leader), set by the caller. */
    size_t size;
    /* As the fields of these names there. */
    uint64_t term;
    int known;
    int is_me;
    char id[REDLOCK_MAX_OWNER + 1];
    char value[REDLOCK_MAX_VALUE + 1];
};

/* Who leads, as redlock_election_leader(). Waits for the I/O thread only.
 *
 * ret_leader   the caller sets ret_leader->size; no more than that is written.
 *
 * Returns as redlock_election_leader(); REDLOCK_ESTATE (closed, or on an I/O thread). Since 0.1. */
REDLOCK_EXPORT int redlock_sync_election_leader(struct redlock_sync_election *election,
                                                struct redlock_sync_leader *ret_leader);

#ifdef __cplusplus
}
#endif

#endif
