/* bid.c - bids for leadership if the candidate has a priority, and observes the bids of others. */
#include "election/bid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "lock/leader_text.h"
#include "lock/manager.h"
#include "lock/observation.h"
#include "net/clock.h"

/* What the value of the key says of a bid, in front of the priority and the id; and of a call, in
 * front of the id. */
#define BID "bid "
#define CALL "call "

/* Of who is called upon. */
#define CALLED_PRIORITY (RLK_LEADER_MAX_PRIORITY + 1)

/* A bid lasts for so many ttls, and then pauses for as many. */
#define BID_TTLS 2

/* ---- the bids of others ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_of(const struct rlk_bid *b, const char *id)
{
    return strcmp(id, b->terms->id) == 0;
}

/* 0: the key is not that of a bid, or it is our own. */
static unsigned long priority_of(const struct rlk_bid *b, const char *owner)
{
    char *id;
    unsigned long priority = begins_with(owner, BID) ? strtoul(owner + strlen(BID), &id, 10) : 0;

    if (priority > CALLED_PRIORITY || (priority && *id == ' ' && is_of(b, id + 1))) {
        return 0;
    }
    return priority;
}

static void on_bids_observed(const struct redlock_query_result *r, int status, void *arg)
{
    struct rlk_bid *b = arg;

    if (status == REDLOCK_ECANCELED) {
        b->observation = NULL;
        return;
    }
    b->hooks->observed(b, r->held && priority_of(b, r->owner) > b->terms->options.priority);
    if (r->held && begins_with(r->owner, CALL) && is_of(b, r->owner + strlen(CALL))) {
        b->hooks->called(b, true);
    }
}

/* ---- our bid ---- */

static uint64_t bid_us(const struct rlk_bid *b)
{
    return BID_TTLS * rlk_time_from_ms(b->terms->options.ttl_ms);
}

/* Not at once: this one has failed, or has lasted long enough. */
static void bid_again(struct rlk_bid *b)
{
    uint64_t at_us = rlk_time_add(rlk_clock_us(), bid_us(b));

    rlk_timer_set(&b->rl->loop.timers, &b->timer, b->wanted ? at_us : RLK_NEVER);
}

/* Our bid is over. A call is answered once. */
static void end_bid(struct rlk_bid *b)
{
    if (b->called) {
        b->called = false;
        b->hooks->called(b, false);
    }
    bid_again(b);
}

/* A bid that was never made kept nobody from leading, so it does not pause as others do. */
static bool is_worth_another_try(const struct rlk_bid *b, int status, uint64_t at_us)
{
    bool passes = status == REDLOCK_ENOMEM || status == REDLOCK_ELIMIT;

    return passes && b->wanted && (!b->called || at_us < b->call_over_us);
}

static void fail_bid(struct rlk_bid *b, int status)
{
    uint64_t at_us = rlk_time_add(rlk_clock_us(), b->terms->config.retry_us);

    b->hooks->failed(b, status);
    if (is_worth_another_try(b, status, at_us)) {
        rlk_timer_set(&b->rl->loop.timers, &b->timer, at_us);
    } else {
        end_bid(b);
    }
}

static void drop(struct rlk_bid *b)
{
    if (b->lock && b->held) {
        redlock_release(b->lock, NULL, NULL);
        b->lock = NULL;
        b->held = false;
    } else if (b->lock) {
        redlock_cancel(b->lock); /* its callback comes */
    }
}

static void on_bid_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct rlk_bid *b = arg;

    b->held = status == 0;
    b->lock = b->held ? lock : NULL;
    if (status == REDLOCK_ECANCELED) {
        rlk_turn_report(&b->rl->loop.turn, &b->call); /* it may be wanted again; answers no call */
    } else if (status < 0) {
        fail_bid(b, status);
    } else if (!b->wanted) {
        drop(b);
    }
    b->hooks->settled(b);
}

static void on_bid_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct rlk_bid *b = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        drop(b);
        end_bid(b);
    }
}

/* The priority and the id. */
static void write_owner(struct rlk_bid *b)
{
    snprintf(b->owner, sizeof(b->owner), BID "%u %s",
             b->called ? CALLED_PRIORITY : b->terms->options.priority, b->terms->id);
}

static void acquire_bid(struct rlk_bid *b)
{
    struct redlock_request q;
    int status;

    write_owner(b);
    redlock_request_init(&q);
    q.key = b->key;
    q.ttl_ms = b->terms->options.ttl_ms;
    q.owner = b->owner;
    q.wait_ms = REDLOCK_FOREVER;
    q.min_validity_ms = b->terms->request.min_validity_ms; /* too slow to lead: no bid */
    q.max_hold_ms = (uint32_t)(bid_us(b) / 1000);
    q.notice_cb = on_bid_notice;
    q.notice_arg = b;
    status = redlock_acquire(b->rl, &q, on_bid_acquired, b, &b->lock);
    if (status != 0) {
        b->lock = NULL;
        fail_bid(b, status);
    }
}

/* A candidate that is not fit to lead makes nobody step aside. */
static void on_call(struct rlk_call *call)
{
    struct rlk_bid *b = RLK_CONTAINER(call, struct rlk_bid, call);

    if (!b->wanted || b->lock) {
        return;
    }
    if (b->hooks->is_healthy(b)) {
        acquire_bid(b);
    } else {
        end_bid(b);
    }
}

static void on_bid_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_bid *b = RLK_CONTAINER(t, struct rlk_bid, timer);

    (void)now_us;
    rlk_turn_report(&b->rl->loop.turn, &b->call);
}

void rlk_bid_want(struct rlk_bid *b, bool wanted, bool called)
{
    if (called && !b->called) {
        b->call_over_us = rlk_time_add(rlk_clock_us(), bid_us(b));
    }
    b->called = called;
    if (b->wanted == wanted) {
        return;
    }
    b->wanted = wanted;
    if (wanted && !rlk_timer_is_set(&b->timer)) {
        rlk_turn_report(&b->rl->loop.turn, &b->call);
    } else if (!wanted) {
        drop(b);
    }
}

/* ---- the beginning and the end ---- */

void rlk_bid_init(struct rlk_bid *b, struct redlock *rl, const struct rlk_election_terms *terms,
                  const struct rlk_bid_hooks *hooks)
{
    b->rl = rl;
    b->terms = terms;
    b->hooks = hooks;
    rlk_call_init(&b->call, on_call);
    rlk_timer_init(&b->timer, on_bid_timer);
    snprintf(b->key, sizeof(b->key), "%s" RLK_COMMAND_BID, terms->name);
}

int rlk_bid_begin(struct rlk_bid *b)
{
    return rlk_observe(b->rl, b->key, on_bids_observed, b, &b->observation);
}

void rlk_bid_stop(struct rlk_bid *b)
{
    rlk_list_remove(&b->call.link);
    rlk_timer_cancel(&b->rl->loop.timers, &b->timer);
}

void rlk_bid_end(struct rlk_bid *b)
{
    rlk_bid_want(b, false, false);
    rlk_bid_stop(b);
    rlk_observation_end(b->observation);
    b->observation = NULL;
}
