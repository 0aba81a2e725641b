/* explain.c - says what is wrong with a node now, for people. */
#include <string.h>

#include "base/time.h"
#include "core/classify.h"
#include "net/tls.h"
#include "node/node.h"
#include "node/options.h"
#include "node/refusal.h"
#include "node/trace.h"
#include "node/upkeep.h"

/* Another program has put something else into the incarnation key. */
static bool is_spoilt(const struct rlk_node *n, enum rlk_trouble_kind kind)
{
    return kind == RLK_TROUBLE_BLIND_TO_DATA &&
           strncmp(rlk_classify_skip_places(n->inspection_error), "WRONGTYPE", 9) == 0;
}

/* Whether it denies us its mark, which it has let us read before. */
static bool denies_mark(const struct rlk_node *n, const struct rlk_trouble *t)
{
    return t->reason == RLK_QUARANTINED_UNREAD &&
           strncmp(rlk_classify_skip_places(n->inspection_error), "NOPERM", 6) == 0;
}

/* Why its votes do not count, and for how long; or what we cannot see of a node that votes. */
static struct rlk_trouble trouble_of_vote(const struct rlk_node *n, uint64_t now_us)
{
    static const enum rlk_trouble_kind kinds[] = {
        [RLK_BLIND_TO_NOTHING] = RLK_TROUBLE_NONE,
        [RLK_BLIND_TO_RESTART] = RLK_TROUBLE_BLIND_TO_RESTART,
        [RLK_BLIND_TO_RESTART_AND_ROLE] = RLK_TROUBLE_BLIND_TO_ROLE,
        [RLK_BLIND_TO_DATA] = RLK_TROUBLE_BLIND_TO_DATA};
    struct rlk_trouble t = {.kind = RLK_TROUBLE_QUARANTINE};

    if (!rlk_upkeep_is_allowed(n)) {
        return (struct rlk_trouble){.kind = n->upkeep.trouble, .words = n->upkeep.words};
    }
    t.reason = rlk_quarantine_reason(&n->quarantine, now_us, &t.number);
    if (t.reason == RLK_QUARANTINED_NOT) {
        t.kind = kinds[rlk_inspection_blind_spot(&n->inspection, &n->quarantine, &n->info)];
        return is_spoilt(n, t.kind) ? (struct rlk_trouble){.kind = RLK_TROUBLE_MARK_SPOILT} : t;
    }
    if (t.reason == RLK_QUARANTINED_UNLISTED && n->hides_record) {
        return (struct rlk_trouble){.kind = RLK_TROUBLE_RECORD_DENIED, .reason = t.reason};
    }
    if (t.reason == RLK_QUARANTINED_UNLISTED && n->unconfirmed) {
        return (struct rlk_trouble){.kind = RLK_TROUBLE_UNCONFIRMED_RECORD, .reason = t.reason};
    }
    if (t.reason == RLK_QUARANTINED_UNREAD) {
        t.words = n->inspection_error;
    }
    if (denies_mark(n, &t)) {
        t.kind = RLK_TROUBLE_MARK_DENIED;
        return t;
    }
    if (t.number != RLK_NEVER) {
        t.kind = RLK_TROUBLE_QUARANTINE_PASSES;
        t.number = (t.number - now_us + 999999) / 1000000;
    }
    return t;
}

/* A node that is UP without any other trouble may have one with its TLS files ... */
static struct rlk_trouble trouble_of_files(const struct rlk_node *n)
{
    const struct rlk_tls *tls = n->options->tls[n->index];
    const char *complaint = tls ? rlk_tls_complaint(tls) : "";

    return (struct rlk_trouble){.kind = complaint[0] ? RLK_TROUBLE_TLS_FILES : RLK_TROUBLE_NONE,
                                .words = complaint};
}

/* ... or with its name. */
static struct rlk_trouble trouble_of_name(const struct rlk_node *n)
{
    return (struct rlk_trouble){.kind = n->several[0] ? RLK_TROUBLE_SEVERAL : RLK_TROUBLE_NONE,
                                .words = n->several};
}

/* Nothing has gone wrong yet. A handshake takes some round trips: only one that takes long says
 * something about the server. */
static struct rlk_trouble trouble_of_attempt(const struct rlk_node *n, uint64_t now_us)
{
    uint64_t sent_us = rlk_inflight_oldest_us(&n->link.inflight);
    uint64_t silent_us = sent_us == RLK_NEVER ? 0 : rlk_time_sub(now_us, sent_us);

    if (n->link.conn.state == RLK_CONN_HANDSHAKE) {
        return (struct rlk_trouble){.kind = RLK_TROUBLE_TLS_PENDING};
    }
    if (n->link.state != RLK_LINK_HANDSHAKE || silent_us < n->options->node_timeout_us / 2) {
        return (struct rlk_trouble){.kind = RLK_TROUBLE_CONNECTING};
    }
    return (struct rlk_trouble){.kind = RLK_TROUBLE_HANDSHAKE, .number = silent_us / 1000};
}

struct rlk_trouble rlk_node_trouble(const struct rlk_node *n, uint64_t now_us)
{
    struct rlk_trouble vote = {.kind = RLK_TROUBLE_NONE};

    if (rlk_node_unresponsive(n, now_us)) {
        return (struct rlk_trouble){.kind = RLK_TROUBLE_UNRESPONSIVE,
                                    .number = (now_us - rlk_inflight_oldest_us(&n->link.inflight)) /
                                              1000};
    }
    if (n->trouble.kind == RLK_TROUBLE_NONE && n->link.state != RLK_LINK_UP) {
        return trouble_of_attempt(n, now_us);
    }
    if (n->link.state == RLK_LINK_UP) {
        vote = trouble_of_vote(n, now_us);
    }
    if (vote.kind != RLK_TROUBLE_NONE) {
        return vote;
    }
    if (n->trouble.kind != RLK_TROUBLE_NONE) {
        return n->trouble;
    }
    vote = trouble_of_files(n);
    return vote.kind == RLK_TROUBLE_NONE ? trouble_of_name(n) : vote;
}

/* Whether `t` is about the votes, and has a cause other than the last error, which is never about
 * votes. */
static bool has_another(const struct rlk_node *n, const struct rlk_trouble *t)
{
    const struct rlk_trouble *last = &n->trouble;
    const struct rlk_refusal *refusal = t->words ? rlk_refusal_of(t->words) : NULL;

    return last->kind != RLK_TROUBLE_NONE && last->kind != t->kind &&
           t->kind != RLK_TROUBLE_UNRESPONSIVE &&
           !(refusal && last->words && refusal == rlk_refusal_of(last->words));
}

const char *rlk_node_explain(struct rlk_node *n, uint64_t now_us)
{
    static const char besides[] = "; also: ";
    struct rlk_trouble t = rlk_node_trouble(n, now_us);
    size_t len;

    rlk_trouble_write(&t, n->text, RLK_TROUBLE_TEXT);
    if (has_another(n, &t)) {
        len = strlen(n->text);
        memcpy(n->text + len, besides, sizeof(besides));
        len += sizeof(besides) - 1;
        rlk_trouble_write(&n->trouble, n->text + len, RLK_TROUBLE_TEXT - (sizeof(besides) - 1));
    }
    return n->text;
}

void rlk_node_trace_quarantine(const struct rlk_node *n, uint64_t now_us)
{
    char text[RLK_TROUBLE_TEXT];
    struct rlk_trouble t;

    if (!rlk_trace_is_on(n->options) || n->link.state != RLK_LINK_UP) {
        return;
    }
    t = trouble_of_vote(n, now_us);
    if (t.reason != RLK_QUARANTINED_NOT || !rlk_upkeep_is_allowed(n)) {
        rlk_trouble_write(&t, text, sizeof(text));
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_QUARANTINED, .text = text);
    }
}
