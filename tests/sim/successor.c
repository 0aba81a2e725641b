/* successor.c - a holder hands its lock over to a worker that waits, or to one that does not, or to
 * nobody.
 *
 * Exclusion is checked as ever, and that fencing tokens grow. In a healthy crowd that wants one
 * key, nobody but the worker that was named gets the lock while the reservation lives [H2]. If that
 * one was in the queue, and the reservation lived long enough, it gets the lock next.
 *
 * A reservation is a claim of its own, of which nothing is wanted any more: it ends by itself. */
#include "sim/successor.h"

#include <redlock/election.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/memory.h"
#include "sim/process.h"
#include "sim/trace.h"

void successor_name(const struct worker *k, char name[SUCCESSOR_NAME])
{
    snprintf(name, SUCCESSOR_NAME, "c%u.%u", k->client, k->index);
}

bool successor_is_wanted(struct world *w)
{
    return w->o.hand_ppm && !w->healed && draw_chance(&w->prng, w->o.hand_ppm);
}

/* Nine in ten times somebody who waits, if there is one after a few draws. */
static const struct worker *draw_successor(struct world *w)
{
    const struct worker *k = NULL;
    unsigned tries;

    for (tries = 0; tries < 20; tries++) {
        unsigned client = (unsigned)draw_upto(&w->prng, w->o.clients - 1);

        k = world_worker(w, client, (unsigned)draw_upto(&w->prng, w->o.workers - 1));
        if (k->phase == WORKER_PENDING || draw_chance(&w->prng, 100000)) {
            break;
        }
    }
    return k;
}

void successor_reserve(struct world *w, unsigned former, const char *to, uint32_t within_ms)
{
    unsigned reservation = (unsigned)w->n_claims;
    struct claim *c;
    char digits[RLK_TOKEN_HEX + 1] = "";

    memcpy(digits, w->claims[former].token, RLK_TOKEN_HEX);
    w->claims = memory_room(w->claims, &w->cap_claims, w->n_claims, sizeof(*w->claims));
    c = &w->claims[w->n_claims++];
    *c = (struct claim){.client = w->claims[former].client,
                        .op = NONE,
                        .keys = w->claims[former].keys,
                        .ttl_ms = within_ms,
                        .reservation = former,
                        .let_go = true,
                        .orphan = true};
    c->token_len = (size_t)snprintf(c->token, sizeof(c->token), "for:%s:%s", digits, to);
    world_claim(w, former)->reservation = reservation;
}

/* How long a reservation must live for the waiter to get the lock in any case: it may be in a
 * back-off. */
static uint64_t enough_us(const struct world *w)
{
    return w->o.retry_max_us + 100000 + 20 * (w->o.delay_us + w->o.jitter_us + w->o.turn_us);
}

static bool is_checked(const struct world *w)
{
    return w->o.crowd == CROWD_HEALTHY && w->o.keys == 1 && !w->o.polls && !w->healed;
}

/* Two of the queue masters have the token, and will have the reservation [H4]. */
static bool is_on_most(const struct world *w, unsigned claim)
{
    return rlk_mask_count(w->claims[claim].set_on) + 1 >= w->o.nodes;
}

/* A manager has one request in the queue: only that one hears of a reservation at once. */
static bool waits_in_queue(const struct worker *k)
{
    return k->phase == WORKER_PENDING && k->listed_us != 0 && k->lock &&
           k->lock->acquiring->attempt.state == RLK_ATTEMPT_WAITING;
}

static void expect(struct world *w, const struct worker *from, const struct worker *successor,
                   uint32_t within_ms)
{
    uint64_t left_us = rlk_time_sub(from->valid_us, world_client_us(w, from->client));
    uint64_t life_us = rlk_time_min(left_us, rlk_time_from_ms(within_ms));

    w->effort.hand_overs++;
    if (is_checked(w)) {
        w->effort.freed_us = w->now_us + rlk_time_from_ms(within_ms);
        w->effort.successor = successor->client * SIM_WORKERS + successor->index;
        w->effort.reserved_us = w->now_us + life_us - life_us / 20;
        w->effort.must_get =
            waits_in_queue(successor) && is_on_most(w, from->claim) && life_us > enough_us(w);
        w->effort.former = from->claim;
        w->effort.handed_us = w->now_us;
    }
}

int successor_hand_over(struct world *w, struct worker *k, redlock_release_cb *cb)
{
    const struct worker *successor = draw_successor(w);
    uint32_t within_ms = (uint32_t)draw_scale(&w->prng, 10, options_max_ttl_us(&w->o) / 1000);
    char to[SUCCESSOR_NAME];

    successor_name(successor, to);
    trace(w, "c%u.%u  its user hands t%08x over to %s for %u ms", k->client, k->index, k->claim, to,
          within_ms);
    successor_reserve(w, k->claim, to, within_ms);
    expect(w, k, successor, within_ms);
    return redlock_hand_over(k->lock, to, within_ms, cb, k);
}

/* A candidate cannot name itself. */
int successor_resign(struct world *w, struct worker *k)
{
    const struct worker *successor = draw_successor(w);
    uint32_t within_ms = (uint32_t)draw_scale(&w->prng, 10, options_max_ttl_us(&w->o) / 1000);
    char to[SUCCESSOR_NAME] = "nobody";

    if (successor != k) {
        successor_name(successor, to);
    }
    trace(w, "c%u.%u  its user hands k%u over to %s for %u ms", k->client, k->index,
          k->candidacy.key, to, within_ms);
    return redlock_election_hand_over(k->candidacy.election, to, within_ms);
}

/* [H4] A reservation appears only where the token was. Of the queue masters two may be without it:
 * they wake everybody who asks, so each client asks at the end of each back-off. The first ones are
 * short, and the longer ones half of the longest on average. */
void successor_count_polls(struct world *w)
{
    unsigned former = w->effort.former;
    uint64_t gap_us = w->now_us - w->effort.handed_us;

    w->effort.former = NONE;
    if (former != NONE && rlk_mask_count(w->claims[former].deleted) + 1 < w->o.nodes) {
        w->effort.polls += w->o.clients * (4 + 3 * gap_us / w->o.retry_max_us);
    }
}

/* [H2] A round of its own was lost and deleted what it had in the place of the reservation: these
 * masters are free for anybody then. */
static bool has_lost_reservation(const struct world *w, unsigned successor)
{
    size_t i;

    for (i = w->effort.former + 1; i < w->n_claims; i++) {
        const struct claim *c = &w->claims[i];

        if (c->client * SIM_WORKERS + c->worker == successor && c->took & c->deleted) {
            return true;
        }
    }
    return false;
}

void successor_acquired(struct world *w, const struct worker *k)
{
    unsigned successor = w->effort.successor;
    bool free = successor == NONE || successor == k->client * SIM_WORKERS + k->index ||
                has_lost_reservation(w, successor);

    successor_count_polls(w);
    w->effort.successor = NONE;
    if (free) {
        return;
    }
    if (w->now_us < w->effort.reserved_us) {
        check_violated(w, "wait", "c%u.%u got a lock that was reserved for c%u.%u", k->client,
                       k->index, successor / SIM_WORKERS, successor % SIM_WORKERS);
    } else if (w->effort.must_get) {
        check_violated(w, "wait", "c%u.%u did not get a lock that was handed over to it",
                       successor / SIM_WORKERS, successor % SIM_WORKERS);
    }
}
