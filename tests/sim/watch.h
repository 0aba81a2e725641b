/* watch.h - what the library does, seen from outside, and passed to the checkers.
 *
 * watch.c sees at the connection what the library sends and reads. watch_core.c sees how its
 * state machines are stepped: -Wl,--wrap puts it between the drivers that ship and src/core, so
 * that the checkers get the same events as the machines. Nothing in src knows of it. */
#ifndef RLK_TESTS_SIM_WATCH_H
#define RLK_TESTS_SIM_WATCH_H

#include "sim/world.h"

/* A client appends a request; it closes a connection. */
void watch_request(struct world *w, unsigned client, unsigned node, struct message *m);
void watch_close(struct world *w, unsigned wire);

/* An answer is about to be passed to the library; it was passed. */
void watch_reply(struct world *w, unsigned client, unsigned node, const struct message *m,
                 unsigned parts);
void watch_reply_done(struct world *w, unsigned client, unsigned node, const struct message *m);

/* The client's code has run. */
void watch_left(struct world *w, unsigned client);

/* Whether an answer proves that the claim was not set. */
bool watch_is_refusal(const struct message *m);

/* The checkers' number of a claim of the library; NONE for a token that no claim has. */
unsigned watch_claim(const struct world *w, const struct rlk_claim *claim);

#endif
