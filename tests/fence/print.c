/* print.c - the words for each move, and for what it has changed. */
#include "fence/print.h"

#include <stdio.h>

#include "fence/moves.h"

static char name(unsigned a)
{
    return (char)('A' + (int)a);
}

/* ---- what was done ---- */

static void print_start(const struct world *before, const struct config *c, const struct move *move)
{
    if (before->attempts[move->attempt].phase == PHASE_UNBORN) {
        printf("%c begins", name(move->attempt));
        if (c->scheme->decision == DECIDE_CLOCK) {
            printf(" when its clock says %u", move->value);
        }
    }
}

static void print_vote(const struct world *before, const struct world *after,
                       const struct config *c, const struct move *move)
{
    const struct node *was = &before->nodes[move->node], *is = &after->nodes[move->node];
    unsigned a = move->attempt, n = move->node;

    if (before->attempts[a].phase == PHASE_UNBORN) {
        print_start(before, c, move);
        printf("; ");
    }
    if (c->plain && was->owner) {
        printf("master %u refuses %c's VOTE: %c's key is there", n + 1, name(a),
               name(was->owner - 1u));
        return;
    }
    if (was->owner && was->owner != a + 1) {
        printf("%c's key at master %u is gone; ", name(was->owner - 1u), n + 1);
    }
    if (after->wrong & WRONG_USED_UP) {
        printf("master %u has no number left for %c's VOTE", n + 1, name(a));
        return;
    }
    printf("master %u grants %c's VOTE%s", n + 1, name(a),
           before->cells[a][n] == CELL_UNDER_WAY ? "" : " once more");
    if (c->scheme->vote != VOTE_PLAIN) {
        printf(" and answers %u", is->counter);
    }
    if (before->cells[a][n] == CELL_UNDER_WAY && before->attempts[a].phase == PHASE_CLOSED &&
        !c->plain && is->counter > after->attempts[a].fence) {
        printf(", too much to be counted");
    }
}

static void print_two(const struct world *before, const struct world *after,
                      const struct move *move)
{
    unsigned a = move->attempt, n = move->node;

    if (move->kind == MOVE_LOSER) {
        printf("somebody without a key counts at master %u", n + 1);
    } else if (move->kind == MOVE_INCREMENT) {
        printf("master %u carries out %c's INCR and answers %u", n + 1, name(a),
               after->nodes[n].counter);
    } else {
        printf("master %u %s %c's SET", n + 1, before->nodes[n].owner ? "refuses" : "carries out",
               name(a));
    }
}

static void print_read(const struct world *before, const struct move *move)
{
    unsigned cell = before->cells[move->attempt][move->node];

    printf("%c hears from master %u: ", name(move->attempt), move->node + 1u);
    if (cell == CELL_YES) {
        printf("confirmed");
    } else {
        printf("%u", cell - CELL_UNREAD);
    }
}

/* When the largest number that was counted is known, the other votes are those that were not
 * counted. */
static void print_close(const struct world *before, const struct world *after,
                        const struct config *c, const struct move *move)
{
    unsigned a = move->attempt, n;
    bool some = c->scheme->decision == DECIDE_LARGEST, any = false;

    printf("%c counts", name(a));
    for (n = 0; n < c->nodes; n++) {
        unsigned cell = before->cells[a][n];

        if (cell_is_read(cell) && (!some || cell - CELL_READ <= move->value)) {
            printf("%s master %u", any ? "," : "", n + 1);
            any = true;
            if (c->scheme->vote != VOTE_PLAIN) {
                printf(" (%u)", cell - CELL_READ);
            }
        }
    }
    printf(": fence %u", move->value);
    if (after->attempts[a].phase == PHASE_CLOSED && c->scheme->writes_back) {
        printf(world_agreed(after, c, a) ? ", which a majority has"
                                         : ", and asks for it to be confirmed");
    }
}

static void print_confirm(const struct world *before, const struct world *after,
                          const struct move *move)
{
    unsigned a = move->attempt, n = move->node;
    bool taken = after->cells[a][n] == CELL_YES || after->cells[a][n] == CELL_AGREES ||
                 after->attempts[a].phase == PHASE_HELD;

    printf("master %u %s %c's CONFIRM %u", n + 1, taken ? "carries out" : "refuses", name(a),
           before->attempts[a].fence);
}

static void print_raise(const struct world *before, const struct move *move)
{
    const struct node *was = &before->nodes[move->node];
    unsigned a = move->attempt;

    if (was->owner && was->owner != a + 1) {
        printf("%c's key at master %u is gone; ", name(was->owner - 1u), move->node + 1u);
    }
    printf("master %u carries out %c's %s %u", move->node + 1u, name(a),
           move->kind == MOVE_EXTEND ? "EXTEND" : "HEAL", before->attempts[a].fence);
}

static void print_move(const struct world *before, const struct world *after,
                       const struct config *c, const struct move *move)
{
    switch ((enum move_kind)move->kind) {
    case MOVE_START:
        print_start(before, c, move);
        break;
    case MOVE_VOTE:
        print_vote(before, after, c, move);
        break;
    case MOVE_SET:
    case MOVE_INCREMENT:
    case MOVE_LOSER:
        print_two(before, after, move);
        break;
    case MOVE_READ:
        print_read(before, move);
        break;
    case MOVE_CLOSE:
        print_close(before, after, c, move);
        break;
    case MOVE_HOLD:
        printf("%c has its majority", name(move->attempt));
        break;
    case MOVE_CONFIRM:
        print_confirm(before, after, move);
        break;
    case MOVE_EXTEND:
    case MOVE_HEAL:
        print_raise(before, move);
        break;
    case MOVE_VANISH:
        printf("%c's key at master %u is gone", name(before->nodes[move->node].owner - 1u),
               move->node + 1u);
        break;
    case MOVE_FORGET:
        printf("master %u restarts empty", move->node + 1u);
        break;
    }
}

/* ---- what came of it ---- */

static void print_change(const struct world *before, const struct world *after,
                         const struct move *move)
{
    unsigned a = move->attempt, was = before->nodes[move->node].counter,
             is = after->nodes[move->node].counter;

    if (was != is && move->kind != MOVE_VOTE && move->kind != MOVE_FORGET) {
        printf("; its counter is %u, was %u", is, was);
    }
    if (before->attempts[a].phase != PHASE_HELD && after->attempts[a].phase == PHASE_HELD) {
        printf("; %c HOLDS, fence %u", name(a), after->attempts[a].fence);
        if (before->attempts[a].floor) {
            printf(", and %u was held before it began", before->attempts[a].floor);
        }
    }
}

void print_trace(const struct config *c, const struct result *r, const char *prefix)
{
    unsigned i;

    for (i = 0; i < r->steps; i++) {
        const struct world *before = &r->worlds[i], *after = &r->worlds[i + 1];

        printf("%s%3u. ", prefix, i + 1);
        print_move(before, after, c, &r->trace[i]);
        print_change(before, after, &r->trace[i]);
        putchar('\n');
    }
    printf("%s%s\n", prefix, print_wrong(r->wrong));
}

const char *print_wrong(unsigned wrong)
{
    if (wrong & WRONG_DUPLICATE) {
        return "DUPLICATE: two locks with one fence";
    }
    if (wrong & WRONG_USED_UP) {
        return "USED UP: no number is left for a VOTE";
    }
    return wrong ? "ORDER: a later lock with a smaller fence" : "nothing";
}
