/* inflight.h - the commands in flight on a connection, in the order in which they were sent.
 *
 * A server replies in that order, so a reply belongs to the oldest command. */
#ifndef RLK_NODE_INFLIGHT_H
#define RLK_NODE_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"

struct rlk_talk;

/* The most commands in flight on one connection [S13]. */
#define RLK_INFLIGHT_MAX 65536

/* One command in flight: a line of a conversation (node/talk.h). */
struct rlk_exchange {
    const struct rlk_talk *talk; /* NULL: nobody waits for the reply */
    void *context;               /* of the conversation; NULL: it is about no lock */
    uint64_t sent_us;
    uint32_t len;     /* the bytes of the command */
    uint8_t line;     /* its index in the table */
    uint8_t form;     /* the form of the command */
    bool last;        /* its reply ends the conversation */
    bool leaves_keys; /* it may leave a key of a lock */
};

struct rlk_inflight {
    struct rlk_ring ring; /* of struct rlk_exchange */
    size_t bytes;         /* the bytes of all of them */
    size_t leaving_keys;  /* how many of them may leave a key of a lock */
};

void rlk_inflight_end(struct rlk_inflight *q);

/* Make room for one more. False: out of memory, or RLK_INFLIGHT_MAX are in flight. */
bool rlk_inflight_reserve(struct rlk_inflight *q);

/* Add one, after rlk_inflight_reserve() returned true. */
static inline void rlk_inflight_push(struct rlk_inflight *q, const struct rlk_exchange *x)
{
    *(struct rlk_exchange *)rlk_ring_push(&q->ring, sizeof(*x)) = *x;
    q->bytes += x->len;
    q->leaving_keys += x->leaves_keys;
}

/* The one that was added last is the last of its conversation. */
void rlk_inflight_mark_last(struct rlk_inflight *q);

/* Drop all that were added since there were `count`: their conversation did not begin. */
void rlk_inflight_mute(struct rlk_inflight *q, size_t count);

/* Nobody waits for the reply to the next one with this context, from index *from on; *ret: what it
 * was. False: there are no more. */
bool rlk_inflight_mute_context(struct rlk_inflight *q, const void *context, size_t *from,
                               struct rlk_exchange *ret);

/* Take out the oldest; false: nothing is in flight. */
bool rlk_inflight_pop(struct rlk_inflight *q, struct rlk_exchange *ret);

/* When the oldest was sent; RLK_NEVER: nothing is in flight. */
uint64_t rlk_inflight_oldest_us(const struct rlk_inflight *q);

#endif
