/* subscriber_conn.c - the handshake of a node's second link, and what the server sends over it. */
#include "node/subscriber.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/lock.h>

#include "base/time.h"
#include "net/clock.h"
#include "net/loop.h"
#include "net/uri.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/side.h"
#include "node/talk.h"
#include "node/trace.h"

#define RETRY_MAX_US 10000000

/* Not kept as a trouble of the node: locks do not need the subscriber connection, and waiters poll
 * without it. */
RLK_COLD static void trace_failure(const struct rlk_node *n, struct rlk_trouble t)
{
    char words[RLK_TROUBLE_WORDS], text[RLK_TROUBLE_TEXT];

    if (t.words && t.fault == RLK_FAULT_NONE) {
        rlk_node_quote(n, t.words, words, sizeof(words));
        t.words = words;
    }
    rlk_trouble_write(&t, text, sizeof(text));
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_NODE_TROUBLE, .text = text);
}

static void wake(struct rlk_node *n, enum rlk_wake kind, uint64_t now_us)
{
    n->hooks->woken(n, kind, NULL, 0, now_us);
}

bool rlk_subscriber_close(struct rlk_node *n)
{
    struct rlk_subscriber *w = &n->subscriber;
    bool was_coming = w->link.state != RLK_LINK_DOWN || rlk_timer_is_set(&w->link.timer);

    rlk_timer_cancel(&n->loop->timers, &w->idle_timer);
    if (w->up) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_UNSUBSCRIBED);
    }
    rlk_link_close(&w->link);
    rlk_talk_break(&w->link, rlk_clock_us());
    w->up = w->tracks = false;
    return was_coming;
}

/* Close it, and open it again later, if somebody wants it then. The timer is set even without a
 * user: the next user must not reconnect too often. */
static void fail_subscriber(struct rlk_node *n, const struct rlk_trouble *t, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;
    uint64_t up_us = w->up ? rlk_time_sub(now_us, w->since_us) : 0;
    uint64_t delay_us = rlk_link_backoff_us(&w->link, up_us);

    if (rlk_trace_is_on(n->options)) {
        trace_failure(n, *t);
    }
    rlk_subscriber_close(n);
    rlk_link_retry(&w->link, delay_us, now_us);
    wake(n, RLK_WAKE_UNSUBSCRIBED, now_us);
}

static void fail_by(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words,
                    uint64_t now_us)
{
    fail_subscriber(n, &(struct rlk_trouble){.kind = kind, .words = words}, now_us);
}

static void come_up(struct rlk_node *n, uint64_t now_us)
{
    n->subscriber.up = true;
    n->subscriber.since_us = now_us;
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_SUBSCRIBED);
    wake(n, RLK_WAKE_SUBSCRIBED, now_us);
}

/* ---- tracking, over the command connection ---- */

/* A reply to an earlier attempt says nothing about this one, whose reply is still to come. */
static void take_tracking(const struct rlk_heard *h)
{
    struct rlk_subscriber *w = &h->node->subscriber;

    w->trackings--;
    if (w->trackings == 0 && w->link.state == RLK_LINK_UP && !w->up) {
        w->tracks = h->reply->type == RLK_REPLY_STATUS;
        come_up(h->node, h->now_us);
    }
}

/* The node went down, and has closed the subscriber connection. */
static void on_tracking_broken(const struct rlk_heard *h)
{
    h->node->subscriber.trackings--;
}

static bool format_tracking(struct rlk_command *c, const struct rlk_say *say)
{
    char id[24];
    const char *const words[] = {"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", NULL};

    snprintf(id, sizeof(id), "%" PRId64, say->node->subscriber.client_id);
    return rlk_command_words(c, words) == 0;
}

static const struct rlk_talk tracking = {
    RLK_LINES({.format = format_tracking, .take = take_tracking}), .in_handshake = true,
    .broken = on_tracking_broken};

/* The subscriptions have their replies. */
static void begin_tracking(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;

    rlk_link_up(&w->link);
    if (w->client_id == 0 || !w->invalidations) {
        come_up(n, now_us);
    } else if (rlk_talk_begin(&n->link, &tracking, NULL, now_us)) {
        w->trackings++;
    } else {
        fail_by(n, RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE, NULL, now_us);
    }
}

/* ---- the handshake ---- */

static void take_auth(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    n->login_refused = h->reply->type == RLK_REPLY_ERROR;
    if (n->login_refused) {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_REFUSED, h->reply->str, h->now_us);
    }
}

static void take_id(const struct rlk_heard *h)
{
    h->node->subscriber.client_id = h->reply->type == RLK_REPLY_INTEGER ? h->reply->integer : 0;
}

/* Whether the reply to a SUBSCRIBE is one, or an error. */
static bool is_answer(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    bool answer = reply->type == RLK_REPLY_ERROR || rlk_side_is_subscribed(reply);

    if (!answer) {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str, now_us);
    }
    return answer;
}

static void take_channel(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    if (!is_answer(n, h->reply, h->now_us)) {
        return;
    }
    n->subscriber.subscribed = h->reply->type != RLK_REPLY_ERROR;
    if (!n->subscriber.subscribed) {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_REFUSED, h->reply->str, h->now_us);
    }
}

/* These may be refused. */
static void take_invalidations(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    if (is_answer(n, h->reply, h->now_us)) {
        n->subscriber.invalidations = h->reply->type != RLK_REPLY_ERROR;
        begin_tracking(n, h->now_us);
    }
}

static bool format_name(struct rlk_command *c, const struct rlk_say *say)
{
    char name[96];
    const char *const words[] = {"CLIENT", "SETNAME", name, NULL};

    snprintf(name, sizeof(name), "%s:subscriber", say->node->options->client_name);
    return rlk_command_words(c, words) == 0;
}

static bool format_channel(struct rlk_command *c, const struct rlk_say *say)
{
    return rlk_command_words(c, RLK_WORDS("SUBSCRIBE", say->node->options->wake_channel)) == 0;
}

static const struct rlk_talk handshake = {
    RLK_LINES(
        {.format = rlk_side_format_login, .when = rlk_side_needs_login, .take = take_auth},
        {.format = format_name}, {.words = RLK_WORDS("CLIENT", "ID"), .take = take_id},
        {.format = format_channel, .take = take_channel},
        {.words = RLK_WORDS("SUBSCRIBE", RLK_SIDE_INVALIDATIONS), .take = take_invalidations}),
    .in_handshake = true, .has_login = true};

/* ---- what the server sends by itself ---- */

/* Anybody may publish to our channel: ignore what is not one of our messages. */
static void take_message(struct rlk_node *n, const struct rlk_reply *text, uint64_t now_us)
{
    enum rlk_wake kind = RLK_WAKE_FREE;

    if (text->type != RLK_REPLY_STRING || text->len < 2 || text->len > RLK_SUBSCRIBER_MAX) {
        return;
    }
    if (text->str[0] == RLK_SUBSCRIBER_NEXT) {
        kind = RLK_WAKE_NEXT;
    } else if (text->str[0] == RLK_SUBSCRIBER_RESERVED) {
        kind = RLK_WAKE_RESERVED;
    } else if (text->str[0] != RLK_SUBSCRIBER_WAKE) {
        return;
    }
    if (kind != RLK_WAKE_RESERVED && text->len > REDLOCK_MAX_KEY + 1) {
        return;
    }
    n->hooks->woken(n, kind, text->str + 1, text->len - 1, now_us);
}

/* An array of keys; nil after FLUSHALL, or when the table of tracked keys was dropped. The hook may
 * end the connection, and the reply with it. */
static void take_invalidation(struct rlk_node *n, const struct rlk_reply *keys, uint64_t now_us)
{
    uint64_t opened = n->subscriber.link.conn.opened;
    int64_t i;

    if (keys->type == RLK_REPLY_NIL) {
        wake(n, RLK_WAKE_SUBSCRIBED, now_us);
        return;
    }
    for (i = 1; keys->type == RLK_REPLY_ARRAY && i <= keys->integer; i++) {
        if (!n->subscriber.up || n->subscriber.link.conn.opened != opened ||
            keys[i].type != RLK_REPLY_STRING) {
            return;
        }
        n->hooks->woken(n, RLK_WAKE_CHANGED, keys[i].str, keys[i].len, now_us);
    }
}

static bool is_push(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 3 &&
           strcmp(reply[1].str, "message") == 0;
}

/* Messages that come before the subscriber connection is up are not needed: when it comes up,
 * waiters ask again. */
static void take_push(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    if (!n->subscriber.up) {
        return;
    }
    if (strcmp(reply[2].str, n->options->wake_channel) == 0) {
        take_message(n, &reply[3], now_us);
    } else if (strcmp(reply[2].str, RLK_SIDE_INVALIDATIONS) == 0) {
        take_invalidation(n, &reply[3], now_us);
    } else {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply[2].str, now_us);
    }
}

/* ---- its link ---- */

/* Messages may come as soon as the server has carried out SUBSCRIBE, so between two replies. */
static void on_subscriber_replied(struct rlk_conn *c, const struct rlk_reply *reply,
                                  uint64_t now_us)
{
    struct rlk_link *l = rlk_link_of(c);
    struct rlk_exchange x;

    if (l->node->subscriber.subscribed && is_push(reply)) {
        take_push(l->node, reply, now_us);
    } else if (rlk_inflight_pop(&l->inflight, &x)) {
        rlk_talk_reply(l, &x, reply, now_us);
    } else {
        fail_by(l->node, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str, now_us);
    }
}

static void on_subscriber_opened(struct rlk_link *l, uint64_t now_us)
{
    if (!rlk_talk_begin(l, &handshake, NULL, now_us)) {
        fail_by(l->node, RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE, NULL, now_us);
    }
}

static void on_subscriber_ended(struct rlk_link *l, enum rlk_link_end end,
                                const struct rlk_fault *fault, uint64_t now_us)
{
    struct rlk_trouble t = rlk_side_trouble(l, fault);

    (void)end;
    fail_subscriber(l->node, &t, now_us);
}

/* At the address that the command connection uses. */
static void on_subscriber_due(struct rlk_link *l, uint64_t now_us)
{
    struct rlk_subscriber *w = &l->node->subscriber;

    if (w->users > 0) {
        w->client_id = 0;
        w->subscribed = w->invalidations = false;
        rlk_link_open_same(l, &l->node->link, now_us);
    }
}

static const struct rlk_link_owner link_owner = {.conn = {.opened = rlk_link_on_opened,
                                                          .replied = on_subscriber_replied,
                                                          .broken = rlk_link_on_broken},
                                                 .opened = on_subscriber_opened,
                                                 .ended = on_subscriber_ended,
                                                 .due = on_subscriber_due,
                                                 .retry_max_us = RETRY_MAX_US};

static void on_idle(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, subscriber.idle_timer);

    (void)now_us;
    if (n->subscriber.up) {
        n->subscriber.link.failures = 0;
    }
    rlk_subscriber_close(n);
}

/* Not at once: then nothing is reported from inside a call of the owner. */
static void open_soon(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;

    if (n->options->subscribe && n->link.state == RLK_LINK_UP && w->users > 0 &&
        w->link.state == RLK_LINK_DOWN && !rlk_timer_is_set(&w->link.timer)) {
        rlk_link_retry(&w->link, 0, now_us);
    }
}

void rlk_subscriber_init(struct rlk_node *n)
{
    rlk_timer_init(&n->subscriber.idle_timer, on_idle);
    rlk_node_init_link(n, &n->subscriber.link, &link_owner);
}

/* The back-off of the former connection no longer matters: it may have been another server. */
void rlk_subscriber_node_up(struct rlk_node *n, uint64_t now_us)
{
    n->subscriber.link.failures = 0;
    open_soon(n, now_us);
}

void rlk_subscriber_end(struct rlk_node *n)
{
    rlk_subscriber_close(n);
    rlk_link_end(&n->subscriber.link);
}

void rlk_subscriber_want(struct rlk_node *n, uint64_t now_us)
{
    n->subscriber.users++;
    rlk_timer_cancel(&n->loop->timers, &n->subscriber.idle_timer);
    open_soon(n, now_us);
}

void rlk_subscriber_unwant(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;

    w->users--;
    if (w->users == 0 && w->link.state != RLK_LINK_DOWN) {
        rlk_timer_set(&n->loop->timers, &w->idle_timer,
                      rlk_time_add(now_us, RLK_SUBSCRIBER_IDLE_US));
    }
}

enum rlk_subscriber_state rlk_subscriber_state(const struct rlk_node *n)
{
    const struct rlk_subscriber *w = &n->subscriber;

    if (w->up) {
        return RLK_SUBSCRIBER_UP;
    }
    return w->users > 0 && w->link.failures == 0 &&
                   (w->link.state != RLK_LINK_DOWN || rlk_timer_is_set(&w->link.timer))
               ? RLK_SUBSCRIBER_COMING
               : RLK_SUBSCRIBER_NONE;
}

/* After a failure, open it as soon as the back-off is over, if somebody wants it: no other event
 * would. */
bool rlk_subscriber_can_be_had(const struct rlk_node *n)
{
    const struct rlk_subscriber *w = &n->subscriber;
    bool may_try = w->link.failures == 0 ||
                   (w->link.state == RLK_LINK_DOWN && !rlk_timer_is_set(&w->link.timer));

    return n->options->subscribe && (may_try || w->up);
}

bool rlk_subscriber_tracks(const struct rlk_node *n)
{
    return n->subscriber.tracks;
}
