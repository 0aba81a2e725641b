/* capacity.h - whether a node can take one more command [S13].
 *
 * A master carries out one command after the other, and a reply that comes after node_timeout_ms
 * is too late for its round. So a master has no more commands in flight than it answers in a small
 * part of that time. lock/queue.h has the operations that wait for capacity, in their order. */
#ifndef RLK_NODE_CAPACITY_H
#define RLK_NODE_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rlk_node;

/* The most commands in flight to a master, and their bytes, for a fresh command to be added; for an
 * urgent one it is twice that. A master that is behind a majority takes up to 1024 commands more of
 * either rank, but no more bytes. What lies between that and RLK_CONN_OUT_MAX is left for commands
 * that do not wait in the queue. */
#define RLK_CAPACITY_COMMANDS 1024
#define RLK_CAPACITY_BYTES ((size_t)512 * 1024)

enum rlk_rank {
    RLK_RANK_URGENT = 0, /* renewals, extensions, restores, releases, adoptions */
    RLK_RANK_FRESH,      /* acquires and queries */
    RLK_RANKS
};

/* How loaded a node is that can be asked. */
enum rlk_load {
    RLK_LOAD_FREE = 0,
    RLK_LOAD_BEHIND,  /* asked, but a round begins as soon as a majority is free */
    RLK_LOAD_FULL,    /* a round waits until it has replied to something */
    RLK_LOAD_LEFT_OUT /* a round begins without it; only a held lock that needs it asks it */
};

/* Whether one more command may be sent; ignores the queue and pending releases. */
bool rlk_capacity_is_free(const struct rlk_node *n, enum rlk_rank rank);

/* The same for a position check. Rounds that wait in the send queue use all the room that they may:
 * a waiter that was not listed because of them would poll, and add to them. */
bool rlk_capacity_is_free_to_wait(const struct rlk_node *n);

/* Whether the node is ready and RLK_LOAD_FREE, as nearly always. Quick; false proves nothing. */
bool rlk_capacity_is_easy(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us);

/* Whether a round asks this node, waits for it, or leaves it out. */
enum rlk_load rlk_capacity_load(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us);

#endif
