/* server.h - a model of a Redis master (SAFETY: what a server answers).
 *
 * SET key token NX PX ttl [GET], the scripts that take, keep and release several keys, vote and
 * confirm with counters, and look at the incarnation key, HELLO, TIME, CLIENT KILL. Keys end by the
 * server's own clock, in whole milliseconds: a key lives at least its ttl. A server that stands
 * still reads what came meanwhile when it goes on. */
#ifndef RLK_TESTS_SIM_SERVER_H
#define RLK_TESTS_SIM_SERVER_H

#include "sim/world.h"

void server_init(struct world *w, unsigned server);

/* Carry out a request that has come over `wire`, and write its answer into it. */
void server_execute(struct world *w, unsigned wire, struct message *m);

/* The value of a key now; NONE when there is none. Looking changes nothing. */
unsigned server_value(const struct world *w, unsigned server, unsigned key);

/* Stand still, and go on at that time. */
void server_stop(struct world *w, unsigned server, uint64_t until_us);

/* Die, and come back at that time: with the data or without. */
void server_end(struct world *w, unsigned server, uint64_t until_us, bool forgets);

/* It loses its data, and does not say so; with FLUSHALL, which it does; with its place, which its
 * replica takes that has not heard the last write. */
void server_empty(struct world *w, unsigned server);
void server_flush(struct world *w, unsigned server);
void server_replaced(struct world *w, unsigned server);

/* It becomes a writable replica of that one (REPLICAOF), under the connections that it has; and a
 * master again. */
void server_demote(struct world *w, unsigned server, unsigned master);
void server_promote(struct world *w, unsigned server);

void server_on_continue(struct world *w, unsigned server, unsigned stamp);
void server_on_restart(struct world *w, unsigned server, unsigned stamp);

#endif
