/* small/check.h - what must be true in every world. */
#ifndef RLK_SMALL_CHECK_H
#define RLK_SMALL_CHECK_H

#include "small/world.h"

/* The first thing that is wrong in this world. What only a step can see (a token set twice, a win
 * reported late) is recorded in the world by the step. */
enum wrong check_world(const struct world *w);

/* One line about it. */
const char *check_text(enum wrong wrong);

#endif
