/* small/packed.c - see packed.h.
 *
 * What is left out: when the attempt and the round began and were decided. Apart from statuses and
 * statistics that only limits how long a round has patience with nodes that are being connected,
 * and how long it may ask again. It begins now, so its patience is over at once, and the timer may
 * fire at any later moment, which is every patience. In the same way every back-off that could be
 * drawn is there without the jitter's generator: its bound is 0. All refusals name one holder. */
#include "small/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "lib/voters.h"

void packed_configure(struct rlk_attempt_config *wanted, unsigned c)
{
    *wanted = (struct rlk_attempt_config){0};
    wanted->terms.voters = all_voters(MASTERS);
    wanted->terms.lease_us = limits.lease_us;
    wanted->terms.min_validity_us = limits.min_validity_us;
    wanted->terms.keeps_votes = config.keeps_votes;
    wanted->terms.timeout_us = (uint64_t)config.timeout_ticks * TICK_US;
    if (config.rounds > 1 && !(config.uneven && c == 1)) {
        wanted->wait_us =
            config.wait_ticks == TICKS_NEVER ? RLK_NEVER : (uint64_t)config.wait_ticks * TICK_US;
        wanted->max_retries = config.rounds - 1;
    }
}

void packed_clear(struct packed *packed)
{
    memset(packed, 0, sizeof(*packed));
    packed->retry = packed->give_up = packed->deadline = packed->end_of_round = TICKS_NEVER;
    packed->until = NO_AGE;
    memset(packed->age, NO_AGE, sizeof(packed->age));
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

/* The end of a lease as its age. All leases that are over are equal. */
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

void packed_load(const struct packed *packed, unsigned c, struct rlk_attempt *a)
{
    struct rlk_attempt_config wanted;
    unsigned m;

    packed_configure(&wanted, c);
    rlk_attempt_init(a, &wanted);
    a->state = (enum rlk_attempt_state)packed->attempt;
    a->status = packed->has_status ? REDLOCK_ENOQUORUM : 0;
    a->reason = packed->has_reason ? REDLOCK_ENOQUORUM : 0;
    a->tries = packed->tries;
    a->started_us = a->decided_us = NOW_US;
    a->give_up_us = deadline_of(packed->give_up);
    a->retry_us = deadline_of(packed->retry);
    a->polls = a->state == RLK_ATTEMPT_WAITING; /* `subscribe` is off */
    a->round.state = (enum rlk_round_state)packed->round;
    a->round.asked = packed->asked;
    a->round.connecting = packed->coming;
    a->round.yes = packed->yes;
    a->round.no = packed->no;
    a->round.unknown = packed->unknown;
    a->round.started_us = NOW_US;
    a->round.held_by_others = packed->held_by_others;
    a->round.asked_again = packed->asked_again;
    memset(a->round.holder, 0, sizeof(a->round.holder));
    a->round.deadline_us = deadline_of(packed->deadline);
    a->round.end_of_round_us = deadline_of(packed->end_of_round);
    a->round.valid_until_us = packed->until == NO_AGE ? 0 : end_of(packed->until);
    for (m = 0; m < MASTERS; m++) {
        a->round.end_us[m] = packed->age[m] == NO_AGE ? 0 : end_of(packed->age[m]);
    }
}

/* Whether the event changes nothing in the attempt. */
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

/* The function below forgets the round of an attempt that failed or waits. That is right only if
 * such an attempt ignores everything but its timer and a cancel. So that is tried, with the round
 * still there. */
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

/* The same, once for each round that this world may have. */
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

/* A round that is lost has sent its release, and an attempt that failed only waits to be reported.
 * is_quiet() checks that the rest may be forgotten. */
static void forget_round(struct packed *packed, const struct rlk_attempt *a)
{
    uint8_t tries = packed->tries, status = packed->has_status, reason = packed->has_reason;
    uint8_t retry = packed->retry, give_up = packed->give_up;

    packed_clear(packed);
    packed->attempt = (uint8_t)a->state;
    packed->round = RLK_ROUND_LOST;
    packed->tries = tries;
    packed->has_reason = reason;
    if (a->state == RLK_ATTEMPT_FAILED) {
        packed->has_status = status;
    } else {
        packed->retry = retry;
        packed->give_up = give_up;
    }
}

void packed_store(struct packed *packed, const struct rlk_attempt *a)
{
    const struct rlk_round *r = &a->round;
    unsigned m;

    packed_clear(packed);
    packed->attempt = (uint8_t)a->state;
    packed->round = (uint8_t)r->state;
    packed->tries = (uint8_t)a->tries;
    packed->has_status = a->status != 0;
    packed->has_reason = a->reason != 0;
    packed->give_up = packed_ticks(a->give_up_us);
    packed->retry = a->state == RLK_ATTEMPT_WAITING ? packed_ticks(a->retry_us) : TICKS_NEVER;
    if (a->state == RLK_ATTEMPT_FAILED || a->state == RLK_ATTEMPT_WAITING) {
        forget_round(packed, a);
        return;
    }
    packed->deadline = packed_ticks(r->deadline_us);
    packed->end_of_round = packed_ticks(r->end_of_round_us);
    packed->until = r->valid_until_us ? age_of(r->valid_until_us) : NO_AGE;
    packed->asked = (uint8_t)r->asked;
    packed->coming = (uint8_t)r->connecting;
    packed->yes = (uint8_t)r->yes;
    packed->no = (uint8_t)r->no;
    packed->unknown = (uint8_t)r->unknown;
    packed->held_by_others = config.keeps_votes ? (uint8_t)r->held_by_others : 0;
    packed->asked_again = (uint8_t)r->asked_again;
    /* A node votes once, so the lease of a node that did not say yes is never read again. */
    for (m = 0; m < MASTERS; m++) {
        if ((r->asked & ~(r->no | r->unknown)) >> m & 1) {
            packed->age[m] = age_of(r->end_us[m]);
        }
    }
}
