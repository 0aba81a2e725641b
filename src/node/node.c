/* node.c - moves a node through its states, by events of its connection, name lookup and timer. */
#include "node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/rare.h"
#include "base/time.h"
#include "core/classify.h"
#include "core/reach.h"
#include "net/clock.h"
#include "net/loop.h"
#include "node/login.h"
#include "node/options.h"
#include "node/talk.h"
#include "node/trace.h"

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

RLK_COLD const struct rlk_reply *rlk_node_note_unaudited(struct rlk_node *n,
                                                         const struct rlk_reply *reply)
{
    enum rlk_trouble_kind kind =
        rlk_classify_denied(&reply[1]) ? RLK_TROUBLE_AUDIT_DENIED : RLK_TROUBLE_AUDIT_REFUSED;

    if (n->trouble.kind != kind) {
        rlk_node_note_kind(n, kind, reply[1].str);
    }
    return &reply[2];
}

/* What went wrong with TLS, or with the protocol, says more than when it did. */
static enum rlk_trouble_kind trouble_of_fault(enum rlk_fault_kind fault, enum rlk_trouble_kind kind)
{
    if (fault == RLK_FAULT_HANDSHAKE) {
        return RLK_TROUBLE_TLS_BROKEN;
    }
    if (fault == RLK_FAULT_UNANSWERED && kind == RLK_TROUBLE_HANDSHAKE_BROKEN) {
        return RLK_TROUBLE_HANDSHAKE_UNANSWERED;
    }
    if (fault == RLK_FAULT_GARBLED && kind == RLK_TROUBLE_HANDSHAKE_BROKEN) {
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

static void reconnect(struct rlk_node *n, uint64_t delay_us, uint64_t now_us)
{
    if (delay_us == 0) {
        rlk_node_start(n, now_us);
    } else {
        rlk_link_retry(&n->link, delay_us, now_us);
    }
}

/* The node was UP until now. */
static void note_disconnected(struct rlk_node *n, uint64_t up_us, uint64_t now_us)
{
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_DISCONNECTED);
    n->since_us = now_us;
    n->stats.up_us += up_us;
    rlk_former_ended(&n->former, n->info.run_id, n->client_id, n->link.inflight.ring.count);
}

/* A node that goes down for another reason is no longer known to be a duplicate. Returns whether
 * the subscriber connection was open, or would have been opened. */
static bool close_node(struct rlk_node *n)
{
    bool was_subscribed;

    n->duplicate = n->trouble.kind == RLK_TROUBLE_DUPLICATE;
    if (n->link.state == RLK_LINK_HANDSHAKE) {
        rlk_dial_note_failed(&n->link.dial);
    }
    rlk_link_close(&n->link);
    rlk_timer_cancel(&n->loop->timers, &n->pending_timer);
    rlk_timer_cancel(&n->loop->timers, &n->inspection_timer);
    was_subscribed = rlk_subscriber_close(n);
    n->expected = 0;
    n->stats.unanswered += n->link.inflight.ring.count;
    return was_subscribed;
}

/* The connection, or the attempt to make one, has ended. */
static void go_down(struct rlk_node *n, uint64_t now_us)
{
    bool was_up = n->link.state == RLK_LINK_UP, was_subscribed;
    uint64_t up_us = was_up ? rlk_time_sub(now_us, n->since_us) : 0;
    uint64_t delay_us = rlk_link_backoff_us(&n->link, up_us);

    was_subscribed = close_node(n);
    n->was_down = true;
    if (was_up) {
        note_disconnected(n, up_us, now_us);
    } else {
        n->connect_failed = true;
        n->stats.failed++;
    }
    rlk_talk_break(&n->link, now_us);
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

/* ---- its link ---- */

static void on_pending_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, pending_timer);

    n->hooks->capacity_freed(n, now_us);
}

static void on_node_dialed(struct rlk_link *l)
{
    rlk_addresses_write_several(&l->dial.addresses, l->node->several, sizeof(l->node->several));
}

static void on_node_opened(struct rlk_link *l, uint64_t now_us)
{
    struct rlk_node *n = l->node;

    n->tls = rlk_conn_tls(&l->conn);
    if (!n->hooks->begin_handshake(n, now_us)) {
        rlk_node_note_kind(n, RLK_TROUBLE_NO_MEMORY_FOR_HANDSHAKE, NULL);
        go_down(n, now_us);
    }
}

static enum rlk_trouble_kind unconnected_kind(const struct rlk_link *l)
{
    return l->state == RLK_LINK_DIALING && l->dial.step == RLK_DIAL_LOOKUP ? RLK_TROUBLE_NAME
                                                                           : RLK_TROUBLE_CONNECT;
}

static enum rlk_trouble_kind late_kind(const struct rlk_link *l)
{
    return l->conn.state == RLK_CONN_HANDSHAKE ? RLK_TROUBLE_TLS_LATE
           : l->state == RLK_LINK_HANDSHAKE    ? RLK_TROUBLE_HANDSHAKE_LATE
           : l->dial.step == RLK_DIAL_LOOKUP   ? RLK_TROUBLE_NAME_LATE
                                               : RLK_TROUBLE_CONNECT_LATE;
}

static void on_node_ended(struct rlk_link *l, enum rlk_link_end end, const struct rlk_fault *fault,
                          uint64_t now_us)
{
    struct rlk_node *n = l->node;

    switch (end) {
    case RLK_LINK_UNCONNECTED:
        note_fault(n, unconnected_kind(l), fault);
        break;
    case RLK_LINK_LATE:
        rlk_node_note(n, &(struct rlk_trouble){.kind = late_kind(l),
                                               .number = n->options->connect_timeout_us / 1000});
        break;
    case RLK_LINK_BROKEN:
        note_fault(n, l->state == RLK_LINK_UP ? RLK_TROUBLE_BROKEN : RLK_TROUBLE_HANDSHAKE_BROKEN,
                   fault);
        break;
    }
    go_down(n, now_us);
}

/* The reply to a command that was sent while we were logged in. */
static bool shows_logout(const struct rlk_node *n, const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ERROR && n->link.state == RLK_LINK_UP &&
           rlk_login_is_missing(reply);
}

RLK_RARE static void refuse_unasked(struct rlk_node *n, const struct rlk_reply *reply,
                                    uint64_t now_us)
{
    rlk_node_note_kind(n, RLK_TROUBLE_UNASKED, reply->str);
    go_down(n, now_us);
}

static void on_node_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(c, struct rlk_node, link.conn);
    bool logged_out = shows_logout(n, reply);
    struct rlk_exchange x;
    uint64_t took_us;

    if (!rlk_inflight_pop(&n->link.inflight, &x)) {
        refuse_unasked(n, reply, now_us);
        return;
    }
    took_us = rlk_time_sub(now_us, x.sent_us);
    n->last_reply_us = now_us;
    n->rtt_us = n->rtt_us ? (n->rtt_us * 7 + took_us) / 8 : took_us;
    rlk_histogram_add(&n->stats.round_trips, took_us);
    n->stats.late += took_us > n->options->node_timeout_us;
    rlk_talk_reply(&n->link, &x, reply, now_us);
    if (logged_out && n->link.state == RLK_LINK_UP) {
        rlk_node_refuse_login(n, "NOAUTH");
    }
}

static void on_node_replied_all(struct rlk_conn *c, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(c, struct rlk_node, link.conn);

    if (n->link.state == RLK_LINK_UP) {
        n->hooks->capacity_freed(n, now_us);
    }
}

static void on_node_unsent(struct rlk_link *l, bool at_limit)
{
    l->node->stats.refused += at_limit;
    rlk_node_note_kind(l->node, at_limit ? RLK_TROUBLE_TOO_MANY : RLK_TROUBLE_NO_MEMORY, NULL);
}

static void on_node_due(struct rlk_link *l, uint64_t now_us)
{
    rlk_link_open(l, now_us);
}

static const struct rlk_link_owner link_owner = {.conn = {.opened = rlk_link_on_opened,
                                                          .replied = on_node_replied,
                                                          .replied_all = on_node_replied_all,
                                                          .broken = rlk_link_on_broken},
                                                 .dialed = on_node_dialed,
                                                 .opened = on_node_opened,
                                                 .ended = on_node_ended,
                                                 .unsent = on_node_unsent,
                                                 .due = on_node_due,
                                                 .retry_max_us = RECONNECT_MAX_US};

void rlk_node_init_link(struct rlk_node *n, struct rlk_link *l, const struct rlk_link_owner *owner)
{
    l->node = n;
    l->owner = owner;
    l->loop = n->loop;
    l->options = n->options;
    l->index = n->index;
    l->prng = &n->prng;
    rlk_link_init(l);
}

void rlk_node_init(struct rlk_node *n, struct rlk_loop *loop, const struct rlk_options *options,
                   unsigned index, const struct rlk_node_hooks *hooks, void *owner, uint64_t seed)
{
    n->loop = loop;
    n->options = options;
    n->uri = &options->uris[index];
    n->index = index;
    n->hooks = hooks;
    n->tls = "";
    n->owner = owner;
    n->since_us = rlk_clock_us();
    rlk_prng_seed(&n->prng, seed);
    rlk_timer_init(&n->pending_timer, on_pending_timer);
    rlk_quarantine_init(&n->quarantine, rlk_options_quarantine_policy(options, index),
                        rlk_time_from_ms(options->max_ttl_ms), options->drift_ppm);
    rlk_node_init_link(n, &n->link, &link_owner);
    rlk_subscriber_init(n);
}

void rlk_node_start(struct rlk_node *n, uint64_t now_us)
{
    rlk_link_open(&n->link, now_us);
}

static void clear_server(struct rlk_node *n)
{
    rlk_pending_list_end(&n->pending);
    n->pending = (struct rlk_pending_list){0};
    n->former = (struct rlk_former){0};
    n->inspection = (struct rlk_inspection){0};
    n->inspection_error[0] = n->server[0] = n->several[0] = '\0';
    n->native = RLK_NATIVE_NONE;
    n->way = RLK_RELEASE_ANYHOW;
    n->leased_us = n->rtt_us = 0;
    n->was_down = n->connect_failed = n->duplicate = n->login_refused = false;
    rlk_server_init(&n->info);
    rlk_quarantine_init(&n->quarantine, rlk_options_quarantine_policy(n->options, n->index),
                        rlk_time_from_ms(n->options->max_ttl_ms), n->options->drift_ppm);
}

void rlk_node_leave(struct rlk_node *n, uint64_t now_us)
{
    rlk_node_note_kind(n, RLK_TROUBLE_LEFT, NULL);
    go_down(n, now_us);
    rlk_link_close(&n->link);
    n->link.failures = 0;
    clear_server(n);
}

void rlk_node_join(struct rlk_node *n, uint64_t now_us)
{
    n->trouble.kind = RLK_TROUBLE_NONE; /* it was about the server that left */
    clear_server(n);
    rlk_node_start(n, now_us);
}

void rlk_node_end(struct rlk_node *n)
{
    if (n->link.state == RLK_LINK_UP) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_DISCONNECTED);
    }
    rlk_timer_cancel(&n->loop->timers, &n->pending_timer);
    rlk_timer_cancel(&n->loop->timers, &n->inspection_timer);
    rlk_link_stop(&n->link);
    rlk_talk_break(&n->link, rlk_clock_us());
    rlk_subscriber_end(n);
    rlk_link_end(&n->link);
    rlk_pending_list_end(&n->pending);
}

void rlk_node_accept(struct rlk_node *n, uint64_t now_us)
{
    rlk_dial_note_worked(&n->link.dial);
    rlk_link_up(&n->link);
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

static enum rlk_reach reach(const struct rlk_node *n, uint64_t now_us)
{
    uint64_t sent_us = rlk_inflight_oldest_us(&n->link.inflight);
    struct rlk_reach_facts facts = {.up = n->link.state == RLK_LINK_UP,
                                    .connecting = n->link.state != RLK_LINK_DOWN,
                                    .failed = n->connect_failed,
                                    .overdue_us =
                                        rlk_time_add(sent_us, n->options->node_timeout_us)};

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
    return n->link.state != RLK_LINK_UP && reach(n, 0) == RLK_REACH_CONNECTING;
}

void rlk_node_release_by(struct rlk_node *n, enum rlk_release_way way)
{
    n->way = way;
}

void rlk_node_drop_native(struct rlk_node *n)
{
    n->native = RLK_NATIVE_NONE;
}

void rlk_node_expect(struct rlk_node *n)
{
    n->expected++;
}

bool rlk_node_can_send_pending(const struct rlk_node *n)
{
    return n->link.state == RLK_LINK_UP && n->pending.ring.count > 0 &&
           !rlk_timer_is_set(&n->pending_timer);
}
