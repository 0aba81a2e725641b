/* breaker.c - breaks locks of any worker, from any client, also two at once.
 *
 * Exclusion is checked as ever: a break must not let anybody in while the holder believes in its
 * lock. And when a break is reported, the holder must have lost the lock by the time that was told:
 * by the clock of the client that broke it. Nobody can tell that time when a master has lost data
 * or its clock was set forward without anybody having seen it yet [S11]. */
#include "sim/breaker.h"

#include <redlock/error.h>
#include <string.h>

#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/memory.h"
#include "sim/process.h"
#include "sim/trace.h"

static void note_told(struct world *w, struct broken_lock *b,
                      const struct redlock_break_result *result)
{
    b->told = true;
    b->until_us = world_client_us(w, b->client) + rlk_time_from_ms(result->left_ms);
    trace(w, "break  t%08x is over in %.3f ms, c%u is told", b->claim, (double)result->left_ms,
          b->client);
}

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    if (status == REDLOCK_OK) {
        note_told(process_world(), arg, result);
    }
}

static const struct worker *draw_holder(struct world *w)
{
    unsigned client = (unsigned)draw_upto(&w->prng, w->o.clients - 1);
    unsigned worker = (unsigned)draw_upto(&w->prng, w->o.workers - 1);
    const struct worker *k = world_worker(w, client, worker);

    return w->clients[client].alive && k->phase == WORKER_HELD && k->claim != NONE ? k : NULL;
}

static void break_lock(struct world *w, unsigned client, const struct worker *k)
{
    struct broken_lock *b = &w->broken[w->n_broken++];
    const struct claim *c = world_claim(w, k->claim);
    unsigned key = (unsigned)__builtin_ctz(c->keys);
    char name[] = {'k', (char)('0' + key), '\0'}, token[TOKEN_ROOM + 1] = "";

    memcpy(token, c->token, c->token_len);
    *b = (struct broken_lock){.client = client, .claim = k->claim, .key = key};
    process_enter(w, client);
    if (redlock_break(w->clients[client].rl, name, 0, token, "op", on_broken, b) != 0) {
        check_violated(w, "reported", "c%u: a break is refused", client);
    }
    process_leave(w);
}

void breaker_may_break(struct world *w, unsigned client)
{
    const struct worker *k;

    if (w->healed || w->clients[client].closing || w->n_broken == BROKEN_LOCKS ||
        !draw_chance(&w->prng, w->o.break_ppm)) {
        return;
    }
    k = draw_holder(w);
    if (k) {
        break_lock(w, client, k);
    }
}

/* Nobody holds it and nobody releases it: it is there until its time is over. */
void breaker_made_token(struct world *w, const struct rlk_claim *claim)
{
    const struct broken_lock *b = &w->broken[w->n_broken - 1];
    struct claim *c;

    w->claims = memory_room(w->claims, &w->cap_claims, w->n_claims, sizeof(*w->claims));
    c = &w->claims[w->n_claims++];
    *c = (struct claim){.client = b->client,
                        .op = NONE,
                        .keys = 1U << b->key,
                        .let_go = true,
                        .orphan = true,
                        .token_len = claim->token_len};
    memcpy(c->token, rlk_claim_token(claim), c->token_len);
}

void breaker_replaced(struct world *w, unsigned former)
{
    world_claim(w, former)->broken = true;
}

static void check_broken_lock(struct world *w, struct broken_lock *b)
{
    const struct worker *k = process_owner(w, b->claim);

    if (world_client_us(w, b->client) < b->until_us) {
        return;
    }
    b->told = false;
    if (k && k->phase == WORKER_HELD && !w->harmed && !w->moved &&
        process_holds(w, k->client, k->index)) {
        check_violated(w, "broken", "c%u.%u holds t%08x, which c%u has broken", k->client, k->index,
                       b->claim, b->client);
    }
}

void breaker_check(struct world *w)
{
    unsigned i;

    for (i = 0; i < w->n_broken; i++) {
        if (w->broken[i].told) {
            check_broken_lock(w, &w->broken[i]);
        }
    }
}
