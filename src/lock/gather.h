/* gather.h - asks each master once, and reports to the user when all are done.
 *
 *     can be asked     ---> asked ------+---> done: it has replied, or cannot reply; its time is
 *     being connected  ---> up, asked --+           over; or the manager closes
 *
 *     all are done     ---> the report, once, at the end of the loop iteration; if something else
 *                           follows from the replies, when that is done, too
 *
 * Masters that are down are done at once. A query, an examination, a break and a list begin with
 * this struct; they say what is asked, and what the replies mean. */
#ifndef RLK_LOCK_GATHER_H
#define RLK_LOCK_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/manager.h"

struct rlk_gather;

struct rlk_gather_kind {
    /* The node is connected: ask it. */
    void (*ask)(struct rlk_gather *g, unsigned node, uint64_t now_us);
    /* The time of this node is over, and it is done next. NULL: that is not of interest. */
    void (*time_out)(struct rlk_gather *g, unsigned node, uint64_t now_us);
    /* The node is done: whatever it says later does not count. */
    void (*stop)(struct rlk_gather *g, unsigned node);
    /* The manager closes. NULL: there is nothing to end but the nodes. */
    void (*close)(struct rlk_gather *g);
    /* Report to the user. */
    void (*report)(struct rlk_gather *g, bool cancelled);
    /* The last call: its memory may be freed, once nothing in flight needs it. */
    void (*unref)(struct rlk_gather *g);
};

struct rlk_gather {
    struct rlk_operation operation; /* until it is reported */
    struct redlock *rl;
    const struct rlk_gather_kind *kind;
    uint64_t awaited;    /* nodes that are not done */
    uint64_t connecting; /* of these, the nodes that were not asked yet */
    bool follows;        /* the report waits for rlk_gather_finish() */
    bool cancelled;      /* by a close of the manager */
    struct rlk_call report;
    struct rlk_timer timer;
    uint64_t until_us[RLK_MAX_NODES]; /* of `awaited`: when the time of each is over */
};

/* Make it an operation of the manager, which counts as a query. No node is awaited. */
void rlk_gather_init(struct rlk_gather *g, struct redlock *rl, const struct rlk_gather_kind *kind);

/* Ask the nodes that are ready, and those that are being connected as soon as they are; each has
 * time until `until_us`. When there are none, the report is next. */
void rlk_gather_start(struct rlk_gather *g, uint64_t ready, uint64_t connecting, uint64_t now_us,
                      uint64_t until_us);

/* Start now, or when the send queue gives us capacity: `queue` is our position there, and its call
 * is to do this again, as RLK_EVENT_DEQUEUED [S13]. The nodes have node_timeout_ms from the start
 * on. */
void rlk_gather_begin(struct rlk_gather *g, struct rlk_call *queue, enum rlk_event_kind kind);

/* Give an awaited node time until then. */
void rlk_gather_extend(struct rlk_gather *g, unsigned node, uint64_t until_us);

bool rlk_gather_awaits(const struct rlk_gather *g, unsigned node);

/* This node is done. Does nothing if it was done before. */
void rlk_gather_done(struct rlk_gather *g, unsigned node);

/* What follows from the replies is done: the report no longer waits for it. For who has set
 * `follows`. */
void rlk_gather_finish(struct rlk_gather *g);

#endif
