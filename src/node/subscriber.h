/* subscriber.h - the second connection of a node: over it the server wakes waiters.
 *
 *            wanted, node UP        connected           subscribed        tracking is on
 *   CLOSED -----------------> OPENING -------> HANDSHAKE ------> TRACKING -------------> UP
 *     ^                          |                |                 |                     |
 *     +--------------------------+----------------+-----------------+---------------------+
 *       failed: try again after a back-off with full jitter, 10 ms to 10 s; or the node went down;
 *       or nobody has wanted it for 10 s
 *
 * It is subscribed to the channel of the manager (options.h), to which the scripts of other clients
 * publish, and to the channel of the invalidations. The command connection redirects the
 * invalidations of the keys that it tracks to this one: CLIENT TRACKING ON REDIRECT id OPTIN. A
 * server without tracking, or that denies it to our user, has a subscriber connection without it.
 *
 * Nothing that comes over the subscriber connection counts for a lock: it only says when to ask
 * again. A subscriber connection does not outlive the command connection, because another server
 * may reply at that address next. */
#ifndef RLK_NODE_SUBSCRIBER_H
#define RLK_NODE_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "net/timers.h"
#include "node/claim.h"
#include "node/link.h"

struct rlk_node;

/* The first letter of a message on the channel of the manager; the key follows. */
#define RLK_SUBSCRIBER_WAKE 't'
#define RLK_SUBSCRIBER_NEXT 'n'

/* [H3] Or this letter, for how many ms the key is reserved, a space, the reservation, a line end
 * and the key. */
#define RLK_SUBSCRIBER_RESERVED 'h'
#define RLK_SUBSCRIBER_MAX (1 + 10 + 1 + RLK_TOKEN_MAX + 1 + REDLOCK_MAX_KEY)

/* How long it stays open without users. */
#define RLK_SUBSCRIBER_IDLE_US 10000000

/* What a subscriber connection reports to the owner of its node. */
enum rlk_wake {
    RLK_WAKE_FREE,     /* the key is free, and we are granted next */
    RLK_WAKE_NEXT,     /* the key is not free yet, but we are first in the queue now */
    RLK_WAKE_RESERVED, /* a key is reserved for a waiter; the rest of the message in place of it */
    RLK_WAKE_CHANGED,  /* a key that we track was set, deleted, expired or given another ttl */
    RLK_WAKE_SUBSCRIBED, /* the subscriber connection has come up, or every key may have changed. No
                            key. */
    RLK_WAKE_UNSUBSCRIBED /* the subscriber connection went down, or could not be had. No key. */
};

enum rlk_subscriber_state {
    RLK_SUBSCRIBER_NONE = 0, /* not wanted, or cannot be opened now */
    RLK_SUBSCRIBER_COMING,   /* being connected, and the last attempt did not fail: waiters wait for
                                it */
    RLK_SUBSCRIBER_UP
};

struct rlk_subscriber {
    struct rlk_link link;
    struct rlk_timer idle_timer; /* when to close it, because nobody wants it */
    unsigned users;
    unsigned trackings; /* CLIENT TRACKING in flight on the command connection */
    int64_t client_id;  /* 0: unknown */
    bool subscribed;    /* to our channel: the server may send messages */
    bool invalidations; /* subscribed to them */
    bool up; /* the link is UP, and the reply to tracking came, or there is no tracking */
    bool tracks;
    uint64_t since_us; /* when it came up */
};

/* For node.c. _init: in a zeroed node. _node_up: the node is UP. _close: close it, and
 * do not open it again; returns whether it was open, or would have been opened. _end: free all
 * memory; nothing is reported. */
void rlk_subscriber_init(struct rlk_node *n);
void rlk_subscriber_node_up(struct rlk_node *n, uint64_t now_us);
bool rlk_subscriber_close(struct rlk_node *n);
void rlk_subscriber_end(struct rlk_node *n);

/* One user more, or one less. With the first, the subscriber connection is opened as soon as the
 * node is UP; the last one leaves it open for RLK_SUBSCRIBER_IDLE_US. Nothing is reported before
 * they return. */
void rlk_subscriber_want(struct rlk_node *n, uint64_t now_us);
void rlk_subscriber_unwant(struct rlk_node *n, uint64_t now_us);

enum rlk_subscriber_state rlk_subscriber_state(const struct rlk_node *n);

/* Whether it is up, or could be soon if it was wanted: not in the back-off after a failure, nor
 * while it is retried. */
bool rlk_subscriber_can_be_had(const struct rlk_node *n);

/* Whether CLIENT CACHING YES on the command connection makes the server report the changes of the
 * keys that the next command reads. */
bool rlk_subscriber_tracks(const struct rlk_node *n);

#endif
