/* election.c - a function for each event of a candidate. */
#include "core/election.h"

#include <redlock/error.h>

#include "base/time.h"

/* A TIMER that comes so late, as a part of the lease, shows that this process did not run. */
#define LATE_PARTS 10

/* How many leases a candidate that does not ask remembers a call: as long as a bid of somebody else
 * may last. */
#define CALL_LEASES 2

void rlk_election_init(struct rlk_election *e, const struct rlk_election_config *config)
{
    *e = (struct rlk_election){.state = RLK_ELECTION_IDLE, .config = *config};
}

/* [L1] */
static uint64_t leadership_until_us(const struct rlk_election *e, uint64_t valid_until_us)
{
    return rlk_time_sub(valid_until_us, e->config.lease_us - e->config.renew_deadline_us);
}

/* ---- asking ---- */

/* [L5] */
static void ask_for_leadership(struct rlk_election *e, struct rlk_election_actions *out)
{
    if (e->outranked) {
        e->state = RLK_ELECTION_PAUSED;
        e->pause_us = 0;
    } else {
        e->state = RLK_ELECTION_ASKING;
        out->acquire = true;
    }
}

static void rest(struct rlk_election *e, uint64_t for_us, uint64_t now_us,
                 struct rlk_election_actions *out)
{
    if (!e->wants) {
        e->state = RLK_ELECTION_IDLE;
    } else if (for_us == 0) {
        ask_for_leadership(e, out);
    } else {
        e->state = RLK_ELECTION_PAUSED;
        e->pause_us = rlk_time_add(now_us, for_us);
    }
}

static void leave(struct rlk_election *e, struct rlk_election_actions *out)
{
    e->state = RLK_ELECTION_LEAVING;
    out->cancel = true;
}

static void campaign(struct rlk_election *e, const struct rlk_election_event *ev,
                     struct rlk_election_actions *out)
{
    (void)ev;
    e->wants = true;
    if (e->state == RLK_ELECTION_IDLE) {
        ask_for_leadership(e, out);
    }
}

static void fail_election(struct rlk_election *e, const struct rlk_election_event *ev,
                          struct rlk_election_actions *out)
{
    if (e->state == RLK_ELECTION_ASKING || e->state == RLK_ELECTION_LEAVING) {
        bool asked = e->state == RLK_ELECTION_ASKING;

        e->called = e->called && !asked;
        rest(e, asked ? e->config.retry_us : 0, ev->now_us, out);
    }
}

/* ---- leading ---- */

/* [L2] Nobody may rely on leadership from now on; the callback comes next. */
static void demote(struct rlk_election *e, int reason, struct rlk_election_actions *out)
{
    e->state = RLK_ELECTION_DEMOTED;
    e->reason = reason;
    e->leadership_until_us = 0;
    e->stopped = !e->config.stops_later;
    out->demoted = true;
}

static void win(struct rlk_election *e, const struct rlk_election_event *ev,
                struct rlk_election_actions *out)
{
    if (e->state == RLK_ELECTION_LEAVING) { /* it was won before it could be cancelled */
        out->release = true;
        rest(e, 0, ev->now_us, out);
        return;
    }
    e->called = false;
    if (!ev->healthy || leadership_until_us(e, ev->valid_until_us) <= ev->now_us) {
        out->release = true;
        rest(e, e->config.retry_us, ev->now_us, out);
        return;
    }
    e->state = RLK_ELECTION_LEADING;
    e->released = e->hands_over = false;
    e->valid_until_us = ev->valid_until_us;
    e->leadership_until_us = leadership_until_us(e, ev->valid_until_us);
    out->elected = true;
}

/* Why leadership is over. Even when nothing else is known to be wrong, a late timer shows that this
 * process was suspended. */
static int why_over(const struct rlk_election *e, const struct rlk_election_event *ev)
{
    uint64_t late_us = rlk_time_sub(ev->now_us, e->leadership_until_us);

    if (ev->kind == RLK_ELECTION_TIMER && late_us > e->config.lease_us / LATE_PARTS) {
        return REDLOCK_ESUSPENDED;
    }
    return ev->reason ? ev->reason : REDLOCK_ENOQUORUM;
}

/* A late renewal gives nobody more time to stop. */
static void move(struct rlk_election *e, const struct rlk_election_event *ev,
                 struct rlk_election_actions *out)
{
    uint64_t until_us = leadership_until_us(e, ev->valid_until_us);

    if (e->state == RLK_ELECTION_DEMOTED) {
        e->valid_until_us = rlk_time_min(e->valid_until_us, ev->valid_until_us);
    }
    if (e->state != RLK_ELECTION_LEADING) {
        return;
    }
    out->moved = until_us != e->leadership_until_us;
    e->valid_until_us = ev->valid_until_us;
    e->leadership_until_us = until_us;
    if (until_us <= ev->now_us) {
        out->moved = false;
        demote(e, why_over(e, ev), out);
    }
}

/* ---- after leadership ---- */

static void release_once(struct rlk_election *e, struct rlk_election_actions *out)
{
    out->release = !e->released;
    e->released = true;
}

/* After it resigned, a candidate does not ask again at once: another one leads now, or should. */
static void end_leadership(struct rlk_election *e, uint64_t now_us,
                           struct rlk_election_actions *out)
{
    bool given_up = e->reason == REDLOCK_EUNRENEWED || e->reason == REDLOCK_EOUTRANKED;
    uint64_t least_us = given_up ? e->config.retry_us : 0;

    release_once(e, out);
    out->hand_over = out->release && e->hands_over;
    rest(e, e->reason ? rlk_time_max(e->config.delay_us, least_us) : 0, now_us, out);
}

/* [L4] */
static void reported(struct rlk_election *e, const struct rlk_election_event *ev,
                     struct rlk_election_actions *out)
{
    if (e->state != RLK_ELECTION_DEMOTED) {
        return;
    }
    if (e->stopped) {
        end_leadership(e, ev->now_us, out);
    } else {
        e->state = RLK_ELECTION_STOPPING;
        out->stop_renewing = true;
    }
}

static void stopped(struct rlk_election *e, const struct rlk_election_event *ev,
                    struct rlk_election_actions *out)
{
    e->stopped = true;
    if (e->state == RLK_ELECTION_STOPPING) {
        end_leadership(e, ev->now_us, out);
    }
}

/* [L4] When the application is stopping it was told by when. Its lock stays where it is until then:
 * what masters have lost keeps others out for as long [S11], and a release would let them in. */
static void lose_leadership(struct rlk_election *e, const struct rlk_election_event *ev,
                            struct rlk_election_actions *out)
{
    if (e->state == RLK_ELECTION_LEADING) {
        demote(e, ev->reason, out);
    }
    if (e->state == RLK_ELECTION_DEMOTED) {
        e->valid_until_us = 0;
    }
}

static void give_up(struct rlk_election *e, int reason, struct rlk_election_actions *out)
{
    e->wants = false;
    if (e->state == RLK_ELECTION_LEADING) {
        demote(e, reason, out);
    } else if (e->state == RLK_ELECTION_ASKING) {
        leave(e, out);
    } else if (e->state == RLK_ELECTION_PAUSED) {
        e->state = RLK_ELECTION_IDLE;
    }
}

static void resign(struct rlk_election *e, const struct rlk_election_event *ev,
                   struct rlk_election_actions *out)
{
    (void)ev;
    give_up(e, REDLOCK_OK, out);
}

/* [L2] It is handed over when the application has stopped; if its time to stop is over before, the
 * lock is anybody's. */
static void hand_over(struct rlk_election *e, const struct rlk_election_event *ev,
                      struct rlk_election_actions *out)
{
    resign(e, ev, out);
    e->hands_over = e->state == RLK_ELECTION_DEMOTED || e->state == RLK_ELECTION_STOPPING;
}

static void shut(struct rlk_election *e, const struct rlk_election_event *ev,
                 struct rlk_election_actions *out)
{
    give_up(e, REDLOCK_ECANCELED, out);
    stopped(e, ev, out);
}

static void be_sick(struct rlk_election *e, const struct rlk_election_event *ev,
                    struct rlk_election_actions *out)
{
    (void)ev;
    if (e->state == RLK_ELECTION_LEADING) {
        demote(e, REDLOCK_EUNRENEWED, out);
    }
}

/* [L5] */
static void rank(struct rlk_election *e, const struct rlk_election_event *ev,
                 struct rlk_election_actions *out)
{
    e->outranked = ev->outranked;
    if (e->outranked && e->state == RLK_ELECTION_LEADING) {
        demote(e, REDLOCK_EOUTRANKED, out);
    } else if (e->outranked && e->state == RLK_ELECTION_ASKING) {
        leave(e, out);
    }
}

/* [L5] Only a candidate that asks can be elected next; another one answers when it asks again. */
static void be_called(struct rlk_election *e, const struct rlk_election_event *ev,
                      struct rlk_election_actions *out)
{
    (void)out;
    e->called = ev->called;
    e->called_until_us = rlk_time_add(ev->now_us, CALL_LEASES * e->config.lease_us);
}

/* Whether a call is still to be answered. Who bids for it goes on. */
static bool remembers_call(const struct rlk_election *e, uint64_t now_us)
{
    bool is_new = e->state == RLK_ELECTION_ASKING || now_us < e->called_until_us;

    return e->called && e->wants && is_new && e->state != RLK_ELECTION_LEADING;
}

/* [L5] When nobody leads, a bid goes on until somebody does: otherwise other candidates would be
 * faster. */
static void watch_leader(struct rlk_election *e, const struct rlk_election_event *ev,
                         struct rlk_election_actions *out)
{
    (void)out;
    if (ev->led) {
        e->led_by_lower = ev->priority < e->config.priority;
    }
}

static void on_election_timer(struct rlk_election *e, const struct rlk_election_event *ev,
                              struct rlk_election_actions *out)
{
    if (e->state == RLK_ELECTION_LEADING && e->leadership_until_us <= ev->now_us) {
        demote(e, why_over(e, ev), out);
    } else if (e->state == RLK_ELECTION_STOPPING && e->valid_until_us <= ev->now_us) {
        release_once(e, out);
    }
}

/* ---- stepping ---- */

static uint64_t deadline_us(const struct rlk_election *e)
{
    if (e->state == RLK_ELECTION_LEADING) {
        return e->leadership_until_us;
    }
    if (e->state == RLK_ELECTION_STOPPING && !e->released) {
        return e->valid_until_us;
    }
    return e->state == RLK_ELECTION_PAUSED && !e->outranked ? e->pause_us : RLK_NEVER;
}

void rlk_election_step(struct rlk_election *e, const struct rlk_election_event *ev,
                       struct rlk_election_actions *out)
{
    static void (*const steps[RLK_ELECTION_EVENT_KINDS])(
        struct rlk_election *, const struct rlk_election_event *,
        struct rlk_election_actions *) = {[RLK_ELECTION_CAMPAIGN] = campaign,
                                          [RLK_ELECTION_RESIGN] = resign,
                                          [RLK_ELECTION_HAND_OVER] = hand_over,
                                          [RLK_ELECTION_CLOSE] = shut,
                                          [RLK_ELECTION_WON] = win,
                                          [RLK_ELECTION_FAILED] = fail_election,
                                          [RLK_ELECTION_MOVED] = move,
                                          [RLK_ELECTION_LOST] = lose_leadership,
                                          [RLK_ELECTION_SICK] = be_sick,
                                          [RLK_ELECTION_LED] = watch_leader,
                                          [RLK_ELECTION_OUTRANKED] = rank,
                                          [RLK_ELECTION_CALLED] = be_called,
                                          [RLK_ELECTION_REPORTED] = reported,
                                          [RLK_ELECTION_STOPPED] = stopped,
                                          [RLK_ELECTION_TIMER] = on_election_timer};

    *out = (struct rlk_election_actions){0};
    e->called = remembers_call(e, ev->now_us);
    steps[ev->kind](e, ev, out);
    if (e->state == RLK_ELECTION_PAUSED && !e->outranked && e->pause_us <= ev->now_us) {
        ask_for_leadership(e, out);
    }
    e->called = remembers_call(e, ev->now_us);
    out->bids = e->state == RLK_ELECTION_ASKING && (e->led_by_lower || e->called);
    out->deadline_us = deadline_us(e);
}
