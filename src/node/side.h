/* side.h - lines that the links of a node share: the one for commands, the subscriber connection
 * (node/subscriber.h), and the one over which an examination tries its permissions. */
#ifndef RLK_NODE_SIDE_H
#define RLK_NODE_SIDE_H

#include <stdbool.h>

#include "node/trouble.h"

struct rlk_command;
struct rlk_link;
struct rlk_node;
struct rlk_reply;
struct rlk_say;

/* The channel of the invalidations; its name is fixed by Redis. */
#define RLK_SIDE_INVALIDATIONS "__redis__:invalidate"

/* What is wrong when a link ended that only hears: fault is NULL when it was late. */
struct rlk_trouble rlk_side_trouble(const struct rlk_link *l, const struct rlk_fault *fault);

/* The AUTH of the node, if it has a password. */
bool rlk_side_needs_login(const struct rlk_say *say);
bool rlk_side_format_login(struct rlk_command *c, const struct rlk_say *say);

/* A reply to SUBSCRIBE: "subscribe", the channel, and how many there are now. */
bool rlk_side_is_subscribed(const struct rlk_reply *reply);

#endif
