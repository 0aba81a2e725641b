/* subscriber_conn.c - opens, greets and reads the second connection of a node. */
#include "node/subscriber.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/lock.h>

#include "base/time.h"
#include "core/backoff.h"
#include "net/clock.h"
#include "net/loop.h"
#include "net/uri.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/side.h"
#include "node/trace.h"

#define RETRY_MIN_US 10000
#define RETRY_MAX_US 10000000

static struct rlk_node *node_of(struct rlk_conn *c)
{
    return RLK_CONTAINER(c, struct rlk_node, subscriber.conn);
}

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
    bool was_coming = w->step != RLK_SUBSCRIBER_CLOSED || w->timer.set;

    rlk_timer_cancel(&n->loop->timers, &w->timer);
    rlk_timer_cancel(&n->loop->timers, &w->idle_timer);
    if (w->step == RLK_SUBSCRIBER_DONE) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_UNSUBSCRIBED);
    }
    rlk_dial_cancel(&w->dial);
    rlk_conn_close(&w->conn, true);
    w->step = RLK_SUBSCRIBER_CLOSED;
    w->tracks = false;
    return was_coming;
}

/* Close it, and open it again later, if somebody wants it then. The timer is also set without a
 * user: the next one must not hammer the server. */
static void fail_subscriber(struct rlk_node *n, const struct rlk_trouble *t, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;
    uint64_t up_us = w->step == RLK_SUBSCRIBER_DONE ? rlk_time_sub(now_us, w->since_us) : 0;
    uint64_t delay_us =
        rlk_backoff_reconnect_us(&n->prng, &w->failures, up_us, RETRY_MIN_US, RETRY_MAX_US);

    if (rlk_trace_is_on(n->options)) {
        trace_failure(n, *t);
    }
    rlk_subscriber_close(n);
    rlk_timer_set(&n->loop->timers, &w->timer, rlk_time_add(now_us, delay_us));
    wake(n, RLK_WAKE_UNSUBSCRIBED, now_us);
}

static void fail_by(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words,
                    uint64_t now_us)
{
    fail_subscriber(n, &(struct rlk_trouble){.kind = kind, .words = words}, now_us);
}

static void come_up(struct rlk_node *n, uint64_t now_us)
{
    n->subscriber.step = RLK_SUBSCRIBER_DONE;
    n->subscriber.since_us = now_us;
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_SUBSCRIBED);
    wake(n, RLK_WAKE_SUBSCRIBED, now_us);
}

/* ---- tracking, over the command connection ---- */

/* A reply to an earlier attempt says nothing about this one, whose reply is still to come. */
static void on_tracking(struct rlk_node *n, const struct rlk_exchange *r,
                        const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;

    (void)r;
    w->trackings--;
    if (w->trackings == 0 && w->step == RLK_SUBSCRIBER_TRACKING) {
        w->tracks = reply->type == RLK_REPLY_STATUS;
        come_up(n, now_us);
    }
}

/* The node went down, and has closed the subscriber connection. */
static void on_tracking_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    n->subscriber.trackings--;
}

static void begin_tracking(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_tracking,
                                                  .broken = on_tracking_broken};
    char id[24];
    const char *const words[] = {"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", NULL};

    rlk_timer_cancel(&n->loop->timers, &n->subscriber.timer);
    n->subscriber.step = RLK_SUBSCRIBER_TRACKING;
    if (n->subscriber.client_id == 0 || !n->subscriber.invalidations) {
        come_up(n, now_us);
        return;
    }
    snprintf(id, sizeof(id), "%" PRId64, n->subscriber.client_id);
    if (!rlk_node_send_words(n, &kind, words, now_us)) {
        fail_by(n, RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE, NULL, now_us);
        return;
    }
    n->subscriber.trackings++;
}

/* ---- the handshake ---- */

static bool send_greeting(struct rlk_node *n)
{
    char name[96];
    const char *const set_name[] = {"CLIENT", "SETNAME", name, NULL};
    const char *const get_id[] = {"CLIENT", "ID", NULL};
    const char *const channel[] = {"SUBSCRIBE", n->options->wake_channel, NULL};
    const char *const invalid[] = {"SUBSCRIBE", RLK_SIDE_INVALIDATIONS, NULL};
    struct rlk_conn *c = &n->subscriber.conn;

    snprintf(name, sizeof(name), "%s:subscriber", n->options->client_name);
    return rlk_side_send_login(c, n) && rlk_side_send(c, set_name) && rlk_side_send(c, get_id) &&
           rlk_side_send(c, channel) && rlk_side_send(c, invalid);
}

/* The reply to the command of this step. The name, the id and the invalidations may be refused. */
static void take_greeting(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;
    enum rlk_subscriber_step step = w->step++;
    bool refused = reply->type == RLK_REPLY_ERROR;

    if (step == RLK_SUBSCRIBER_AUTH) {
        n->login_refused = refused;
    }
    if (refused && (step == RLK_SUBSCRIBER_AUTH || step == RLK_SUBSCRIBER_CHANNEL)) {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_REFUSED, reply->str, now_us);
    } else if (step >= RLK_SUBSCRIBER_CHANNEL && !refused && !rlk_side_is_subscribed(reply)) {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str, now_us);
    } else if (step == RLK_SUBSCRIBER_ID) {
        w->client_id = reply->type == RLK_REPLY_INTEGER ? reply->integer : 0;
    } else if (step == RLK_SUBSCRIBER_INVALIDATIONS) {
        w->invalidations = !refused;
        begin_tracking(n, now_us);
    }
}

/* ---- what the server sends by itself ---- */

/* Anybody may publish to our channel: ignore what is not one of our messages. */
static void take_message(struct rlk_node *n, const struct rlk_reply *text, uint64_t now_us)
{
    enum rlk_wake kind = RLK_WAKE_TURN;

    if (text->type != RLK_REPLY_STRING || text->len < 2 || text->len > REDLOCK_MAX_KEY + 1) {
        return;
    }
    if (text->str[0] == RLK_SUBSCRIBER_NEXT) {
        kind = RLK_WAKE_NEXT;
    } else if (text->str[0] != RLK_SUBSCRIBER_TURN) {
        return;
    }
    n->hooks->woken(n, kind, text->str + 1, text->len - 1, now_us);
}

/* An array of keys; nil after FLUSHALL, or when the table of tracked keys was dropped. The hook may
 * end the connection, and the reply with it. */
static void take_invalidation(struct rlk_node *n, const struct rlk_reply *keys, uint64_t now_us)
{
    uint64_t opened = n->subscriber.conn.opened;
    int64_t i;

    if (keys->type == RLK_REPLY_NIL) {
        wake(n, RLK_WAKE_SUBSCRIBED, now_us);
        return;
    }
    for (i = 1; keys->type == RLK_REPLY_ARRAY && i <= keys->integer; i++) {
        if (n->subscriber.step != RLK_SUBSCRIBER_DONE || n->subscriber.conn.opened != opened ||
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

/* Before the subscriber connection is up nothing needs it: whoever waits then asks again when it
 * comes up. */
static void take_push(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    if (n->subscriber.step != RLK_SUBSCRIBER_DONE) {
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

/* Messages may come as soon as the server has carried out SUBSCRIBE, so between two replies. */
static void on_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_node *n = node_of(c);

    if (n->subscriber.step > RLK_SUBSCRIBER_CHANNEL && is_push(reply)) {
        take_push(n, reply, now_us);
    } else if (n->subscriber.step <= RLK_SUBSCRIBER_INVALIDATIONS) {
        take_greeting(n, reply, now_us);
    } else {
        fail_by(n, RLK_TROUBLE_SUBSCRIBER_UNASKED, reply->str, now_us);
    }
}

/* ---- opening and closing ---- */

static void on_opened(struct rlk_conn *c)
{
    struct rlk_node *n = node_of(c);

    n->subscriber.step =
        rlk_login_password(n->options->login, n->uri) ? RLK_SUBSCRIBER_AUTH : RLK_SUBSCRIBER_NAME;
    if (!send_greeting(n)) {
        fail_by(n, RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE, NULL, rlk_clock_us());
    }
}

static void on_subscriber_broken(struct rlk_conn *c, const struct rlk_fault *fault)
{
    struct rlk_trouble t = {
        .kind = RLK_TROUBLE_SUBSCRIBER_BROKEN, .fault = fault->kind, .words = fault->text};

    fail_subscriber(node_of(c), &t, rlk_clock_us());
}

static const struct rlk_conn_handler conn_handler = {
    .opened = on_opened, .replied = on_replied, .broken = on_subscriber_broken};

static struct rlk_tls *tls_of(struct rlk_subscriber *w)
{
    const struct rlk_node *n = RLK_CONTAINER(w, struct rlk_node, subscriber);

    return n->options->tls[n->index];
}

static void on_dialed(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    struct rlk_subscriber *w = RLK_CONTAINER(d, struct rlk_subscriber, dial);
    struct rlk_fault why;

    if (fault) {
        on_subscriber_broken(&w->conn, fault);
    } else if (rlk_conn_open(&w->conn, fd, tls_of(w), &why)) {
        on_subscriber_broken(&w->conn, &why);
    }
}

/* At the address that the command connection uses. */
static void open_subscriber(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;

    w->step = RLK_SUBSCRIBER_OPENING;
    w->client_id = 0;
    w->invalidations = false;
    rlk_timer_set(&n->loop->timers, &w->timer,
                  rlk_time_add(now_us, n->options->connect_timeout_us));
    rlk_dial_start_same(&w->dial, &n->dial);
}

static void on_subscriber_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, subscriber.timer);

    if (n->subscriber.step != RLK_SUBSCRIBER_CLOSED) {
        fail_subscriber(n,
                        &(struct rlk_trouble){.kind = RLK_TROUBLE_SUBSCRIBER_LATE,
                                              .number = n->options->connect_timeout_us / 1000},
                        now_us);
    } else if (n->subscriber.users > 0) {
        open_subscriber(n, now_us);
    }
}

static void on_idle(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, subscriber.idle_timer);

    (void)now_us;
    if (n->subscriber.step == RLK_SUBSCRIBER_DONE) {
        n->subscriber.failures = 0;
    }
    rlk_subscriber_close(n);
}

/* Not at once: then nothing is reported from inside a call of the owner. */
static void open_soon(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_subscriber *w = &n->subscriber;

    if (n->options->subscribe && n->state == RLK_NODE_UP && w->users > 0 &&
        w->step == RLK_SUBSCRIBER_CLOSED && !w->timer.set) {
        rlk_timer_set(&n->loop->timers, &w->timer, now_us);
    }
}

void rlk_subscriber_init(struct rlk_node *n)
{
    rlk_timer_init(&n->subscriber.timer, on_subscriber_timer);
    rlk_timer_init(&n->subscriber.idle_timer, on_idle);
    rlk_dial_init(&n->subscriber.dial, n->loop, on_dialed);
    rlk_conn_init(&n->subscriber.conn, n->loop, &conn_handler);
}

/* The back-off of the former connection no longer matters: it may have been another server. */
void rlk_subscriber_node_up(struct rlk_node *n, uint64_t now_us)
{
    n->subscriber.failures = 0;
    open_soon(n, now_us);
}

void rlk_subscriber_end(struct rlk_node *n)
{
    rlk_subscriber_close(n);
    rlk_conn_end(&n->subscriber.conn);
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
    if (w->users == 0 && w->step != RLK_SUBSCRIBER_CLOSED) {
        rlk_timer_set(&n->loop->timers, &w->idle_timer,
                      rlk_time_add(now_us, RLK_SUBSCRIBER_IDLE_US));
    }
}

enum rlk_subscriber_state rlk_subscriber_state(const struct rlk_node *n)
{
    const struct rlk_subscriber *w = &n->subscriber;

    if (w->step == RLK_SUBSCRIBER_DONE) {
        return RLK_SUBSCRIBER_UP;
    }
    return w->users > 0 && w->failures == 0 && (w->step != RLK_SUBSCRIBER_CLOSED || w->timer.set)
               ? RLK_SUBSCRIBER_COMING
               : RLK_SUBSCRIBER_NONE;
}

/* After a failure somebody has to want it again, or it would never come back: as soon as the
 * back-off is over. */
bool rlk_subscriber_can_be_had(const struct rlk_node *n)
{
    const struct rlk_subscriber *w = &n->subscriber;
    bool may_try = w->failures == 0 || (w->step == RLK_SUBSCRIBER_CLOSED && !w->timer.set);

    return n->options->subscribe && (may_try || w->step == RLK_SUBSCRIBER_DONE);
}

bool rlk_subscriber_tracks(const struct rlk_node *n)
{
    return n->subscriber.tracks;
}
