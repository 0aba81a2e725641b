/* ask.h - sends a question of a lock to nodes, and turns their replies into events.
 *
 * Each question is a row of the table in question.c. Every reply takes the same way:
 *
 *     link -> talk (which line is it for?) -> the row: classify it, note what the node said
 *          -> an event for the driver of the lock (drive_attempt, drive_hold, drive_release)
 *
 * When the connection breaks, or the command cannot be sent, the driver gets the same event, with
 * an unknown vote or answer: never before the call that asked has returned. */
#ifndef RLK_LOCK_ASK_H
#define RLK_LOCK_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/question.h"

struct redlock;
struct redlock_lock;
struct rlk_claim;

/* What could not be sent. The caller passes it to rlk_ask_settle() when its step is over. */
struct rlk_unsent {
    struct rlk_claim *claim; /* a reference; NULL: all was sent, or needs no reply */
    enum rlk_ask what;
    uint64_t nodes;
};

/* Ask these nodes, with the lock's present claim; ttl_ms: how long the keys shall live. When a
 * release cannot be sent to a node, it becomes pending there. */
struct rlk_unsent rlk_ask(struct redlock_lock *lock, enum rlk_ask what, uint64_t nodes,
                          uint32_t ttl_ms, uint64_t now_us);

/* The driver gets an unknown answer for each of the nodes. */
void rlk_ask_settle(struct redlock *rl, const struct rlk_unsent *unsent, uint64_t now_us);

/* Ask for a claim that may have no lock: a release, RLK_ASK_LEAVE, or what follows from a reply.
 * _and_settle: and rlk_ask_settle(). */
struct rlk_unsent rlk_ask_claim(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what,
                                uint64_t nodes, uint32_t ttl_ms, uint64_t now_us);
void rlk_ask_claim_and_settle(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what,
                              uint64_t nodes, uint32_t ttl_ms, uint64_t now_us);

/* For a question that is sent together with those of other locks (lock/renewals.h). */

/* Whether the lock of the claim still needs this question. A lock that is lost, detached or expired
 * does not. */
bool rlk_ask_is_wanted(const struct rlk_claim *claim, enum rlk_ask what, uint64_t now_us);

/* It was sent to these nodes except the unsent ones. _unsent: for those the lock may be stepped
 * now.
 */
void rlk_ask_sent(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what, uint64_t nodes,
                  uint64_t unsent, uint32_t ttl_ms, uint64_t now_us);
void rlk_ask_unsent(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what, uint64_t unsent,
                    uint64_t now_us);

/* A node has replied; or the connection broke, and no reply will come. */
void rlk_ask_answered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                      const struct rlk_reply *reply, uint64_t now_us);
void rlk_ask_unanswered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                        uint64_t now_us);

#endif
