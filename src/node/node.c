/* node.c - moves a node through its states, by events of its connection, name lookup and timer. */
#include "node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/rare.h"
#include "base/time.h"
#include "core/backoff.h"
#include "core/reach.h"
#include "net/clock.h"
#include "net/loop.h"
#include "node/login.h"
#include "node/options.h"
#include "node/trace.h"

#define RECONNECT_MIN_US 10000
#define RECONNECT_MAX_US 2000000

RLK_COLD static void trace_trouble(const struct rlk_node *n)
{
    char text[RLK_TROUBLE_TEXT];

    rlk_trouble_write(&n->trouble, text, sizeof(text));
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_NODE_TROUBLE, .text = text);
}

void rlk_node_quote(const struct rlk_node *n, const char *said, char *out, size_t size)
{
    const char *password = rlk_login_password(n->options->login, n->uri);
    const char *secret = password && password[0] ? strstr(said, password) : NULL;
    size_t len = secret ? (size_t)(secret - said) : strlen(said);

    len = len < size ? len : size - 1;
    memcpy(out, said, len);
    out[len] = '\0';
    rlk_trace_mask(out);
}

void rlk_node_note(struct rlk_node *n, const struct rlk_trouble *t)
{
    n->trouble = *t;
    if (t->fault == RLK_FAULT_NONE) {
        rlk_node_quote(n, t->words ? t->words : "", n->words, sizeof(n->words));
    } else {
        snprintf(n->words, sizeof(n->words), "%s", t->words ? t->words : ""); /* not a server's */
    }
    n->trouble.words = n->words;
    if (rlk_trace_is_on(n->options)) {
        trace_trouble(n);
    }
}

void rlk_node_note_kind(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words)
{
    rlk_node_note(n, &(struct rlk_trouble){.kind = kind, .words = words});
}

/* What went wrong with TLS, or with the protocol, says more than when it did. */
static enum rlk_trouble_kind trouble_of_fault(enum rlk_fault_kind fault, enum rlk_trouble_kind kind)
{
    if (fault == RLK_FAULT_HANDSHAKE) {
        return RLK_TROUBLE_TLS_BROKEN;
    }
    if (fault == RLK_FAULT_UNANSWERED && kind == RLK_TROUBLE_GREETING_BROKEN) {
        return RLK_TROUBLE_GREETING_UNANSWERED;
    }
    if (fault == RLK_FAULT_GARBLED && kind == RLK_TROUBLE_GREETING_BROKEN) {
        return RLK_TROUBLE_NOT_REDIS;
    }
    return fault == RLK_FAULT_TLS || fault == RLK_FAULT_NOT_TLS || fault == RLK_FAULT_IS_TLS
               ? RLK_TROUBLE_TLS
               : kind;
}

static void note_fault(struct rlk_node *n, enum rlk_trouble_kind kind,
                       const struct rlk_fault *fault)
{
    rlk_node_note(n, &(struct rlk_trouble){.kind = trouble_of_fault(fault->kind, kind),
                                           .fault = fault->kind,
                                           .words = fault->text});
}

static void unref_context(const struct rlk_exchange *r)
{
    if (r->kind->unref) {
        r->kind->unref(r->context);
    }
}

/* No reply will come to the commands in flight: call `broken` for each that has it. */
static void break_exchanges(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_inflight broken = n->inflight;
    struct rlk_exchange r;

    n->stats.unanswered += broken.ring.count;
    n->inflight = (struct rlk_inflight){0};
    while (rlk_inflight_pop(&broken, &r)) {
        if (r.kind->broken) {
            r.kind->broken(n, &r, now_us);
        }
        unref_context(&r);
    }
    rlk_inflight_end(&broken);
}

static void reconnect(struct rlk_node *n, uint64_t delay_us, uint64_t now_us)
{
    n->state = RLK_NODE_DOWN;
    if (delay_us == 0) {
        rlk_node_start(n, now_us);
    } else {
        rlk_timer_set(&n->loop->timers, &n->timer, rlk_time_add(now_us, delay_us));
    }
}

/* The connection, or the attempt to make one, has ended. */
static void go_down(struct rlk_node *n, uint64_t now_us)
{
    bool was_up = n->state == RLK_NODE_UP, was_subscribed;
    uint64_t up_us = was_up ? rlk_time_sub(now_us, n->since_us) : 0;
    uint64_t delay_us =
        rlk_backoff_reconnect_us(&n->prng, &n->failures, up_us, RECONNECT_MIN_US, RECONNECT_MAX_US);

    /* A node that goes down for another reason is no longer known to be a duplicate. */
    n->duplicate = n->trouble.kind == RLK_TROUBLE_DUPLICATE;

    if (n->state == RLK_NODE_GREETING) {
        rlk_dial_note_failed(&n->dial);
    }
    rlk_dial_cancel(&n->dial);
    rlk_timer_cancel(&n->loop->timers, &n->timer);
    rlk_timer_cancel(&n->loop->timers, &n->inspection_timer);
    rlk_conn_close(&n->conn, true);
    was_subscribed = rlk_subscriber_close(n);
    n->state = RLK_NODE_DOWN;
    n->expected = 0;
    if (was_up) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_DISCONNECTED);
        n->since_us = now_us;
        n->stats.up_us += up_us;
        rlk_former_ended(&n->former, n->info.run_id, n->client_id, n->inflight.ring.count);
    } else {
        n->connect_failed = true;
        n->stats.failed++;
    }
    break_exchanges(n, now_us);
    reconnect(n, delay_us, now_us);
    if (was_up) {
        n->hooks->capacity_freed(n, now_us);
    } else {
        n->hooks->down(n, now_us);
    }
    if (was_subscribed) {
        n->hooks->woken(n, RLK_WAKE_UNSUBSCRIBED, NULL, 0, now_us);
    }
}

void rlk_node_refuse(struct rlk_node *n, const struct rlk_trouble *t)
{
    rlk_node_note(n, t);
    go_down(n, rlk_clock_us());
}

/* Only the first word of the error is kept: some servers repeat the password. */
void rlk_node_refuse_login(struct rlk_node *n, const char *error)
{
    struct rlk_trouble t;
    char word[64];

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(error, " "), error);
    t = rlk_login_trouble(n->options->login, n->uri, word);
    n->login_refused = true;
    rlk_node_refuse(n, &t);
}

/* connect_timeout_ms is over, and the node is not UP. */
static void give_up(struct rlk_node *n, uint64_t now_us)
{
    enum rlk_trouble_kind kind = n->conn.state == RLK_CONN_HANDSHAKE ? RLK_TROUBLE_TLS_LATE
                                 : n->state == RLK_NODE_GREETING     ? RLK_TROUBLE_GREETING_LATE
                                 : n->dial.step == RLK_DIAL_LOOKUP   ? RLK_TROUBLE_NAME_LATE
                                                                     : RLK_TROUBLE_CONNECT_LATE;

    rlk_node_note(
        n, &(struct rlk_trouble){.kind = kind, .number = n->options->connect_timeout_us / 1000});
    go_down(n, now_us);
}

static void on_node_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, timer);

    if (n->state == RLK_NODE_DOWN) {
        rlk_node_start(n, now_us);
    } else if (n->state == RLK_NODE_UP) {
        n->hooks->capacity_freed(n, now_us);
    } else {
        give_up(n, now_us);
    }
}

static void fail_to_connect(struct rlk_node *n, enum rlk_trouble_kind kind,
                            const struct rlk_fault *fault)
{
    note_fault(n, kind, fault);
    go_down(n, rlk_clock_us());
}

static void on_dialed(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    struct rlk_node *n = RLK_CONTAINER(d, struct rlk_node, dial);
    struct rlk_fault why;

    if (fault) {
        fail_to_connect(n, d->step == RLK_DIAL_LOOKUP ? RLK_TROUBLE_NAME : RLK_TROUBLE_CONNECT,
                        fault);
        return;
    }
    rlk_addresses_write_several(&d->addresses, n->several, sizeof(n->several));
    n->state = RLK_NODE_GREETING;
    if (rlk_conn_open(&n->conn, fd, n->options->tls[n->index], &why)) {
        fail_to_connect(n, RLK_TROUBLE_CONNECT, &why);
    }
}

static void on_opened(struct rlk_conn *c)
{
    struct rlk_node *n = RLK_CONTAINER(c, struct rlk_node, conn);
    uint64_t now_us = rlk_clock_us();

    n->tls = rlk_conn_tls(c);
    if (!n->hooks->greet(n, now_us)) {
        rlk_node_note_kind(n, RLK_TROUBLE_NO_MEMORY_TO_GREET, NULL);
        go_down(n, now_us);
    }
}

/* The reply to a command that was sent while we were logged in. */
static bool shows_logout(const struct rlk_node *n, const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ERROR && n->state == RLK_NODE_UP && rlk_login_is_missing(reply);
}

RLK_RARE static void refuse_unasked(struct rlk_node *n, const struct rlk_reply *reply,
                                    uint64_t now_us)
{
    rlk_node_note_kind(n, RLK_TROUBLE_UNASKED, reply->str);
    go_down(n, now_us);
}

static void on_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(c, struct rlk_node, conn);
    bool logged_out = shows_logout(n, reply);
    struct rlk_exchange r;
    uint64_t took_us;

    if (!rlk_inflight_pop(&n->inflight, &r)) {
        refuse_unasked(n, reply, now_us);
        return;
    }
    took_us = rlk_time_sub(now_us, r.sent_us);
    n->last_reply_us = now_us;
    n->rtt_us = n->rtt_us ? (n->rtt_us * 7 + took_us) / 8 : took_us;
    rlk_histogram_add(&n->stats.round_trips, took_us);
    n->stats.late += took_us > n->options->node_timeout_us;
    if (r.kind->answered) {
        r.kind->answered(n, &r, reply, now_us);
    }
    unref_context(&r);
    if (logged_out && n->state == RLK_NODE_UP) {
        rlk_node_refuse_login(n, "NOAUTH");
    }
}

static void on_replied_all(struct rlk_conn *c, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(c, struct rlk_node, conn);

    if (n->state == RLK_NODE_UP) {
        n->hooks->capacity_freed(n, now_us);
    }
}

static void on_node_broken(struct rlk_conn *c, const struct rlk_fault *fault)
{
    struct rlk_node *n = RLK_CONTAINER(c, struct rlk_node, conn);
    uint64_t now_us = rlk_clock_us();

    note_fault(n, n->state == RLK_NODE_UP ? RLK_TROUBLE_BROKEN : RLK_TROUBLE_GREETING_BROKEN,
               fault);
    go_down(n, now_us);
}

static const struct rlk_conn_handler conn_handler = {on_opened, on_replied, on_replied_all,
                                                     on_node_broken};

void rlk_node_init(struct rlk_node *n, struct rlk_loop *loop, const struct rlk_options *options,
                   unsigned index, const struct rlk_node_hooks *hooks, void *owner, uint64_t seed)
{
    *n = (struct rlk_node){0};
    n->loop = loop;
    n->options = options;
    n->uri = &options->uris[index];
    n->index = index;
    n->hooks = hooks;
    n->tls = "";
    n->owner = owner;
    n->since_us = rlk_clock_us();
    rlk_prng_seed(&n->prng, seed);
    rlk_timer_init(&n->timer, on_node_timer);
    rlk_quarantine_init(&n->quarantine, rlk_options_quarantine_policy(options, index),
                        rlk_time_from_ms(options->max_ttl_ms), options->drift_ppm);
    rlk_dial_init(&n->dial, loop, on_dialed);
    rlk_conn_init(&n->conn, loop, &conn_handler);
    rlk_subscriber_init(n);
}

void rlk_node_start(struct rlk_node *n, uint64_t now_us)
{
    n->state = RLK_NODE_DIALING;
    rlk_timer_set(&n->loop->timers, &n->timer,
                  rlk_time_add(now_us, n->options->connect_timeout_us));
    rlk_dial_start(&n->dial, n->uri);
}

void rlk_node_end(struct rlk_node *n)
{
    rlk_dial_cancel(&n->dial);
    rlk_timer_cancel(&n->loop->timers, &n->timer);
    rlk_timer_cancel(&n->loop->timers, &n->inspection_timer);
    if (n->state == RLK_NODE_UP) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_DISCONNECTED);
    }
    n->state = RLK_NODE_DOWN;
    break_exchanges(n, rlk_clock_us());
    rlk_subscriber_end(n);
    rlk_pending_list_end(&n->pending);
    rlk_conn_end(&n->conn);
}

void rlk_node_greeted(struct rlk_node *n, uint64_t now_us)
{
    rlk_timer_cancel(&n->loop->timers, &n->timer);
    rlk_dial_note_worked(&n->dial);
    rlk_conn_note_login(&n->conn);
    n->state = RLK_NODE_UP;
    n->stats.connected++;
    n->connect_failed = n->duplicate = n->login_refused = false;
    n->expected = 0;
    n->since_us = now_us;
    n->trouble.kind = RLK_TROUBLE_NONE;
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_CONNECTED, .text = n->server);
    rlk_node_trace_quarantine(n, now_us);
    rlk_subscriber_node_up(n, now_us);
    n->hooks->up(n, now_us);
}

uint64_t rlk_node_overdue_us(const struct rlk_node *n)
{
    return rlk_time_add(rlk_inflight_oldest_us(&n->inflight), n->options->node_timeout_us);
}

static enum rlk_reach reach(const struct rlk_node *n, uint64_t now_us)
{
    struct rlk_reach_facts facts = {.up = n->state == RLK_NODE_UP,
                                    .connecting = n->state != RLK_NODE_DOWN,
                                    .failed = n->connect_failed,
                                    .overdue_us = rlk_node_overdue_us(n)};

    return rlk_reach_of(&facts, now_us);
}

bool rlk_node_ready(const struct rlk_node *n, uint64_t now_us)
{
    return reach(n, now_us) == RLK_REACH_READY;
}

bool rlk_node_unresponsive(const struct rlk_node *n, uint64_t now_us)
{
    return reach(n, now_us) == RLK_REACH_UNRESPONSIVE;
}

bool rlk_node_connecting(const struct rlk_node *n)
{
    return n->state != RLK_NODE_UP && reach(n, 0) == RLK_REACH_CONNECTING;
}

static bool queue(struct rlk_node *n, const struct rlk_command *c,
                  const struct rlk_exchange_kind *kind, void *context, uint64_t now_us)
{
    struct rlk_exchange r = {kind, context, now_us, c->len};

    if (!rlk_inflight_reserve(&n->inflight) || !rlk_conn_reserve(&n->conn, c->len)) {
        return false;
    }
    rlk_inflight_push(&n->inflight, &r);
    rlk_conn_append(&n->conn, c->bytes, c->len);
    return true;
}

bool rlk_node_send_words(struct rlk_node *n, const struct rlk_exchange_kind *kind,
                         const char *const *words, uint64_t now_us)
{
    struct rlk_command c;
    bool said = rlk_command_words(&c, words) == 0 && queue(n, &c, kind, NULL, now_us);

    rlk_command_end(&c);
    return said;
}

RLK_RARE static void note_unsent(struct rlk_node *n, size_t len)
{
    bool at_limit =
        n->inflight.ring.count >= RLK_INFLIGHT_MAX || n->conn.out_len + len > RLK_CONN_OUT_MAX;

    n->stats.refused += at_limit;
    rlk_node_note_kind(n, at_limit ? RLK_TROUBLE_TOO_MANY : RLK_TROUBLE_NO_MEMORY, NULL);
}

bool rlk_node_send(struct rlk_node *n, const struct rlk_command *c,
                   const struct rlk_exchange_kind *kind, void *context, uint64_t now_us)
{
    if (n->state != RLK_NODE_UP) {
        return false;
    }
    if (!queue(n, c, kind, context, now_us)) {
        note_unsent(n, c->len);
        return false;
    }
    if (kind->ref) {
        kind->ref(context);
    }
    return true;
}

bool rlk_node_can_send_pending(const struct rlk_node *n)
{
    return n->state == RLK_NODE_UP && n->pending.ring.count > 0 && !n->timer.set;
}
