/* observer.h - keeps up with who holds a key: when to look at which master, and when to report
 * [O1 to O6].
 *
 *            a master has a change, its subscriber connection is up, it is up
 *            the key ends, it is time to poll or to look                 a majority says ...
 *   masters ---------------------------------------------> looks ------> held, by whom: at once
 *            <---------------------------------------------              free: after 5 ms
 *            one look at a master at a time                              nothing known: after
 *                                                                        node_timeout_ms
 *
 * A message of a master is a hint when to look, and proves nothing: what counts is the last reply
 * of each master. Every hint may be lost: all masters are looked at now and then, and those that
 * send no hints more often. docs/algorithm.md, "Observing", has the rules. */
#ifndef RLK_CORE_OBSERVER_H
#define RLK_CORE_OBSERVER_H

#include "base/prng.h"
#include "core/event.h"
#include "core/holder.h"

/* [O3] How often to look at masters that report no changes, and at all of them: up to a quarter
 * earlier or later. */
#define RLK_OBSERVER_POLL_US 1000000
#define RLK_OBSERVER_LOOK_US 5000000

/* [O3] After so many looks in a row that found no change, although the node had reported one, it
 * counts as a node that reports none, until the next look at all nodes. */
#define RLK_OBSERVER_VAIN_LOOKS 8

/* [O3] When to retry a look that could not be sent. */
#define RLK_OBSERVER_RETRY_US 20000

/* [O5] How long a key must be free, or a new holder without a new fencing token, before that is
 * reported. */
#define RLK_OBSERVER_SETTLE_US 5000

enum rlk_observer_kind {
    RLK_OBSERVER_NOTHING = 0, /* nothing was reported yet */
    RLK_OBSERVER_HELD,
    RLK_OBSERVER_FREE,
    RLK_OBSERVER_UNKNOWN /* too few masters have answered to know */
};

/* What can be reported. */
struct rlk_observer_state {
    enum rlk_observer_kind kind;
    uint64_t value; /* HELD: the number of the value; else 0 */
    uint64_t fence; /* HELD: of the same holder it never becomes smaller; else 0 */
};

struct rlk_observer {
    struct rlk_holder_view view; /* the last replies; end: on our clock */
    struct rlk_holder holder;    /* what follows from these */
    uint64_t timeout_us;
    uint64_t up;                      /* nodes that can be asked */
    uint64_t hears;                   /* of these: they report changes of the key */
    uint64_t asked;                   /* of up: a look is under way, or could not be sent */
    uint64_t unsent;                  /* of asked: could not be sent */
    uint64_t again;                   /* of asked: have changed since they were asked */
    uint64_t asked_us[RLK_MAX_NODES]; /* of asked: since when */
    uint8_t vain[RLK_MAX_NODES];      /* looks in a row that have found no change */
    struct rlk_observer_state seen;   /* what the answers say, and since when */
    uint64_t since_us;
    struct rlk_observer_state reported;  /* last */
    struct rlk_observer_state last_held; /* the last holder that was reported */
    uint64_t retry_us, poll_us, look_us; /* when to do each of these next */
    uint64_t end_look_us, pause_us;      /* [O2] when to look again at a key that has ended, and the
                                            pause after that look */
};

/* voters: they may change between two steps; timeout_us: how long a reply may take. */
void rlk_observer_init(struct rlk_observer *o, const struct rlk_voters *voters,
                       uint64_t timeout_us);

/* START, NODE_UP, NODE_DOWN, LOOKED, CHANGED, SUBSCRIBED, UNSUBSCRIBED, TIMER, VOTERS or DELIVER;
 * every other kind is ignored. The actions are look, deadline_us and report. What will be reported
 * may change until DELIVER: then the action `report` says whether to report `reported` now. */
void rlk_observer_step(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out);

#endif
