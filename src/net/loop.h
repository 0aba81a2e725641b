/* loop.h - the event loop, as the pieces of a manager share it.
 *
 * Only src/net knows libevent, sockets, clocks and hiredis' reader. The folders above use
 * connections, name lookups, timers, the turn of the loop, the clock, fork detection and random
 * bytes through the headers of this folder, and nothing else of the outside world. The simulator
 * has its own version of the files here that do I/O. */
#ifndef RLK_NET_LOOP_H
#define RLK_NET_LOOP_H

#include "net/dns.h"
#include "net/fork.h"
#include "net/timers.h"
#include "net/turn.h"

struct event;
struct event_base;

/* The most bytes read from a socket at once. */
#define RLK_LOOP_READ 65536

struct rlk_loop {
    struct event_base *base;
    unsigned lookups; /* name lookups that have not been answered yet */
    struct rlk_dns dns;
    struct rlk_fork fork;
    struct rlk_timers timers;
    struct rlk_turn turn;
    struct event *finish_event; /* calls `finish` */
    void (*finish)(struct rlk_loop *l);
    char read[RLK_LOOP_READ];
};

/* Begin, on the user's event base, in zeroed memory. `finish` is what rlk_loop_finish() calls. 0,
 * REDLOCK_ESYSTEM or REDLOCK_ENOMEM. After a failure, too, rlk_loop_end() must be called; it also
 * accepts a zeroed loop that was never begun. */
int rlk_loop_init(struct rlk_loop *l, struct event_base *base, void (*finish)(struct rlk_loop *l));
void rlk_loop_end(struct rlk_loop *l);

/* Call `finish` from an event of its own, so that no other function of the library is on the stack:
 * in this turn of the loop; _later: after a millisecond, or in this turn when memory is short.
 * `finish` is not called in a forked child. Needs no memory. */
void rlk_loop_finish(struct rlk_loop *l);
void rlk_loop_finish_later(struct rlk_loop *l);

#endif
