/* wakes.h - what a master sends by itself: messages to those who wait for a key, invalidations to
 * those who track it. And its waiting lists, as the scripts keep them.
 *
 * A client that waits is known to the masters by the number of its channel. Each push may be lost,
 * late or doubled until the faults end. */
#ifndef RLK_TESTS_SIM_WAKES_H
#define RLK_TESTS_SIM_WAKES_H

#include "sim/world.h"

/* Commands that begin or change what is sent: SUBSCRIBE, CLIENT TRACKING, CLIENT CACHING. */
void wakes_subscribe(struct world *w, unsigned wire, struct message *m);
void wakes_track(struct world *w, unsigned wire, struct message *m);
void wakes_cache(struct world *w, unsigned wire, struct message *m);

/* EXISTS or GET has read these keys over this connection; caching: it tracks them. */
void wakes_read(struct world *w, unsigned wire, unsigned keys, bool caching);

/* The value or the ttl of a key has changed; FLUSHALL. */
void wakes_changed(struct world *w, unsigned server, unsigned key);
void wakes_flushed(struct world *w, unsigned server);

/* A key that somebody tracks ends about now. */
void wakes_on_expiry(struct world *w, unsigned server, unsigned key);

/* The scripts: wait, leave, and the part of a release or hand-over that wakes or tells; returns
 * whether somebody was woken or told. reserved: the keys that it has just reserved. */
void wakes_wait(struct world *w, unsigned server, struct message *m);
void wakes_leave(struct world *w, unsigned server, struct message *m);
bool wakes_release(struct world *w, unsigned server, const struct message *m, unsigned reserved);

/* Whether somebody is in the waiting list of a key. */
bool wakes_is_listed(struct world *w, unsigned server, unsigned key);

/* The lists are gone with the data. */
void wakes_forget_lists(struct world *w, unsigned server);

#endif
