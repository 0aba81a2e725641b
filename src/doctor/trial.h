/* trial.h - tries SUBSCRIBE, as the subscriber connection of a node uses it.
 *
 *          start             connected           both channels are answered
 *   IDLE -----------> DIALING --------> AUTH, WAKES, INVALIDATIONS ----------> IDLE, done
 *                        |                           |
 *                        +---------------------------+--> IDLE, done: failed, with the reason
 *
 * On a connection of its own: in RESP2 a connection that has subscribed takes no other commands,
 * and a user with minimum permissions may not unsubscribe. The connection ends with the trial. The
 * node's own subscriber connection is left alone: it would show the rights of the time when it was
 * made. */
#ifndef RLK_DOCTOR_TRIAL_H
#define RLK_DOCTOR_TRIAL_H

#include <stdbool.h>

#include "net/conn.h"
#include "net/dial.h"
#include "node/trouble.h"

struct rlk_checkup;
struct rlk_node;

enum rlk_trial_step {
    RLK_TRIAL_IDLE = 0,
    RLK_TRIAL_DIALING,
    RLK_TRIAL_AUTH, /* from here on, the reply that comes next */
    RLK_TRIAL_WAKES,
    RLK_TRIAL_INVALIDATIONS
};

struct rlk_trial {
    const struct rlk_node *node;
    struct rlk_checkup *checkup; /* which rights are missing is written there */
    void (*done)(struct rlk_trial *t);
    enum rlk_trial_step step;
    struct rlk_dial dial;
    struct rlk_conn conn;
};

/* The pointers are borrowed until rlk_trial_end(). */
void rlk_trial_init(struct rlk_trial *t, const struct rlk_node *n, struct rlk_checkup *p,
                    void (*done)(struct rlk_trial *t));

/* Begin, at the address of the node, which is UP. Later, or before it returns, `done` is called. */
void rlk_trial_start(struct rlk_trial *t);

/* The time is over. True: it was under way, and is noted as too late. `done` is not called. */
bool rlk_trial_time_out(struct rlk_trial *t);

/* `done` will not be called. Does nothing when it is idle. _end: free its memory, too. */
void rlk_trial_cancel(struct rlk_trial *t);
void rlk_trial_end(struct rlk_trial *t);

#endif
