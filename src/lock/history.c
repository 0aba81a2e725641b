/* history.c - reads the audit streams, a part at a time, and reports what became of a lock.
 *
 *     parts of each master's stream, the newest first ---> entries ---> events ---> history_cb
 *          (history.lua)                                     (past.h)
 *
 * A master is asked for one part at a time, at its own pace (core/pace.h): so a long stream takes
 * no more than a fixed part of its time. */
#include <redlock/history.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/sized.h"
#include "base/time.h"
#include "core/classify.h"
#include "core/pace.h"
#include "core/validity.h"
#include "lock/gather.h"
#include "lock/look.h"
#include "lock/past.h"
#include "lock/request.h"
#include "net/clock.h"
#include "node/claim.h"
#include "node/talk.h"
#include "scripts/scripts.h"

/* A part of 100 entries counts as 50 commands, and 10,000 commands are allowed in a second. */
#define PART_COST 50
#define RATE 10000

#define MAX_LIMIT 10000
#define MAX_TIMEOUT_MS 86400000

struct rlk_history;

/* One master. */
struct part {
    unsigned refs; /* commands in flight; the first member, as conversations count them */
    struct rlk_history *of;
    struct rlk_pace pace;
    char next[48]; /* where the next part begins; "": it was the last */
    bool asking, there;
    bool more; /* than are wanted */
    uint64_t since_ms, entries;
    char error[384]; /* why it goes no further; "" */
};

struct rlk_history {
    struct rlk_gather gather;
    struct redlock_history_options options;
    struct rlk_claim *claim; /* the key */
    struct rlk_timer timer;  /* when a pace allows more, or the time is over */
    uint64_t until_us;
    int status;    /* why it ends early */
    unsigned refs; /* conversations, and one until it is reported */
    struct rlk_past_entry *entries;
    size_t n_entries, room;
    char stream[REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_AUDIT)];
    char oldest[24]; /* the oldest id to look at */
    struct part parts[];
};

static struct rlk_history *history_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct rlk_history, gather);
}

static void unref_history(struct rlk_gather *g)
{
    struct rlk_history *h = history_of(g);

    if (--h->refs == 0) {
        rlk_claim_unref(h->claim);
        rlk_free(h->entries);
        rlk_free(h);
    }
}

static void free_part(void *part)
{
    unref_history(&((struct part *)part)->of->gather);
}

static unsigned node_of(const struct part *p)
{
    return (unsigned)(p - p->of->parts);
}

static void note_error(struct part *p, enum rlk_trouble_kind kind, const char *words)
{
    if (p->error[0] == '\0') {
        rlk_trouble_write(&(struct rlk_trouble){.kind = kind, .words = words}, p->error,
                          sizeof(p->error));
    }
}

/* ---- a reply ---- */

/* {next, oldest, there, ...}: seven texts for each entry. */
#define HEAD 3
#define FIELDS 7

static bool are_texts(const struct rlk_reply *first, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        if (first[i].type != RLK_REPLY_STRING) {
            return false;
        }
    }
    return true;
}

static bool is_part(const struct rlk_reply *r)
{
    return r->type == RLK_REPLY_ARRAY && r->integer >= HEAD && (r->integer - HEAD) % FIELDS == 0 &&
           are_texts(&r[1], 2) && r[3].type == RLK_REPLY_INTEGER &&
           are_texts(&r[1 + HEAD], r->integer - HEAD);
}

static uint64_t number_in(const struct rlk_reply *r)
{
    return strtoull(r->str, NULL, 10);
}

/* Of an id: what follows the '-'. */
static uint64_t seq_in(const struct rlk_reply *id)
{
    const char *dash = strchr(id->str, '-');

    return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

static void copy_text(char *to, size_t size, const struct rlk_reply *from)
{
    snprintf(to, size, "%.*s", (int)from->len, from->str);
}

static bool make_room(struct rlk_history *h)
{
    size_t room = h->room ? 2 * h->room : 64;
    struct rlk_past_entry *entries;

    if (h->n_entries < h->room) {
        return true;
    }
    entries = rlk_realloc(h->entries, room * sizeof(*entries));
    if (entries == NULL) {
        h->status = REDLOCK_ENOMEM;
        return false;
    }
    h->entries = entries;
    h->room = room;
    return true;
}

/* Only what can be the beginning of a token: it is printed as it is. */
static void copy_id(char id[RLK_PAST_ID], const struct rlk_reply *from)
{
    bool good = from->len == RLK_TOKEN_ID && strspn(from->str, "0123456789abcdef") == RLK_TOKEN_ID;

    snprintf(id, RLK_PAST_ID, "%s", good ? from->str : "");
}

/* What is not one of our events, somebody else has written. */
static void take_entry(struct part *p, const struct rlk_reply *field)
{
    struct rlk_history *h = p->of;
    enum redlock_history_kind kind = rlk_past_kind(field[1].str);
    struct rlk_past_entry *e;

    p->more = p->more || p->entries >= h->options.limit;
    if (kind == 0 || p->more || !make_room(h)) {
        return;
    }
    e = &h->entries[h->n_entries++];
    *e = (struct rlk_past_entry){.ms = number_in(&field[0]),
                                 .seq = seq_in(&field[0]),
                                 .node = node_of(p),
                                 .kind = kind,
                                 .fence = number_in(&field[5]),
                                 .ttl_ms = (uint32_t)number_in(&field[6])};
    copy_id(e->id, &field[2]);
    copy_text(e->owner, sizeof(e->owner), &field[3]);
    copy_text(e->other, sizeof(e->other), &field[4]);
    p->entries++;
    p->since_ms = e->ms;
}

/* A master with more entries than are wanted knows since the last one that was taken. */
static void take_part(const struct rlk_heard *heard)
{
    struct part *p = heard->context;
    const struct rlk_reply *r = heard->reply;
    int64_t i;

    if (!is_part(r)) {
        note_error(p, RLK_TROUBLE_NONSENSE, NULL);
        return;
    }
    copy_text(p->next, sizeof(p->next), &r[1]);
    p->there = r[3].integer != 0;
    for (i = 1 + HEAD; i <= r->integer; i += FIELDS) {
        take_entry(p, &r[i]);
    }
    if (r[2].len > 0 && p->entries < p->of->options.limit) {
        p->since_ms = number_in(&r[2]);
    }
}

static void on_history_refused(const struct rlk_heard *heard)
{
    note_error(heard->context,
               rlk_classify_denied(heard->reply) ? RLK_TROUBLE_HISTORY_DENIED
                                                 : RLK_TROUBLE_HISTORY_REFUSED,
               heard->reply->str);
}

/* ---- the parts of a stream ---- */

static void go_on(struct rlk_history *h, uint64_t now_us);

static bool is_read(const struct part *p)
{
    return p->next[0] == '\0' || p->entries >= p->of->options.limit;
}

static void end_part(struct part *p, uint64_t now_us)
{
    struct rlk_gather *g = &p->of->gather;

    p->asking = false;
    if (is_read(p) || p->error[0]) {
        rlk_gather_done(g, node_of(p));
    } else if (rlk_gather_awaits(g, node_of(p))) {
        rlk_gather_extend(g, node_of(p), RLK_NEVER);
    }
    go_on(p->of, now_us);
}

static void on_part_read(const struct rlk_heard *heard)
{
    end_part(heard->context, heard->now_us);
}

static void on_part_broken(const struct rlk_heard *heard)
{
    note_error(heard->context, RLK_TROUBLE_ANSWER_BROKEN, NULL);
    end_part(heard->context, heard->now_us);
}

static bool format_part(struct rlk_command *c, const struct rlk_say *say)
{
    const struct part *p = say->context;

    rlk_command_history(c, p->of->claim, p->of->stream, p->next, p->of->oldest, say->form);
    return true;
}

static bool ask_again(const struct rlk_heard *heard)
{
    return rlk_talk_text(&heard->node->link, heard->exchange, 0, heard->now_us);
}

static const struct rlk_talk part_talk = {
    RLK_LINES({.script = &rlk_script_history, .format = format_part, .take = take_part}),
    .free = free_part,
    .refused = on_history_refused,
    .done = on_part_read,
    .broken = on_part_broken,
    .again = ask_again};

static void ask_part(struct part *p, uint64_t now_us)
{
    struct rlk_gather *g = &p->of->gather;
    unsigned node = node_of(p);

    rlk_pace_charge(&p->pace, PART_COST, now_us);
    p->of->refs += p->refs == 0;
    p->asking = rlk_talk_begin(&g->rl->nodes[node].link, &part_talk, p, now_us);
    if (p->asking) {
        rlk_gather_extend(g, node, rlk_time_add(now_us, g->rl->options.node_timeout_us));
        return;
    }
    p->of->refs -= p->refs == 0;
    note_error(p, RLK_TROUBLE_NOT_EXAMINED, NULL);
    rlk_gather_done(g, node);
}

/* ---- all of them ---- */

static void end_all(struct rlk_history *h, enum rlk_trouble_kind why)
{
    uint64_t left = h->gather.awaited;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        note_error(&h->parts[node], why, NULL);
        rlk_gather_done(&h->gather, node);
    }
}

static void ask_those_that_may(struct rlk_history *h, uint64_t now_us)
{
    uint64_t left = h->gather.awaited & ~h->gather.connecting;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        struct part *p = &h->parts[node];

        if (!p->asking && rlk_pace_allows(&p->pace, now_us)) {
            ask_part(p, now_us);
        }
    }
}

static uint64_t next_us(const struct rlk_history *h)
{
    uint64_t left = h->gather.awaited & ~h->gather.connecting, first_us = h->until_us;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (!h->parts[node].asking) {
            first_us = rlk_time_min(first_us, rlk_pace_free_us(&h->parts[node].pace));
        }
    }
    return first_us;
}

/* Whatever has happened: ask for what may be asked for now. */
static void go_on(struct rlk_history *h, uint64_t now_us)
{
    if (h->until_us <= now_us && h->status == 0) {
        h->status = REDLOCK_EDEADLINE;
    }
    if (h->status) {
        end_all(h, RLK_TROUBLE_HISTORY_UNFINISHED);
    } else {
        ask_those_that_may(h, now_us);
    }
    if (h->gather.awaited) {
        rlk_timer_set(&h->gather.rl->loop.timers, &h->timer, next_us(h));
    } else {
        rlk_timer_cancel(&h->gather.rl->loop.timers, &h->timer);
    }
}

static void on_history_timer(struct rlk_timer *t, uint64_t now_us)
{
    go_on(RLK_CONTAINER(t, struct rlk_history, timer), now_us);
}

static void begin_part(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    struct part *p = &history_of(g)->parts[node];

    if (!p->asking) {
        ask_part(p, now_us);
    }
}

static void on_part_late(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    (void)now_us;
    note_error(&history_of(g)->parts[node], RLK_TROUBLE_UNANSWERED, NULL);
}

static void stop_part(struct rlk_gather *g, unsigned node)
{
    struct part *p = &history_of(g)->parts[node];

    if (p->asking) {
        p->asking = false;
        note_error(p, RLK_TROUBLE_ANSWER_BROKEN, NULL);
        rlk_talk_abandon(&g->rl->nodes[node].link, p);
    }
}

/* ---- the report ---- */

static bool was_read(const struct part *p)
{
    return p->error[0] == '\0' && is_read(p);
}

static const char *trouble_of_part(struct rlk_history *h, unsigned node, uint64_t now_us)
{
    const struct part *p = &h->parts[node];
    const char *trouble;

    if (p->error[0] || was_read(p)) {
        return p->error;
    }
    trouble = rlk_node_explain(&h->gather.rl->nodes[node], now_us);
    return trouble[0] ? trouble : rlk_trouble_rows[RLK_TROUBLE_HISTORY_UNFINISHED].sentence;
}

/* What the masters know, and which have more entries than are wanted. */
static void sum_up_masters(struct rlk_history *h, struct rlk_past_masters *ret)
{
    unsigned i;

    *ret = (struct rlk_past_masters){.n = h->gather.rl->options.n_nodes,
                                     .voters = &h->gather.rl->voters};
    for (i = 0; i < ret->n; i++) {
        const struct part *p = &h->parts[i];

        ret->since_ms[i] = p->since_ms;
        if (p->more || (p->next[0] && p->entries >= h->options.limit)) {
            ret->cut |= rlk_mask_bit(i);
        }
    }
}

/* Since when all those know that were cut, or a little earlier: the first event may be one that all
 * of them have sent. */
static uint64_t begin_ms(const struct rlk_past_masters *m,
                         const struct redlock_history_event *events, size_t n)
{
    uint64_t left = m->cut, from_ms = 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        from_ms = rlk_time_max(from_ms, m->since_ms[node]);
    }
    return n ? rlk_time_min(from_ms, events->time_ms) : from_ms;
}

/* `shown` and `list` have room for each master. */
static void show_masters(struct rlk_history *h, struct redlock_history_node *shown,
                         const struct redlock_history_node **list,
                         struct redlock_history_result *ret)
{
    uint64_t now_us = rlk_clock_us(), left = rlk_options_seen(&h->gather.rl->options);
    unsigned i;

    ret->nodes = list;
    RLK_MASK_EACH (i, left) {
        const struct part *p = &h->parts[i];

        shown[i] = (struct redlock_history_node){.size = sizeof(shown[i]),
                                                 .read = was_read(p),
                                                 .error = trouble_of_part(h, i, now_us),
                                                 .has_stream = p->there,
                                                 .entries = p->entries,
                                                 .since_ms = p->since_ms};
        list[ret->n_nodes++] = &shown[i];
        ret->read += was_read(p);
    }
}

static uint64_t read_nodes(const struct rlk_history *h)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < h->gather.rl->options.n_nodes; i++) {
        nodes |= was_read(&h->parts[i]) ? rlk_mask_bit(i) : 0;
    }
    return nodes;
}

/* With its events, which are between `events` and `list`. */
static void report_events(struct rlk_history *h, struct redlock_history_event *events,
                          const struct redlock_history_event **list)
{
    struct redlock_history_node shown[RLK_MAX_NODES];
    const struct redlock_history_node *nodes[RLK_MAX_NODES];
    struct redlock_history_result history = {.size = sizeof(history), .events = list};
    const struct rlk_options *o = &h->gather.rl->options;
    struct rlk_past_masters masters;
    int status = h->status;
    size_t i;

    sum_up_masters(h, &masters);
    show_masters(h, shown, nodes, &history);
    history.n_events = rlk_past_events(h->entries, h->n_entries, &masters, events);
    history.since_ms = begin_ms(&masters, events, history.n_events);
    for (i = 0; i < history.n_events; i++) {
        events[i].masters = rlk_options_numbers(o, events[i].masters);
        events[i].missing = rlk_options_numbers(o, events[i].missing);
        list[i] = &events[i];
    }
    if (status == 0 && !rlk_voters_are_enough(masters.voters, read_nodes(h))) {
        status = REDLOCK_ENOQUORUM;
    }
    h->options.history_cb(&history, status, h->options.arg);
}

/* Without memory for the events only the masters are shown. */
static void report_history(struct rlk_gather *g, bool cancelled)
{
    struct rlk_history *h = history_of(g);
    size_t most = 2 * h->n_entries + 1;
    struct redlock_history_event *events;
    const struct redlock_history_event **list;

    rlk_timer_cancel(&g->rl->loop.timers, &h->timer);
    if (cancelled) {
        h->options.history_cb(NULL, REDLOCK_ECANCELED, h->options.arg);
        return;
    }
    events = rlk_alloc(most * (sizeof(*events) + sizeof(*list)));
    if (events == NULL) {
        h->status = REDLOCK_ENOMEM;
        h->n_entries = 0;
    }
    list = events ? (const struct redlock_history_event **)(void *)(events + most) : NULL;
    report_events(h, events, list);
    rlk_free(events);
}

static const struct rlk_gather_kind history_kind = {.ask = begin_part,
                                                    .time_out = on_part_late,
                                                    .stop = stop_part,
                                                    .report = report_history,
                                                    .unref = unref_history};

/* ---- the options ---- */

static const struct redlock_history_options defaults = {
    .size = sizeof(defaults), .limit = 1000, .timeout_ms = 60000};

static const struct rlk_request_form options_form = {
    .defaults = &defaults,
    .size = sizeof(defaults),
    .least = RLK_SIZED_UP_TO(struct redlock_history_options, arg),
    .is = "options are",
    .was = "options were",
    .sets = "options set",
    .init = "redlock_history_options_init",
};

REDLOCK_EXPORT void redlock_history_options_init_sized(struct redlock_history_options *options,
                                                       size_t size)
{
    rlk_sized_init(options, size, &defaults, sizeof(defaults));
}

static int read_history_options(struct redlock *rl, const struct redlock_history_options *theirs,
                                struct redlock_history_options *ret)
{
    int status = rlk_request_read(rl, &options_form, theirs, ret);

    if (status == 0) {
        status = rlk_request_number(rl, "limit", ret->limit, 1, MAX_LIMIT);
    }
    if (status == 0) {
        status = rlk_request_number(rl, "timeout_ms", ret->timeout_ms, 1, MAX_TIMEOUT_MS);
    }
    if (status == 0 && (ret->key == NULL || ret->history_cb == NULL)) {
        status =
            rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is NULL", ret->key ? "history_cb" : "key");
    }
    return status;
}

/* ---- the beginning ---- */

/* Takes over the reference to the claim. */
static struct rlk_history *make_history(struct redlock *rl, struct rlk_claim *claim,
                                        const struct redlock_history_options *o)
{
    unsigned n = rl->options.room, i;
    struct rlk_history *h = rlk_alloc(sizeof(*h) + n * sizeof(h->parts[0]));

    if (h == NULL) {
        rlk_claim_unref(claim);
        return NULL;
    }
    h->options = *o;
    h->options.key = NULL; /* the caller's */
    h->claim = claim;
    h->refs = 1;
    snprintf(h->stream, sizeof(h->stream), "%s" RLK_COMMAND_AUDIT, rl->options.key_prefix);
    snprintf(h->oldest, sizeof(h->oldest), "%llu", (unsigned long long)o->since_ms);
    for (i = 0; i < n; i++) {
        h->parts[i] =
            (struct part){.of = h, .pace = {.rate = RATE}, .next = "+", .since_ms = UINT64_MAX};
    }
    rlk_timer_init(&h->timer, on_history_timer);
    rlk_gather_init(&h->gather, rl, &history_kind);
    return h;
}

static void start_history(struct rlk_history *h)
{
    struct redlock *rl = h->gather.rl;
    uint64_t now_us = rlk_clock_us(), ready, connecting;

    h->until_us = rlk_time_add(now_us, rlk_time_from_ms(h->options.timeout_ms));
    rlk_manager_nodes(rl, now_us, &ready, &connecting, NULL);
    rlk_gather_start(&h->gather, ready, connecting, now_us,
                     rlk_time_add(now_us, rl->options.connect_timeout_us));
    rlk_timer_set(&rl->loop.timers, &h->timer, h->until_us);
}

REDLOCK_EXPORT int redlock_history(struct redlock *rl,
                                   const struct redlock_history_options *options)
{
    struct redlock_history_options own;
    struct rlk_claim *claim;
    struct rlk_history *h;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status == 0) {
        status = read_history_options(rl, options, &own);
    }
    if (status == 0) {
        status = rlk_look_claim(rl, own.key, own.key_len, 0, &claim);
    }
    if (status) {
        return status;
    }
    h = make_history(rl, claim, &own);
    if (h == NULL) {
        return REDLOCK_ENOMEM;
    }
    start_history(h);
    return 0;
}
