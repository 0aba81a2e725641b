/* loop.h - what the pieces of a manager share of the event loop.
 *
 * Here is the seam: src/net alone knows libevent, sockets, clocks and hiredis' reader. What is
 * above it sees connections, names, timers, the turn of the loop, the clock, forks and random bytes
 * by the headers of this folder, and nothing else of the world. */
#ifndef RLK_NET_LOOP_H
#define RLK_NET_LOOP_H

#include "net/fork.h"
#include "net/timers.h"
#include "net/turn.h"

struct event;
struct event_base;
struct evdns_base;

/* The most bytes taken from a socket at once. */
#define RLK_LOOP_READ 65536

struct rlk_loop {
    struct event_base *base;
    struct evdns_base *dns; /* NULL until the first name has to be resolved */
    unsigned lookups;       /* of names, that have not been answered yet */
    struct rlk_fork fork;
    struct rlk_timers timers;
    struct rlk_turn turn;
    struct event *last;
    void (*finish)(struct rlk_loop *l);
    char read[RLK_LOOP_READ];
};

/* All of it, on the user's base. `finish`: what rlk_loop_finish() calls. 0, REDLOCK_ESYSTEM or
 * REDLOCK_ENOMEM; then rlk_loop_end() is still to be called, and takes zeroes, too. */
int rlk_loop_init(struct rlk_loop *l, struct event_base *base, void (*finish)(struct rlk_loop *l));
void rlk_loop_end(struct rlk_loop *l);

/* Call `finish` from an event of its own, so that nothing of ours is on the stack: in this turn of
 * the loop, or a moment later. It is not called in a forked child. Needs no memory. */
void rlk_loop_finish(struct rlk_loop *l);
void rlk_loop_finish_later(struct rlk_loop *l);

#endif
