/* queue.h - the operations that wait until the masters have capacity [S13].
 *
 * A master carries out one command after the other, and a reply that comes after node_timeout_ms is
 * too late for its round. So a master has no more commands in flight than it can answer in a small
 * part of that time (node/capacity.h); other operations wait here. A waiting operation is only a
 * link in a list: no command is formatted and no timeout runs before its turn.
 *
 *     urgent   renewals, extensions and restores, releases, and adoptions. They go first, and with
 *              capacity of their own, so that no number of acquires keeps a lock from being renewed
 *     fresh    acquires and queries; also after the pending releases of a node
 *
 * Each list is in order. The first operation begins when a majority of the masters is free, and
 * asks all masters. A minority delays nobody [S6] until its oldest command has waited a quarter of
 * node_timeout_ms for its reply. After that, the queue waits for such a master until it has caught
 * up, or until its oldest command has waited half of node_timeout_ms: then rounds begin without the
 * master until it has capacity. No master is left out sooner, because a lock may need just this one
 * for its renewal [S7]. Fresh rounds also begin without a node that still has pending releases.
 *
 * Commands that follow from a reply (the confirmation of a fencing token, the text of a script, the
 * release of a lost round) do not wait: the reply has just made room for them. */
#ifndef RLK_LOCK_QUEUE_H
#define RLK_LOCK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/timers.h"
#include "net/turn.h"
#include "node/capacity.h"

struct rlk_event;
struct rlk_loop;
struct rlk_node;
struct rlk_options;
struct rlk_voters;

/* The most operations that wait for a master to be connected: they all ask it at once then. */
#define RLK_QUEUE_EXPECTED 128

struct rlk_queue {
    struct rlk_loop *loop;
    const struct rlk_options *options;
    struct rlk_node *nodes;
    const struct rlk_voters *voters;
    struct rlk_list rank[RLK_RANKS]; /* of struct rlk_call */
    struct rlk_call serve;
    struct rlk_timer timer; /* when to check again without a reply */
};

void rlk_queue_init(struct rlk_queue *queue, struct rlk_loop *loop,
                    const struct rlk_options *options, struct rlk_node *nodes,
                    const struct rlk_voters *voters);

/* Fill in ready, backlogged, connecting and full of an event. Not full: the operation may begin at
 * once, and asks the nodes that are ready. Set ev->kind before: DEQUEUED is never full. */
void rlk_queue_survey(const struct rlk_queue *queue, enum rlk_rank rank, struct rlk_event *ev);

/* Wait in the queue: `c` is run when its turn comes, at the end of a loop iteration, not in this
 * call. Does nothing when it is queued already. rlk_list_remove(&c->link) takes it out. */
void rlk_queue_wait(struct rlk_queue *queue, enum rlk_rank rank, struct rlk_call *c);

/* An operation has begun that also asks these nodes, as soon as they are connected. */
void rlk_queue_expect(struct rlk_queue *queue, uint64_t connecting);

/* Capacity may have changed: check the queue at the end of this loop iteration. */
void rlk_queue_wake(struct rlk_queue *queue);

#endif
