/* auditor.h - the audit streams of the masters, and what they must say. */
#ifndef RLK_TESTS_SIM_AUDITOR_H
#define RLK_TESTS_SIM_AUDITOR_H

#include "sim/world.h"

/* A server has done what the message asked for, and adds the entry, if there is one. */
void auditor_add(struct world *w, unsigned server, struct message *m);

/* The stream of a server is thrown away, or is another one now. */
void auditor_forgot(struct world *w, unsigned server);

/* A user is handed a lock. */
void auditor_reported(struct world *w, unsigned client, unsigned worker);

#endif
