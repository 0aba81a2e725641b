/* redlock/election.h - leader election: of several candidates one leads, until it is demoted.
 *
 *                   campaign              elected(term)
 *    OBSERVER ----------------> CANDIDATE --------------> LEADER
 *      ^  ^                       ^    |                    |  resigned, or the lead is lost
 *      |  |                       |    | resign             v
 *      |  +-----------------------|----+                 DEMOTED
 *      |                          |                         |  demoted(), then the application
 *      |                          |                         v  stops what only a leader may do
 *      +--------------------------+---------------------- STOPPING
 *             resigned                not resigned
 *
 * A lead is a lock (redlock/lock.h) on the key that is the election's name, with a fence: the term.
 * Each term is larger than all before it. Send it to the resource with each write, as with a fence.
 * The value of the key is "<40 hex digits>:leader ID VALUE". `redlock lock NAME` and any other
 * Redlock client compete with the candidates.
 *
 * The lead ends earlier than the lock: renew_deadline_ms after the start of the last renewal that
 * succeeded. Nobody else can be elected before the lock has ended, so the rest of its time is there
 * to stop.
 *
 * The library calls demoted_cb once for each elected_cb, before anybody else can be elected, as
 * long as the loop runs. A program whose loop is blocked, that is stopped, or whose machine is
 * suspended, cannot be called. Therefore call redlock_election_is_leader() before each step that
 * only a leader may do: it compares the clock with the deadline of the lead, and nothing else.
 *
 * Candidates and observers learn of a change from the masters' messages (options.watch in
 * redlock/manager.h). They poll only masters that do not send these.
 */
#ifndef REDLOCK_ELECTION_H
#define REDLOCK_ELECTION_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;
struct redlock_election;
struct redlock_lock;

/* The longest id and the longest value, in bytes. */
#define REDLOCK_MAX_ID 64
#define REDLOCK_MAX_VALUE 128

/* Who leads, as far as this manager knows. */
struct redlock_leader {
    /* sizeof(struct redlock_leader) of the library, or set by the caller of
     * redlock_election_leader(). */
    size_t size;
    /* The id and the value of the leader; "" when nobody leads, or it is not known. When somebody
     * holds the key who is no candidate, the id is the owner text of that lock. */
    const char *id;
    const char *value;
    /* The term of the leader; 0 when nobody leads. While a leader is being elected, and while
     * somebody holds the key without a fence, this is the term before. */
    uint64_t term;
    /* 1: a majority of the masters has said so. 0: fewer answer, so it is not known who leads. */
    int known;
    /* 1: this election object leads. */
    int is_me;
};

/* The end of a lead. */
struct redlock_demotion {
    /* sizeof(struct redlock_demotion) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* Why:
     * 0: redlock_election_resign() or redlock_election_free() was called.
     * REDLOCK_ECANCELED: redlock_close() was called.
     * REDLOCK_ENOQUORUM: no renewal has succeeded for renew_deadline_ms.
     * REDLOCK_EUNRENEWED: healthy_cb said no.
     * REDLOCK_EOUTRANKED: a candidate with a higher priority bids for the lead.
     * REDLOCK_ELOST, REDLOCK_ESUSPENDED, REDLOCK_ELIMIT: as for REDLOCK_NOTICE_LOST. */
    int reason;
    /* The term that ends. */
    uint64_t term;
    /* Until when nobody else can be elected, in microseconds of redlock_clock_us(): by then
     * everything must have stopped that only a leader may do. 0: others may be elected already.
     * With REDLOCK_ECANCELED the lock is released when this callback has returned. */
    uint64_t stop_by_us;
};

/* The lead begins. The application may call everything, redlock_election_resign() included. */
typedef void redlock_elected_cb(struct redlock_election *election, uint64_t term, void *arg);

/* The lead has ended: stop. Without stops_later the library gives the lead up when this returns. */
typedef void redlock_demoted_cb(struct redlock_election *election,
                                const struct redlock_demotion *demotion, void *arg);

/* Somebody else leads than before, or nobody does, or that is not known any more. Never before the
 * demoted_cb of this election's own lead: while it leads it hears of that only. `leader` is
 * borrowed: it lives until the callback returns. */
typedef void redlock_leader_cb(struct redlock_election *election,
                               const struct redlock_leader *leader, void *arg);

/* Whether the application is fit to lead: 0: no; else yes. Called before the lead begins, and
 * before each renewal. After a no the lead is not taken, or ends, and it is asked again before the
 * candidate tries again. */
typedef int redlock_healthy_cb(struct redlock_election *election, void *arg);

/* The lead has another deadline than before: redlock_election_deadline_us(). */
typedef void redlock_lead_moved_cb(struct redlock_election *election, uint64_t deadline_us,
                                   void *arg);

/* The end of redlock_election_free(); called once. The election is gone. */
typedef void redlock_election_free_cb(void *arg);

/* What to be elected for, and how. Call redlock_election_options_init() first, then change what you
 * need. redlock_election_new() copies everything. */
struct redlock_election_options {
    /* sizeof(struct redlock_election_options), set by redlock_election_options_init(); see rule 10
     * in redlock/redlock.h. */
    size_t size;
    /* The name of the election: a key, as request.key in redlock/lock.h, NUL terminated. */
    const char *name;
    /* Who we are, for the others: 1 to 64 bytes of printable ASCII without spaces. NULL: an
     * observer, which cannot campaign. */
    const char *id;
    /* What the leader publishes, for example its address: at most 128 bytes of printable ASCII.
     * NULL or "": nothing. */
    const char *value;
    /* The ttl of the lock: 10 to max_ttl_ms, default 10000. After a leader has died, somebody else
     * is elected when this has passed. All candidates should use the same. */
    uint32_t ttl_ms;
    /* How long a leader goes on without a renewal that succeeds: less than ttl_ms without the drift
     * (redlock/manager.h, drift_ppm), and more than a third of ttl_ms and retry_ms together,
     * because a renewal may begin that late, and is to be tried a second time. 0 (default): two
     * thirds of ttl_ms. What is left of the ttl is the time to stop. */
    uint32_t renew_deadline_ms;
    /* The longest pause between two tries: of a renewal that fails, and of a candidate when the
     * masters cannot be asked. At least 1. 0 (default): a tenth of ttl_ms. */
    uint32_t retry_ms;
    /* How long to wait before campaigning again after a lead that was lost, which did not end by
     * redlock_election_resign(): at most 24 h, default 0. */
    uint32_t delay_ms;
    /* A candidate with a higher priority is preferred: while somebody with a lower one leads, it
     * bids for it, and that leader is demoted (REDLOCK_EOUTRANKED). It has the lead when the
     * leader has stopped, within some round trips. All others wait meanwhile. A bid lasts for two
     * ttl_ms at most, and then pauses for as long: so a candidate that cannot take the lead does
     * not keep others from it. 0 (default) to 999. */
    uint32_t priority;
    /* 0 (default): everything has stopped when demoted_cb returns; the lead is given up then.
     * 1: the application stops later, and calls redlock_election_stopped(). Until then, and until
     * stop_by_us, nobody else is elected. The lock is not renewed meanwhile. redlock_close() does
     * not wait for that: resign before. */
    int stops_later;
    /* The callbacks, each with `arg`; NULL: not wanted. A candidate needs elected_cb and
     * demoted_cb. Without leader_cb the election does not observe who leads. */
    redlock_elected_cb *elected_cb;
    redlock_demoted_cb *demoted_cb;
    redlock_leader_cb *leader_cb;
    redlock_healthy_cb *healthy_cb;
    redlock_lead_moved_cb *moved_cb;
    void *arg;
};

/* Like redlock_election_options_init(), for languages that cannot use a C header: writes no more
 * than `size` bytes, which the caller has room for. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_election_options_init_sized(struct redlock_election_options *options,
                                                        size_t size);

/* Fill *options with the defaults. */
static inline void redlock_election_options_init(struct redlock_election_options *options)
{
    redlock_election_options_init_sized(options, sizeof(*options));
}

/* Make an election. It observes who leads, if options->leader_cb is set, and does not campaign yet.
 *
 * rl            not closing. The election is gone with its manager, at the latest.
 * options       not NULL; copied.
 * ret_election  the new election, written on success only. End it with redlock_election_free().
 *
 * Returns 0; REDLOCK_EINVAL or REDLOCK_ETTL (redlock_error_text() says which field is wrong, and
 * what it must be); REDLOCK_ESTATE (the manager is closing); REDLOCK_ELIMIT (a manager observes
 * 1024 keys at once: one for an observer; for a candidate that of the bids, and one more with a
 * leader_cb or a priority); REDLOCK_ENOMEM; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_new(struct redlock *rl,
                                        const struct redlock_election_options *options,
                                        struct redlock_election **ret_election);

/* Be a candidate from now on: wait for the lead, take it, and after a lead that was lost wait for
 * the next one.
 *
 * Returns 0, also when it campaigns already; REDLOCK_EINVAL for NULL or an observer; REDLOCK_ESTATE
 * when the election is being freed, or the manager is closing; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_campaign(struct redlock_election *election);

/* Be an observer from now on. A leader is demoted (reason 0) and gives the lead up: the candidate
 * that has waited longest is elected within a few round trips.
 *
 * redlock_election_is_leader() is 0 from this call on; demoted_cb comes later, from the loop.
 *
 * Returns 0, also for an observer; REDLOCK_EINVAL for NULL; REDLOCK_ESTATE when the manager is
 * closing; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_resign(struct redlock_election *election);

/* With stops_later: everything has stopped that only a leader may do. The library gives the lead
 * up. A candidate campaigns again.
 *
 * Returns 0; REDLOCK_ESTATE when demoted_cb was not called, or this was called already;
 * REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_stopped(struct redlock_election *election);

/* Resign, stop observing, and free the election. With stops_later this waits for
 * redlock_election_stopped(), and not longer than until stop_by_us.
 *
 * cb   called with arg when the election is gone; may be NULL. Meanwhile demoted_cb may be called,
 *      and no other callback of the election.
 *
 * Returns 0; REDLOCK_ESTATE when it is being freed already, or is that of a struct
 * redlock_sync_election; REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_free(struct redlock_election *election,
                                         redlock_election_free_cb *cb, void *arg);

/* Whether this election leads now: 1 or 0. Compares the clock with the deadline of the lead, and
 * nothing else. 0 for NULL and in a forked child.
 * From any thread, as long as the election is not gone. Since 0.1. */
REDLOCK_EXPORT int redlock_election_is_leader(const struct redlock_election *election);

/* The deadline of the lead, in microseconds of redlock_clock_us(); 0 when this election does not
 * lead. It changes: see redlock_lock_deadline_us(), which tells how other threads keep it.
 * From any thread, as long as the election is not gone. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_election_deadline_us(const struct redlock_election *election);

/* The term of the present lead; 0 when this election does not lead.
 * From any thread, as long as the election is not gone. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_election_term(const struct redlock_election *election);

/* What the election does. */
enum redlock_election_state {
    REDLOCK_ELECTION_OBSERVER = 0,
    /* Waits for the lead, or for delay_ms or retry_ms to pass. */
    REDLOCK_ELECTION_CANDIDATE = 1,
    REDLOCK_ELECTION_LEADER = 2,
    /* Demoted. demoted_cb is about to be called, or the application stops (stops_later). */
    REDLOCK_ELECTION_STOPPING = 3
};

/* What the election does now. REDLOCK_ELECTION_OBSERVER for NULL.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT enum redlock_election_state
redlock_election_state(const struct redlock_election *election);

/* Why the last try to be elected failed: a status that the callback of redlock_acquire() gets, as
 * REDLOCK_ECONFIG or REDLOCK_ENOMEM, or REDLOCK_EUNRENEWED when healthy_cb said no. The candidate
 * tries again. 0: no try has failed since the last lead began. While a candidate only waits for the
 * lead its try has not failed: see redlock_election_lock().
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_failure(const struct redlock_election *election);

/* Who leads, as leader_cb was told last; before its first call, and without leader_cb, not known.
 *
 * ret_leader   the caller sets ret_leader->size; no more than that is written. Its texts live until
 *              the next leader_cb.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_leader(const struct redlock_election *election,
                                           struct redlock_leader *ret_leader);

/* The lock behind the lead: being acquired by a candidate, or held; else NULL. It is
 * for what can be asked about a lock, such as redlock_lock_place(), redlock_lock_reason() and
 * redlock_lock_node(); the election alone changes it. Borrowed: until the next turn of the loop.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const struct redlock_lock *
redlock_election_lock(const struct redlock_election *election);

#ifdef __cplusplus
}
#endif

#endif
