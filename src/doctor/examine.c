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

/* With 64 random bits after this, no such key exists. */
#define KEY "redlock:doctor:"

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
    unsigned refs; /* requests in flight, and one until the callback is called */
    char key[REDLOCK_MAX_KEY + 48];
    struct rlk_report report;
    struct entry entries[];
};

static void unref(struct rlk_exam *e)
{
    unsigned i;

    if (--e->refs == 0) {
        for (i = 0; i < e->gather.rl->options.n_nodes; i++) {
            rlk_trial_end(&e->entries[i].trial);
        }
        rlk_report_end(&e->report);
        rlk_free(e);
    }
}

static bool is_pending(const struct entry *x)
{
    return rlk_gather_awaits(&x->exam->gather, x->node->index);
}

static void finish_node(struct entry *x)
{
    rlk_gather_done(&x->exam->gather, x->node->index);
}

static void extend_node(struct entry *x, uint64_t until_us)
{
    rlk_gather_extend(&x->exam->gather, x->node->index, until_us);
}

/* ---- question and answer ---- */

static void ref_entry(void *context)
{
    ((struct entry *)context)->exam->refs++;
}

static void unref_entry(void *context)
{
    unref(((struct entry *)context)->exam);
}

static bool send_question(struct entry *x, const struct rlk_exchange_kind *kind,
                          const char *const *words, uint64_t now_us)
{
    struct rlk_command c;
    bool asked = rlk_command_words(&c, words) == 0 && rlk_node_send(x->node, &c, kind, x, now_us);

    rlk_command_end(&c);
    if (!asked) {
        rlk_node_note_kind(x->node, RLK_TROUBLE_NOT_EXAMINED, NULL);
    }
    return asked;
}

static void on_examination_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    struct entry *x = r->context;

    (void)n;
    (void)now_us;
    finish_node(x);
}

static void on_time(struct rlk_node *n, const struct rlk_exchange *r, const struct rlk_reply *reply,
                    uint64_t now_us);

/* Without a subscriber connection nobody needs the rights for it. */
static void begin_trial(struct entry *x, uint64_t now_us)
{
    const struct rlk_options *options = &x->exam->gather.rl->options;

    if (!options->subscribe) {
        finish_node(x);
        return;
    }
    extend_node(x, rlk_time_add(now_us, options->connect_timeout_us));
    rlk_trial_start(&x->trial);
}

static void on_tried(struct rlk_trial *s)
{
    finish_node(RLK_CONTAINER(s, struct entry, trial));
}

static void ask_time(struct entry *x, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {on_time, on_examination_broken, ref_entry,
                                                  unref_entry, true};
    static const char *const words[] = {"TIME", NULL};

    x->sent_us = now_us;
    if (x->part->checkup.pings == RLK_CHECKUP_PINGS) {
        begin_trial(x, now_us);
    } else if (!send_question(x, &kind, words, now_us)) {
        finish_node(x);
    }
}

static void on_time(struct rlk_node *n, const struct rlk_exchange *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    struct entry *x = r->context;

    (void)n;
    if (is_pending(x)) {
        rlk_checkup_take_time(&x->part->checkup, reply, x->sent_us, now_us);
        ask_time(x, rlk_clock_us());
    }
}

static void on_examination_reply(struct rlk_node *n, const struct rlk_exchange *r,
                                 const struct rlk_reply *reply, uint64_t now_us)
{
    struct entry *x = r->context;

    (void)n;
    (void)now_us;
    if (is_pending(x) && rlk_checkup_take(&x->part->checkup, reply)) {
        ask_time(x, rlk_clock_us());
    }
}

static void begin_checkup(struct entry *x, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {on_examination_reply, on_examination_broken,
                                                  ref_entry, unref_entry, false};
    struct rlk_exam *e = x->exam;
    struct rlk_checkup_words words;
    unsigned at;

    rlk_checkup_note_connection(&x->part->checkup, x->node);
    extend_node(x, rlk_time_add(now_us, e->gather.rl->options.node_timeout_us));
    for (at = 0; rlk_checkup_words(at, x->node, e->key, &words); at++) {
        if (!send_question(x, &kind, words.word, now_us)) {
            x->part->trouble.kind = RLK_TROUBLE_NOT_EXAMINED;
            finish_node(x);
            return;
        }
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

    if (!rlk_trial_time_out(&x->trial)) {
        rlk_checkup_end(&x->part->checkup, x->sent_us, now_us);
    }
}

static void cancel_trial(struct rlk_gather *g, unsigned node)
{
    rlk_trial_cancel(&exam_of(g)->entries[node].trial);
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
                                                   .stop = cancel_trial,
                                                   .report = report_examination,
                                                   .unref = unref_exam};

/* ---- the beginning ---- */

static struct rlk_exam *make_exam(struct redlock *rl)
{
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
    snprintf(e->key, sizeof(e->key), "%s" KEY "%016" PRIx64, rl->options.key_prefix,
             rlk_prng_next(&rl->prng));
    for (i = 0; i < n; i++) {
        e->entries[i].exam = e;
        e->entries[i].node = &rl->nodes[i];
        e->entries[i].part = &e->report.parts[i];
        rlk_trial_init(&e->entries[i].trial, &rl->nodes[i], &e->report.parts[i].checkup, on_tried);
    }
    rlk_gather_init(&e->gather, rl, &gather_kind);
    return e;
}

/* Those that are being connected have this time for it; those that are ready get another. */
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
