/* attempt.h - rounds until the lock is had or given up: back-off, limits, deadline, cancel.
 *
 *          START            round WON                DELIVER, still valid
 *   IDLE --(1)----> ASKING -----------> WON ------------------------------> HELD
 *                    ^  |                |
 *    back-off passed |  | round LOST     | DELIVER, too late; CANCEL
 *                   (1) v                v
 *                   WAITING <--- (may it try again?) ---> FAILED
 *                      |                                    ^
 *                      +------- deadline, CANCEL -----------+
 *
 * (1) [S13] When the nodes have no room for a round, QUEUED comes first, until DEQUEUED. Nothing
 * was asked there, so deadline and CANCEL end it at once. A request that does not wait for others
 *     to let go (wait_us 0) has no deadline there: its one try is still to come.
 *
 * In WON and FAILED the user is to be told: the driver sends DELIVER just before it calls
 * back, and looks at the state again. A win that grew too old while other callbacks ran is
 * so never handed out.
 */
#ifndef RLK_CORE_ATTEMPT_H
#define RLK_CORE_ATTEMPT_H

#include "base/prng.h"
#include "core/round.h"

struct rlk_attempt_config {
    struct rlk_round_terms terms;
    uint64_t wait_us;      /* go on for so long after the start; RLK_NEVER: for ever */
    uint64_t retry_min_us; /* the first back-off's bound; 0: four times the failed round */
    uint64_t retry_max_us;
    uint32_t max_retries; /* UINT32_MAX: no limit */
    uint64_t seed;        /* for the jitter */
};

enum rlk_attempt_state {
    RLK_ATTEMPT_IDLE = 0,
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
    int reason;     /* why the last round that failed did; REDLOCK_ELIMIT: it ended in line before
                       the first; 0 when none has */
    uint32_t tries; /* rounds begun; the number of the present one */
    uint64_t started_us, decided_us;
    uint64_t give_up_us; /* no round begins after this */
    uint64_t retry_us;   /* WAITING: when the next begins */
    struct rlk_attempt_config config;
    struct rlk_prng prng;
    struct rlk_round round;
};

void rlk_attempt_init(struct rlk_attempt *a, const struct rlk_attempt_config *config);

/* `out` is written completely. */
void rlk_attempt_step(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out);

#endif
