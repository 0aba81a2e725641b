/* bid.c - bids for leadership if the candidate has a priority, and observes the bids of others. */
#include "election/bid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "election/election.h"
#include "lock/leader_text.h"
#include "lock/observation.h"
#include "net/clock.h"

/* What the value of the key says of a bid, in front of the priority. */
#define OWNER "bid "

/* A bid lasts for so many ttls, and then pauses for as many. */
#define BID_TTLS 2

/* ---- the bids of others ---- */

/* 0: the key is not that of a bid. */
static unsigned long priority_of(const char *owner)
{
    size_t len = strlen(OWNER);

    unsigned long priority = strncmp(owner, OWNER, len) == 0 ? strtoul(owner + len, NULL, 10) : 0;

    return priority <= RLK_LEADER_MAX_PRIORITY ? priority : 0;
}

static void on_observed(const struct redlock_query_result *r, int status, void *arg)
{
    struct redlock_election *e = arg;

    if (status == REDLOCK_ECANCELED) {
        e->bid.observation = NULL;
        return;
    }
    rlk_election_do(e, (struct rlk_election_event){
                           .kind = RLK_ELECTION_OUTRANKED,
                           .outranked = r->held && priority_of(r->owner) > e->options.priority});
}

/* ---- our bid ---- */

static uint64_t bid_us(const struct redlock_election *e)
{
    return BID_TTLS * rlk_time_from_ms(e->options.ttl_ms);
}

/* Not at once: this one has failed, or has lasted long enough. */
static void bid_again(struct redlock_election *e)
{
    uint64_t at_us = rlk_time_add(rlk_clock_us(), bid_us(e));

    rlk_timer_set(&e->rl->loop.timers, &e->bid.timer, e->bid.wanted ? at_us : RLK_NEVER);
}

static void drop(struct redlock_election *e)
{
    struct rlk_bid *b = &e->bid;

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
    struct redlock_election *e = arg;
    struct rlk_bid *b = &e->bid;

    (void)lock;
    b->held = status == 0;
    if (status < 0) {
        b->lock = NULL;
        bid_again(e);
    } else if (!b->wanted) {
        drop(e);
    }
    rlk_election_settle(e);
}

static void on_bid_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct redlock_election *e = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        drop(e);
        bid_again(e);
    }
}

static void acquire_bid(struct redlock_election *e)
{
    struct redlock_request q;

    redlock_request_init(&q);
    q.key = e->bid.key;
    q.ttl_ms = e->options.ttl_ms;
    q.owner = e->bid.owner;
    q.wait_ms = REDLOCK_FOREVER;
    q.min_validity_ms = e->request.min_validity_ms; /* too slow to lead: no bid */
    q.max_hold_ms = (uint32_t)(bid_us(e) / 1000);
    q.notice_cb = on_bid_notice;
    q.notice_arg = e;
    if (redlock_acquire(e->rl, &q, on_bid_acquired, e, &e->bid.lock) != 0) {
        e->bid.lock = NULL;
        bid_again(e);
    }
}

/* A candidate that is not fit to lead makes nobody step aside. */
static void on_call(struct rlk_call *call)
{
    struct redlock_election *e = RLK_CONTAINER(call, struct redlock_election, bid.call);

    if (!e->bid.wanted || e->bid.lock) {
        return;
    }
    if (rlk_election_is_healthy(e)) {
        acquire_bid(e);
    } else {
        bid_again(e);
    }
}

static void on_bid_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct redlock_election *e = RLK_CONTAINER(t, struct redlock_election, bid.timer);

    (void)now_us;
    rlk_turn_report(&e->rl->loop.turn, &e->bid.call);
}

void rlk_bid_want(struct redlock_election *e, bool wanted)
{
    struct rlk_bid *b = &e->bid;

    if (b->wanted == wanted) {
        return;
    }
    b->wanted = wanted;
    if (wanted && !b->timer.set) {
        rlk_turn_report(&e->rl->loop.turn, &b->call);
    } else if (!wanted) {
        drop(e);
    }
}

/* ---- the beginning and the end ---- */

void rlk_bid_init(struct redlock_election *e)
{
    struct rlk_bid *b = &e->bid;
    const char *id = e->options.id ? e->options.id : "";

    rlk_call_init(&b->call, on_call);
    rlk_timer_init(&b->timer, on_bid_timer);
    snprintf(b->key, sizeof(b->key), "%s" RLK_BID_KEY, e->name);
    snprintf(b->owner, sizeof(b->owner), OWNER "%u %s", e->options.priority, id);
}

int rlk_bid_begin(struct redlock_election *e)
{
    struct rlk_bid *b = &e->bid;

    return rlk_observe(e->rl, b->key, on_observed, e, &b->observation);
}

void rlk_bid_stop(struct redlock_election *e)
{
    rlk_list_remove(&e->bid.call.link);
    rlk_timer_cancel(&e->rl->loop.timers, &e->bid.timer);
}

void rlk_bid_end(struct redlock_election *e)
{
    struct rlk_bid *b = &e->bid;

    rlk_bid_want(e, false);
    rlk_bid_stop(e);
    rlk_observation_end(b->observation);
    b->observation = NULL;
}
