/* ask.h - sends a question of a lock to nodes, and turns their replies into events.
 *
 * Each question is a row of the table in question.c. Every reply takes the same way:
 *
 *     conn -> node (which command is it for?) -> the row: classify it, note what the node said
 *          -> an event for the driver of the lock (drive_attempt, drive_hold, drive_release)
 *
 * When the connection breaks, or the command cannot be sent, the driver gets the same event, with
 * an unknown vote or answer. */
#ifndef RLK_LOCK_ASK_H
#define RLK_LOCK_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/question.h"

struct redlock;
struct redlock_lock;
struct rlk_claim;

/* Ask these nodes, with the lock's present claim; ttl_ms: how long the keys shall live. When a
 * release cannot be sent to a node, it becomes pending there. When any other question cannot be
 * sent, the driver gets an unknown answer after all other nodes were asked: so the lock may be
 * stepped before this returns. */
void rlk_ask(struct redlock_lock *lock, enum rlk_ask what, uint64_t nodes, uint32_t ttl_ms,
             uint64_t now_us);

/* The same for a claim without a lock: a release, or RLK_ASK_LEAVE. */
void rlk_ask_for_claim(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what,
                       uint64_t nodes, uint32_t ttl_ms, uint64_t now_us);

/* For a question that is sent together with those of other locks (lock/renewals.h). */

/* Whether the lock of the claim still wants this asked. One that is lost or forgotten, or whose
 * time is over, does not. */
bool rlk_ask_is_wanted(const struct rlk_claim *claim, enum rlk_ask what, uint64_t now_us);

/* It was sent to these nodes, but for the unsent ones: for these the lock may be stepped. */
void rlk_ask_sent(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what, uint64_t nodes,
                  uint64_t unsent, uint32_t ttl_ms, uint64_t now_us);

/* A node has replied; or the connection broke, and no reply will come. */
void rlk_ask_answered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                      const struct rlk_reply *reply, uint64_t now_us);
void rlk_ask_unanswered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                        uint64_t now_us);

#endif
