/* attempt.h - rounds until the lock is acquired or given up: back-off, limits, deadline, cancel.
 *
 *          START            round WON                DELIVER, still valid
 *   IDLE --(1)----> ASKING -----------> WON ------------------------------> HELD
 *                    ^  |                |
 *    back-off passed |  | round LOST     | DELIVER, too late; CANCEL
 *                   (1) v                v
 *                   WAITING <------ (retry or not?) ----> FAILED
 *                      |                                    ^
 *                      +------- deadline, CANCEL -----------+
 *
 * While it is WAITING, waiting.c says when to begin a round: when masters wake us, or at the end of
 * a back-off if none of them can.
 *
 * An attempt that starts `behind` another one of its manager is BEHIND until CONTEND, and asks
 * nobody. It is BEHIND again when others go first during its back-off [W2]. One that has to `yield`
 * is WAITING at once.
 *
 * (1) [S13] When the nodes have no capacity for a round, the attempt is QUEUED first, until
 * DEQUEUED. Nothing was asked by then, so the deadline and CANCEL end it at once. An attempt that
 * does not wait for the holder (wait_us 0) has no deadline there: its only round is still to come.
 *
 * WON and FAILED are reported to the user. The driver sends DELIVER just before the callback, and
 * then reads the state again: a win that became too old while other callbacks ran is never
 * reported. */
#ifndef RLK_CORE_ATTEMPT_H
#define RLK_CORE_ATTEMPT_H

#include "base/prng.h"
#include "core/round.h"
#include "core/waiting.h"

struct rlk_attempt_config {
    struct rlk_round_terms terms;
    uint64_t wait_us; /* begin rounds for so long after the start; 0: one round only; RLK_NEVER:
                         no limit */
    uint64_t retry_min_us; /* the first bound of the back-off; 0: four times the failed round */
    uint64_t retry_max_us;
    uint32_t max_retries; /* UINT32_MAX: no limit */
    uint64_t seed;        /* for the jitter of the back-off */
    bool subscribe;       /* waiters use the wait queues of the masters; otherwise they poll */
    uint32_t key_hash;    /* of the keys, the same in all clients: chooses the queue masters [W1] */
    uint64_t head_start_us; /* of a former leader, after an outage of the nodes [L6]; 0: none */
};

enum rlk_attempt_state {
    RLK_ATTEMPT_IDLE = 0,
    RLK_ATTEMPT_BEHIND,
    RLK_ATTEMPT_QUEUED,
    RLK_ATTEMPT_ASKING,
    RLK_ATTEMPT_WAITING,
    RLK_ATTEMPT_WON,
    RLK_ATTEMPT_HELD,
    RLK_ATTEMPT_FAILED
};

struct rlk_attempt {
    enum rlk_attempt_state state;
    int status;     /* FAILED: how it ended */
    int reason;     /* why the last round failed, or REDLOCK_EHELD after waiting without a round;
                       REDLOCK_ELIMIT: the attempt ended in the queue, before its first round; 0: no
                       round has failed */
    uint32_t tries; /* rounds begun, and so the number of the present round; 1 is the first */
    uint64_t started_us, decided_us;
    uint64_t give_up_us;  /* no round begins after this */
    uint64_t took_us;     /* how long the last round took */
    uint64_t unlisted_us; /* WAITING: since when too few queue masters list us to rely on [W6] */
    uint64_t retry_us;    /* WAITING: the end of the back-off that began then */
    bool polls;           /* WAITING: for nodes, not for a holder: the round begins at retry_us */
    bool split; /* WAITING: perhaps nobody holds the keys: even a wake has to wait until retry_us */
    bool refused; /* somebody else had the keys when a round ended */
    bool outage;  /* WAITING: too few nodes could be asked when a round was due [L6] */
    struct rlk_waiting waiting;
    struct rlk_attempt_config config;
    struct rlk_prng prng;
    struct rlk_round round;
};

void rlk_attempt_init(struct rlk_attempt *a, const struct rlk_attempt_config *config);

/* Whether the present round may still be won, or is won. If not, nothing more is sent for it. */
bool rlk_attempt_may_win(const struct rlk_attempt *a);

/* `out` is written completely. */
void rlk_attempt_step(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out);

#endif
