/* greeting.h - how we introduce ourselves to a master, and what we learn of it.
 *
 * All in one trip: AUTH (with a password), HELLO 2, SELECT (with a database), CLIENT SETNAME,
 * INFO server, INFO replication, SCRIPT LOAD. Then, on a connection that replaces a broken
 * one to which releases are owed, CLIENT KILL of the old one, so that nothing which still
 * waits in its socket is carried out after the releases [S5].
 *
 * A server that does not know HELLO, or denies it to our user, is greeted by the rest of these and
 * asked for CLIENT ID.
 * A replica, a cluster node and a sentinel are refused [S11]. */
#ifndef RLK_NODE_GREETING_H
#define RLK_NODE_GREETING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/server.h"

struct rlk_node;
struct rlk_reply;

/* On a connection that has just opened; ends in rlk_node_greeted or rlk_node_refuse. False
 * when there is no memory. */
bool rlk_greeting_begin(struct rlk_node *n, uint64_t now_us);

#endif
