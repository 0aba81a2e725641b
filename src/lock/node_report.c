/* node_report.c - tells the user when a master changes its state.
 *
 * Connections come and end with events, but time alone can make a master unresponsive or end a
 * quarantine. So all masters are checked after each such event, and now and then. */
#include "lock/node_report.h"

#include "base/list.h"
#include "base/time.h"
#include "net/clock.h"

static void set_timer(struct rlk_node_report *r)
{
    rlk_timer_set(&r->loop->timers, &r->timer, rlk_time_add(rlk_clock_us(), r->pause_us));
}

static enum rlk_node_vote vote_of(const struct redlock_node_info *info)
{
    return info->quarantine_ms == 0            ? RLK_NODE_VOTES
           : info->quarantine_ms == UINT64_MAX ? RLK_NODE_NO_VOTE
                                               : RLK_NODE_VOTES_LATER;
}

/* Whether the user has not heard this yet; notes it. */
static bool is_news(struct rlk_node_known *known, const struct redlock_node_info *info)
{
    enum rlk_node_vote vote = vote_of(info);

    if (known->state == info->state && known->vote == vote) {
        return false;
    }
    *known = (struct rlk_node_known){info->state, vote};
    return true;
}

/* The user may close the manager meanwhile: that ends the reports. */
static void report_node(struct rlk_call *call)
{
    struct rlk_node_report *r = RLK_CONTAINER(call, struct rlk_node_report, call);
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < redlock_node_count(r->rl) && r->cb; i++) {
        unsigned node = rlk_options_find(r->options, i);

        if (redlock_get_node_info(r->rl, i, &info) == 0 && is_news(&r->known[node], &info)) {
            r->cb(r->rl, i, &info, r->arg);
        }
    }
}

static void on_report_timer(struct rlk_timer *timer, uint64_t now_us)
{
    struct rlk_node_report *r = RLK_CONTAINER(timer, struct rlk_node_report, timer);

    (void)now_us;
    rlk_node_report_check(r);
    set_timer(r);
}

void rlk_node_report_begin(struct rlk_node_report *r, struct redlock *rl, struct rlk_loop *loop,
                           const struct rlk_options *options, const struct redlock_options *public)
{
    size_t i;

    r->cb = public->node_cb;
    r->arg = public->node_arg;
    r->options = options;
    r->rl = rl;
    r->loop = loop;
    r->pause_us = rlk_time_max(rlk_time_from_ms(public->node_timeout_ms) / 4, rlk_time_from_ms(1));
    rlk_call_init(&r->call, report_node);
    rlk_timer_init(&r->timer, on_report_timer);
    for (i = 0; i < REDLOCK_MAX_NODES; i++) {
        r->known[i] = (struct rlk_node_known){REDLOCK_NODE_CONNECTING, RLK_NODE_VOTES};
    }
    if (r->cb) {
        set_timer(r);
    }
}

void rlk_node_report_check(struct rlk_node_report *r)
{
    if (r->cb) {
        rlk_turn_report(&r->loop->turn, &r->call);
    }
}

void rlk_node_report_end(struct rlk_node_report *r)
{
    r->cb = NULL;
    rlk_timer_cancel(&r->loop->timers, &r->timer);
    rlk_list_remove(&r->call.link);
}
