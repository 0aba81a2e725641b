/* inflight.h - what has been asked on a connection and not been answered yet, in order. */
#ifndef RLK_NODE_INFLIGHT_H
#define RLK_NODE_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "core/reply.h"

struct rlk_node;
struct rlk_exchange;

/* The most requests that wait for an answer on one connection [S13]. */
#define RLK_INFLIGHT_MAX 65536

/* What a kind of request does with its end: exactly one of the first two is called, once. */
struct rlk_exchange_kind {
    void (*answered)(struct rlk_node *n, const struct rlk_exchange *r,
                     const struct rlk_reply *reply, uint64_t now_us);
    /* The connection ended first: it may or may not have been carried out. */
    void (*broken)(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us);
    /* rlk_node_send() takes a reference to the context for the request; it is given back when that
     * has ended. Both NULL: it needs none. */
    void (*ref)(void *context);
    void (*unref)(void *context);
};

struct rlk_exchange {
    const struct rlk_exchange_kind *kind;
    void *context; /* who asks, or what for */
    uint64_t sent_us;
    size_t len; /* of its command */
};

struct rlk_inflight {
    struct rlk_ring ring; /* of struct rlk_exchange */
    size_t bytes;         /* of their commands */
};

void rlk_inflight_end(struct rlk_inflight *q);

/* Whether one more can be pushed: false for want of memory, or at the bound. */
bool rlk_inflight_reserve(struct rlk_inflight *q);

/* After a reserve. */
void rlk_inflight_push(struct rlk_inflight *q, const struct rlk_exchange *r);

/* Take the oldest; false when there is none. */
bool rlk_inflight_pop(struct rlk_inflight *q, struct rlk_exchange *ret);

/* When the oldest was sent; RLK_NEVER when there is none. */
uint64_t rlk_inflight_oldest_us(const struct rlk_inflight *q);

#endif
