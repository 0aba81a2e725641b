/* fence/search.c - breadth first, over the keys.
 *
 * A way to a world is found again by walking its line of keys from the beginning and taking at
 * each the step that leads to the next key, with the names that masters and attempts had at the
 * beginning. */
#include "fence/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence/table.h"

struct search {
    const struct config *config;
    struct table table;
    uint32_t from;       /* the number of the world whose steps are looked at */
    struct world before; /* and that world */
    struct result *result;
};

static unsigned looked_for(const struct config *c)
{
    return c->expect ? (unsigned)c->expect : WRONG_DUPLICATE | WRONG_ORDER;
}

/* ---- what was reached ---- */

static void note_fences(const struct config *c, const struct world *w, struct result *r)
{
    unsigned fences[MAX_ATTEMPTS] = {0}, a, i, set = 0;

    for (a = 0; a < c->attempts; a++) {
        unsigned fence = w->attempts[a].fence;

        for (i = a; i > 0 && fences[i - 1] > fence; i--) {
            fences[i] = fences[i - 1];
        }
        fences[i] = fence;
    }
    for (a = 0; a < c->attempts && a < 3; a++) {
        set = set << 4 | fences[a];
    }
    r->seen.fences[set / 64] |= 1ull << set % 64;
}

static void note_step(const struct world *before, const struct world *after,
                      const struct move *move, struct result *r)
{
    unsigned a = move->attempt, n = move->node, fence = after->attempts[a].fence;

    if (after->attempts[a].phase == PHASE_HELD && before->attempts[a].phase != PHASE_HELD &&
        r->seen.floors[fence] < before->attempts[a].floor) {
        r->seen.floors[fence] = before->attempts[a].floor;
    }
    r->hinted |= move->kind == MOVE_VOTE && after->nodes[n].counter > before->nodes[n].counter + 1;
}

static void note(const struct config *c, const struct world *w, const struct move *move,
                 struct result *r)
{
    unsigned a, held = 0;

    for (a = 0; a < c->attempts; a++) {
        held += w->attempts[a].phase == PHASE_HELD;
    }
    if (held > r->held) {
        r->held = held;
    }
    if (held == c->attempts) {
        note_fences(c, w, r);
    }
    r->two_trips |= move->kind == MOVE_CONFIRM && (w->attempts[move->attempt].phase == PHASE_HELD ||
                                                   w->cells[move->attempt][move->node] == CELL_YES);
}

/* ---- the search ---- */

static void on_move_found(const struct world *after, const struct move *move, void *arg)
{
    struct search *s = arg;
    struct result *r = s->result;

    r->transitions++;
    if (r->wrong) {
        return;
    }
    if (after->overflow) {
        r->overflow = true;
        return;
    }
    note(s->config, after, move, r);
    note_step(&s->before, after, move, r);
    r->wrong = after->wrong & looked_for(s->config);
    if (!r->wrong) {
        table_add(&s->table, key_of(after, s->config), s->from);
    }
}

/* ---- the way there ---- */

struct wanted {
    const struct config *config;
    const struct key *key; /* or NULL: what is wrong */
    bool found;
    struct move move;
    struct world after;
};

static void on_candidate(const struct world *after, const struct move *move, void *arg)
{
    struct wanted *wanted = arg;
    bool wrong = after->wrong & looked_for(wanted->config);

    if (wanted->found || after->overflow) {
        return;
    }
    if (wanted->key ? !wrong && key_equals(key_of(after, wanted->config), *wanted->key) : wrong) {
        wanted->found = true;
        wanted->move = *move;
        wanted->after = *after;
    }
}

static void step_again(struct search *s, struct world *w, const struct key *key, struct move *ret)
{
    struct wanted wanted = {.config = s->config, .key = key};

    moves_each(w, s->config, on_candidate, &wanted);
    if (!wanted.found) {
        abort(); /* a step that depends on more than the world */
    }
    *ret = wanted.move;
    *w = wanted.after;
    w->wrong = WRONG_NOTHING;
}

static void retrace(struct search *s)
{
    struct result *r = s->result;
    struct world w = {0};
    uint32_t *line, i;
    unsigned n;

    for (i = s->from; i != 0; i = s->table.parents[i]) {
        r->steps++;
    }
    line = table_room(NULL, (r->steps + 1) * sizeof(*line));
    for (i = s->from, n = r->steps; n > 0; i = s->table.parents[i]) {
        line[--n] = i;
    }
    r->trace = table_room(NULL, (r->steps + 1) * sizeof(*r->trace));
    for (n = 0; n < r->steps; n++) {
        step_again(s, &w, &s->table.keys[line[n]], &r->trace[n]);
    }
    step_again(s, &w, NULL, &r->trace[r->steps++]);
    free(line);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The states of one depth are one stretch of the table. */
static void each_state(struct search *s, uint64_t limit)
{
    uint32_t next = 0, i = 0;

    for (; i < s->table.n && s->table.n <= limit; i++) {
        if (i == next) {
            next = s->table.n;
            s->result->depth++;
        }
        s->from = i;
        key_world(s->table.keys[i], s->config, &s->before);
        moves_each(&s->before, s->config, on_move_found, s);
        if (s->result->wrong) {
            return;
        }
    }
    s->result->complete = i == s->table.n && !s->result->overflow;
}

void search_run(const struct config *c, uint64_t limit, struct result *ret_result)
{
    struct search s = {.config = c, .result = ret_result};
    double start = seconds();
    struct world first = {0};

    memset(ret_result, 0, sizeof(*ret_result));
    table_begin(&s.table);
    table_add(&s.table, key_of(&first, c), 0);
    each_state(&s, limit);
    ret_result->states = s.table.n;
    ret_result->bytes = table_size(&s.table);
    if (ret_result->wrong) {
        retrace(&s);
    }
    ret_result->seconds = seconds() - start;
    table_end(&s.table);
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

void search_follow(struct world *w, const struct config *c, const struct move *move)
{
    struct followed f = {.move = move, .after = *w};

    moves_each(w, c, on_followed, &f);
    *w = f.after;
}
