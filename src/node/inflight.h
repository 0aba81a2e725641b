/* inflight.h - the commands in flight on a connection, in the order in which they were sent.
 *
 * A server replies in that order, so a reply belongs to the oldest command. */
#ifndef RLK_NODE_INFLIGHT_H
#define RLK_NODE_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "core/reply.h"

struct rlk_node;
struct rlk_exchange;

/* The most commands in flight on one connection [S13]. */
#define RLK_INFLIGHT_MAX 65536

/* The functions for one kind of command: one of the first two is called, once. NULL: there is
 * nothing to do. */
struct rlk_exchange_kind {
    /* The reply came. It is valid during the call. */
    void (*answered)(struct rlk_node *n, const struct rlk_exchange *r,
                     const struct rlk_reply *reply, uint64_t now_us);
    /* The connection ended before the reply: the command may or may not have been carried out. */
    void (*broken)(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us);
    /* rlk_node_send() takes a reference to the context, and drops it after the reply, or the end of
     * the connection. Both NULL: the context is not counted. */
    void (*ref)(void *context);
    void (*unref)(void *context);
    /* It only reads, so nothing has to be sent after it. */
    bool reads;
};

/* One command in flight. */
struct rlk_exchange {
    const struct rlk_exchange_kind *kind;
    void *context; /* passed to nobody but the functions of `kind`; NULL: it is about no lock */
    uint64_t sent_us;
    size_t len; /* the bytes of the command */
};

/* For commands whose reply does not matter. */
extern const struct rlk_exchange_kind rlk_exchange_ignored;

struct rlk_inflight {
    struct rlk_ring ring; /* of struct rlk_exchange */
    size_t bytes;         /* the bytes of all of them */
    size_t lasting;       /* how many of them may leave a key of a lock */
};

void rlk_inflight_end(struct rlk_inflight *q);

/* Make room for one more. False: out of memory, or RLK_INFLIGHT_MAX are in flight. */
bool rlk_inflight_reserve(struct rlk_inflight *q);

/* Add one, after rlk_inflight_reserve() returned true. */
void rlk_inflight_push(struct rlk_inflight *q, const struct rlk_exchange *r);

/* Take out the oldest; false: nothing is in flight. */
bool rlk_inflight_pop(struct rlk_inflight *q, struct rlk_exchange *ret);

/* When the oldest was sent; RLK_NEVER: nothing is in flight. */
uint64_t rlk_inflight_oldest_us(const struct rlk_inflight *q);

#endif
