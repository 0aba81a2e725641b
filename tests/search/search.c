/* search/search.c - breadth first, over the keys.
 *
 * A way to a world is found again by walking its line of keys from the beginning and taking at
 * each the step that leads to the next key, with the names that the world had at the beginning. */
#include "search/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The worlds of one depth, one behind the other. */
struct layer {
    unsigned char *worlds;
    size_t n, room;
};

/* The keys of the worlds that a few moves lead to. To look for one of many keys is to wait for
 * memory: they are looked for together, so that memory is read while the next moves are made. */
#define REACHED_MOST 64u

struct search {
    const struct space *space;
    const struct config *config;
    struct table table;
    struct layer now, next; /* when keys alone do not do; those reached are at the end of `next` */
    struct key reached[REACHED_MOST];
    unsigned n_reached;
    uint32_t from;              /* the number of the world whose moves are looked at */
    const struct world *before; /* and that world */
    void *notes;
    struct result *result;
};

/* ---- the worlds of two depths ---- */

static void layer_add(struct layer *l, const struct world *w, size_t size)
{
    if (l->n == l->room) {
        l->room = l->room ? l->room * 2 : 1024;
        l->worlds = table_room(l->worlds, l->room * size);
    }
    memcpy(l->worlds + l->n++ * size, w, size);
}

static const struct world *layer_at(const struct layer *l, size_t i, size_t size)
{
    return (const struct world *)(l->worlds + i * size);
}

static void next_layer(struct search *s)
{
    struct layer done = s->now;

    s->now = s->next;
    s->next = done;
    s->next.n = 0;
}

/* ---- the search ---- */

/* Of the worlds that were reached only the new ones stay. */
static void add_reached(struct search *s)
{
    size_t size = s->space->world ? 0 : s->space->world_size, i;
    unsigned char *from = s->next.worlds + (s->next.n - s->n_reached) * size, *to = from;

    for (i = 0; i < s->n_reached; i++) {
        table_read_key(&s->table, s->reached[i]);
    }
    for (i = 0; i < s->n_reached; i++, from += size) {
        if (table_add(&s->table, s->reached[i], s->from) && size > 0) {
            memmove(to, from, size);
            to += size;
        }
    }
    s->next.n -= size ? (size_t)(from - to) / size : 0;
    s->n_reached = 0;
}

static void on_reached(const struct world *after, const struct move *move, void *arg)
{
    struct search *s = arg;
    struct result *r = s->result;
    unsigned wrong;

    r->transitions++;
    if (r->wrong) {
        return;
    }
    wrong = s->space->judge(after, s->config);
    if (wrong == SEARCH_NO_ROOM) {
        r->overflow = true;
        return;
    }
    if (s->space->note) {
        s->space->note(s->before, after, move, s->config, s->notes);
    }
    r->wrong = wrong;
    if (wrong) {
        return;
    }
    if (s->n_reached == REACHED_MOST) {
        add_reached(s);
    }
    s->reached[s->n_reached] = s->space->key(after, s->config);
    table_read_slot(&s->table, s->reached[s->n_reached++]);
    if (!s->space->world) {
        layer_add(&s->next, after, s->space->world_size);
    }
}

/* The states of one depth are one stretch of the table, from `first` on. */
static void each_state(struct search *s, struct world *room, uint64_t limit)
{
    uint32_t first = 0, next = 0, i;

    for (i = 0; i < s->table.n && s->table.n <= limit && !s->result->wrong; i++) {
        if (i == next) {
            first = next;
            next = s->table.n;
            s->result->depth++;
            next_layer(s);
        }
        s->from = i;
        if (s->space->world) {
            s->space->world(s->table.keys[i], s->config, room);
            s->before = room;
        } else {
            s->before = layer_at(&s->now, i - first, s->space->world_size);
        }
        s->space->moves(s->before, s->config, on_reached, s);
        add_reached(s);
    }
    s->result->complete = i == s->table.n && !s->result->overflow;
}

/* ---- the way there ---- */

struct wanted {
    const struct search *search;
    const struct key *key; /* or NULL: what is wrong */
    bool found;
    struct move *move;
    struct world *after;
};

static void on_candidate(const struct world *after, const struct move *move, void *arg)
{
    struct wanted *wanted = arg;
    const struct space *space = wanted->search->space;
    const struct config *c = wanted->search->config;
    unsigned wrong = wanted->found ? SEARCH_NO_ROOM : space->judge(after, c);

    if (wrong == SEARCH_NO_ROOM) {
        return;
    }
    if (wanted->key ? !wrong && key_equals(space->key(after, c), *wanted->key) : wrong) {
        wanted->found = true;
        memcpy(wanted->move, move, space->move_size);
        memcpy(wanted->after, after, space->world_size);
    }
}

/* The numbers of the worlds on the way to the last one, which is `s->from`. */
static uint32_t *line_of(const struct search *s, unsigned *ret_n)
{
    uint32_t *line, i;
    unsigned n = 0;

    for (i = s->from; i != 0; i = s->table.parents[i]) {
        n++;
    }
    *ret_n = n;
    line = table_room(NULL, (n + 1) * sizeof(*line));
    for (i = s->from; i != 0; i = s->table.parents[i]) {
        line[--n] = i;
    }
    return line;
}

static void retrace(struct search *s)
{
    struct result *r = s->result;
    size_t world_size = s->space->world_size, move_size = s->space->move_size;
    uint32_t *line = line_of(s, &r->steps);
    unsigned char *worlds, *moves;
    unsigned n;

    r->steps++;
    worlds = table_room(NULL, (r->steps + 1) * world_size);
    moves = table_room(NULL, r->steps * move_size);
    r->worlds = (struct world *)worlds;
    r->trace = (struct move *)moves;
    s->space->begin(r->worlds, s->config);
    for (n = 0; n < r->steps; n++) {
        struct wanted wanted = {.search = s,
                                .key = n + 1 < r->steps ? &s->table.keys[line[n]] : NULL,
                                .move = (struct move *)(moves + n * move_size),
                                .after = (struct world *)(worlds + (n + 1) * world_size)};

        s->space->moves((struct world *)(worlds + n * world_size), s->config, on_candidate,
                        &wanted);
        if (!wanted.found) {
            abort(); /* a step that depends on more than the world */
        }
    }
    free(line);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void search_run(const struct space *space, const struct config *c, uint64_t limit, void *notes,
                struct result *ret_result)
{
    struct search s = {.space = space, .config = c, .notes = notes, .result = ret_result};
    struct world *room = table_room(NULL, space->world_size);
    double start = seconds();

    memset(ret_result, 0, sizeof(*ret_result));
    table_begin(&s.table);
    space->begin(room, c);
    table_add(&s.table, space->key(room, c), 0);
    layer_add(&s.next, room, space->world_size);
    each_state(&s, room, limit);
    ret_result->states = s.table.n;
    ret_result->bytes = table_size(&s.table);
    if (ret_result->wrong) {
        retrace(&s);
    }
    ret_result->seconds = seconds() - start;
    table_end(&s.table);
    free(s.now.worlds);
    free(s.next.worlds);
    free(room);
}

void search_end(struct result *r)
{
    free(r->worlds);
    free(r->trace);
}
