/* check_split.c - after a split vote only its leader keeps its votes, and not for ever; and a token
 * is sent again only to a node that has proven that it did not set it [S4].
 *
 * The votes are counted a second time, from what the masters have answered. */
#include "base/mask.h"
#include "sim/check.h"
#include "sim/trace.h"
#include "sim/watch.h"

/* One SET, and four more. */
#define MANY_SETS 5

void check_split_refused(struct world *w, unsigned claim, unsigned node, const struct message *m)
{
    struct claim *c = world_claim(w, claim);

    if (m && !watch_is_refusal(m)) {
        check_violated(w, "reported", "n%u is believed to have refused t%08x, and has not", node,
                       claim);
    } else if (m) {
        c->refused |= rlk_mask_bit(node);
        c->taken |= rlk_mask_bit(node);
        c->holder[node] = m->answer == ANSWER_STRING ? (unsigned)m->integer : NONE;
    }
}

void check_split_sent(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);
    uint64_t bit = rlk_mask_bit(node);

    if (c->asked & ~c->refused & bit) {
        check_violated(w, "work", "t%08x was sent to n%u again, which has not refused it", claim,
                       node);
    }
    c->refused &= ~bit;
    c->sets[node]++;
    if (c->sets[node] > MANY_SETS) {
        check_violated(w, "work", "t%08x was sent to n%u %u times", claim, node, c->sets[node]);
    }
}

/* The nodes of the claim that has this one. */
static uint64_t that_voted_like(const struct claim *c, unsigned node)
{
    uint64_t same = 0;
    unsigned i;

    for (i = 0; i < SIM_PLACES; i++) {
        same |= c->taken >> i & 1 && c->holder[i] == c->holder[node] ? rlk_mask_bit(i) : 0;
    }
    return same;
}

/* Whoever keeps votes has as many as each other client that is known to have some. */
void check_split_kept(struct world *w, unsigned claim)
{
    const struct claim *c = &w->claims[claim];
    uint64_t set = world_voters(w, c->client).set, granted = c->granted & set;
    unsigned node, ours = rlk_mask_count(granted);

    for (node = 0; node < SIM_PLACES; node++) {
        unsigned theirs = rlk_mask_count(that_voted_like(c, node) & set);
        bool lower = (granted & (rlk_mask_bit(node) - 1)) == 0;

        if ((c->taken & set) >> node & 1 && (theirs > ours || (theirs == ours && lower))) {
            check_violated(w, "work", "t%08x keeps %u votes, and t%08x leads with %u", claim, ours,
                           c->holder[node], theirs);
        }
    }
}
