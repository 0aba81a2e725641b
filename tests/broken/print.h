/* broken/print.h - a way to what is wrong, for people. */
#ifndef RLK_BROKEN_PRINT_H
#define RLK_BROKEN_PRINT_H

#include "search/search.h"

/* One line a step, each begun with `prefix`. */
void print_trace(const struct result *r, const char *prefix);

const char *print_wrong(unsigned wrong);

#endif
