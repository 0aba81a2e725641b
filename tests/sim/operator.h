/* operator.h - who replaces masters by spare servers, adds and removes some, while clients run, by
 * redlock_change_masters() as it ships [S15, M7, M8].
 *
 * An operator is a client without users, behind the others: options.clients + its number. */
#ifndef RLK_TESTS_SIM_OPERATOR_H
#define RLK_TESTS_SIM_OPERATOR_H

#include "sim/world.h"

bool operator_is_one(const struct world *w, unsigned client);

/* All of them begin; all of them die. */
void operator_start_all(struct world *w);
void operator_end_all(struct world *w);

/* The faults end. */
void operator_heal(struct world *w);

/* The list of masters that a process is given when it is started: without operators always the
 * same, whatever masters it has followed to. */
void operator_list(struct world *w, unsigned client);

/* Its manager is made; its process is gone. */
int operator_make(struct world *w, unsigned client);
void operator_ended(struct world *w, unsigned client);

/* A change was agreed on; whether this server is kept off because of one. */
void operator_has_changed(struct world *w);
bool operator_keeps_off(const struct world *w, unsigned server);

/* A client connects to another server in the place of one of its masters, or to one more; it leaves
 * one, and perhaps connects to another in its place. */
void operator_moved(struct world *w, unsigned client, unsigned node, unsigned address);
void operator_left(struct world *w, unsigned client, unsigned node);

/* A step of an operator. */
void operator_on_event(struct world *w, unsigned target, unsigned step, unsigned stamp);

#endif
