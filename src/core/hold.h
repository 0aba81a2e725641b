/* hold.h - a lock that is held: extended, renewed, healed, and lost.
 *
 *            START                     its time is over, or no majority can hold any more
 *   IDLE -----------> HELD ----------------------------------------------------------> LOST
 *                    ^    |
 *                    +----+  renewal: by a third of the ttl, or a tenth while a node is present
 *                            that does not count yet; when it fails, again after a back-off
 *
 * [S7] A round asks every node that may have our key to keep it for the whole ttl. It never sets
 *      a key, never shortens, never releases. One that fails changes nothing.
 * [S8] When a round has succeeded and its answers are in, the nodes without our key are set again,
 *      for what is left of the validity; once for each success, the first round's win included.
 * [S9] LOST is final, and told once: when the clock says so, or at once when so many nodes have
 *      said that our key is not there, or cannot be relied on for their clocks or other data [S11],
 *      that no round could ever succeed again. No reply is waited for. Before it, once in each
 *      trouble, a word that renewing does not work.
 *
 * [S13] A renewal, an extension or a heal for which the nodes have no room stands in line until
 *      DEQUEUED. That is no trouble before a third of the ttl is all that is left.
 *
 * When the user lets go the driver does not step it any more. An EXTEND that finds the lock over
 * is not told: the driver looks at the time before it sends one. */
#ifndef RLK_CORE_HOLD_H
#define RLK_CORE_HOLD_H

#include "base/prng.h"
#include "core/leases.h"

/* The most: a renewal begins when a quarter to a third of the ttl is over. */
#define RLK_HOLD_EARLY_PPM 250000

struct rlk_hold_config {
    unsigned nodes;
    uint32_t drift_ppm;
    uint64_t ttl_us; /* whole milliseconds */
    uint64_t timeout_us;
    bool renew;            /* by itself */
    bool gated;            /* only when the application was heard of since the last renewal */
    uint64_t max_hold_us;  /* no renewal would let it live longer; RLK_NEVER: no limit */
    uint32_t max_renewals; /* UINT32_MAX: no limit */
    bool adopted;          /* somebody else acquired it: our key may be on any node */
    uint32_t early_ppm;    /* it is renewed by so much of a third of the ttl before the third is
                              over, 0 to RLK_HOLD_EARLY_PPM: each lock by another part, so that
                              those acquired together are not renewed together */
    uint64_t seed;         /* for the jitter of what failed */
};

enum rlk_hold_state {
    RLK_HOLD_IDLE = 0,
    RLK_HOLD_HELD,
    RLK_HOLD_LOST
};

struct rlk_hold {
    enum rlk_hold_state state;
    /* LOST, or in trouble, why: REDLOCK_EUNRENEWED: it is not to be renewed (any more),
     * REDLOCK_ELOST: nodes said that our key is not there, or their clocks moved,
     * REDLOCK_ENOQUORUM: no majority confirmed, REDLOCK_ESUSPENDED: nobody stepped this machine
     * when it was due, REDLOCK_ELIMIT: its renewal still stands in line. */
    int reason;
    bool trouble;         /* it should be renewed, and is not */
    bool extending;       /* the user waits for a round: */
    bool extend_next;     /* the next one */
    bool renewing;        /* the round is a renewal, and not an extension */
    bool queued;          /* for what is due: a round, or to heal */
    int extended;         /* how that ended: REDLOCK_OK, _ENOQUORUM or _ELOST */
    bool petted;          /* the application was heard of; a renewal uses this up */
    bool renewal_started; /* by a pet, for the renewal that has not succeeded yet */
    bool waits_for_pet;   /* a renewal is due */
    uint32_t renewals, failures;
    uint64_t held_us;        /* since when */
    uint64_t round_us;       /* when the last round began */
    uint64_t round_ttl_us;   /* what it asks for */
    uint64_t wanted_ttl_us;  /* of the extension that the user waits for */
    uint64_t round_until_us; /* answers are waited for; RLK_NEVER: no more */
    uint64_t renew_us, heal_us;
    struct rlk_hold_config config;
    struct rlk_prng prng;
    struct rlk_leases leases;
};

void rlk_hold_init(struct rlk_hold *h, const struct rlk_hold_config *config);

/* [S3] Until when the lock is valid; 0 when it is not held. */
uint64_t rlk_hold_valid_until_us(const struct rlk_hold *h);

/* It is held from now on: START, at the moment when the user is told. */
void rlk_hold_start(struct rlk_hold *h, const struct rlk_round *won, uint64_t now_us,
                    struct rlk_actions *out);

/* [S8] A node that was asked to set the key has done nothing, and is to be asked again: for so many
 * milliseconds, which are what is left by now. 0: not at all, the lock is over, or nearly. */
uint32_t rlk_hold_heal_again(struct rlk_hold *h, unsigned node, uint64_t now_us);

/* `out` is written completely. */
void rlk_hold_step(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out);

#endif
