/* redlock/election.h - leader election: one of several candidates leads, until it is demoted.
 *
 *                   campaign              elected(term)
 *    OBSERVER ----------------> CANDIDATE --------------> LEADER
 *      ^  ^                       ^    |                    |  resigned, or leadership lost
 *      |  |                       |    | resign             v
 *      |  +-----------------------|----+                 DEMOTED
 *      |                          |                         |  demoted(), then the application
 *      |                          |                         v  stops what only a leader may do
 *      +--------------------------+---------------------- STOPPING
 *             resigned                not resigned
 *
 * Leadership is a lock (redlock/lock.h) on a key: the name of the election. Its fencing token is
 * the term, which is larger than every term before it. Send the term to the resource with each
 * write. The value of the key is "<40 hex digits>:leader ID VALUE", or "leader+PRIORITY ID VALUE"
 * after the colon. `redlock lock NAME` and any other Redlock client compete with the candidates.
 *
 * Leadership ends before the lock does: renew_deadline_ms after the start of the last renewal that
 * succeeded. Nobody else can be elected until the lock has ended. The time in between is there for
 * the leader to stop.
 *
 * The library calls demoted_cb once for each elected_cb, before anybody else can be elected. (In
 * Kubernetes: OnStartedLeading, OnStoppedLeading.) It cannot do so while the loop is blocked, the
 * process is stopped, or the machine is suspended. So call redlock_election_is_leader() before each
 * step that only a leader may take: it just compares the clock with the leadership deadline.
 *
 * Candidates and observers learn of a change from messages of the masters (options.subscribe in
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
    /* The id and the value of the leader; "" when nobody leads, or the leader is not known. Both
     * are also "" after redlock_break(), until the key ends. If the key's holder is no candidate,
     * the id is the owner text of its lock. */
    const char *id;
    const char *value;
    /* The term of the leader; 0 when nobody leads. While a leader is being elected, and while the
     * key's holder has no fencing token, this is the previous term. */
    uint64_t term;
    /* 1: a majority of the masters has said so. 0: fewer replied, so the leader is not known. */
    int known;
    /* 1: this election object leads. */
    int is_me;
};

/* The end of a leadership. */
struct redlock_demotion {
    /* sizeof(struct redlock_demotion) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* Why:
     *   - 0: redlock_election_resign(), redlock_election_hand_over() or redlock_election_free() was
     *     called;
     *   - REDLOCK_ECANCELED: redlock_close() was called;
     *   - REDLOCK_ENOQUORUM: no renewal has succeeded for renew_deadline_ms;
     *   - REDLOCK_EUNRENEWED: healthy_cb said no;
     *   - REDLOCK_EOUTRANKED: a candidate with a higher priority bids for leadership, or one that
     *     was called upon (`redlock transfer`);
     *   - REDLOCK_ELOST, REDLOCK_ESUSPENDED, REDLOCK_ELIMIT: as for REDLOCK_NOTICE_LOST. */
    int reason;
    /* The term that has ended. */
    uint64_t term;
    /* Until when nobody else can be elected, in microseconds of redlock_clock_us(). Everything that
     * only a leader may do must have stopped by then. 0: others may be elected already. With
     * REDLOCK_ECANCELED the lock is released when this callback has returned. */
    uint64_t stop_by_us;
};

/* This election is elected: its leadership starts. (Kubernetes: OnStartedLeading.) The callback may
 * call every function, redlock_election_resign() included. */
typedef void redlock_elected_cb(struct redlock_election *election, uint64_t term, void *arg);

/* Leadership has ended: stop. (Kubernetes: OnStoppedLeading.) Without stops_later the library
 * releases the lock when this returns. */
typedef void redlock_demoted_cb(struct redlock_election *election,
                                const struct redlock_demotion *demotion, void *arg);

/* The leader has changed: somebody else leads, nobody leads, or the leader is no longer known.
 * While this election leads, the callback reports only that; demoted_cb runs before it reports
 * another leader.
 *
 * leader   borrowed: it lives until the callback returns. */
typedef void redlock_leader_cb(struct redlock_election *election,
                               const struct redlock_leader *leader, void *arg);

/* Returns whether the application is healthy enough to lead: 1 or 0. Called before a leadership
 * starts and before each renewal. After a 0 the candidate does not lead. It is asked again before
 * its next round.
 *
 * It is also the heartbeat of an election (request.needs_heartbeat is for locks): let the worker
 * store redlock_clock_us() with each step, and return 0 when that is too long ago. A leader whose
 * worker hangs is then demoted, even though its loop runs (docs/examples/elected.c). */
typedef int redlock_healthy_cb(struct redlock_election *election, void *arg);

/* The leadership deadline has moved: see redlock_election_deadline_us(). */
typedef void redlock_leadership_moved_cb(struct redlock_election *election, uint64_t deadline_us,
                                         void *arg);

/* The end of redlock_election_free(); called once. The election is gone. */
typedef void redlock_election_free_cb(void *arg);

/* The options of an election. Call redlock_election_options_init() first, then change what you
 * need. redlock_election_new() copies everything. */
struct redlock_election_options {
    /* sizeof(struct redlock_election_options), set by redlock_election_options_init(); see rule 10
     * in redlock/redlock.h. */
    size_t size;
    /* The name of the election: a key, as request.key in redlock/lock.h, NUL terminated, of at most
     * 1012 bytes with the key_prefix: the key of the bids adds 12. A candidate waits as long as
     * somebody has a lock on this key, even if it is a lock or a leader of the same manager. */
    const char *name;
    /* The id of this candidate, for the others: 1 to 64 bytes of printable ASCII without spaces.
     * NULL: an observer, which cannot campaign. */
    const char *id;
    /* A text that the leader publishes, for example its address: at most 128 bytes of printable
     * ASCII. NULL or "": nothing. */
    const char *value;
    /* The TTL of the lock: 10 to max_ttl_ms, default 10000. When a leader dies, somebody else can
     * be elected after this time. All candidates should use the same. (Kubernetes: LeaseDuration.)
     */
    uint32_t ttl_ms;
    /* How long a leader leads without a successful renewal. 0 (default): two thirds of ttl_ms. The
     * rest of the TTL is the time to stop. Must be less than ttl_ms without the drift
     * (redlock/manager.h, drift_ppm), and more than a third of ttl_ms plus retry_ms: a renewal may
     * start that late, and needs time for a retry. (Kubernetes: RenewDeadline.) */
    uint32_t renew_deadline_ms;
    /* The longest pause between two rounds: of a renewal that fails, and of a candidate when the
     * masters cannot be asked. At least 1. 0 (default): a tenth of ttl_ms. (Kubernetes:
     * RetryPeriod.)
     *
     * After an outage of the masters, in which leadership was lost, the former leader has a head
     * start: other candidates begin one to two retry_ms after they could ask. */
    uint32_t retry_ms;
    /* How long to pause before campaigning again after leadership was lost (not after
     * redlock_election_resign()): at most 24 h, default 0. */
    uint32_t delay_ms;
    /* Candidates with a higher priority are preferred: 0 (default) to 999. While somebody with a
     * lower one leads, a candidate bids for leadership. The leader is then demoted
     * (REDLOCK_EOUTRANKED), and the bidder is elected within a few round trips of the leader's
     * stop. Other candidates wait meanwhile. A bid lasts for two ttl_ms at most, then pauses for as
     * long, so a candidate that cannot become leader does not block the others. */
    uint32_t priority;
    /* 0 (default): everything has stopped when demoted_cb returns, and the lock is released then.
     *
     * 1: the application stops later, and calls redlock_election_stopped(). Until then, and at most
     * until stop_by_us, nobody else is elected. The lock is not renewed meanwhile. redlock_close()
     * does not wait for this, so resign first. */
    int stops_later;
    /* The callbacks, each with `arg`; NULL: not wanted. A candidate needs elected_cb and
     * demoted_cb, an observer leader_cb. Without leader_cb and priority, redlock_election_leader()
     * does not know the leader. */
    redlock_elected_cb *elected_cb;
    redlock_demoted_cb *demoted_cb;
    redlock_leader_cb *leader_cb;
    redlock_healthy_cb *healthy_cb;
    redlock_leadership_moved_cb *moved_cb;
    void *arg;
};

/* Like redlock_election_options_init(), for languages that cannot use a C header: writes at most
 * `size` bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_election_options_init_sized(struct redlock_election_options *options,
                                                        size_t size);

/* Fill *options with the defaults. From any thread. Since 0.1. */
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
 * Returns 0, or an error:
 *   - REDLOCK_EINVAL or REDLOCK_ETTL: redlock_error_text() says which field is wrong, and what it
 *     must be;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: the manager observes 1024 keys already. A candidate needs one for the bids,
 *     and one more with a leader_cb or a priority; an observer needs one;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_new(struct redlock *rl,
                                        const struct redlock_election_options *options,
                                        struct redlock_election **ret_election);

/* Campaign: be a candidate from now on. The candidate waits to be elected, and campaigns again when
 * its leadership was lost.
 *
 * Returns 0, also when it campaigns already; REDLOCK_EINVAL for NULL or an observer, and then
 * redlock_error_text() says so; REDLOCK_ESTATE when the election is being freed, or the manager is
 * closing; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_campaign(struct redlock_election *election);

/* Resign: only observe from now on. A leader is demoted (reason 0) and releases the lock. The first
 * in the queue is elected within a few round trips.
 *
 * redlock_election_is_leader() is 0 from this call on; demoted_cb comes later, from the loop.
 *
 * Returns 0, also when it does not campaign; REDLOCK_EINVAL for NULL; REDLOCK_ESTATE when the
 * manager is closing; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_resign(struct redlock_election *election);

/* Resign, so that a certain candidate is elected next: nobody else can lead in between.
 *
 * This is redlock_election_resign(), but at the end the lock is handed over and not released, as
 * redlock_hand_over() does it (redlock/lock.h): when demoted_cb has returned and, with stops_later,
 * after redlock_election_stopped(). The candidate `to` gets a term of its own, as ever. If it does
 * not take the lock within within_ms, the others are elected in their order.
 *
 * After demoted_cb, and before redlock_election_stopped(), this still says who is next. It does not
 * count when this election does not lead, nor when stop_by_us passes before the application has
 * stopped: then the lock has ended. A later call names another candidate. redlock_election_free()
 * and redlock_close() do not change it; out of memory, the lock is released.
 *
 * A candidate does not take the lock while another one with a higher priority bids, nor if
 * healthy_cb says no: then the others wait until within_ms is over.
 *
 * to         the id of the candidate: as options.id, and not that of this candidate; copied.
 * within_ms  as for redlock_hand_over().
 *
 * Returns the codes of redlock_election_resign(); REDLOCK_EINVAL also for a wrong `to` or within_ms
 * (redlock_error_text() says why), and then nothing has changed.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_hand_over(struct redlock_election *election, const char *to,
                                              uint32_t within_ms);

/* With stops_later: everything that only a leader may do has stopped. The library releases the
 * lock, or hands it over. A candidate campaigns again.
 *
 * Returns 0; REDLOCK_ESTATE when demoted_cb was not called, or this was called already;
 * REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_stopped(struct redlock_election *election);

/* Resign, stop observing, and free the election. With stops_later this waits for
 * redlock_election_stopped(), at most until stop_by_us.
 *
 * cb   called with arg when the election is gone; may be NULL. Until then demoted_cb may be called,
 *      but no other callback of the election.
 *
 * Returns 0; REDLOCK_ESTATE when it is being freed already, or belongs to a struct
 * redlock_sync_election; REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_free(struct redlock_election *election,
                                         redlock_election_free_cb *cb, void *arg);

/* Whether this election leads now: 1 or 0. Just compares the clock with the leadership deadline. 0
 * for NULL and in a forked child.
 * From any thread, as long as the election is not gone. Since 0.1. */
REDLOCK_EXPORT int redlock_election_is_leader(const struct redlock_election *election);

/* The leadership deadline, in microseconds of redlock_clock_us(); 0 when this election does not
 * lead. It moves: see redlock_lock_deadline_us(), which tells how other threads use it.
 * From any thread, as long as the election is not gone. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_election_deadline_us(const struct redlock_election *election);

/* The current term; 0 when this election does not lead.
 * From any thread, as long as the election is not gone. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_election_term(const struct redlock_election *election);

/* The state of an election. */
enum redlock_election_state {
    REDLOCK_ELECTION_OBSERVER = 0,
    /* Waits to be elected, or for delay_ms or retry_ms to pass. */
    REDLOCK_ELECTION_CANDIDATE = 1,
    REDLOCK_ELECTION_LEADER = 2,
    /* Demoted: demoted_cb is about to be called, or the application is stopping (stops_later). */
    REDLOCK_ELECTION_STOPPING = 3
};

/* The state of an election. REDLOCK_ELECTION_OBSERVER for NULL.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT enum redlock_election_state
redlock_election_state(const struct redlock_election *election);

/* Why the candidate's last attempt to be elected failed, or its last bid for leadership (a priority
 * or `redlock transfer` causes a bid). Returns a status of the callback of redlock_acquire(), such
 * as REDLOCK_ECONFIG or REDLOCK_ENOMEM, or REDLOCK_EUNRENEWED when healthy_cb returned 0. The
 * library retries. 0: no attempt has failed since the candidate was last elected.
 *
 * Waiting is not a failure. The candidate waits while another one leads (see
 * redlock_election_lock()), and until enough masters can be asked. options.node_cb of the manager
 * says what is wrong with each master. From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_failure(const struct redlock_election *election);

/* Who leads, as leader_cb was told last. Not known before its first call; nor without leader_cb and
 * priority.
 *
 * ret_leader   set ret_leader->size first; no more than that is written. Its texts live until the
 *              next leader_cb.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_election_leader(const struct redlock_election *election,
                                           struct redlock_leader *ret_leader);

/* The lock behind the leadership, which a candidate is acquiring or holds; NULL: none. Only pass it
 * to accessors such as redlock_lock_queue_position(), redlock_lock_reason() and
 * redlock_lock_node(): the election alone changes it. Borrowed: until the next loop iteration.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const struct redlock_lock *
redlock_election_lock(const struct redlock_election *election);

#ifdef __cplusplus
}
#endif

#endif
