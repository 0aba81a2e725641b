/* capacity.h - whether a node has room for one more question [S13].
 *
 * A master answers one question after the other. An answer that comes after node_timeout_ms is
 * none, so no more is asked of a master at once than it answers in a small part of that time. Who
 * waits for room, and in which order, is lock/queue.h. */
#ifndef RLK_NODE_CAPACITY_H
#define RLK_NODE_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rlk_node;

/* What is asked of a master and not answered, at most, of fresh questions; with urgent ones it is
 * twice that. One that is behind a majority is asked more, in between this and RLK_CONN_OUT_MAX:
 * the rest of that is for what needs no turn. */
#define RLK_CAPACITY_COMMANDS 1024
#define RLK_CAPACITY_BYTES ((size_t)512 * 1024)

enum rlk_rank {
    RLK_RANK_URGENT = 0,
    RLK_RANK_FRESH,
    RLK_RANKS
};

/* Of a node that can be asked. */
enum rlk_load {
    RLK_LOAD_FREE = 0,
    RLK_LOAD_BEHIND,  /* asked, and not waited for: a majority has room */
    RLK_LOAD_FULL,    /* waited for */
    RLK_LOAD_LEFT_OUT /* not waited for when a majority has room; asked only by a lock that needs
                          it */
};

/* One more question may be asked, whoever waits, and whatever is pending. */
bool rlk_capacity_is_free(const struct rlk_node *n, enum rlk_rank rank);

/* How it stands to others that have room or not. */
enum rlk_load rlk_capacity_load(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us);

#endif
