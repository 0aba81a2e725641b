#include "sim/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mask.h"
#include "sim/trace.h"

void check_violated(struct world *w, const char *checker, const char *format, ...)
{
    va_list args;
    int len;

    if (w->violated) {
        return;
    }
    w->violated = true;
    len = snprintf(w->violation, sizeof(w->violation), "%s: ", checker);
    va_start(args, format);
    vsnprintf(w->violation + len, sizeof(w->violation) - (size_t)len, format, args);
    va_end(args);
    trace(w, "VIOLATION %s", w->violation);
}

void check_voted(struct world *w, unsigned claim, unsigned node, enum rlk_vote vote)
{
    struct claim *c = world_claim(w, claim);
    struct worker *k = world_worker(w, c->client, c->worker);

    if (vote == RLK_VOTE_YES) {
        c->granted |= rlk_mask_bit(node);
    } else if (vote == RLK_VOTE_NO) {
        c->refused |= rlk_mask_bit(node);
        k->refusals += k->op == c->op;
    } else if (vote == RLK_VOTE_UNKNOWN) {
        c->doubt |= rlk_mask_bit(node);
    }
}

void check_stepped(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->attempt.round.state == RLK_ROUND_WON && k->claim != NONE) {
        check_validity(w, client, worker);
    }
    if (k->attempt.state == RLK_ATTEMPT_ASKING) {
        check_decided(w, client, worker);
    }
}
