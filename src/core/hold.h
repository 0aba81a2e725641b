/* hold.h - a lock that is held: it is renewed, extended, restored, and may be lost.
 *
 *            START                     the validity is over, or no majority can confirm any more
 *   IDLE -----------> HELD ----------------------------------------------------------> LOST
 *                    ^    |
 *                    +----+  a round: a renewal begins at a third of the ttl, or sooner while a
 *                            node is present that does not count; a failed one is retried after a
 *                            back-off
 *
 * While it is HELD, the user's extension and the renewal have states of their own:
 *
 *          EXTEND            no round is under way, and there is capacity
 *   NONE ----------> NEXT --------------------------------------------------> UNDER_WAY
 *    ^                                                                            |
 *    +----------------------- its round succeeds or fails, which is reported -----+
 *
 *                  a renewal begins             an extension begins
 *        COUNTED --------------------> BEGUN -----------------------> OVERTAKEN
 *          |  ^ <--------------------       <-----------------------
 *          |  |   the lock lasts longer           a retry begins
 *          |  |   because of it
 *          |  | HEARTBEAT, or a round succeeds: the latter also ends BEGUN and OVERTAKEN
 *          v  |
 *   AWAITS_HEARTBEAT   a renewal is due, and no heartbeat has come since the last one began
 *
 * An extension is UNDER_WAY only while its round is, and no renewal is BEGUN then. While a renewal
 * AWAITS_HEARTBEAT, the lock is in trouble and had no heartbeat. All else is possible, also in the
 * queue (tests/fuzz/hold_model.c checks these at each step).
 *
 * [S7] A round asks every node that may have our key to keep it for the whole ttl. It never sets a
 *      key, never shortens one and never releases one. A round that fails changes nothing.
 * [S8] When a round has succeeded and its replies are in, the nodes without our key are asked to
 *      set it, for what is left of the validity: once after each success, and after the
 *      acquisition.
 * [S9] LOST is final and is reported once: when the clock says that the validity is over, or at
 *      once when so many nodes no longer count that no round can succeed. Those are nodes without
 *      our key, nodes whose clock cannot be relied on, nodes with other data [S11], and nodes that
 *      have no vote any more. This waits for no reply. Before that, once in each trouble, the user
 *      is notified that renewing fails.
 * [S13] When the nodes have no capacity for a renewal, an extension or a restore, it is queued
 *      until DEQUEUED. That is no trouble as long as more than a third of the ttl is left.
 *
 * When the user releases the lock the driver stops stepping this machine. The driver
 * checks the validity before it sends an EXTEND, so none arrives after the lock has ended. */
#ifndef RLK_CORE_HOLD_H
#define RLK_CORE_HOLD_H

#include "base/prng.h"
#include "core/leases.h"

/* A renewal begins at a third of the ttl, so that several may fail before the end. */
#define RLK_HOLD_RENEW_PARTS 3

/* The largest early_ppm: with it a renewal begins when a quarter of the ttl is over. */
#define RLK_HOLD_EARLY_PPM 250000

/* Renewals that begin together do so at multiples of this part of the ttl. It is a small part of
 * what early_ppm spreads them over, so that locks that were acquired together are not all renewed
 * at once. */
#define RLK_HOLD_TOGETHER_PARTS 512

struct rlk_hold_config {
    uint64_t ttl_us; /* whole milliseconds */
    uint64_t
        max_hold_us;   /* no renewal may make the lock last longer than that; RLK_NEVER: no limit */
    uint64_t retry_us; /* the longest pause after a failed renewal; 0: a tenth of the ttl, which is
                          also the maximum */
    struct rlk_prng prng;  /* for the jitter of retries; seeded */
    uint32_t max_renewals; /* UINT32_MAX: no limit */
    uint32_t early_ppm;    /* a renewal begins so much of a third of the ttl before that third is
                              over: 0 to RLK_HOLD_EARLY_PPM. Each lock has another value, so that
                              locks that were acquired together are not renewed together */
    uint32_t drift_ppm;
    uint32_t timeout_us;
    uint8_t nodes;        /* all that can be asked, voters or not */
    bool renew;           /* the lock is renewed automatically */
    bool needs_heartbeat; /* no renewal without a heartbeat since the last one */
    bool together;        /* a renewal begins a little sooner: with those of other locks */
    bool adopted;         /* another process acquired it: our key may be on any node */
};

enum rlk_hold_state {
    RLK_HOLD_IDLE = 0,
    RLK_HOLD_HELD,
    RLK_HOLD_LOST
};

enum rlk_hold_extension {
    RLK_EXTENSION_NONE = 0,
    RLK_EXTENSION_NEXT, /* its round comes after the one under way, or is queued */
    RLK_EXTENSION_UNDER_WAY
};

enum rlk_hold_renewal {
    RLK_RENEWAL_COUNTED = 0, /* the last one, or there was none */
    RLK_RENEWAL_BEGUN,       /* it counts when it makes the lock last longer; a retry needs no other
                                heartbeat */
    RLK_RENEWAL_OVERTAKEN,   /* likewise, but replies belong to an extension that began since */
    RLK_RENEWAL_AWAITS_HEARTBEAT
};

struct rlk_hold {
    uint8_t state;      /* enum rlk_hold_state */
    uint8_t extension;  /* enum rlk_hold_extension */
    uint8_t renewal;    /* enum rlk_hold_renewal */
    bool queued;        /* a round or a restore is due, and waits for DEQUEUED */
    bool had_heartbeat; /* a heartbeat since the last renewal began; true before the first */
    /* Why the lock is lost, or in trouble: it should be renewed, and is not. 0: it is neither.
     * REDLOCK_EUNRENEWED   it is not renewed, or must not be renewed any more
     * REDLOCK_ELOST        too few nodes count: they do not have our key, or their clocks moved
     * REDLOCK_ENOQUORUM    no majority confirmed
     * REDLOCK_ESUSPENDED   this machine was not stepped when a step was due
     * REDLOCK_ELIMIT       the renewal is still queued */
    int reason;
    int extend_status;       /* how the last extension ended: REDLOCK_OK, _ENOQUORUM or _ELOST */
    uint32_t renewals;       /* counted so far */
    uint32_t failures;       /* rounds that failed since the last success */
    uint64_t held_us;        /* since when the lock is held */
    uint64_t round_us;       /* when the last round began */
    uint64_t round_ttl_us;   /* the ttl that it asked for */
    uint64_t wanted_ttl_us;  /* the ttl of the extension that comes next */
    uint64_t round_until_us; /* until when to wait for replies; RLK_NEVER: no round is open */
    uint64_t renew_us;       /* when the next round is due; RLK_NEVER: none is */
    uint64_t restore_us;     /* when a restore is due; RLK_NEVER: none is */
    struct rlk_hold_config config;
    struct rlk_leases leases;
};

/* voters, room: the caller's, and used as long as the hold. The voters may change between two
 * steps. room: RLK_LEASES_ROOM() words for its nodes. */
void rlk_hold_init(struct rlk_hold *h, const struct rlk_hold_config *config,
                   const struct rlk_voters *voters, uint64_t *room);

/* There are so many nodes from now on. room: RLK_LEASES_ROOM() words for them, instead of the
 * former ones. */
void rlk_hold_grow(struct rlk_hold *h, unsigned nodes, uint64_t *room);

/* [S3] Until when the lock is valid; 0 when it is not held. */
uint64_t rlk_hold_valid_until_us(const struct rlk_hold *h);

/* Why a lock that is held should be renewed, and is not; 0: it is not in trouble. */
static inline int rlk_hold_trouble(const struct rlk_hold *h)
{
    return h->state == RLK_HOLD_HELD ? h->reason : 0;
}

/* START: the win is reported to the user, and the lock is held from now on. `out` is written
 * completely. */
void rlk_hold_start(struct rlk_hold *h, const struct rlk_round *won, uint64_t now_us,
                    struct rlk_actions *out);

/* [S8] A node that was asked to restore did not run the command, and could be asked again. Returns
 * the ttl to ask for, in milliseconds: what is left of the validity by now. 0: do not ask again,
 * the lock is lost or nearly over. */
uint32_t rlk_hold_restore_again(struct rlk_hold *h, unsigned node, uint64_t now_us);

/* [L4] Renew no more: the lock ends when its validity is over. A round that is under way still
 * counts. The next step says when that is due. */
void rlk_hold_stop_renewing(struct rlk_hold *h);

/* `out` is written completely. */
void rlk_hold_step(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out);

#endif
