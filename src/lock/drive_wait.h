/* drive_wait.h - an attempt that waits: enters the wait queues of masters, and takes what they say
 * to it.
 *
 * While an attempt waits it keeps the subscriber connections of its queue masters open. A wake that
 * no request here waits for is passed on: the master wakes the next waiter. */
#ifndef RLK_LOCK_DRIVE_WAIT_H
#define RLK_LOCK_DRIVE_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/subscriber.h"

struct redlock_lock;
struct rlk_actions;
struct rlk_event;
struct rlk_node;

/* Fill in `subscribable` and `subscribed` of an event, for an attempt. */
void rlk_wait_survey(const struct redlock_lock *lock, struct rlk_event *ev);

/* Carry out the part of the actions that is about waiting; subscribe at the queue masters. */
void rlk_wait_carry_out(struct redlock_lock *lock, const struct rlk_actions *out, uint64_t now_us);

/* The attempt has ended: drop its subscriptions, and leave the wait queues of these nodes, unless
 * another request of this manager needs the same queue position. */
void rlk_wait_end(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us);

/* For rlk_node_hooks.woken. */
void rlk_wait_woken(struct rlk_node *n, enum rlk_wake wake, const char *key, size_t len,
                    uint64_t now_us);

#endif
