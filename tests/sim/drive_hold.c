/* A lock that is held, carried out: extended, renewed, healed, lost. As src/lock/hold.c. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/drive.h"
#include "sim/health.h"
#include "sim/peer.h"
#include "sim/trace.h"
#include "sim/user.h"

static void step(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev);
static void step_with_nodes(struct world *w, unsigned client, unsigned worker,
                            enum rlk_event_kind kind, uint64_t ttl_us);

/* [S3] */
static uint64_t hold_us(const struct world *w, unsigned client)
{
    return world_client_us(w, client);
}

/* ---- telling the user ---- */

/* At the end of the turn of the loop: other callbacks may come before. */
static uint64_t turn_ends_us(struct world *w, unsigned client)
{
    uint64_t later_us = draw_upto(&w->prng, w->o.turn_us);

    return rlk_time_max(w->now_us, w->clients[client].busy_us) + later_us;
}

static void notify(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    if (!k->notices) {
        k->notices = true;
        schedule_push(&w->schedule, turn_ends_us(w, client), EVENT_NOTICE, client, worker, k->op);
    }
}

static void tell_extended(struct world *w, unsigned client, unsigned worker, int status)
{
    struct worker *k = world_worker(w, client, worker);

    if (!k->extended) {
        k->extended = true;
        k->extended_status = status;
        schedule_push(&w->schedule, turn_ends_us(w, client), EVENT_EXTENDED, client, worker,
                      ++k->extended_stamp);
    }
}

/* The last look: what was valid when it was put in line may have ended since [S3]. */
static void look(struct world *w, unsigned client, unsigned worker)
{
    step_with_nodes(w, client, worker, RLK_EVENT_TIMER, 0);
}

void drive_on_notice(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->op != stamp || k->phase != WORKER_HELD) {
        return; /* nothing is told of a lock that was let go */
    }
    look(w, client, worker);
    k->notices = false;
    if (k->hold.state == RLK_HOLD_LOST) {
        check_lost_told(w, client, worker);
        user_lost(w, client, worker);
    } else if (k->hold.trouble) {
        check_trouble_told(w, client, worker);
        user_troubled(w, client, worker);
    }
}

void drive_on_extended(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->extended && k->extended_stamp == stamp) {
        if (k->phase == WORKER_HELD && k->extended_status != REDLOCK_ECANCELED) {
            look(w, client, worker);
            k->extended_status = k->hold.state == RLK_HOLD_LOST ? REDLOCK_ELOST : k->hold.extended;
        }
        k->extended = false;
        check_extended(w, client, worker);
        user_extended(w, client, worker, k->extended_status);
    }
}

/* ---- what goes out ---- */

/* Returns the nodes that it could not be sent to. src/lock/script.c */
static uint64_t send_all(struct world *w, unsigned client, unsigned worker, uint64_t nodes,
                         struct message *m)
{
    uint64_t left = nodes, missed = 0;
    struct claim *c = world_claim(w, m->claim);
    unsigned node;

    c->ttl_ms = m->ttl_ms > c->ttl_ms ? m->ttl_ms : c->ttl_ms;
    m->fence = c->fence;
    RLK_MASK_EACH (node, left) {
        m->text = !drive_knows(w, client, node, m->kind);
        if (peer_ask(w, client, node, m)) {
            check_held_asked(w, client, worker, node, m);
        } else {
            missed |= rlk_mask_bit(node);
        }
    }
    return missed;
}

/* [S7] The time is asked first: so it is known when the answers are here [S11]. */
static uint64_t send_keeps(struct world *w, unsigned client, unsigned worker,
                           const struct rlk_actions *out, uint64_t now_us)
{
    unsigned claim = world_worker(w, client, worker)->claim;
    struct message m = {
        .kind = MESSAGE_KEEP, .claim = claim, .ttl_ms = out->ttl_ms, .sent_us = now_us};
    uint64_t left = out->extend;
    unsigned node;

    trace(w, "c%u.%u  extends t%u by %u ms on %s", client, worker, claim, m.ttl_ms,
          trace_nodes(out->extend));
    RLK_MASK_EACH (node, left) {
        health_ask(w, client, node);
    }
    return send_all(w, client, worker, out->extend, &m);
}

/* [S8] */
static uint64_t send_heals(struct world *w, unsigned client, unsigned worker,
                           const struct rlk_actions *out, uint64_t now_us)
{
    unsigned claim = world_worker(w, client, worker)->claim;
    struct message m = {.kind = MESSAGE_TAKE,
                        .claim = claim,
                        .heal = true,
                        .ttl_ms = out->ttl_ms,
                        .sent_us = now_us};

    trace(w, "c%u.%u  heals t%u for %u ms on %s", client, worker, claim, m.ttl_ms,
          trace_nodes(out->heal));
    return send_all(w, client, worker, out->heal, &m);
}

static void say_unknown(struct world *w, unsigned client, unsigned worker, enum rlk_event_kind kind,
                        uint64_t nodes)
{
    struct rlk_event ev = {.kind = kind};
    uint64_t left = nodes;

    RLK_MASK_EACH (ev.node, left) {
        ev.now_us = hold_us(w, client);
        step(w, client, worker, &ev);
    }
}

static void carry_out(struct world *w, unsigned client, unsigned worker,
                      const struct rlk_actions *out, uint64_t now_us)
{
    uint64_t not_kept = 0, not_healed = 0;

    drive_stall(w, client);
    if (out->extend) {
        not_kept = send_keeps(w, client, worker, out, now_us);
    }
    if (out->heal) {
        not_healed = send_heals(w, client, worker, out, now_us);
    }
    drive_set_timer(w, client, worker, out->deadline_us);
    if (out->tell) {
        notify(w, client, worker);
    }
    if (out->tell_extended) {
        tell_extended(w, client, worker, world_worker(w, client, worker)->hold.extended);
    }
    say_unknown(w, client, worker, RLK_EVENT_ANSWER, not_kept);
    say_unknown(w, client, worker, RLK_EVENT_VOTE, not_healed);
}

/* ---- stepping ---- */

static void step(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev)
{
    struct worker *k = world_worker(w, client, worker);
    uint64_t until_us = rlk_hold_valid_until_us(&k->hold);
    struct rlk_actions out;

    rlk_hold_step(&k->hold, ev, &out);
    check_held_stepped(w, client, worker, until_us, &out);
    carry_out(w, client, worker, &out, ev->now_us);
    if (out.extend) {
        user_renewing(w, client, worker);
    }
}

static void step_with_nodes(struct world *w, unsigned client, unsigned worker,
                            enum rlk_event_kind kind, uint64_t ttl_us)
{
    struct rlk_event ev = {.kind = kind, .now_us = hold_us(w, client), .ttl_us = ttl_us};
    uint64_t coming, open;

    peer_nodes(w, client, &ev.ready, &coming, &open);
    step(w, client, worker, &ev);
}

/* Before its user is told. */
void drive_hold_begin(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    uint64_t now_us = hold_us(w, client);
    struct rlk_actions out;
    struct rlk_hold_config config = {.nodes = w->clients[client].nodes,
                                     .drift_ppm = w->o.drift_ppm,
                                     .ttl_us = rlk_time_from_ms(k->ttl_ms),
                                     .timeout_us = w->o.timeout_us,
                                     .renew = k->renew,
                                     .gated = k->gated,
                                     .max_hold_us = k->max_hold_us,
                                     .max_renewals = k->max_renewals,
                                     .seed = rlk_prng_next(&w->prng)};

    k->notices = false;
    rlk_hold_init(&k->hold, &config);
    check_held(w, client, worker);
    rlk_hold_start(&k->hold, &k->attempt.round, now_us, &out);
    check_held_stepped(w, client, worker, 0, &out);
    carry_out(w, client, worker, &out, now_us);
}

void drive_hold_timer(struct world *w, unsigned client, unsigned worker)
{
    step_with_nodes(w, client, worker, RLK_EVENT_TIMER, 0);
}

/* The user who waits for an extension is told that, and nothing more of the lock. */
void drive_hold_end(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    check_held_ends(w, client, worker);
    if (k->extending) {
        tell_extended(w, client, worker, REDLOCK_ECANCELED);
    }
}

bool drive_extend(struct world *w, unsigned client, unsigned worker, uint32_t ttl_ms)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->extending || drive_valid_until_us(k) < hold_us(w, client) + 1000) {
        return false;
    }
    trace(w, "c%u.%u  wants t%u extended by %u ms", client, worker, k->claim, ttl_ms);
    check_extending(w, client, worker, ttl_ms);
    step_with_nodes(w, client, worker, RLK_EVENT_EXTEND, rlk_time_from_ms(ttl_ms));
    return true;
}

void drive_pet(struct world *w, unsigned client, unsigned worker)
{
    struct rlk_event ev = {.kind = RLK_EVENT_PET, .now_us = hold_us(w, client)};

    trace(w, "c%u.%u  pets t%u", client, worker, world_worker(w, client, worker)->claim);
    step(w, client, worker, &ev);
}

/* ---- what comes back ---- */

/* What was said of a script that had been forgotten: nobody wants it any more, or for how long. As
 * ttl_again_ms() of src/lock/hold.c. */
uint32_t drive_hold_ttl_again(struct world *w, unsigned client, unsigned node,
                              const struct message *m)
{
    struct worker *k = drive_owner(w, m->claim);

    if (k == NULL || k->phase != WORKER_HELD || k->hold.state != RLK_HOLD_HELD) {
        return 0;
    }
    return m->kind == MESSAGE_KEEP ? world_claim(w, m->claim)->ttl_ms
                                   : rlk_hold_heal_again(&k->hold, node, hold_us(w, client));
}

bool drive_is_mistimed(const struct world *w, unsigned client, unsigned node)
{
    return rlk_standing_is_mistimed(&w->clients[client].peers[node].standing, hold_us(w, client));
}

void drive_hold_clock(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev)
{
    step(w, client, worker, ev);
}

void drive_hold_voted(struct world *w, unsigned client, unsigned node, const struct message *m,
                      enum rlk_vote vote)
{
    struct worker *k = drive_owner(w, m->claim);
    struct rlk_event ev = {.kind = RLK_EVENT_VOTE,
                           .node = node,
                           .now_us = hold_us(w, client),
                           .vote = vote,
                           .mistimed =
                               m->answer != ANSWER_NONE && drive_is_mistimed(w, client, node)};

    if (k && k->phase == WORKER_HELD) {
        unsigned worker = world_claim(w, m->claim)->worker;

        check_held_voted(w, client, worker, node, vote, ev.mistimed);
        step(w, client, worker, &ev);
        check_exclusion(w, client, worker);
    }
}

void drive_hold_answered(struct world *w, unsigned client, unsigned node, const struct message *m,
                         enum rlk_answer answer)
{
    static const char *const names[] = {"nothing", "yes", "gone", "somebody else's"};
    struct worker *k = drive_owner(w, m->claim);
    struct rlk_event ev = {.kind = RLK_EVENT_ANSWER,
                           .node = node,
                           .now_us = hold_us(w, client),
                           .answer = answer,
                           .mistimed =
                               m->answer != ANSWER_NONE && drive_is_mistimed(w, client, node)};

    if (k && k->phase == WORKER_HELD) {
        unsigned worker = world_claim(w, m->claim)->worker;

        trace(w, "c%u.%u  n%u says %s to the extension of t%u", client, worker, node, names[answer],
              m->claim);
        check_held_answered(w, client, worker, node, answer, m->since_us, ev.mistimed);
        step(w, client, worker, &ev);
        check_exclusion(w, client, worker);
    }
}

/* [S5] It may yet be carried out: no debt of this token ages. */
void drive_hold_broken(struct world *w, unsigned client, unsigned node, const struct message *sent)
{
    struct message lost = *sent;
    const struct message *m = &lost;

    lost.answer = ANSWER_NONE; /* it may have been carried out, and nobody heard of it */
    world_claim(w, m->claim)->set_lost = true;
    if (m->heal) {
        check_may_outlive(w, m->claim);
        drive_hold_voted(w, client, node, m, RLK_VOTE_UNKNOWN);
    } else {
        drive_hold_answered(w, client, node, m, RLK_ANSWER_UNKNOWN);
    }
}
