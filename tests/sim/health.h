/* health.h - whether a server that a client is connected to still has its data, and what time it
 * has. As src/node/health.c, and what src/lock/manager.c makes of the time. */
#ifndef RLK_TESTS_SIM_HEALTH_H
#define RLK_TESTS_SIM_HEALTH_H

#include "sim/world.h"

/* A process begins. */
void health_init(struct world *w, unsigned client);

/* For the greeting: ask; true when there is something to ask. */
bool health_greet(struct world *w, unsigned client, unsigned node);

/* The role that came with a message: true when the connection has to end. */
bool health_judge_role(struct world *w, unsigned client, unsigned node, const struct message *m);

/* The greeting is over, with that answer (an error, perhaps) or without one (NULL). */
void health_begin(struct world *w, unsigned client, unsigned node, const struct message *m);

/* Ask it now, ahead of what is asked next. */
void health_ask(struct world *w, unsigned client, unsigned node);

void health_on_reply(struct world *w, unsigned client, unsigned node, const struct message *m);
void health_on_timer(struct world *w, unsigned client, unsigned node, unsigned stamp);

/* The connection has ended. */
void health_end(struct world *w, unsigned client, unsigned node);

/* What a vote is to find: its mark is 0 when that is not known or not to be looked at. */
struct mark health_expect(const struct world *w, unsigned client, unsigned node);

/* It was looked at along with a vote, and was not as expected. */
void health_surprised(struct world *w, unsigned client, unsigned node);

#endif
