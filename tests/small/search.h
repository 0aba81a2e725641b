/* small/search.h - every world that can be reached, nearest first. */
#ifndef RLK_SMALL_SEARCH_H
#define RLK_SMALL_SEARCH_H

#include "small/moves.h"

struct result {
    uint64_t states, transitions;
    unsigned depth;
    double seconds;
    bool complete;    /* everything was seen, unless something wrong was found */
    enum wrong wrong; /* the first thing found, with the shortest way there */
    struct move *trace;
    unsigned steps; /* of the trace */
};

/* Search `c`. With `plain`, worlds that differ in names only are different. At most `limit`
 * worlds. */
void search_run(const struct config *c, bool plain, uint64_t limit, struct result *ret_result);

void search_end(struct result *r);

/* The world after `move`. */
void search_follow(struct world *w, const struct move *move);

#endif
