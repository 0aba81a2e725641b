/* examine.c - finds out whether the masters are fit for locks.
 *
 *              up          the list is answered         20 answers              tried
 *   COMING ---------> ASKED -------------------> TIMED -----------> SUBSCRIBING -------> done
 *      |                |                          |                     |
 *      +----------------+--------------------------+---------------------+--- down, broken, or
 *                                                                             timeout
 *
 * Each master goes through this by itself. The report is made when all are done, at the latest when
 * the last timeout has passed. All its memory is allocated before the first question is sent. */
#include <redlock/examine.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/time.h"
#include "doctor/checkup.h"
#include "doctor/report.h"
#include "doctor/trial.h"
#include "lock/gather.h"
#include "net/clock.h"
#include "node/talk.h"

/* With 64 random bits after these, no such keys exist. The first is named like our own keys, and
 * the other like the key of a lock. */
#define KEY "redlock:doctor:"
#define LOCK_KEY "doctor:"

struct entry {
    struct rlk_exam *exam;
    struct rlk_node *node;
    uint64_t sent_us; /* when the last TIME was sent */
    struct rlk_report_node *part;
    struct rlk_trial trial;
};

struct rlk_exam {
    struct rlk_gather gather;
    redlock_examine_cb *cb;
    void *arg;
    unsigned refs; /* checkups under way, and one until the callback is called */
    char key[REDLOCK_MAX_KEY + 48], lock_key[REDLOCK_MAX_KEY + 48];
    struct rlk_report report;
    struct entry entries[];
};

static void unref(struct rlk_exam *e)
{
    unsigned i;

    if (--e->refs == 0) {
        for (i = 0; i < e->report.n; i++) {
            rlk_trial_end(&e->entries[i].trial);
        }
        rlk_report_end(&e->report);
        rlk_free(e);
    }
}

static void finish_node(struct entry *x)
{
    rlk_gather_done(&x->exam->gather, x->node->index);
}

/* ---- questions and replies ---- */

static struct entry *entry_of(void *checkup)
{
    return ((struct rlk_checkup *)checkup)->entry;
}

static void end_checkup(void *checkup)
{
    unref(entry_of(checkup)->exam);
}

static void begin_talk(struct entry *x, const struct rlk_talk *talk, uint64_t now_us)
{
    if (!rlk_talk_begin(&x->node->link, talk, &x->part->checkup, now_us)) {
        rlk_node_note_kind(x->node, RLK_TROUBLE_NOT_EXAMINED, NULL);
        x->part->trouble.kind =
            x->part->checkup.answered ? RLK_TROUBLE_NONE : RLK_TROUBLE_NOT_EXAMINED;
        finish_node(x);
    }
}

static void on_examination_broken(const struct rlk_heard *h)
{
    finish_node(entry_of(h->context));
}

/* Without a subscriber connection nobody needs the permissions for it. */
static void begin_trial(struct entry *x, uint64_t now_us)
{
    if (!x->exam->gather.rl->options.subscribe) {
        finish_node(x);
        return;
    }
    rlk_gather_extend(&x->exam->gather, x->node->index, RLK_NEVER); /* a trial ends by itself */
    rlk_trial_start(&x->trial, now_us);
}

static void on_tried(struct rlk_trial *s)
{
    finish_node(RLK_CONTAINER(s, struct entry, trial));
}

static void take_time(const struct rlk_heard *h)
{
    rlk_checkup_take_time(h->context, h->reply, h->exchange->sent_us, h->now_us);
}

static void ask_time(const struct rlk_heard *h);

static const struct rlk_talk time_talk = {
    RLK_LINES({.words = RLK_WORDS("TIME"), .take = take_time}), .free = end_checkup,
    .done = ask_time, .broken = on_examination_broken};

/* Read the clock again: the round trip must not include the time that it took to read the replies.
 */
static void ask_time(const struct rlk_heard *h)
{
    struct entry *x = entry_of(h->context);

    x->sent_us = rlk_clock_us();
    x->part->checkup.answered = true;
    if (x->part->checkup.pings == RLK_CHECKUP_PINGS) {
        begin_trial(x, x->sent_us);
    } else {
        begin_talk(x, &time_talk, x->sent_us);
    }
}

static const struct rlk_talk checkup_talk = {.lines = rlk_checkup_lines,
                                             .n_lines = RLK_CHECKUP_LINES,
                                             .free = end_checkup,
                                             .refused = rlk_checkup_refused,
                                             .done = ask_time,
                                             .broken = on_examination_broken};

static void begin_checkup(struct entry *x, uint64_t now_us)
{
    struct rlk_gather *g = &x->exam->gather;

    rlk_checkup_note_connection(&x->part->checkup, x->node);
    rlk_gather_extend(g, x->node->index, rlk_time_add(now_us, g->rl->options.node_timeout_us));
    x->exam->refs++;
    x->part->checkup.refs = 1; /* ours */
    begin_talk(x, &checkup_talk, now_us);
    if (--x->part->checkup.refs == 0) {
        end_checkup(&x->part->checkup);
    }
}

/* ---- all of them ---- */

static struct rlk_exam *exam_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct rlk_exam, gather);
}

static void examine_node(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    begin_checkup(&exam_of(g)->entries[node], now_us);
}

static void on_examination_late(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    struct entry *x = &exam_of(g)->entries[node];

    rlk_checkup_end(&x->part->checkup, x->sent_us, now_us);
}

static void stop_examination(struct rlk_gather *g, unsigned node)
{
    struct entry *x = &exam_of(g)->entries[node];

    rlk_trial_cancel(&x->trial);
    rlk_talk_abandon(&x->node->link, &x->part->checkup);
}

static void report_examination(struct rlk_gather *g, bool cancelled)
{
    struct rlk_exam *e = exam_of(g);

    if (cancelled) {
        e->cb(NULL, REDLOCK_ECANCELED, e->arg);
    } else {
        int status = rlk_report_make(&e->report, g->rl);

        e->cb(&e->report.public, status, e->arg);
    }
}

static void unref_exam(struct rlk_gather *g)
{
    unref(exam_of(g));
}

static const struct rlk_gather_kind gather_kind = {.ask = examine_node,
                                                   .time_out = on_examination_late,
                                                   .stop = stop_examination,
                                                   .report = report_examination,
                                                   .unref = unref_exam};

/* ---- the beginning ---- */

static struct rlk_exam *make_exam(struct redlock *rl)
{
    uint64_t unused = rlk_prng_next(&rl->prng);
    size_t n = rl->options.n_nodes, i;
    struct rlk_exam *e = rlk_alloc(sizeof(*e) + n * sizeof(struct entry));

    if (e == NULL) {
        return NULL;
    }
    if (rlk_report_init(&e->report, n)) {
        rlk_free(e);
        return NULL;
    }
    e->refs = 1;
    snprintf(e->key, sizeof(e->key), "%s" KEY "%016" PRIx64, rl->options.key_prefix, unused);
    snprintf(e->lock_key, sizeof(e->lock_key), "%s" LOCK_KEY "%016" PRIx64, rl->options.key_prefix,
             unused);
    for (i = 0; i < n; i++) {
        e->entries[i].exam = e;
        e->entries[i].node = &rl->nodes[i];
        e->entries[i].part = &e->report.parts[i];
        e->report.parts[i].checkup.entry = &e->entries[i];
        e->report.parts[i].checkup.key = e->key;
        e->report.parts[i].checkup.lock_key = e->lock_key;
        rlk_trial_init(&e->entries[i].trial, &rl->nodes[i], &e->report.parts[i].checkup, on_tried);
    }
    rlk_gather_init(&e->gather, rl, &gather_kind);
    return e;
}

/* A master that is being connected has this time for it; one that is ready gets another. */
static void start_exam(struct rlk_exam *e)
{
    const struct redlock *rl = e->gather.rl;
    uint64_t now_us = rlk_clock_us(), ready, connecting;

    rlk_manager_nodes(rl, now_us, &ready, &connecting, NULL);
    rlk_gather_start(&e->gather, ready, connecting, now_us,
                     rlk_time_add(now_us, rl->options.connect_timeout_us));
}

REDLOCK_EXPORT int redlock_examine(struct redlock *rl, redlock_examine_cb *cb, void *arg)
{
    struct rlk_exam *e;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    e = make_exam(rl);
    if (e == NULL) {
        return REDLOCK_ENOMEM;
    }
    e->cb = cb;
    e->arg = arg;
    start_exam(e);
    return 0;
}
