/* space.c - the schemes of fences, as the search knows them. */
#include "fence/space.h"

#include "fence/key.h"
#include "fence/moves.h"

static void note_fences(const struct config *c, const struct world *w, struct seen *seen)
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
    seen->fences[set / 64] |= 1ull << set % 64;
}

static void note_step(const struct world *before, const struct world *after,
                      const struct move *move, struct notes *notes)
{
    unsigned a = move->attempt, n = move->node, fence = after->attempts[a].fence;

    if (after->attempts[a].phase == PHASE_HELD && before->attempts[a].phase != PHASE_HELD &&
        notes->seen.floors[fence] < before->attempts[a].floor) {
        notes->seen.floors[fence] = before->attempts[a].floor;
    }
    notes->hinted |=
        move->kind == MOVE_VOTE && after->nodes[n].counter > before->nodes[n].counter + 1;
    notes->two_trips |= move->kind == MOVE_CONFIRM &&
                        (after->attempts[a].phase == PHASE_HELD || after->cells[a][n] == CELL_YES);
}

static void note(const struct world *before, const struct world *after, const struct move *move,
                 const struct config *c, void *arg)
{
    struct notes *notes = arg;
    unsigned a, held = 0;

    for (a = 0; a < c->attempts; a++) {
        held += after->attempts[a].phase == PHASE_HELD;
    }
    if (held > notes->held) {
        notes->held = held;
    }
    if (held == c->attempts) {
        note_fences(c, after, &notes->seen);
    }
    note_step(before, after, move, notes);
}

static unsigned judge(const struct world *w, const struct config *c)
{
    unsigned looked_for = c->expect ? (unsigned)c->expect : WRONG_DUPLICATE | WRONG_ORDER;

    return w->overflow ? SEARCH_NO_ROOM : w->wrong & looked_for;
}

static void begin(struct world *w, const struct config *c)
{
    (void)c;
    *w = (struct world){0};
}

const struct space space = {.world_size = sizeof(struct world),
                            .move_size = sizeof(struct move),
                            .begin = begin,
                            .moves = moves_each,
                            .key = key_of,
                            .world = key_world,
                            .judge = judge,
                            .note = note};
