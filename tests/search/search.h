/* search/search.h - every world that can be reached, nearest first.
 *
 * What a world is, a move and a configuration, is up to the program. It must be plain memory, in
 * which equal ones have equal bytes. */
#ifndef RLK_SEARCH_SEARCH_H
#define RLK_SEARCH_SEARCH_H

#include "search/table.h"

struct world;
struct move;
struct config;

/* Called with each possible move and the world that it leads to. */
typedef void on_move(const struct world *after, const struct move *move, void *arg);

/* Not 0, and nothing that is wrong: the model has no room for such a world. */
#define SEARCH_NO_ROOM UINT32_MAX

struct space {
    size_t world_size, move_size;
    void (*begin)(struct world *w, const struct config *c);
    void (*moves)(const struct world *w, const struct config *c, on_move *f, void *arg);

    /* Worlds with one key are one. */
    struct key (*key)(const struct world *w, const struct config *c);

    /* A world of this key. NULL: a key does not say enough, and the worlds of the two depths that
     * are at work are kept. */
    void (*world)(struct key key, const struct config *c, struct world *ret_world);

    /* What is wrong with a world, which ends the search; 0 for nothing. */
    unsigned (*judge)(const struct world *w, const struct config *c);

    /* Take notes of a step. NULL: there is nothing to be noted. */
    void (*note)(const struct world *before, const struct world *after, const struct move *move,
                 const struct config *c, void *notes);
};

struct result {
    uint64_t states, transitions;
    unsigned depth;
    double seconds;       /* of the processor */
    size_t bytes;         /* of the table */
    bool complete;        /* everything was seen, unless something wrong was found */
    bool overflow;        /* not complete: there was no room for some world */
    unsigned wrong;       /* the first thing found, with a shortest way there */
    unsigned steps;       /* of that way */
    struct move *trace;   /* each step */
    struct world *worlds; /* where it is taken, and the last one, where something is wrong */
};

/* At most `limit` states. */
void search_run(const struct space *space, const struct config *c, uint64_t limit, void *notes,
                struct result *ret_result);

void search_end(struct result *r);

#endif
