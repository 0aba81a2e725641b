/* turn.h - what happens at the end of a loop turn: the user is told, then bytes leave.
 *
 * During a turn replies are read and machines step; whatever is to be told to the user and
 * whatever is to be sent is put in line here. One event, activated once, then
 *   1. runs the callbacks, in the order in which they were put in line: so a callback never
 *      runs inside a library call, and its own requests leave in this very turn;
 *   2. flushes every connection that has bytes: one send for each, however many commands.
 * Callbacks put in line meanwhile wait for the next turn, so that a callback that asks again
 * and again cannot starve the loop. */
#ifndef RLK_NET_TURN_H
#define RLK_NET_TURN_H

#include <stdbool.h>

#include "base/list.h"

struct event;
struct event_base;
struct rlk_fork;

/* Something that is to be called once at the end of the turn. */
struct rlk_call {
    struct rlk_list link;
    void (*run)(struct rlk_call *c);
};

struct rlk_turn {
    struct event *event;
    const struct rlk_fork *fork;
    bool due; /* the event is activated */
    struct rlk_list report, flush;
};

/* 0 or REDLOCK_ENOMEM. */
int rlk_turn_init(struct rlk_turn *t, struct event_base *base, const struct rlk_fork *fork);
void rlk_turn_end(struct rlk_turn *t);

void rlk_call_init(struct rlk_call *c, void (*run)(struct rlk_call *c));

/* Put in line. One that stands there already keeps its place: it tells how things are when it runs.
 * A call in line is taken out with rlk_list_remove(&c->link). */
void rlk_turn_report(struct rlk_turn *t, struct rlk_call *c);
void rlk_turn_flush(struct rlk_turn *t, struct rlk_call *c);

/* For whoever wakes the manager (wake.c): the turn ends now. */
void rlk_turn_run(struct rlk_turn *t);

/* See that the turn ends: this one, or another one behind it. */
void rlk_turn_wake(struct rlk_turn *t, bool another);

#endif
