/* handshake.h - the commands that a new connection begins with, and what their replies tell of the
 * server.
 *
 * The first half is sent at once: AUTH (with a password), HELLO 2, SELECT (with a database), CLIENT
 * SETNAME, INFO server and INFO replication; unless quarantine=off, INFO memory, persistence and
 * commandstats and CONFIG GET appendfsync; DELEX and DELIFEQ without arguments, to learn whether
 * the server knows them; SCRIPT LOAD of the release; and EVALSHA and EVAL, to learn whether it lets
 * us renew and release locks (node/upkeep.h). When all of it is answered the incarnation key is
 * read (node/inspect.h).
 *
 * After that CLIENT KILL ends our former connections to the same server process, so that a command
 * which still waits in their sockets is not carried out after the pending releases [S5]; the node
 * is UP then.
 *
 * A server that does not know HELLO, or denies it to our user, is asked for CLIENT ID instead.
 * A replica, a cluster node and a sentinel are refused [S11]. */
#ifndef RLK_NODE_HANDSHAKE_H
#define RLK_NODE_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/server.h"

struct rlk_node;
struct rlk_reply;
struct rlk_uri;

/* Begin the handshake on a connection that has just opened. It ends with rlk_node_accept() or
 * rlk_node_refuse(). False: out of memory. */
bool rlk_handshake_begin(struct rlk_node *n, uint64_t now_us);

#endif
