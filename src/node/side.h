/* side.h - what the connections beside the command connection of a node share: the subscriber
 * connection (node/subscriber.h), and the one over which an examination tries its rights. */
#ifndef RLK_NODE_SIDE_H
#define RLK_NODE_SIDE_H

#include <stdbool.h>

struct rlk_conn;
struct rlk_node;
struct rlk_reply;

/* The channel of the invalidations; its name is fixed by Redis. */
#define RLK_SIDE_INVALIDATIONS "__redis__:invalidate"

/* Append a command. words: ends with NULL. False: out of memory. */
bool rlk_side_send(struct rlk_conn *c, const char *const *words);

/* The AUTH of the node, if it has a password. */
bool rlk_side_send_login(struct rlk_conn *c, const struct rlk_node *n);

/* A reply to SUBSCRIBE: "subscribe", the channel, and how many there are now. */
bool rlk_side_is_subscribed(const struct rlk_reply *reply);

#endif
