/* small/search.c - breadth first, with the whole worlds of two layers only.
 *
 * Of all others the table keeps the key and where it came from. A way to a world is found again
 * by walking its line of keys from the beginning and taking at each the move that leads to the
 * next key. */
#include "small/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "small/key.h"
#include "small/table.h"

struct layer {
    struct world *worlds;
    uint32_t first; /* the number of the first one in the table */
    uint32_t n, room;
};

struct search {
    struct table seen;
    struct layer now, next;
    uint32_t from; /* the number of the world whose moves are looked at */
    bool plain;
    struct result *result;
};

static void layer_add(struct layer *l, const struct world *w)
{
    if (l->n == l->room) {
        l->room = l->room ? l->room * 2 : 1024;
        l->worlds = table_room(l->worlds, l->room * sizeof(*l->worlds));
    }
    l->worlds[l->n++] = *w;
}

static void on_move(const struct world *after, const struct move *move, void *arg)
{
    struct search *s = arg;

    (void)move;
    s->result->transitions++;
    if (s->result->wrong) {
        return;
    }
    s->result->wrong = (enum wrong)after->wrong;
    if (!after->wrong && table_add(&s->seen, key_of(after, s->plain), s->from)) {
        layer_add(&s->next, after);
    }
}

static void begin(struct search *s)
{
    struct world first;

    world_begin(&first);
    world_settle(&first);
    table_begin(&s->seen);
    table_add(&s->seen, key_of(&first, s->plain), 0);
    layer_add(&s->next, &first);
}

static void next_layer(struct search *s)
{
    struct layer done = s->now;

    s->now = s->next;
    s->next = done;
    s->next.n = 0;
    s->next.first = s->seen.n;
    s->result->depth++;
}

/* ---- the way there ---- */

struct wanted {
    uint64_t key; /* 0: what is wrong */
    bool plain, found;
    struct move move;
    struct world after;
};

static void on_candidate(const struct world *after, const struct move *move, void *arg)
{
    struct wanted *wanted = arg;

    if (!wanted->found &&
        (wanted->key ? key_of(after, wanted->plain) == wanted->key : after->wrong)) {
        wanted->found = true;
        wanted->move = *move;
        wanted->after = *after;
    }
}

/* Names are those of the world in which the walk stands: the duplicates that the search took are
 * renamed on the way. */
static void retrace(struct search *s)
{
    struct result *r = s->result;
    uint32_t *line, i = s->from;
    struct world w;
    unsigned n;

    for (; i != 0; i = s->seen.parents[i]) {
        r->steps++;
    }
    line = table_room(NULL, (r->steps + 1) * sizeof(*line));
    r->trace = table_room(NULL, (r->steps + 1) * sizeof(*r->trace));
    for (i = s->from, n = r->steps; n > 0; i = s->seen.parents[i]) {
        line[--n] = i;
    }
    world_begin(&w);
    world_settle(&w);
    for (n = 0; n <= r->steps; n++) {
        struct wanted wanted = {.key = n < r->steps ? s->seen.keys[line[n]] : 0, .plain = s->plain};

        moves_each(&w, on_candidate, &wanted);
        if (!wanted.found) {
            abort(); /* a step that depends on more than the world */
        }
        r->trace[n] = wanted.move;
        w = wanted.after;
    }
    r->steps++;
    free(line);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void search_run(const struct config *c, bool plain, uint64_t limit, struct result *ret_result)
{
    struct search s = {.plain = plain, .result = ret_result};
    double start = seconds();
    uint32_t i;

    memset(ret_result, 0, sizeof(*ret_result));
    world_configure(c);
    begin(&s);
    while (s.next.n > 0 && !ret_result->wrong && s.seen.n <= limit) {
        next_layer(&s);
        for (i = 0; i < s.now.n && !ret_result->wrong && s.seen.n <= limit; i++) {
            s.from = s.now.first + i;
            moves_each(&s.now.worlds[i], on_move, &s);
        }
    }
    ret_result->complete = s.next.n == 0;
    ret_result->states = s.seen.n;
    if (ret_result->wrong) {
        retrace(&s);
    }
    ret_result->seconds = seconds() - start;
    table_end(&s.seen);
    free(s.now.worlds);
    free(s.next.worlds);
}

void search_end(struct result *r)
{
    free(r->trace);
    r->trace = NULL;
}

struct followed {
    const struct move *move;
    struct world after;
};

static void on_followed(const struct world *after, const struct move *move, void *arg)
{
    struct followed *f = arg;

    if (memcmp(move, f->move, sizeof(*move)) == 0) {
        f->after = *after;
    }
}

void search_follow(struct world *w, const struct move *move)
{
    struct followed f = {.move = move, .after = *w};

    moves_each(w, on_followed, &f);
    *w = f.after;
}
