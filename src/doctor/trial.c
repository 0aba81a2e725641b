/* trial.c - a conversation over a link of its own. */
#include "doctor/trial.h"

#include <stdio.h>

#include <redlock/lock.h>

#include "base/list.h"
#include "core/reply.h"
#include "doctor/checkup.h"
#include "net/clock.h"
#include "node/node.h"
#include "node/options.h"
#include "node/side.h"
#include "node/talk.h"

static void finish(struct rlk_trial *t)
{
    rlk_trial_cancel(t);
    t->done(t);
}

static void fail(struct rlk_trial *t, const struct rlk_trouble *why)
{
    rlk_checkup_note_subscriber(t->checkup, t->link.node, why);
    finish(t);
}

static void fail_by(struct rlk_trial *t, enum rlk_trouble_kind kind, const char *words)
{
    fail(t, &(struct rlk_trouble){.kind = kind, .words = words});
}

/* ---- the conversation ---- */

static void take_auth(const struct rlk_heard *h)
{
    if (h->reply->type == RLK_REPLY_ERROR) {
        fail_by(h->context, RLK_TROUBLE_SUBSCRIBER_REFUSED, h->reply->str);
    }
}

static void take_subscribed(struct rlk_trial *t, const struct rlk_reply *reply, unsigned channel)
{
    if (reply->type != RLK_REPLY_ERROR) {
        if (!rlk_side_is_subscribed(reply)) {
            fail_by(t, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str);
        }
    } else if (!rlk_checkup_take_denial(t->checkup, REDLOCK_RIGHT_SUBSCRIBE, channel, reply)) {
        fail_by(t, RLK_TROUBLE_SUBSCRIBER_REFUSED, reply->str);
    }
}

static void take_wakes(const struct rlk_heard *h)
{
    take_subscribed(h->context, h->reply, REDLOCK_RIGHT_WAKES);
}

static void take_invalidations(const struct rlk_heard *h)
{
    take_subscribed(h->context, h->reply, REDLOCK_RIGHT_INVALIDATIONS);
}

/* Not if the last line has ended the trial. */
static void on_answered(const struct rlk_heard *h)
{
    struct rlk_trial *t = h->context;

    if (rlk_trial_is_open(t)) {
        finish(t);
    }
}

/* Nobody publishes to this channel: a message for the manager must not get lost here. */
static bool format_wakes(struct rlk_command *c, const struct rlk_say *say)
{
    char channel[REDLOCK_MAX_KEY + 64];

    snprintf(channel, sizeof(channel), "%s:doctor", say->node->options->wake_channel);
    return rlk_command_words(c, RLK_WORDS("SUBSCRIBE", channel)) == 0;
}

static const struct rlk_talk talk = {
    RLK_LINES(
        {.format = rlk_side_format_login, .when = rlk_side_needs_login, .take = take_auth},
        {.format = format_wakes, .take = take_wakes},
        {.words = RLK_WORDS("SUBSCRIBE", RLK_SIDE_INVALIDATIONS), .take = take_invalidations}),
    .in_handshake = true, .has_login = true, .done = on_answered};

/* ---- its link ---- */

static struct rlk_trial *trial_of(struct rlk_link *l)
{
    return RLK_CONTAINER(l, struct rlk_trial, link);
}

static void on_trial_opened(struct rlk_link *l, uint64_t now_us)
{
    if (!rlk_talk_begin(l, &talk, trial_of(l), now_us)) {
        fail_by(trial_of(l), RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE, NULL);
    }
}

static void on_trial_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_link *l = rlk_link_of(c);
    struct rlk_exchange x;

    if (rlk_inflight_pop(&l->inflight, &x)) {
        rlk_talk_reply(l, &x, reply, now_us);
    } else {
        fail_by(trial_of(l), RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str);
    }
}

static void on_trial_ended(struct rlk_link *l, enum rlk_link_end end, const struct rlk_fault *fault,
                           uint64_t now_us)
{
    struct rlk_trouble t = rlk_side_trouble(l, fault);

    (void)end;
    (void)now_us;
    fail(trial_of(l), &t);
}

static const struct rlk_link_owner link_owner = {.conn = {.opened = rlk_link_on_opened,
                                                          .replied = on_trial_replied,
                                                          .broken = rlk_link_on_broken},
                                                 .opened = on_trial_opened,
                                                 .ended = on_trial_ended};

void rlk_trial_init(struct rlk_trial *t, struct rlk_node *n, struct rlk_checkup *p,
                    void (*done)(struct rlk_trial *t))
{
    t->checkup = p;
    t->done = done;
    rlk_node_init_link(n, &t->link, &link_owner);
}

void rlk_trial_start(struct rlk_trial *t, uint64_t now_us)
{
    rlk_link_open_same(&t->link, &t->link.node->link, now_us);
}

bool rlk_trial_is_open(const struct rlk_trial *t)
{
    return t->link.state != RLK_LINK_DOWN;
}

void rlk_trial_cancel(struct rlk_trial *t)
{
    rlk_link_close(&t->link);
    rlk_talk_break(&t->link, rlk_clock_us());
}

void rlk_trial_end(struct rlk_trial *t)
{
    rlk_trial_cancel(t);
    rlk_link_end(&t->link);
}
