/* queue.h - who waits until the masters have room for what is to be asked [S13].
 *
 * A master answers one question after the other. An answer that comes after node_timeout_ms is
 * none, so no more is asked of a master at once than it answers in a small part of that time; the
 * rest stands in line here. Who stands in line has a link and nothing else: no command is formatted
 * and no time runs before it is its turn.
 *
 *     urgent   renewals, extensions and heals of locks that are held, and their releases: first,
 *              and with room of their own, so that no number of acquires keeps a lock from being
 *              renewed
 *     fresh    acquires and queries; also behind the pending releases of a node
 *
 * Each in order. Whoever is at the head begins when a majority of the masters has room; all are
 * asked. A minority that is some way behind, by a quarter of node_timeout_ms at the most, delays
 * nobody [S6]. Further behind it is waited for until it has caught up, or its oldest answer is half
 * of node_timeout_ms late: then rounds begin without it until it has room. A lock may need just
 * that node for its renewal [S8], so none is left out sooner. Fresh rounds also begin without a
 * node that still has pending releases to hear of.
 *
 * What follows from an answer (to confirm a fence, the text of a script, the release of a lost
 * round) needs no turn: its question has just made room for it. */
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

/* So many rounds wait for a master that is being connected: they all ask it at once when it is. */
#define RLK_QUEUE_EXPECTED 128

struct rlk_queue {
    struct rlk_loop *loop;
    const struct rlk_options *options;
    struct rlk_node *nodes;
    struct rlk_list rank[RLK_RANKS]; /* of struct rlk_call */
    struct rlk_call serve;
    struct rlk_timer timer; /* when to look again, whatever is answered */
};

void rlk_queue_init(struct rlk_queue *queue, struct rlk_loop *loop,
                    const struct rlk_options *options, struct rlk_node *nodes);

/* Fill in ready, connecting and full of an event. Not full: what it begins may be asked at once, of
 * those that are ready. */
void rlk_queue_survey(const struct rlk_queue *queue, enum rlk_rank rank, struct rlk_event *ev);

/* Stand in line: `c` is run when it is its turn, in a later turn of the loop. Nothing happens when
 * it stands there already; it leaves with rlk_list_remove(&c->link). */
void rlk_queue_wait(struct rlk_queue *queue, enum rlk_rank rank, struct rlk_call *c);

/* A round has begun that also asks these nodes when they are connected. */
void rlk_queue_expect(struct rlk_queue *queue, uint64_t connecting);

/* Something may have changed: look whose turn it is, at the end of this turn of the loop. */
void rlk_queue_wake(struct rlk_queue *queue);

#endif
