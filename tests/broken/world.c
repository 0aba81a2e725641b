/* world.c - the beginning, the clock, and what can be forgotten. */
#include "broken/world.h"

#include <string.h>

#include "core/validity.h"

struct config config;

uint64_t world_ttl_us(void)
{
    return (uint64_t)config.ttl_ms * 1000;
}

uint16_t world_life_us(unsigned ttl_ms)
{
    return (uint16_t)(ttl_ms * 1000 - GAIN_US);
}

/* A has just won. It has asked everybody at this moment. */
void world_begin(struct world *w, const struct config *c)
{
    uint16_t lease_us;
    unsigned m;

    config = *c;
    memset(w, 0, sizeof(*w));
    lease_us = (uint16_t)rlk_validity_lease_us(world_ttl_us(), DRIFT_PPM);
    for (m = 0; m < MASTERS; m++) {
        struct master *x = &w->masters[m];
        bool voted = m < QUORUM;

        x->sets = voted ? IN_MAY_HAVE_KEY | IN_ASKED | IN_PRESENT | IN_COUNTED | IN_CONFIRMED
                        : IN_MAY_HAVE_KEY | IN_ASKED | IN_UNANSWERED;
        x->owner = voted ? OWNER_A : OWNER_NONE;
        x->left_us = voted ? world_life_us(c->ttl_ms) : 0;
        x->end_us = voted ? lease_us : 0;
        x->next_us = lease_us;
        x->a_ask = voted ? ASK_NOTHING : ASK_SET;
        x->a_ttl_ms = voted ? 0 : (uint8_t)c->ttl_ms;
        x->a_sent = !voted;
    }
    w->valid_us = lease_us;
    w->success = 1;
    w->renewals = (uint8_t)c->renewals;
    w->restores = (uint8_t)c->restores;
    w->losses = (uint8_t)c->losses;
    world_settle(w);
}

/* ---- time ---- */

static void pass(uint16_t *left_us)
{
    *left_us = *left_us > TICK_US ? (uint16_t)(*left_us - TICK_US) : 0;
}

static void count(uint8_t *ticks)
{
    *ticks = (uint8_t)(*ticks + (*ticks < 15));
}

static void tick_master(struct master *m)
{
    pass(&m->left_us);
    m->owner = m->left_us ? m->owner : OWNER_NONE;
    pass(&m->end_us);
    pass(&m->next_us);
    if (m->o_said) {
        count(&m->o_ticks);
    }
}

void world_tick(struct world *w)
{
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        tick_master(&w->masters[m]);
    }
    pass(&w->valid_us);
    pass(&w->until_us);
}

bool world_b_believes(const struct world *w)
{
    unsigned m, n = 0;

    for (m = 0; m < MASTERS; m++) {
        n += w->masters[m].owner == OWNER_B;
    }
    return n >= QUORUM;
}

/* ---- what cannot matter any more ---- */

static void settle_a(struct master *m)
{
    if (!(m->sets & IN_UNANSWERED)) {
        m->a_ask = ASK_NOTHING;
        m->a_ttl_ms = m->a_sent = m->a_reply = 0;
        m->next_us = 0;
    }
}

void world_settle(struct world *w)
{
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        settle_a(&w->masters[m]);
        if (w->told != TOLD_NOTHING) {
            w->masters[m].o_said = w->masters[m].o_left_ms = w->masters[m].o_ticks = 0;
        }
    }
    w->is_later = w->success ? 0 : w->is_later;
}
