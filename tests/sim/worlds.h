/* worlds.h - the worlds that were added last. Each is drawn from numbers of its own, so that all
 * other seeds keep their histories. */
#ifndef RLK_TESTS_SIM_WORLDS_H
#define RLK_TESTS_SIM_WORLDS_H

#include <stdio.h>

#include "sim/options.h"

/* After all other options. */
void worlds_draw(struct options *o);

void worlds_print(const struct options *o, FILE *f);

/* Whether the requests of a worker can never be granted. */
bool worlds_is_hopeless(const struct options *o, unsigned worker);

#endif
