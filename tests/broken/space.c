/* space.c - the world of one break, as the search knows it.
 *
 * Masters have no names, so the six worlds that differ in their order are one. Keys do not say
 * enough to find a world again: the worlds of two depths are kept. */
#include "broken/space.h"

#include <string.h>

#include "broken/moves.h"
#include "search/hash.h"

#define WORDS ((sizeof(struct world) + 7) / 8)

/* Every byte of a world is a byte of some field. */
_Static_assert(sizeof(struct master) == 22, "a master has bytes that are not set");
_Static_assert(sizeof(struct world) == MASTERS * 22 + 12, "a world has bytes that are not set");

static void order(struct master *a, struct master *b)
{
    struct master spare = *a;

    if (memcmp(a, b, sizeof(spare)) > 0) {
        *a = *b;
        *b = spare;
    }
}

static struct key key_of(const struct world *w, const struct config *c)
{
    struct world sorted = *w;
    uint64_t words[WORDS] = {0};

    (void)c;
    order(&sorted.masters[0], &sorted.masters[1]);
    order(&sorted.masters[1], &sorted.masters[2]);
    order(&sorted.masters[0], &sorted.masters[1]);
    memcpy(words, &sorted, sizeof(sorted));
    return hash_words(words, WORDS);
}

static unsigned judge(const struct world *w, const struct config *c)
{
    (void)c;
    return w->wrong;
}

const struct space space = {.world_size = sizeof(struct world),
                            .move_size = sizeof(struct move),
                            .begin = world_begin,
                            .moves = moves_each,
                            .key = key_of,
                            .judge = judge};
