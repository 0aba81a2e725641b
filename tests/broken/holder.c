/* holder.c - the world as leases of the core, a step, and back. */
#include "broken/holder.h"

#include "base/mask.h"
#include "core/leases.h"
#include "lib/voters.h"

/* As in core/hold.c: a restore for less is not worth a command. */
#define RESTORE_LEAST_MS 10

struct view {
    struct rlk_leases l;
    uint64_t room[RLK_LEASES_ROOM(MASTERS)];
};

static uint64_t *set_of(struct rlk_leases *l, enum in_set set)
{
    switch (set) {
    case IN_MAY_HAVE_KEY:
        return &l->may_have_key;
    case IN_PRESENT:
        return &l->present;
    case IN_COUNTED:
        return &l->counted;
    case IN_ABSENT:
        return &l->absent;
    case IN_UNANSWERED:
        return &l->unanswered;
    case IN_DOUBTFUL:
        return &l->doubtful;
    case IN_DUPLICATES:
        return &l->duplicates;
    case IN_RESTORED:
        return &l->restored;
    case IN_ASKED:
        return &l->asked;
    case IN_CONFIRMED:
        return &l->confirmed;
    case IN_TAKEN:
        break;
    }
    return &l->taken;
}

static uint64_t time_of(uint16_t left_us)
{
    return left_us ? NOW_US + left_us : 0;
}

static uint16_t left_of(uint64_t time_us)
{
    return (uint16_t)(time_us > NOW_US ? time_us - NOW_US : 0);
}

static void load(const struct world *w, struct view *v)
{
    unsigned m, set;

    v->l = (struct rlk_leases){.voters = all_voters(MASTERS),
                               .voting = ALL_MASTERS,
                               .nodes = MASTERS,
                               .success = w->success,
                               .valid_until_us = time_of(w->valid_us),
                               .end_us = v->room};
    for (m = 0; m < MASTERS; m++) {
        v->room[m] = time_of(w->masters[m].end_us);
        v->room[MASTERS + m] = time_of(w->masters[m].next_us);
        for (set = 1; set <= IN_TAKEN; set <<= 1) {
            *set_of(&v->l, (enum in_set)set) |= w->masters[m].sets & set ? rlk_mask_bit(m) : 0;
        }
    }
}

static void store(struct world *w, struct view *v)
{
    unsigned m, set;

    for (m = 0; m < MASTERS; m++) {
        w->masters[m].end_us = left_of(v->room[m]);
        w->masters[m].next_us = left_of(v->room[MASTERS + m]);
        w->masters[m].sets = 0;
        for (set = 1; set <= IN_TAKEN; set <<= 1) {
            if (*set_of(&v->l, (enum in_set)set) & rlk_mask_bit(m)) {
                w->masters[m].sets |= (uint16_t)set;
            }
        }
    }
    w->success = v->l.success;
    w->valid_us = rlk_leases_possible(&v->l) ? left_of(v->l.valid_until_us) : 0;
}

/* ---- asking ---- */

static void ask(struct world *w, uint64_t nodes, enum ask what, unsigned ttl_ms)
{
    uint64_t left = nodes;
    unsigned m;

    RLK_MASK_EACH (m, left) {
        struct master *x = &w->masters[m];

        x->a_ask = (uint8_t)what;
        x->a_ttl_ms = (uint8_t)ttl_ms;
        x->a_sent = 1;
        x->a_reply = SAID_NOTHING;
    }
}

static uint64_t end_us(unsigned ttl_ms)
{
    return NOW_US + rlk_validity_lease_us((uint64_t)ttl_ms * 1000, DRIFT_PPM);
}

void holder_renew(struct world *w)
{
    struct view v;
    uint64_t nodes;

    load(w, &v);
    nodes = rlk_leases_begin(&v.l, ALL_MASTERS, end_us(config.ttl_ms));
    store(w, &v);
    ask(w, nodes, ASK_KEEP, config.ttl_ms);
    w->renewals--;
    w->is_later = w->told == TOLD_BROKEN;
}

static unsigned restore_for_ms(const struct world *w)
{
    return w->valid_us / 1000;
}

bool holder_may_restore(const struct world *w)
{
    return w->restores > 0 && w->success && restore_for_ms(w) >= RESTORE_LEAST_MS;
}

void holder_restore(struct world *w)
{
    unsigned ttl_ms = restore_for_ms(w);
    struct view v;
    uint64_t nodes;

    load(w, &v);
    nodes = rlk_leases_restore(&v.l, ALL_MASTERS, end_us(ttl_ms));
    store(w, &v);
    ask(w, nodes, ASK_SET, ttl_ms);
    w->restores--;
}

/* ---- hearing ---- */

static enum rlk_vote vote_of(enum said said)
{
    switch (said) {
    case SAID_YES:
        return RLK_VOTE_YES;
    case SAID_OTHER:
        return RLK_VOTE_NO;
    case SAID_OURS:
        return RLK_VOTE_OURS;
    case SAID_NOTHING:
    case SAID_GONE:
        break;
    }
    return RLK_VOTE_UNKNOWN;
}

static enum rlk_answer answer_of(enum said said)
{
    switch (said) {
    case SAID_YES:
        return RLK_ANSWER_OURS;
    case SAID_GONE:
        return RLK_ANSWER_GONE;
    case SAID_OTHER:
        return RLK_ANSWER_TAKEN;
    case SAID_NOTHING:
    case SAID_OURS:
        break;
    }
    return RLK_ANSWER_UNKNOWN;
}

/* A master that was asked before the round began is asked in it when it has answered. */
static void join(struct world *w, unsigned m)
{
    struct view v;
    uint64_t nodes;

    load(w, &v);
    nodes = rlk_leases_join(&v.l, m, end_us(config.ttl_ms));
    store(w, &v);
    ask(w, nodes, ASK_KEEP, config.ttl_ms);
}

static void hear(struct world *w, unsigned m, enum said said)
{
    bool had_success = w->success;
    struct view v;

    load(w, &v);
    if (w->masters[m].a_ask == ASK_SET) {
        rlk_leases_voted(&v.l, m, vote_of(said));
    } else {
        rlk_leases_answered(&v.l, m, answer_of(said));
    }
    store(w, &v);
    if (w->success && !had_success && w->is_later) {
        w->wrong = WRONG_RENEWED;
    }
    if (world_a_believes(w) && !w->success) {
        join(w, m);
    }
}

void holder_read(struct world *w, unsigned m)
{
    enum said said = (enum said)w->masters[m].a_reply;

    w->masters[m].a_reply = SAID_NOTHING;
    hear(w, m, said);
}

void holder_lose(struct world *w, unsigned m)
{
    struct master *x = &w->masters[m];

    x->lost_ask = x->a_sent ? x->a_ask : ASK_NOTHING;
    x->lost_ttl_ms = x->a_sent ? x->a_ttl_ms : 0;
    x->a_sent = x->a_reply = 0;
    w->losses--;
    hear(w, m, SAID_NOTHING);
}
