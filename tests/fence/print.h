/* fence/print.h - a trace for people. */
#ifndef RLK_FENCE_PRINT_H
#define RLK_FENCE_PRINT_H

#include "search/search.h"

/* One line a step, each begun with `prefix`: who, what, and what came of it. */
void print_trace(const struct config *c, const struct result *r, const char *prefix);

const char *print_wrong(unsigned wrong);

#endif
