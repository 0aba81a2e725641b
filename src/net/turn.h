/* turn.h - the end of a turn of the event loop: first the user's callbacks, then the sends.
 *
 * During a turn the library reads replies and steps its machines. The callbacks to run and the
 * connections to flush are queued here. An event that is activated once, or the last connection
 * that could be read, then
 *   1. runs the callbacks in the order in which they were queued: so a callback never runs inside
 *      a call of the library, and commands that a callback causes leave in the same turn;
 *   2. flushes every connection that has bytes: one send for each, however many commands.
 * A callback that is queued meanwhile waits for the next turn: a callback that always starts the
 * next operation does not keep the loop from reading its sockets. */
#ifndef RLK_NET_TURN_H
#define RLK_NET_TURN_H

#include <stdbool.h>

#include "base/list.h"

struct event;
struct event_base;
struct rlk_fork;

/* A function to be called once at the end of the turn. */
struct rlk_call {
    struct rlk_list link; /* empty: not queued */
    void (*run)(struct rlk_call *c);
};

struct rlk_turn {
    struct event *event;
    const struct rlk_fork *fork;
    bool due;    /* something is queued, and the event is activated: or `inside` */
    bool inside; /* an event of ours runs that activates it at its end */
    struct rlk_list report, flush;
};

/* 0 or REDLOCK_ENOMEM. */
int rlk_turn_init(struct rlk_turn *t, struct event_base *base, const struct rlk_fork *fork);
void rlk_turn_end(struct rlk_turn *t);

void rlk_call_init(struct rlk_call *c, void (*run)(struct rlk_call *c));

/* Queue a call: to report to the user, or to flush a connection. A call that is queued already
 * keeps its place. rlk_list_remove(&c->link) takes it out of the queue. */
void rlk_turn_report(struct rlk_turn *t, struct rlk_call *c);
void rlk_turn_flush(struct rlk_turn *t, struct rlk_call *c);

/* Call these around everything that an event of a connection does. If nothing else is left to do in
 * this turn of the loop, _leave ends the turn, which saves an event. It runs the user's callbacks.
 */
static inline void rlk_turn_enter(struct rlk_turn *t)
{
    t->inside = !t->due;
}

void rlk_turn_leave(struct rlk_turn *t);

/* For wake.c: the turn ends now. */
void rlk_turn_run(struct rlk_turn *t);

/* Have rlk_turn_run() called: at the end of this turn, or in the next one (another). */
void rlk_turn_wake(struct rlk_turn *t, bool another);

#endif
