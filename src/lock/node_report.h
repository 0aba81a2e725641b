/* node_report.h - tells the user when a master changes its state: options.node_cb. */
#ifndef RLK_LOCK_NODE_REPORT_H
#define RLK_LOCK_NODE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/manager.h>

#include "net/loop.h"
#include "node/options.h"

/* Whether a master votes, as far as that is news. */
enum rlk_node_vote {
    RLK_NODE_VOTES = 0,
    RLK_NODE_VOTES_LATER, /* it is known when */
    RLK_NODE_NO_VOTE
};

/* What the user knows about a master. */
struct rlk_node_known {
    enum redlock_node_state state;
    enum rlk_node_vote vote;
};

struct rlk_node_report {
    redlock_node_cb *cb; /* NULL: nobody wants to know, or not any more */
    void *arg;
    struct redlock *rl;
    const struct rlk_options *options; /* of the manager */
    struct rlk_loop *loop;
    uint64_t pause_us; /* how often to check */
    struct rlk_call call;
    struct rlk_timer timer;
    struct rlk_node_known known[REDLOCK_MAX_NODES];
};

/* Begin, in zeroed memory, with the manager and its loop. */
void rlk_node_report_begin(struct rlk_node_report *r, struct redlock *rl, struct rlk_loop *loop,
                           const struct rlk_options *options, const struct redlock_options *public);

/* Something has happened to a master: check all of them at the end of this loop iteration. */
void rlk_node_report_check(struct rlk_node_report *r);

/* The manager closes: report nothing from now on. */
void rlk_node_report_end(struct rlk_node_report *r);

#endif
