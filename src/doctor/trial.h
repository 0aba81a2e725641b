/* trial.h - tries SUBSCRIBE, as the subscriber connection of a node uses it.
 *
 * The trial has its own connection: in RESP2 a connection that has subscribed takes no other
 * commands, and a user with minimum permissions may not unsubscribe. The connection ends with the
 * trial. The node's own subscriber connection is not used: it only shows the permissions at the
 * time when it was made. */
#ifndef RLK_DOCTOR_TRIAL_H
#define RLK_DOCTOR_TRIAL_H

#include <stdbool.h>

#include "node/link.h"
#include "node/trouble.h"

struct rlk_checkup;
struct rlk_node;

struct rlk_trial {
    struct rlk_link link;
    struct rlk_checkup *checkup; /* which permissions are missing is written there */
    void (*done)(struct rlk_trial *t);
};

/* The pointers are borrowed until rlk_trial_end(). */
void rlk_trial_init(struct rlk_trial *t, struct rlk_node *n, struct rlk_checkup *p,
                    void (*done)(struct rlk_trial *t));

/* Begin, at the address of the node, which is UP. `done` is called within connect_timeout_ms, or
 * before this returns; when SUBSCRIBE could not be tried, the checkup says why. */
void rlk_trial_start(struct rlk_trial *t, uint64_t now_us);

bool rlk_trial_is_open(const struct rlk_trial *t);

/* Cancel: `done` will not be called. Does nothing if it is not open. _end: free its memory, too. */
void rlk_trial_cancel(struct rlk_trial *t);
void rlk_trial_end(struct rlk_trial *t);

#endif
