/* upkeep.h - whether a server lets us renew and release locks [S11].
 *
 * A vote of a server that does not would be a lock that nobody can keep and nobody can give back.
 * So the handshake asks, before the first vote: it calls EVALSHA, and by EVAL a script that tries
 * the commands which our scripts use. A server that refuses one of them is connected, but no round
 * asks it. It is asked again with each inspection as long as it refuses, and whenever it denies
 * something else: rights may be changed at any time. */
#ifndef RLK_NODE_UPKEEP_H
#define RLK_NODE_UPKEEP_H

#include <stdbool.h>
#include <stdint.h>

struct rlk_command;
struct rlk_heard;
struct rlk_node;
struct rlk_reply;
struct rlk_say;

/* The two lines of the question, for the handshake. _begin: they are about to be sent. */
extern const char *const rlk_upkeep_evalsha[];

void rlk_upkeep_begin(struct rlk_node *n);
void rlk_upkeep_take_evalsha(const struct rlk_heard *h);
bool rlk_upkeep_format_eval(struct rlk_command *c, const struct rlk_say *say);
void rlk_upkeep_take_eval(const struct rlk_heard *h);

/* Ask a node that is UP again, unless it is being asked. */
void rlk_upkeep_ask(struct rlk_node *n, uint64_t now_us);

/* Whether rounds may ask the node, as far as we know. */
bool rlk_upkeep_is_allowed(const struct rlk_node *n);

#endif
