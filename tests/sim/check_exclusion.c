/* check_exclusion.c - at one instant of true time no two holders of one key are inside their
 * validity, each by its own clock.
 *
 * And what a winner believes follows from the votes that it got, even if no other client is
 * there to collide.
 *
 * It is enough to check when a client becomes a holder or its validity grows: a clock never goes
 * back, so a validity that has ended does not come back. */
#include <string.h>

#include "base/mask.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/trace.h"

/* It won by the vote of a server that it could not know to have forgotten. */
static bool is_exposed(const struct world *w, const struct worker *k)
{
    return w->claims[k->claim].exposed != 0;
}

/* [M6] Two clients with other masters find that out from a master that answers both: that is
 * checked when a lock is handed out. */
static bool is_noticeable(const struct world *w, unsigned client, unsigned other)
{
    return w->o.no_record != 0 || options_same_masters(&w->o, client, other);
}

static void check_collision(struct world *w, unsigned client, unsigned worker, unsigned other,
                            unsigned other_worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct worker *l = world_worker(w, other, other_worker);

    if (k != l && (k->keys & l->keys) && is_noticeable(w, client, other) &&
        process_holds(w, other, other_worker) && !is_exposed(w, k) && !is_exposed(w, l)) {
        check_violated(
            w, "exclusion",
            "%s is held by c%u.%u (t%08x, %.3f ms left) and by c%u.%u (t%08x, %.3f ms left)",
            trace_key_mask(k->keys & l->keys), client, worker, k->claim,
            trace_ms(world_client_us(w, client), process_valid_until_us(k)), other, other_worker,
            l->claim, trace_ms(world_client_us(w, other), process_valid_until_us(l)));
    }
}

static void check_left_lock(struct world *w, unsigned client, unsigned worker, struct left_lock *l)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t now_us = world_client_us(w, l->client);

    if (l->claim == k->claim) {
        l->until_us = 0; /* it is adopted: its new owner may release it */
    } else if ((k->keys & l->keys) && now_us < l->until_us && !is_exposed(w, k) &&
               w->claims[l->claim].exposed == 0) {
        check_violated(w, "exclusion",
                       "%s is held by c%u.%u (t%08x), and was left as t%08x for %.3f ms more",
                       trace_key_mask(k->keys & l->keys), client, worker, k->claim, l->claim,
                       trace_ms(now_us, l->until_us));
    }
}

void check_left_to_its_time(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    w->left[w->n_left++ % LEFT_LOCKS] =
        (struct left_lock){client, k->claim, k->keys, process_valid_until_us(k)};
    world_claim(w, k->claim)->orphan = true; /* its keys stay */
    check_let_go(w, k->claim);
}

/* The same token. Whatever was known of the claim its former owner knew: also which of its commands
 * may still be carried out, so that a key may be left to its ttl. */
void check_adopts(struct world *w, unsigned client, unsigned worker, unsigned claim)
{
    struct worker *k = world_worker(w, client, worker);
    struct claim *c = world_claim(w, claim), old = *c;

    *c = (struct claim){.client = client,
                        .worker = worker,
                        .op = k->op,
                        .token_len = old.token_len,
                        .keys = old.keys,
                        .round = 1,
                        .ttl_ms = k->ttl_ms,
                        .adopted = true,
                        .fenced = k->fenced,
                        .orphan = true, /* when it fails nothing is released */
                        .set_on = old.set_on,
                        .exposed = old.exposed,
                        .doubt = rlk_mask_all(SIM_PLACES)};
    memcpy(c->token, old.token, sizeof(c->token));
    k->claim = claim;
}

void check_exclusion(struct world *w, unsigned client, unsigned worker)
{
    unsigned other, other_worker, i;

    if (w->o.forgetful || !process_holds(w, client, worker)) {
        return;
    }
    for (other = 0; other < w->o.clients; other++) {
        for (other_worker = 0; other_worker < w->o.workers; other_worker++) {
            check_collision(w, client, worker, other, other_worker);
        }
    }
    for (i = 0; i < w->n_left && i < LEFT_LOCKS; i++) {
        check_left_lock(w, client, worker, &w->left[i]);
    }
    check_heirs_exclusion(w, world_worker(w, client, worker));
}

/* [S2] Computed here, and not by the core: a majority granted it, and agrees on its fence [S12],
 * each for its ttl less the drift from before it was asked. */
void check_validity(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct claim *c = world_claim(w, k->claim);
    uint64_t counted = check_counted(w, k->claim);
    uint64_t ttl_us = (uint64_t)k->ttl_ms * 1000;
    uint64_t lease_us = ttl_us - ttl_us * w->o.drift_ppm / 1000000 - 2000;
    uint64_t until_us = k->lock->acquiring->attempt.round.valid_until_us;
    uint64_t lasting = 0;
    unsigned node;

    RLK_MASK_EACH (node, counted) {
        lasting |= until_us <= c->sent_us[node] + lease_us ? rlk_mask_bit(node) : 0;
    }
    if (!world_is_majority(w, client, lasting) && until_us > 0) {
        check_violated(w, "exclusion",
                       "t%08x of c%u.%u is valid for longer than a majority granted it", k->claim,
                       client, c->worker);
    }
}
