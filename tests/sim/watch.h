/* watch.h - what the library does, seen from outside, and told to the checkers.
 *
 * What it sends and reads is seen at the connection (watch.c). How its machines are stepped is seen
 * by the linker: -Wl,--wrap puts watch_core.c between the drivers that ship and src/core, so that
 * the checkers are told what the machines were told. Nothing in src knows of it. */
#ifndef RLK_TESTS_SIM_WATCH_H
#define RLK_TESTS_SIM_WATCH_H

#include "sim/world.h"

/* A client appends a question; it lets go of a connection. */
void watch_asks(struct world *w, unsigned client, unsigned node, struct message *m);
void watch_closes(struct world *w, unsigned wire);

/* An answer is about to be handed up; it was. */
void watch_hears(struct world *w, unsigned client, unsigned node, const struct message *m);
void watch_heard(struct world *w, unsigned client, unsigned node, const struct message *m);

/* Its code has run. */
void watch_left(struct world *w, unsigned client);

/* A claim of the library as the checkers number it; NONE for a token of nobody. */
unsigned watch_claim(const struct world *w, const struct rlk_claim *claim);

#endif
