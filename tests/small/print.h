/* small/print.h - a trace for people. */
#ifndef RLK_SMALL_PRINT_H
#define RLK_SMALL_PRINT_H

#include "search/search.h"

/* One line a step, each begun with `prefix`: the tick, who, what, and what came of it. */
void print_trace(const struct result *r, const char *prefix);

#endif
