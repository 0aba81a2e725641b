/* small/packed.c - see mind.h.
 *
 * What is left out: when the round and the attempt began and were decided (they end up in
 * statuses and statistics only), and the jitter's generator, because the back-off's bound is 0:
 * the retry is due at once and its timer may fire at any later moment, which is every back-off
 * that could be drawn. */
#include "small/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"

void packed_configure(struct rlk_attempt_config *wanted, unsigned c)
{
    *wanted = (struct rlk_attempt_config){0};
    wanted->terms.nodes = MASTERS;
    wanted->terms.lease_us = limits.lease_us;
    wanted->terms.min_validity_us = limits.min_validity_us;
    wanted->terms.timeout_us = (uint64_t)config.timeout_ticks * TICK_US;
    if (config.rounds > 1 && !(config.uneven && c == 1)) {
        wanted->wait_us =
            config.wait_ticks == TICKS_NEVER ? RLK_NEVER : (uint64_t)config.wait_ticks * TICK_US;
        wanted->max_retries = config.rounds - 1;
    }
}

void packed_clear(struct packed *mind)
{
    memset(mind, 0, sizeof(*mind));
    mind->retry = mind->give_up = mind->deadline = TICKS_NEVER;
    mind->until = NO_AGE;
    memset(mind->age, NO_AGE, sizeof(mind->age));
}

uint8_t packed_ticks(uint64_t deadline_us)
{
    uint64_t ticks = (rlk_time_sub(deadline_us, NOW_US) + TICK_US - 1) / TICK_US;

    if (deadline_us == RLK_NEVER) {
        return TICKS_NEVER;
    }
    if (ticks >= TICKS_NEVER) {
        fprintf(stderr, "small: a deadline is more ticks away than fit\n");
        abort();
    }
    return (uint8_t)ticks;
}

static uint64_t deadline_of(uint8_t ticks)
{
    return ticks == TICKS_NEVER ? RLK_NEVER : NOW_US + (uint64_t)ticks * TICK_US;
}

/* The end of a lease as its age. Once it is over it is as good as any other that is over. */
static uint8_t age_of(uint64_t end_us)
{
    uint64_t born_us = rlk_time_sub(end_us, limits.lease_us), age;

    if (end_us <= NOW_US) {
        return (uint8_t)limits.age_cap;
    }
    age = (NOW_US - born_us) / TICK_US;
    if (born_us > NOW_US || (NOW_US - born_us) % TICK_US != 0 || age > limits.age_cap) {
        fprintf(stderr, "small: a lease did not begin at a tick\n");
        abort();
    }
    return (uint8_t)age;
}

static uint64_t end_of(uint8_t age)
{
    return NOW_US + limits.lease_us - (uint64_t)age * TICK_US;
}

void packed_load(const struct packed *mind, unsigned c, struct rlk_attempt *a)
{
    struct rlk_attempt_config wanted;
    unsigned m;

    packed_configure(&wanted, c);
    rlk_attempt_init(a, &wanted);
    a->state = (enum rlk_attempt_state)mind->attempt;
    a->status = mind->has_status ? REDLOCK_ENOQUORUM : 0;
    a->reason = mind->has_reason ? REDLOCK_ENOQUORUM : 0;
    a->tries = mind->tries;
    a->started_us = a->decided_us = NOW_US;
    a->give_up_us = deadline_of(mind->give_up);
    a->retry_us = deadline_of(mind->retry);
    a->round.state = (enum rlk_round_state)mind->round;
    a->round.asked = mind->asked;
    a->round.connecting = mind->coming;
    a->round.yes = mind->yes;
    a->round.no = mind->no;
    a->round.unknown = mind->unknown;
    a->round.started_us = NOW_US;
    a->round.deadline_us = deadline_of(mind->deadline);
    a->round.valid_until_us = mind->until == NO_AGE ? 0 : end_of(mind->until);
    for (m = 0; m < MASTERS; m++) {
        a->round.end_us[m] = mind->age[m] == NO_AGE ? 0 : end_of(mind->age[m]);
    }
}

/* Whether the event leaves the attempt where it is. */
static bool is_deaf(struct rlk_attempt *a, enum rlk_event_kind kind, unsigned m, enum rlk_vote vote)
{
    enum rlk_attempt_state state = a->state;
    enum rlk_round_state round = a->round.state;
    struct rlk_event ev = {
        .kind = kind, .node = m, .now_us = NOW_US, .round = a->tries, .vote = vote};
    struct rlk_actions out;

    rlk_attempt_step(a, &ev, &out);
    return a->state == state && a->round.state == round && !out.fresh && !out.acquire &&
           !out.release && !out.report;
}

/* What follows forgets the round of an attempt that failed or waits, which is right only if
 * such an attempt is deaf to everything but its timer and its cancel. So it is tried, with its
 * round still there. */
static bool is_quiet(const struct rlk_attempt *a)
{
    static struct rlk_attempt copy;
    bool deaf;
    unsigned m;

    copy = *a;
    deaf = is_deaf(&copy, RLK_EVENT_START, 0, RLK_VOTE_UNKNOWN) &&
           is_deaf(&copy, RLK_EVENT_DELIVER, 0, RLK_VOTE_UNKNOWN);
    for (m = 0; m < MASTERS; m++) {
        deaf = deaf && is_deaf(&copy, RLK_EVENT_NODE_UP, m, RLK_VOTE_UNKNOWN) &&
               is_deaf(&copy, RLK_EVENT_NODE_DOWN, m, RLK_VOTE_UNKNOWN) &&
               is_deaf(&copy, RLK_EVENT_VOTE, m, RLK_VOTE_NO) &&
               is_deaf(&copy, RLK_EVENT_VOTE, m, RLK_VOTE_YES);
    }
    return deaf;
}

/* The same, once for each round of this look. */
bool packed_is_quiet(const struct rlk_attempt *a)
{
    static bool known[2][CLAIMS][1u << 5 * MASTERS];
    const struct rlk_round *r = &a->round;
    uint64_t look = r->asked | r->connecting << MASTERS | r->yes << 2 * MASTERS |
                    r->no << 3 * MASTERS | r->unknown << 4 * MASTERS;
    bool *quiet = &known[a->state == RLK_ATTEMPT_FAILED][a->tries % CLAIMS][look];

    *quiet = *quiet || is_quiet(a);
    return *quiet;
}

/* A round that is lost has had its release sent, and an attempt that failed only waits to be
 * told: see is_quiet() for why the rest may be forgotten. */
static void forget_round(struct packed *mind, const struct rlk_attempt *a)
{
    uint8_t tries = mind->tries, status = mind->has_status, reason = mind->has_reason;
    uint8_t retry = mind->retry, give_up = mind->give_up;

    packed_clear(mind);
    mind->attempt = (uint8_t)a->state;
    mind->round = RLK_ROUND_LOST;
    mind->tries = tries;
    mind->has_reason = reason;
    if (a->state == RLK_ATTEMPT_FAILED) {
        mind->has_status = status;
    } else {
        mind->retry = retry;
        mind->give_up = give_up;
    }
}

void packed_store(struct packed *mind, const struct rlk_attempt *a)
{
    const struct rlk_round *r = &a->round;
    unsigned m;

    packed_clear(mind);
    mind->attempt = (uint8_t)a->state;
    mind->round = (uint8_t)r->state;
    mind->tries = (uint8_t)a->tries;
    mind->has_status = a->status != 0;
    mind->has_reason = a->reason != 0;
    mind->give_up = packed_ticks(a->give_up_us);
    mind->retry = a->state == RLK_ATTEMPT_WAITING ? packed_ticks(a->retry_us) : TICKS_NEVER;
    if (a->state == RLK_ATTEMPT_FAILED || a->state == RLK_ATTEMPT_WAITING) {
        forget_round(mind, a);
        return;
    }
    mind->deadline = packed_ticks(r->deadline_us);
    mind->until = r->valid_until_us ? age_of(r->valid_until_us) : NO_AGE;
    mind->asked = (uint8_t)r->asked;
    mind->coming = (uint8_t)r->connecting;
    mind->yes = (uint8_t)r->yes;
    mind->no = (uint8_t)r->no;
    mind->unknown = (uint8_t)r->unknown;
    /* A node votes once: the lease of one that did not say yes is never looked at again. */
    for (m = 0; m < MASTERS; m++) {
        if ((r->asked & ~(r->no | r->unknown)) >> m & 1) {
            mind->age[m] = age_of(r->end_us[m]);
        }
    }
}
