/* moves.c - which moves a world has, and making them. */
#include "broken/moves.h"

#include "broken/holder.h"
#include "broken/operator.h"

/* ---- what a master does ---- */

static void give_key(struct master *m, enum owner owner, uint16_t left_us)
{
    m->owner = (uint8_t)owner;
    m->left_us = left_us;
}

static void delete_key(struct master *m, enum owner owner)
{
    if (m->owner == owner) {
        give_key(m, OWNER_NONE, 0);
    }
}

/* SET key token NX PX ttl GET. */
static enum said set_key(struct master *m, enum owner owner, unsigned ttl_ms)
{
    if (m->owner == owner) {
        return SAID_OURS;
    }
    if (m->owner != OWNER_NONE) {
        return SAID_OTHER;
    }
    give_key(m, owner, world_life_us(ttl_ms));
    return SAID_YES;
}

/* It never shortens a ttl. */
static enum said keep_key(struct master *m, unsigned ttl_ms)
{
    uint16_t life_us = world_life_us(ttl_ms);

    if (m->owner != OWNER_A) {
        return m->owner == OWNER_NONE ? SAID_GONE : SAID_OTHER;
    }
    m->left_us = m->left_us > life_us ? m->left_us : life_us;
    return SAID_YES;
}

static enum said carry_out(struct master *m, uint8_t what, unsigned ttl_ms)
{
    return what == ASK_SET ? set_key(m, OWNER_A, ttl_ms) : keep_key(m, ttl_ms);
}

/* swap.lua: a key that ends in this millisecond is not there. */
static enum said swap(struct master *m)
{
    m->o_done = 1;
    if (m->owner != OWNER_A || m->left_us < 1000) {
        return m->owner == OWNER_NONE || m->owner == OWNER_A ? SAID_GONE : SAID_OTHER;
    }
    m->owner = OWNER_O;
    if (config.slips & SLIP_NEW_TTL) {
        m->left_us = world_life_us(config.ttl_ms);
    }
    return SAID_YES;
}

static void swap_and_read(struct master *m)
{
    m->o_said = (uint8_t)swap(m);
    m->o_left_ms = m->o_said == SAID_YES ? (uint8_t)(m->left_us / 1000) : 0;
    m->o_ticks = 0;
}

/* ---- the moves ---- */

static void apply_to_master(struct master *x, enum move_kind kind)
{
    if (kind == MOVE_CARRY_OUT) {
        x->a_reply = (uint8_t)carry_out(x, x->a_ask, x->a_ttl_ms);
        x->a_sent = 0;
    } else if (kind == MOVE_LATE) {
        carry_out(x, x->lost_ask, x->lost_ttl_ms);
        x->lost_ask = x->lost_ttl_ms = 0;
    } else if (kind == MOVE_B_SET) {
        set_key(x, OWNER_B, config.ttl_ms);
        x->b_done = 1;
    } else if (kind == MOVE_B_RELEASE) {
        delete_key(x, OWNER_B);
    } else if (kind == MOVE_O_SWAP) {
        swap_and_read(x);
    } else if (kind == MOVE_O_SWAP_UNREAD) {
        swap(x);
    } else {
        delete_key(x, OWNER_O);
        x->o_release = 0;
    }
}

static void apply(struct world *w, const struct move *move)
{
    switch ((enum move_kind)move->kind) {
    case MOVE_TICK:
        world_tick(w);
        break;
    case MOVE_RENEW:
        holder_renew(w);
        break;
    case MOVE_RESTORE:
        holder_restore(w);
        break;
    case MOVE_READ:
        holder_read(w, move->master);
        break;
    case MOVE_LOSE:
        holder_lose(w, move->master);
        break;
    case MOVE_O_TELL:
        operator_tell(w);
        break;
    case MOVE_CARRY_OUT:
    case MOVE_LATE:
    case MOVE_B_SET:
    case MOVE_B_RELEASE:
    case MOVE_O_SWAP:
    case MOVE_O_SWAP_UNREAD:
    case MOVE_O_RELEASE:
    case MOVES:
        apply_to_master(&w->masters[move->master], (enum move_kind)move->kind);
        break;
    }
}

static enum wrong judge(const struct world *w)
{
    if (world_a_believes(w) && world_b_believes(w)) {
        return WRONG_EXCLUSION;
    }
    if (world_a_believes(w) && w->told == TOLD_BROKEN && w->until_us == 0) {
        return WRONG_BOUND;
    }
    return WRONG_NOTHING;
}

static void go(const struct world *w, on_move *f, void *arg, enum move_kind kind, unsigned m)
{
    struct move move = {(uint8_t)kind, (uint8_t)m};
    struct world after = *w;

    apply(&after, &move);
    if (after.wrong == WRONG_NOTHING) {
        after.wrong = (uint8_t)judge(&after);
    }
    world_settle(&after);
    f(&after, &move, arg);
}

static bool is_possible(const struct world *w, enum move_kind kind)
{
    return kind == MOVE_TICK || (kind == MOVE_RENEW && w->renewals > 0) ||
           (kind == MOVE_RESTORE && holder_may_restore(w)) ||
           (kind == MOVE_O_TELL && operator_may_tell(w));
}

static bool is_possible_at(const struct world *w, const struct master *x, enum move_kind kind)
{
    switch (kind) {
    case MOVE_CARRY_OUT:
        return x->a_sent;
    case MOVE_READ:
        return x->a_reply;
    case MOVE_LOSE:
        return w->losses > 0 && (x->a_sent || x->a_reply);
    case MOVE_LATE:
        return x->lost_ask;
    case MOVE_B_SET:
        return !config.alone && !x->b_done && x->owner == OWNER_NONE;
    case MOVE_B_RELEASE:
        return x->owner == OWNER_B;
    case MOVE_O_SWAP:
        return !x->o_done && w->told == TOLD_NOTHING;
    case MOVE_O_SWAP_UNREAD:
        return !x->o_done && x->owner == OWNER_A;
    case MOVE_O_RELEASE:
        return x->o_release && x->owner == OWNER_O;
    case MOVE_TICK:
    case MOVE_RENEW:
    case MOVE_RESTORE:
    case MOVE_O_TELL:
    case MOVES:
        break;
    }
    return false;
}

/* When A has lost the lock, nothing can go wrong any more. */
void moves_each(const struct world *w, const struct config *c, on_move *f, void *arg)
{
    unsigned kind, m;

    (void)c;
    for (kind = 0; kind < MOVES && world_a_believes(w); kind++) {
        if (is_possible(w, (enum move_kind)kind)) {
            go(w, f, arg, (enum move_kind)kind, 0);
        }
        for (m = 0; m < MASTERS; m++) {
            if (is_possible_at(w, &w->masters[m], (enum move_kind)kind)) {
                go(w, f, arg, (enum move_kind)kind, m);
            }
        }
    }
}
