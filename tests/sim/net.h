/* net.h - what the simulated world has in place of src/net.
 *
 * The library is compiled against the headers of src/net, and linked with these symbols instead:
 * a connection is a wire (wire.h), the time is that of the world, random bytes come from the
 * seed, and a turn of the loop ends when the schedule says so. These are the events. */
#ifndef RLK_TESTS_SIM_NET_H
#define RLK_TESTS_SIM_NET_H

#include "sim/world.h"

/* net_conn.c: a wire is connected, has an answer, has a push, is broken. */
void net_on_opened(struct world *w, unsigned wire);
void net_on_reply(struct world *w, unsigned wire);
void net_on_push(struct world *w, unsigned wire, enum push_kind kind, unsigned key);
void net_on_broken(struct world *w, unsigned wire);

/* net_loop.c: the end of a turn; a timer is due; the manager is closed. */
void net_on_turn(struct world *w, unsigned client, unsigned life);
void net_on_timers(struct world *w, unsigned client, unsigned armed);
void net_on_finish(struct world *w, unsigned client, unsigned life);

/* Its clock runs at another rate: the timers come at other times. */
void net_rate_changed(struct world *w, unsigned client);

#endif
