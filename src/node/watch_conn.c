/* watch_conn.c - opens, greets and reads the second connection of a node. */
#include "node/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/lock.h>

#include "base/time.h"
#include "base/wipe.h"
#include "core/backoff.h"
#include "net/clock.h"
#include "net/format.h"
#include "net/loop.h"
#include "net/uri.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/trace.h"

#define RETRY_MIN_US 10000
#define RETRY_MAX_US 10000000

/* The channel of the invalidations; its name is fixed by Redis. */
static const char invalidations[] = "__redis__:invalidate";

static struct rlk_node *node_of(struct rlk_conn *c)
{
    return RLK_CONTAINER(c, struct rlk_node, watch.conn);
}

/* Not kept as a trouble of the node: locks do not need the watch, and waiters poll without it. */
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

bool rlk_watch_close(struct rlk_node *n)
{
    struct rlk_watch *w = &n->watch;
    bool was_coming = w->step != RLK_WATCH_CLOSED || w->timer.set;

    rlk_timer_cancel(&n->loop->timers, &w->timer);
    rlk_timer_cancel(&n->loop->timers, &w->idle_timer);
    if (w->step == RLK_WATCH_DONE) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_UNWATCHED);
    }
    rlk_dial_cancel(&w->dial);
    rlk_conn_close(&w->conn, true);
    w->step = RLK_WATCH_CLOSED;
    w->tracks = false;
    return was_coming;
}

/* Close it, and open it again later, if somebody wants it then. The timer is also set without a
 * user: the next one must not hammer the server. */
static void fail(struct rlk_node *n, const struct rlk_trouble *t, uint64_t now_us)
{
    struct rlk_watch *w = &n->watch;
    uint64_t up_us = w->step == RLK_WATCH_DONE ? rlk_time_sub(now_us, w->since_us) : 0;
    uint64_t delay_us =
        rlk_backoff_reconnect_us(&n->prng, &w->failures, up_us, RETRY_MIN_US, RETRY_MAX_US);

    if (rlk_trace_is_on(n->options)) {
        trace_failure(n, *t);
    }
    rlk_watch_close(n);
    rlk_timer_set(&n->loop->timers, &w->timer, rlk_time_add(now_us, delay_us));
    wake(n, RLK_WAKE_UNWATCHED, now_us);
}

static void fail_by(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words,
                    uint64_t now_us)
{
    fail(n, &(struct rlk_trouble){.kind = kind, .words = words}, now_us);
}

static void come_up(struct rlk_node *n, uint64_t now_us)
{
    n->watch.step = RLK_WATCH_DONE;
    n->watch.since_us = now_us;
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_WATCHED);
    wake(n, RLK_WAKE_WATCHED, now_us);
}

/* ---- tracking, over the command connection ---- */

/* A reply to an earlier attempt says nothing about this one, whose reply is still to come. */
static void on_tracking(struct rlk_node *n, const struct rlk_exchange *r,
                        const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_watch *w = &n->watch;

    (void)r;
    w->trackings--;
    if (w->trackings == 0 && w->step == RLK_WATCH_TRACKING) {
        w->tracks = reply->type == RLK_REPLY_STATUS;
        come_up(n, now_us);
    }
}

/* The node went down, and has closed the watch. */
static void on_tracking_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    n->watch.trackings--;
}

static void begin_tracking(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_tracking,
                                                  .broken = on_tracking_broken};
    char id[24];
    const char *const words[] = {"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", NULL};

    rlk_timer_cancel(&n->loop->timers, &n->watch.timer);
    n->watch.step = RLK_WATCH_TRACKING;
    if (n->watch.client_id == 0 || !n->watch.invalidations) {
        come_up(n, now_us);
        return;
    }
    snprintf(id, sizeof(id), "%" PRId64, n->watch.client_id);
    if (!rlk_node_send_words(n, &kind, words, now_us)) {
        fail_by(n, RLK_TROUBLE_NO_MEMORY_TO_WATCH, NULL, now_us);
        return;
    }
    n->watch.trackings++;
}

/* ---- the greeting ---- */

static bool send_words(struct rlk_watch *w, const char *const *words)
{
    const char *bytes;
    size_t len;
    bool fits;

    if (rlk_format_words(words, &bytes, &len)) {
        return false;
    }
    fits = rlk_conn_reserve(&w->conn, len);
    if (fits) {
        rlk_conn_append(&w->conn, bytes, len);
    }
    rlk_format_free(bytes, len);
    return fits;
}

static bool send_auth(struct rlk_node *n)
{
    const char *words[RLK_LOGIN_WORDS];

    bool sent = !rlk_login_words(n->options->login, n->uri, n->login_refused, words) ||
                send_words(&n->watch, words);

    rlk_wipe_stack();
    return sent;
}

static bool send_greeting(struct rlk_node *n)
{
    char name[96];
    const char *const set_name[] = {"CLIENT", "SETNAME", name, NULL};
    const char *const get_id[] = {"CLIENT", "ID", NULL};
    const char *const channel[] = {"SUBSCRIBE", n->options->wake_channel, NULL};
    const char *const invalid[] = {"SUBSCRIBE", invalidations, NULL};

    snprintf(name, sizeof(name), "%s:watch", n->options->client_name);
    return send_auth(n) && send_words(&n->watch, set_name) && send_words(&n->watch, get_id) &&
           send_words(&n->watch, channel) && send_words(&n->watch, invalid);
}

/* A reply to SUBSCRIBE: "subscribe", the channel, and how many there are now. */
static bool is_subscribed(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 3 &&
           strcmp(reply[1].str, "subscribe") == 0;
}

/* The reply to the command of this step. The name, the id and the invalidations may be refused. */
static void take_greeting(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_watch *w = &n->watch;
    enum rlk_watch_step step = w->step++;
    bool refused = reply->type == RLK_REPLY_ERROR;

    if (step == RLK_WATCH_AUTH) {
        n->login_refused = refused;
    }
    if (refused && (step == RLK_WATCH_AUTH || step == RLK_WATCH_CHANNEL)) {
        fail_by(n, RLK_TROUBLE_WATCH_REFUSED, reply->str, now_us);
    } else if (step >= RLK_WATCH_CHANNEL && !refused && !is_subscribed(reply)) {
        fail_by(n, RLK_TROUBLE_WATCH_UNASKED, reply->str, now_us);
    } else if (step == RLK_WATCH_ID) {
        w->client_id = reply->type == RLK_REPLY_INTEGER ? reply->integer : 0;
    } else if (step == RLK_WATCH_INVALIDATIONS) {
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
    if (text->str[0] == RLK_WATCH_NEXT) {
        kind = RLK_WAKE_NEXT;
    } else if (text->str[0] != RLK_WATCH_TURN) {
        return;
    }
    n->hooks->woken(n, kind, text->str + 1, text->len - 1, now_us);
}

/* An array of keys; nil after FLUSHALL, or when the table of tracked keys was dropped. The hook may
 * end the connection, and the reply with it. */
static void take_invalidation(struct rlk_node *n, const struct rlk_reply *keys, uint64_t now_us)
{
    uint64_t opened = n->watch.conn.opened;
    int64_t i;

    if (keys->type == RLK_REPLY_NIL) {
        wake(n, RLK_WAKE_WATCHED, now_us);
        return;
    }
    for (i = 1; keys->type == RLK_REPLY_ARRAY && i <= keys->integer; i++) {
        if (n->watch.step != RLK_WATCH_DONE || n->watch.conn.opened != opened ||
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

/* Before the watch is up nothing needs it: whoever waits then asks again when it comes up. */
static void take_push(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    if (n->watch.step != RLK_WATCH_DONE) {
        return;
    }
    if (strcmp(reply[2].str, n->options->wake_channel) == 0) {
        take_message(n, &reply[3], now_us);
    } else if (strcmp(reply[2].str, invalidations) == 0) {
        take_invalidation(n, &reply[3], now_us);
    } else {
        fail_by(n, RLK_TROUBLE_WATCH_UNASKED, reply[2].str, now_us);
    }
}

/* Messages may come as soon as the server has carried out SUBSCRIBE, so between two replies. */
static void on_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_node *n = node_of(c);

    if (n->watch.step > RLK_WATCH_CHANNEL && is_push(reply)) {
        take_push(n, reply, now_us);
    } else if (n->watch.step <= RLK_WATCH_INVALIDATIONS) {
        take_greeting(n, reply, now_us);
    } else {
        fail_by(n, RLK_TROUBLE_WATCH_UNASKED, reply->str, now_us);
    }
}

/* ---- opening and closing ---- */

static void on_opened(struct rlk_conn *c)
{
    struct rlk_node *n = node_of(c);

    n->watch.step = rlk_login_password(n->options->login, n->uri) ? RLK_WATCH_AUTH : RLK_WATCH_NAME;
    if (!send_greeting(n)) {
        fail_by(n, RLK_TROUBLE_NO_MEMORY_TO_WATCH, NULL, rlk_clock_us());
    }
}

static void on_broken(struct rlk_conn *c, const struct rlk_fault *fault)
{
    struct rlk_trouble t = {
        .kind = RLK_TROUBLE_WATCH_BROKEN, .fault = fault->kind, .words = fault->text};

    fail(node_of(c), &t, rlk_clock_us());
}

static const struct rlk_conn_handler conn_handler = {
    .opened = on_opened, .replied = on_replied, .broken = on_broken};

static struct rlk_tls *tls_of(struct rlk_watch *w)
{
    const struct rlk_node *n = RLK_CONTAINER(w, struct rlk_node, watch);

    return n->options->tls[n->index];
}

static void on_dialed(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    struct rlk_watch *w = RLK_CONTAINER(d, struct rlk_watch, dial);
    struct rlk_fault why;

    if (fault) {
        on_broken(&w->conn, fault);
    } else if (rlk_conn_open(&w->conn, fd, tls_of(w), &why)) {
        on_broken(&w->conn, &why);
    }
}

/* At the address that the command connection uses. */
static void open_watch(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_watch *w = &n->watch;

    w->step = RLK_WATCH_OPENING;
    w->client_id = 0;
    w->invalidations = false;
    rlk_timer_set(&n->loop->timers, &w->timer,
                  rlk_time_add(now_us, n->options->connect_timeout_us));
    rlk_dial_start_same(&w->dial, &n->dial);
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, watch.timer);

    if (n->watch.step != RLK_WATCH_CLOSED) {
        fail(n,
             &(struct rlk_trouble){.kind = RLK_TROUBLE_WATCH_LATE,
                                   .number = n->options->connect_timeout_us / 1000},
             now_us);
    } else if (n->watch.users > 0) {
        open_watch(n, now_us);
    }
}

static void on_idle(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, watch.idle_timer);

    (void)now_us;
    if (n->watch.step == RLK_WATCH_DONE) {
        n->watch.failures = 0;
    }
    rlk_watch_close(n);
}

/* Not at once: then nothing is reported from inside a call of the owner. */
static void open_soon(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_watch *w = &n->watch;

    if (n->options->watch && n->state == RLK_NODE_UP && w->users > 0 &&
        w->step == RLK_WATCH_CLOSED && !w->timer.set) {
        rlk_timer_set(&n->loop->timers, &w->timer, now_us);
    }
}

void rlk_watch_init(struct rlk_node *n)
{
    rlk_timer_init(&n->watch.timer, on_timer);
    rlk_timer_init(&n->watch.idle_timer, on_idle);
    rlk_dial_init(&n->watch.dial, n->loop, on_dialed);
    rlk_conn_init(&n->watch.conn, n->loop, &conn_handler);
}

/* The back-off of the former connection no longer matters: it may have been another server. */
void rlk_watch_node_up(struct rlk_node *n, uint64_t now_us)
{
    n->watch.failures = 0;
    open_soon(n, now_us);
}

void rlk_watch_end(struct rlk_node *n)
{
    rlk_watch_close(n);
    rlk_conn_end(&n->watch.conn);
}

void rlk_watch_want(struct rlk_node *n, uint64_t now_us)
{
    n->watch.users++;
    rlk_timer_cancel(&n->loop->timers, &n->watch.idle_timer);
    open_soon(n, now_us);
}

void rlk_watch_unwant(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_watch *w = &n->watch;

    w->users--;
    if (w->users == 0 && w->step != RLK_WATCH_CLOSED) {
        rlk_timer_set(&n->loop->timers, &w->idle_timer, rlk_time_add(now_us, RLK_WATCH_IDLE_US));
    }
}

enum rlk_watch_state rlk_watch_state(const struct rlk_node *n)
{
    const struct rlk_watch *w = &n->watch;

    if (w->step == RLK_WATCH_DONE) {
        return RLK_WATCH_UP;
    }
    return w->users > 0 && w->failures == 0 && (w->step != RLK_WATCH_CLOSED || w->timer.set)
               ? RLK_WATCH_COMING
               : RLK_WATCH_NONE;
}

/* After a failure somebody has to want it again, or it would never come back: as soon as the
 * back-off is over. */
bool rlk_watch_can_be_had(const struct rlk_node *n)
{
    const struct rlk_watch *w = &n->watch;
    bool may_try = w->failures == 0 || (w->step == RLK_WATCH_CLOSED && !w->timer.set);

    return n->options->watch && (may_try || w->step == RLK_WATCH_DONE);
}

bool rlk_watch_tracks(const struct rlk_node *n)
{
    return n->watch.tracks;
}
