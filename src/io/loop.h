/* loop.h - what the pieces of a manager share of the event loop. */
#ifndef RLK_IO_LOOP_H
#define RLK_IO_LOOP_H

#include "io/fork.h"
#include "io/timers.h"
#include "io/turn.h"

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
    char read[RLK_LOOP_READ];
};

#endif
