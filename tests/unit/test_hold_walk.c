/* test_hold_walk.c - long random walks of a held lock. Its servers forget, or their clocks go
 * forward; a rival takes every key that is free; now and then this client is suspended. After each
 * step the model (fuzz/hold_model.h) checks the machine, and the test compares it with what is true
 * on the servers:
 *
 *     [S2]  while the lock is valid a majority has our key, apart from servers that forgot it
 * since; [S11] and apart from servers whose clocks went forward, until that is reported; [S7]  when
 * a round succeeds, the rival had no majority at any time between the success before and the first
 * answer that counts. */
#include <string.h>

#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "core/hold.h"
#include "fuzz/hold_model.h"
#include "lib/events.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("hold-walk");

#define TTL UINT64_C(1000000)
#define WALKS 400
#define STEPS 600
/* A server is doubted for so long after its clock was reported. Extensions are no longer than that,
 * so every lease from before has ended by then. */
#define DOUBT_US (5 * TTL)

enum owner {
    NOBODY = 0,
    US,
    RIVAL
};

struct server {
    enum owner owner;
    uint64_t expires_us;
    bool forgot; /* our key, after it said that it has it */
    bool ahead;  /* its clock went forward, and that was not reported yet */
    uint64_t doubted_until_us;
    /* What it was asked: */
    bool asked, keep, done;
    uint64_t ttl_us;
    enum rlk_answer answer;
    unsigned done_at; /* the tick in which it carried it out */
};

struct walk {
    struct rlk_hold h;
    uint64_t room[RLK_LEASES_ROOM(RLK_MAX_NODES)]; /* of h */
    struct hold_model model;
    struct rlk_prng prng;
    struct server server[7];
    unsigned nodes, quorum, tick,
        rival_at; /* the first tick since the success in which the rival had a majority; 0: never */
    unsigned calm; /* how rarely a server forgets */
    uint64_t now_us, deadline_us;
};

static bool chance(struct walk *w, unsigned of)
{
    return rlk_prng_upto(&w->prng, of - 1) == 0;
}

static enum owner owner(const struct walk *w, const struct server *s)
{
    return s->expires_us > w->now_us ? s->owner : NOBODY;
}

/* ---- the truth ---- */

static unsigned count(const struct walk *w, enum owner who)
{
    unsigned i, n = 0;

    for (i = 0; i < w->nodes; i++) {
        n += owner(w, &w->server[i]) == who;
    }
    return n;
}

static bool does_count(const struct walk *w, unsigned i)
{
    const struct hold_model_node *n = &w->model.node[i];

    return n->since && n->since <= w->model.success_step && !n->clock_suspect;
}

static void check_validity(const struct walk *w)
{
    unsigned i, forgot = 0;

    if (rlk_hold_valid_until_us(&w->h) > w->now_us) {
        for (i = 0; i < w->nodes; i++) {
            forgot += owner(w, &w->server[i]) != US &&
                      (w->server[i].forgot || w->server[i].ahead) && does_count(w, i);
        }
        ck_assert_uint_ge(count(w, US) + forgot, w->quorum);
    }
}

static void look_at_the_rival(struct walk *w)
{
    if (w->rival_at == 0 && count(w, RIVAL) >= w->quorum) {
        w->rival_at = w->tick;
    }
}

static void check_success(struct walk *w)
{
    unsigned i, first = UINT32_MAX;

    for (i = 0; i < w->nodes; i++) {
        if (w->model.node[i].kept == w->model.round && w->server[i].done_at < first) {
            first = w->server[i].done_at;
        }
    }
    ck_assert(w->rival_at == 0 || w->rival_at > first);
    w->rival_at = 0;
}

/* ---- the machine ---- */

static void ask(struct walk *w, uint64_t nodes, bool keep, uint32_t ttl_ms)
{
    unsigned i;

    RLK_MASK_EACH (i, nodes) {
        struct server *s = &w->server[i];

        ck_assert(!s->asked); /* one question at a time */
        s->asked = true;
        s->keep = keep;
        s->done = false;
        s->ttl_us = rlk_time_from_ms(ttl_ms);
    }
}

static void step(struct walk *w, struct rlk_event ev)
{
    struct rlk_hold before;
    struct rlk_actions out;
    unsigned successes = w->model.successes;

    memcpy(&before, &w->h, sizeof(before));
    ev.now_us = w->now_us;
    if (event_has_nodes(&ev)) {
        ev.ready = rlk_prng_next(&w->prng) | (chance(w, 3) ? 0 : UINT64_MAX);
    }
    rlk_hold_step(&w->h, &ev, &out);
    hold_model_follow(&w->model, &ev, &before, &w->h, &out);
    ask(w, out.extend, true, out.ttl_ms);
    ask(w, out.restore, false, out.ttl_ms);
    w->deadline_us = out.deadline_us;
    if (w->model.successes != successes) {
        check_success(w);
    }
}

/* ---- the servers ---- */

static void keep(struct walk *w, struct server *s)
{
    enum owner o = owner(w, s);

    s->answer = o == US ? RLK_ANSWER_OURS : o == RIVAL ? RLK_ANSWER_TAKEN : RLK_ANSWER_GONE;
    if (o == US) {
        s->expires_us = rlk_time_max(s->expires_us, w->now_us + s->ttl_us);
        s->forgot = false;
    }
}

static void set(struct walk *w, struct server *s)
{
    s->answer = owner(w, s) == RIVAL ? RLK_ANSWER_TAKEN : RLK_ANSWER_OURS;
    if (s->answer == RLK_ANSWER_OURS) {
        s->owner = US;
        s->expires_us = rlk_time_max(s->expires_us, w->now_us + s->ttl_us);
        s->forgot = false;
    }
}

static void carry_out(struct walk *w, struct server *s)
{
    s->done = true;
    s->done_at = w->tick;
    if (s->keep) {
        keep(w, s);
    } else {
        set(w, s);
    }
}

/* Passes on what the server answered, or that the connection broke before it could. */
static void hear(struct walk *w, unsigned i)
{
    struct server *s = &w->server[i];
    bool broke = chance(w, 12);
    struct rlk_event ev = {.kind = s->keep ? RLK_EVENT_KEPT : RLK_EVENT_VOTE,
                           .node = i,
                           .clock_suspect = w->now_us < s->doubted_until_us};

    if (s->asked && (s->done || broke)) {
        s->asked = false;
        ev.answer = broke ? RLK_ANSWER_UNKNOWN : s->answer;
        if (!s->keep) {
            ev.vote = broke                          ? RLK_VOTE_UNKNOWN
                      : s->answer != RLK_ANSWER_OURS ? RLK_VOTE_NO
                      : chance(w, 4)                 ? RLK_VOTE_QUARANTINED
                                                     : RLK_VOTE_YES;
        }
        step(w, ev);
    }
}

static void forget(struct walk *w, struct server *s)
{
    s->forgot = s->forgot || owner(w, s) == US;
    s->owner = NOBODY;
    s->expires_us = 0;
}

/* Its keys end sooner than they should, the rival's too. The probe reports it sooner or later. */
static void go_ahead(struct walk *w, struct server *s)
{
    s->expires_us = rlk_time_sub(s->expires_us, rlk_prng_upto(&w->prng, 2 * TTL));
    s->ahead = true;
}

static void tell_of_clock(struct walk *w, unsigned i)
{
    struct server *s = &w->server[i];

    if (s->ahead) {
        s->ahead = false;
        s->doubted_until_us = w->now_us + DOUBT_US;
        step(w, (struct rlk_event){.kind = RLK_EVENT_CLOCK_SUSPECT, .node = i});
    }
}

/* All keys have less time left than our clock says. The probes report it at once. */
static void suspend(struct walk *w)
{
    uint64_t by_us = rlk_prng_upto(&w->prng, chance(w, 4) ? 2 * TTL : TTL / 10);
    unsigned i;

    for (i = 0; i < w->nodes; i++) {
        struct server *s = &w->server[i];

        s->expires_us = s->expires_us == RLK_NEVER ? RLK_NEVER : rlk_time_sub(s->expires_us, by_us);
    }
    step(w, (struct rlk_event){.kind = RLK_EVENT_SUSPENDED, .by_us = by_us});
}

static void rival(struct walk *w, struct server *s)
{
    if (owner(w, s) == NOBODY) {
        s->owner = RIVAL;
        s->expires_us = RLK_NEVER;
    } else if (s->owner == RIVAL && chance(w, 2)) {
        s->owner = NOBODY;
        s->expires_us = 0;
    }
}

static void a_server(struct walk *w)
{
    unsigned i = (unsigned)rlk_prng_upto(&w->prng, w->nodes - 1);
    struct server *s = &w->server[i];

    if (s->asked && !s->done && !chance(w, 4)) {
        carry_out(w, s);
    } else if (chance(w, 5)) {
        rival(w, s);
    } else if (chance(w, w->calm)) {
        forget(w, s);
    } else if (chance(w, 3 * w->calm)) {
        go_ahead(w, s);
    } else if (chance(w, 8)) {
        tell_of_clock(w, i);
    } else {
        hear(w, i);
    }
}

/* ---- a walk ---- */

static void pass_time(struct walk *w)
{
    if (chance(w, 2) && w->deadline_us != RLK_NEVER && w->deadline_us > w->now_us) {
        w->now_us = w->deadline_us;
    } else {
        w->now_us += rlk_prng_upto(&w->prng, TTL / (chance(w, 50) ? 2 : 50));
    }
    if (w->now_us >= w->deadline_us) {
        step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER});
    }
}

static void the_user(struct walk *w)
{
    static const uint64_t ttls_us[] = {TTL / 20, TTL, 4 * TTL};

    if (chance(w, 3)) {
        step(w, (struct rlk_event){.kind = RLK_EVENT_HEARTBEAT});
    } else if (chance(w, 4) && !w->h.extension) {
        step(w, (struct rlk_event){.kind = RLK_EVENT_EXTEND,
                                   .ttl_us = ttls_us[rlk_prng_upto(&w->prng, 2)]});
    }
}

static void win(struct walk *w, struct rlk_round *won)
{
    unsigned i;

    rlk_round_init(won, RLK_NEVER);
    won->state = RLK_ROUND_WON;
    won->started_us = w->now_us;
    won->asked = rlk_mask_all(w->nodes);
    won->yes = rlk_mask_all(w->quorum) | (rlk_prng_next(&w->prng) & won->asked);
    for (i = 0; i < w->nodes; i++) {
        won->end_us[i] = w->now_us + rlk_validity_lease_us(TTL, 10000);
        w->server[i] = (struct server){.asked = true, .ttl_us = TTL};
        if (chance(w, 3)) {
            won->quarantined |= rlk_mask_bit(i) & ~won->yes;
        }
        if ((won->yes | won->quarantined) >> i & 1) {
            carry_out(w, &w->server[i]);
            w->server[i].asked = false;
        }
    }
    won->unknown = won->quarantined;
    won->valid_until_us = w->now_us + rlk_validity_lease_us(TTL, 10000);
}

static void begin(struct walk *w, uint64_t seed)
{
    struct rlk_hold_config c = {.drift_ppm = 10000,
                                .ttl_us = TTL,
                                .timeout_us = TTL / 10,
                                .renew = true,
                                .max_hold_us = RLK_NEVER,
                                .max_renewals = UINT32_MAX,
                                .prng = {seed}};
    struct rlk_actions out;
    struct rlk_round won;

    memset(w, 0, sizeof(*w));
    memset(&won, 0, sizeof(won));
    rlk_prng_seed(&w->prng, seed);
    w->nodes = 1 + (unsigned)rlk_prng_upto(&w->prng, 6);
    c.nodes = (uint8_t)w->nodes;
    c.needs_heartbeat = chance(w, 4);
    c.max_renewals = chance(w, 8) ? 10 : UINT32_MAX;
    c.max_hold_us = chance(w, 8) ? 10 * TTL : RLK_NEVER;
    w->quorum = w->nodes / 2 + 1;
    w->calm = (unsigned[]){5, 20, 100, 100000}[rlk_prng_upto(&w->prng, 3)];
    w->now_us = 1000000;
    w->tick = 1;
    win(w, &won);
    rlk_hold_init(&w->h, &c, all_voters(w->nodes), w->room);
    rlk_hold_start(&w->h, &won, w->now_us, &out);
    hold_model_start(&w->model, &c, all_voters(w->nodes), &won, w->now_us, &w->h, &out);
    w->deadline_us = out.deadline_us;
}

static void walk(struct walk *w, uint64_t seed)
{
    unsigned i;

    begin(w, seed);
    for (i = 0; i < STEPS && w->h.state == RLK_HOLD_HELD; i++) {
        w->tick++;
        if (chance(w, 12)) {
            pass_time(w);
        } else if (chance(w, 20 * w->calm)) {
            suspend(w);
        } else if (chance(w, 20)) {
            the_user(w);
        } else {
            a_server(w);
        }
        look_at_the_rival(w);
        check_validity(w);
    }
}

TEST_LOOP(what_the_hold_claims_is_true_on_the_servers, 0, 20)
{
    struct walk w;
    unsigned i, successes = 0, lost = 0;

    for (i = 0; i < WALKS; i++) {
        walk(&w, (uint64_t)_i * WALKS + i);
        successes += w.model.successes;
        lost += w.model.reported_lost;
    }
    /* Both must happen often, or the test shows nothing. */
    ck_assert_uint_gt(successes, WALKS);
    ck_assert_uint_gt(lost, WALKS / 10);
}
