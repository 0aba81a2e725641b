/* health.h - whether a connected server is still a master, has its data, and what time it has
 * [S11].
 *
 * On every server stands one key that nobody deletes, the incarnation key: the run that wrote it,
 * a random mark, and since when by the server's clock. A server whose data were thrown away has
 * none, or, when another client was there before us, one with another mark: whoever knew the
 * former one sees it. A server that restarted with its data, and a replica that took its master's
 * place, have one of another run.
 *
 * A script looks at it (and writes it anew where that has to be), and tells the time: at the end
 * of the greeting, every health_ms, and along with renewals. What is asked, and what follows from
 * the answers, is core/inspection.h. */
#ifndef RLK_NODE_HEALTH_H
#define RLK_NODE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/server.h"
#include "node/command.h"

struct rlk_node;
struct rlk_reply;
struct rlk_exchange_kind;

/* For the greeting: whether there is something to ask; and ask, and hear the answer. False when
 * there is no memory. */
bool rlk_health_is_wanted(struct rlk_node *n);
bool rlk_health_greet(struct rlk_node *n, const struct rlk_exchange_kind *kind, uint64_t now_us);

/* The greeting is over, with that answer, or without one (NULL). From here on it is asked now and
 * then. */
void rlk_health_begin(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us);

/* Ask it now, ahead of what is asked next; not when an answer is outstanding. The second: not when
 * that was a moment ago, either. */
void rlk_health_ask_now(struct rlk_node *n, uint64_t now_us);
void rlk_health_ask(struct rlk_node *n, uint64_t now_us);

/* It is certain that its clock moved: put that on record, with this look and with each until it is
 * there [S11]. */
void rlk_health_note(struct rlk_node *n, uint64_t now_us);

/* The incarnation key, and what its value is to begin with; "" when that is not known or not to be
 * looked at. */
void rlk_health_expect(const struct rlk_node *n, char key[RLK_COMMAND_INCARNATION_SIZE],
                       char start[RLK_COMMAND_START_SIZE]);

/* HELLO, or the greeting, told its role. Ends the connection of one that is no master. */
void rlk_health_judge_role(struct rlk_node *n, enum rlk_unfit unfit, uint64_t now_us);

/* It was looked at along with a vote, and was not as expected. */
void rlk_health_mark_missed(struct rlk_node *n, uint64_t now_us);

/* The connection has ended. */
void rlk_health_end(struct rlk_node *n);

#endif
