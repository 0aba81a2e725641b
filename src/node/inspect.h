/* inspect.h - inspects a connected server: is it still a master, does it still have its data, and
 * what does its clock say [S11].
 *
 * Every server has one key that no client deletes, the incarnation key. Its value is the run that
 * wrote it, a random mark, and the birth of the data by the server's clock. When a server loses its
 * data, the key is missing, or another client has written it again with another mark: every client
 * that knew the former mark sees the change. A server that restarted with its data, and a replica
 * that was promoted, have a key that another run wrote.
 *
 * A script reads the key, writes it again where necessary, and returns the time: at the end of the
 * handshake, every inspection_ms while we rely on the server, and less often while we do not;
 * before a round that begins to; along with renewals, and when a vote did not find the mark.
 * core/inspection.h decides what to ask and what follows from the replies. */
#ifndef RLK_NODE_INSPECT_H
#define RLK_NODE_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/inspection.h"
#include "core/server.h"
#include "node/command.h"
#include "node/node.h"
#include "node/options.h"

struct rlk_reply;
struct rlk_say;

/* For the handshake. _is_wanted: whether there is anything to ask. _question: what to ask; from now
 * on its reply is outstanding. It is the context of the line that _format writes. */
bool rlk_inspect_is_wanted(struct rlk_node *n);
struct rlk_inspection_question rlk_inspect_question(struct rlk_node *n, uint64_t now_us);
bool rlk_inspect_format(struct rlk_command *c, const struct rlk_say *say);

/* The handshake is over. reply: to that line, or NULL when it was not sent. From here on
 * the server is inspected every inspection_ms. */
void rlk_inspect_begin(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us);

/* Inspect the server now, before the next command, unless an inspection is in flight. The second
 * does nothing if the last inspection was a moment ago, or if inspection_ms is 0. */
void rlk_inspect_ask_now(struct rlk_node *n, uint64_t now_us);
void rlk_inspect_ask(struct rlk_node *n, uint64_t now_us);

/* [S11] The next command asks for a lease that lasts until then. _lease: if the last
 * inspection was longer ago than inspection_ms, the server is inspected before it replies to that
 * command: we have not relied on it, or our loop has not run since. From now on it is inspected
 * every inspection_ms: _rely. */
void rlk_inspect_rely(struct rlk_node *n, uint64_t now_us);

static inline void rlk_inspect_lease(struct rlk_node *n, uint64_t until_us, uint64_t now_us)
{
    if (now_us >= n->leased_us ||
        rlk_inspection_is_old(&n->inspection, n->options->inspection_us, now_us)) {
        rlk_inspect_rely(n, now_us);
    }
    n->leased_us = until_us > n->leased_us ? until_us : n->leased_us;
}

/* Its votes wait for what an inspection will show, also without regular ones (inspection_ms 0). */
void rlk_inspect_wait(struct rlk_node *n, uint64_t now_us);

/* It is certain that the server's clock was set: write that into the incarnation key, with this
 * inspection and each one after it, until it is written [S11]. */
void rlk_inspect_record_step(struct rlk_node *n, uint64_t now_us);

/* The incarnation key, and how its value must begin; both "" when the mark is not known, or is not
 * checked. */
void rlk_inspect_expected_mark(const struct rlk_node *n, char key[RLK_COMMAND_INCARNATION_SIZE],
                               char start[RLK_COMMAND_START_SIZE]);

/* HELLO or the handshake told the role. Ends the connection when the server is not a master. */
void rlk_inspect_judge_role(struct rlk_node *n, enum rlk_unfit unfit, uint64_t now_us);

/* A vote with a fencing token read the incarnation key, and did not find the expected mark. */
void rlk_inspect_mark_missed(struct rlk_node *n, uint64_t now_us);

/* The server refused to renew or release a lock: ask whether it lets us do so at all, and again
 * from time to time as long as it does not (node/upkeep.h). */
void rlk_inspect_doubt_upkeep(struct rlk_node *n, uint64_t now_us);

/* Stop the inspections of this node. */
void rlk_inspect_end(struct rlk_node *n);

#endif
