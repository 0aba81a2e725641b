/* server.h - a model of a Redis master.
 *
 * SET key token NX PX ttl [GET], the scripts that take, keep and release several keys, vote and
 * confirm with counters, and read the incarnation key, HELLO, TIME, CLIENT KILL. Keys expire by
 * the server's own clock, in whole milliseconds: a key lives at least its ttl. A server that was
 * stopped reads what arrived meanwhile when it goes on. */
#ifndef RLK_TESTS_SIM_SERVER_H
#define RLK_TESTS_SIM_SERVER_H

#include "sim/world.h"

void server_init(struct world *w, unsigned server);

/* The rights of its user to release are given anew. */
void server_change_rights(struct world *w, unsigned server);

/* Carry out a request that arrived over `wire`, and write its answer into it. */
void server_execute(struct world *w, unsigned wire, struct message *m);

/* The value of a key now; NONE when there is no key. Changes nothing. */
unsigned server_value(const struct world *w, unsigned server, unsigned key);

/* The same, as a command sees it: a key that has ended is removed permanently. */
unsigned server_look_up(struct world *w, unsigned server, unsigned key);

/* What it takes a hint for [S12]: at most a minute ahead of its clock, in whole seconds. */
uint64_t server_hint(const struct world *w, unsigned server, uint64_t hint);

/* How long it has that key yet, by its clock. */
uint64_t server_left_us(const struct world *w, unsigned server, unsigned key);

/* Stop answering, and go on at that time. */
void server_stop(struct world *w, unsigned server, uint64_t until_us);

/* Die, and come back at that time, with the data or without. */
void server_end(struct world *w, unsigned server, uint64_t until_us, bool forgets);

/* It loses its data, and does not report it; with FLUSHALL, which it reports; or because a
 * replica takes its place that lacks the last write. */
void server_empty(struct world *w, unsigned server);
void server_flush(struct world *w, unsigned server);
void server_replaced(struct world *w, unsigned server);

/* Its address leads to another server, which has run for long: without data; or with a copy of the
 * data that lacks the last write, from which the incarnation key was deleted, or was not. */
enum swap_data {
    SWAP_EMPTY = 0,
    SWAP_UNMARKED,
    SWAP_MARKED
};
void server_swapped(struct world *w, unsigned server, enum swap_data data);

/* It becomes a writable replica of `master` (REPLICAOF), without closing its connections; and a
 * master again. */
void server_demote(struct world *w, unsigned server, unsigned master);
void server_promote(struct world *w, unsigned server);

/* Its data are a copy of another master's, as their mark says, and an operator has deleted that. */
void server_unmark_copy(struct world *w, unsigned server);

void server_on_continue(struct world *w, unsigned server, unsigned stamp);
void server_on_restart(struct world *w, unsigned server, unsigned stamp);

/* A client with another library sets a key if it is free, and deletes what it has set. */
void server_set(struct world *w, unsigned server, unsigned key, unsigned claim, uint32_t ttl_ms);
void server_delete(struct world *w, unsigned server, unsigned key, unsigned claim);

#endif
