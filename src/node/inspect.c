/* inspect.c - drives core/inspection.h: sends its questions, and steps it with the replies. */
#include "node/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/time.h"
#include "core/classify.h"
#include "core/clocks.h"
#include "net/loop.h"
#include "node/hello.h"
#include "node/info.h"
#include "node/node.h"
#include "node/talk.h"
#include "node/upkeep.h"
#include "scripts/scripts.h"

/* ---- sending ---- */

/* A prefix is shorter than a key. */
static void write_key(const struct rlk_node *n, char key[RLK_COMMAND_INCARNATION_SIZE])
{
    memcpy(key, n->options->key_prefix, n->options->key_prefix_len);
    memcpy(key + n->options->key_prefix_len, RLK_COMMAND_INCARNATION,
           sizeof(RLK_COMMAND_INCARNATION));
}

#define MARK_DIGITS 16

/* As 16 hex digits. Each vote with a fencing token has a mark, so this is done without printf. */
static void write_mark(uint64_t mark, char out[MARK_DIGITS + 1])
{
    unsigned i;

    for (i = MARK_DIGITS; i > 0; mark >>= 4) {
        out[--i] = "0123456789abcdef"[mark & 15];
    }
    out[MARK_DIGITS] = '\0';
}

static bool format_mark(struct rlk_command *c, struct rlk_node *n,
                        const struct rlk_inspection_question *q)
{
    char mark[MARK_DIGITS + 1], note[RLK_DIGITS_MAX + 1], key[RLK_COMMAND_INCARNATION_SIZE];
    char *end = note + RLK_DIGITS_MAX, *step = rlk_digits(q->step_us, end);
    const char *record = n->options->record_key ? n->options->record_key : "";
    const char *const words[] = {"EVAL", rlk_script_incarnation.text, "1",  key,    n->info.run_id,
                                 mark,   q->keeps_data ? "1" : "0",   step, record, NULL};

    write_key(n, key);
    write_mark(rlk_prng_next(&n->prng) | 1, mark);
    *end = '\0';
    return rlk_command_words(c, words) == 0;
}

bool rlk_inspect_format(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_inspection_question *q = say->context;

    return q->mark ? format_mark(c, say->node, q) : rlk_command_words(c, RLK_WORDS("TIME")) == 0;
}

/* ---- reading replies ---- */

static uint64_t number(const char *text, int base)
{
    return strtoull(text, NULL, base);
}

/* The reply to TIME: seconds and microseconds. To scripts/incarnation.lua: "run mark born", the
 * time in microseconds, and perhaps the record. A value that is missing is 0. */
static bool read_answer(const struct rlk_reply *reply, struct rlk_birth *ret)
{
    const char *mark;

    *ret = (struct rlk_birth){0};
    if (reply->type != RLK_REPLY_ARRAY || (reply->integer != 2 && reply->integer != 3) ||
        reply[1].type != RLK_REPLY_STRING || reply[2].type != RLK_REPLY_STRING) {
        return false;
    }
    mark = strchr(reply[1].str, ' ');
    if (mark == NULL) {
        ret->server_us = number(reply[1].str, 10) * 1000000 + number(reply[2].str, 10);
        return true;
    }
    ret->mark = number(mark + 1, 16);
    ret->born_us = strchr(mark + 1, ' ') ? number(strchr(mark + 1, ' '), 10) : 0;
    ret->server_us = number(reply[2].str, 10);
    return true;
}

/* What was read may have made a lock be asked for, which begins the next inspection: sent_us may be
 * that of the next one already. */
static void report_time(struct rlk_node *n, uint64_t server_us, uint64_t now_us)
{
    struct rlk_clock_sample sample = {
        .sent_us = n->inspection.read_us, .received_us = now_us, .server_us = server_us};

    n->hooks->clock_sampled(n, &sample);
}

/* Carry out the actions of a step. The connection may have ended when this returns. */
static void carry_out_inspection(struct rlk_node *n, const struct rlk_inspection_event *ev,
                                 const struct rlk_inspection_actions *out)
{
    static const enum rlk_trouble_kind kinds[] = {[RLK_RECONNECT_UNFIT] = RLK_TROUBLE_UNFIT,
                                                  [RLK_RECONNECT_REPLICA] = RLK_TROUBLE_WAS_REPLICA,
                                                  [RLK_RECONNECT_DATA_REPLACED] =
                                                      RLK_TROUBLE_DATA_REPLACED,
                                                  [RLK_RECONNECT_NAMED] = RLK_TROUBLE_NAMED};

    if (out->restarted) {
        n->hooks->restarted(n);
    }
    if (out->quarantined) {
        rlk_node_trace_quarantine(n, ev->now_us);
        n->hooks->quarantined(n, ev->now_us);
    }
    if (ev->birth.server_us) {
        report_time(n, ev->birth.server_us, ev->now_us);
    }
    if (out->reconnect != RLK_RECONNECT_NOT) {
        rlk_node_refuse(n,
                        &(struct rlk_trouble){.kind = kinds[out->reconnect], .unfit = out->unfit});
    }
}

static void step_inspection(struct rlk_node *n, const struct rlk_inspection_event *ev)
{
    struct rlk_inspection_actions out;

    rlk_inspection_step(&n->inspection, &n->quarantine, &n->info, ev, &out);
    carry_out_inspection(n, ev, &out);
}

void rlk_inspect_judge_role(struct rlk_node *n, enum rlk_unfit unfit, uint64_t now_us)
{
    step_inspection(n, &(struct rlk_inspection_event){
                           .kind = RLK_INSPECTION_ROLE, .unfit = unfit, .now_us = now_us});
}

static enum rlk_inspection_error error_of(const struct rlk_reply *reply)
{
    if (rlk_classify_refused_for_now(reply)) {
        return RLK_INSPECTION_NOT_NOW;
    }
    return rlk_classify_is_error(reply, "NOPERM") ? RLK_INSPECTION_DENIED : RLK_INSPECTION_OTHER;
}

/* The first word of the error says what kind it is. */
static void keep_error(struct rlk_node *n, const char *error)
{
    snprintf(n->inspection_error, sizeof(n->inspection_error), "%s",
             rlk_classify_skip_places(error));
}

static void step_with_reply(struct rlk_node *n, enum rlk_inspection_event_kind kind,
                            const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_inspection_event ev = {.kind = kind, .now_us = now_us};

    if (!read_answer(reply, &ev.birth)) {
        ev.error = error_of(reply);
        keep_error(n, reply->type == RLK_REPLY_ERROR ? reply->str : "");
        if (kind == RLK_INSPECTION_REPLY && ev.error == RLK_INSPECTION_DENIED) {
            rlk_upkeep_ask(n, now_us);
        }
    } else if (ev.birth.mark != 0) {
        n->inspection_error[0] = '\0';
    }
    step_inspection(n, &ev);
    if (ev.error != RLK_INSPECTION_ANSWERED && kind == RLK_INSPECTION_REPLY) {
        rlk_inspect_wait(n, now_us);
    }
    if (ev.error != RLK_INSPECTION_ANSWERED) {
        n->hooks->record_shown(n, NULL, 0, now_us);
    } else if (ev.birth.mark != 0 && reply->integer == 3 && n->quarantine.mark == ev.birth.mark) {
        n->hooks->record_shown(n, &reply[3], ev.birth.server_us, now_us);
    }
}

static void take_inspected(const struct rlk_heard *h)
{
    step_with_reply(h->node, RLK_INSPECTION_REPLY, h->reply, h->now_us);
}

/* An error says nothing that the reply to the script does not say, too. */
static void take_time(const struct rlk_heard *h)
{
    struct rlk_inspection_event ev = {.kind = RLK_INSPECTION_TIME, .now_us = h->now_us};

    if (read_answer(h->reply, &ev.birth)) {
        step_inspection(h->node, &ev);
    }
}

/* The reply to INFO replication. */
static void take_info(const struct rlk_heard *h)
{
    struct rlk_inspection_event ev = {.kind = RLK_INSPECTION_INFO, .now_us = h->now_us};

    rlk_info_read(&h->node->info, h->reply);
    if (h->reply->type == RLK_REPLY_ERROR) {
        ev.error = error_of(h->reply);
    }
    step_inspection(h->node, &ev);
}

static void take_hello(const struct rlk_heard *h)
{
    if (h->reply->type == RLK_REPLY_ARRAY) {
        rlk_inspect_judge_role(h->node, rlk_hello_unfit(h->reply), h->now_us);
    }
}

static void take_state(const struct rlk_heard *h)
{
    rlk_info_read(&h->node->info, h->reply);
    step_inspection(
        h->node, &(struct rlk_inspection_event){.kind = RLK_INSPECTION_STATE, .now_us = h->now_us});
}

static void on_inspection_broken(const struct rlk_heard *h)
{
    step_inspection(h->node, &(struct rlk_inspection_event){.kind = RLK_INSPECTION_BROKEN,
                                                            .now_us = h->now_us});
}

/* ---- inspections ---- */

/* How often a node is asked without regular inspections (inspection_ms is 0), while its votes wait
 * for an inspection, or it denies us something. */
#define ASK_AGAIN_US 1000000

static bool waits_for_inspection(const struct rlk_node *n)
{
    return n->inspection.refused || rlk_quarantine_needs_inspection(&n->quarantine);
}

static bool inspects(const struct rlk_node *n)
{
    return n->options->inspection_us > 0 || waits_for_inspection(n);
}

/* [S11] A lock of ours may be valid there, or we wait until it may vote. And users want to know its
 * clock, which the handshake does not ask for under every policy. */
static bool is_relied_on(const struct rlk_node *n, uint64_t now_us)
{
    return now_us < n->leased_us || n->inspection.sent_us == 0 || !rlk_upkeep_is_allowed(n) ||
           waits_for_inspection(n);
}

static void schedule_next(struct rlk_node *n, uint64_t now_us)
{
    uint64_t pause_us = n->options->inspection_us;

    if (pause_us > 0) {
        pause_us =
            rlk_inspection_pause_us(&n->quarantine, pause_us, is_relied_on(n, now_us), now_us);
    } else if (inspects(n) || !rlk_upkeep_is_allowed(n)) {
        pause_us = ASK_AGAIN_US;
    }
    n->inspection_pause_us = pause_us;
    if (pause_us > 0) {
        rlk_timer_set(&n->loop->timers, &n->inspection_timer, rlk_time_add(now_us, pause_us));
    }
}

/* Without regular inspections each due timer counts as one. */
static unsigned periods(const struct rlk_node *n)
{
    uint64_t period_us = n->options->inspection_us;

    return period_us > 0 ? (unsigned)(n->inspection_pause_us / period_us) : 1;
}

static bool asks_info(const struct rlk_say *say)
{
    return ((const struct rlk_inspection_question *)say->context)->role == RLK_INSPECTION_BY_INFO;
}

static bool asks_hello(const struct rlk_say *say)
{
    return ((const struct rlk_inspection_question *)say->context)->role == RLK_INSPECTION_BY_HELLO;
}

static bool asks_time(const struct rlk_say *say)
{
    return ((const struct rlk_inspection_question *)say->context)->time;
}

/* The context is the question, which is needed only until it is written. */
static const struct rlk_talk inspection = {
    RLK_LINES({.words = RLK_WORDS("INFO", "replication"), .when = asks_info, .take = take_info},
              {.words = RLK_WORDS("HELLO", "2"), .when = asks_hello, .take = take_hello},
              {.words = RLK_WORDS("TIME"), .when = asks_time, .take = take_time},
              {.format = rlk_inspect_format, .take = take_inspected}),
    .in_handshake = true, .broken = on_inspection_broken};

struct rlk_inspection_question rlk_inspect_question(struct rlk_node *n, uint64_t now_us)
{
    return rlk_inspection_ask(&n->inspection, &n->quarantine, &n->info, now_us);
}

static void send_question(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_inspection_question q = rlk_inspect_question(n, now_us);

    if (!rlk_talk_begin(&n->link, &inspection, &q, now_us)) {
        step_inspection(
            n, &(struct rlk_inspection_event){.kind = RLK_INSPECTION_BROKEN, .now_us = now_us});
        rlk_node_note_kind(n, RLK_TROUBLE_NO_MEMORY_TO_INSPECT, NULL);
    }
}

void rlk_inspect_ask_now(struct rlk_node *n, uint64_t now_us)
{
    if (rlk_inspection_is_free(&n->inspection) && rlk_node_ready(n, now_us)) {
        send_question(n, now_us);
    }
}

void rlk_inspect_ask(struct rlk_node *n, uint64_t now_us)
{
    if (n->options->inspection_us > 0 && rlk_inspection_is_due(&n->inspection, now_us)) {
        rlk_inspect_ask_now(n, now_us);
    }
}

/* [S15] Even without regular inspections, no vote relies on a record that was read long ago. */
static uint64_t oldest_us(const struct rlk_node *n)
{
    bool reads = n->options->record_key && rlk_inspection_reads_mark(&n->quarantine, &n->info);

    return n->options->inspection_us > 0 || !reads ? n->options->inspection_us : RLK_NEVER;
}

void rlk_inspect_rely(struct rlk_node *n, uint64_t now_us)
{
    uint64_t period_us = n->options->inspection_us, old_us = oldest_us(n);

    if (old_us > 0 && rlk_inspection_is_old(&n->inspection, old_us, now_us)) {
        rlk_inspect_ask_now(n, now_us);
    }
    if (n->inspection_pause_us <= period_us) {
        return;
    }
    n->inspection_pause_us = period_us;
    rlk_timer_set(&n->loop->timers, &n->inspection_timer,
                  rlk_time_add(n->inspection.sent_us, period_us));
}

void rlk_inspect_wait(struct rlk_node *n, uint64_t now_us)
{
    if (n->options->inspection_us == 0) {
        schedule_next(n, now_us);
    }
}

void rlk_inspect_record_step(struct rlk_node *n, uint64_t now_us)
{
    if (rlk_inspection_record_step(&n->inspection, &n->quarantine, &n->info)) {
        rlk_inspect_ask_now(n, now_us);
    }
}

static bool knows_run(const struct rlk_say *say)
{
    return say->node->info.run_id[0] != '\0';
}

static bool lacks_run(const struct rlk_say *say)
{
    return !knows_run(say);
}

/* If a server did not tell its run, ask for the run first. */
static const struct rlk_talk state_talk = {
    RLK_LINES({.words = RLK_WORDS("INFO", "server"), .when = lacks_run, .take = take_state},
              {.words = RLK_WORDS("INFO", "memory"), .when = knows_run, .take = take_state},
              {.words = RLK_WORDS("INFO", "persistence"), .when = knows_run, .take = take_state},
              {.words = RLK_WORDS("INFO", "commandstats"), .when = knows_run, .take = take_state}),
    .in_handshake = true};

static void ask_state(struct rlk_node *n, uint64_t now_us)
{
    if (rlk_node_ready(n, now_us)) {
        rlk_talk_begin(&n->link, &state_talk, NULL, now_us);
    }
}

static void on_inspection_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, inspection_timer);

    if (inspects(n) && rlk_inspection_count(&n->inspection, &n->quarantine, &n->info, periods(n))) {
        ask_state(n, now_us);
    }
    if (inspects(n) && rlk_inspection_is_due(&n->inspection, now_us)) {
        rlk_inspect_ask_now(n, now_us);
    }
    if (!rlk_upkeep_is_allowed(n)) {
        rlk_upkeep_ask(n, now_us);
    }
    schedule_next(n, now_us);
}

void rlk_inspect_doubt_upkeep(struct rlk_node *n, uint64_t now_us)
{
    rlk_upkeep_ask(n, now_us);
    if (n->options->inspection_us == 0) {
        rlk_timer_set(&n->loop->timers, &n->inspection_timer, rlk_time_add(now_us, ASK_AGAIN_US));
    }
}

bool rlk_inspect_is_wanted(struct rlk_node *n)
{
    rlk_inspection_begin(&n->inspection);
    keep_error(n, "");
    return rlk_inspection_reads_mark(&n->quarantine, &n->info);
}

void rlk_inspect_begin(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    if (reply) {
        step_with_reply(n, RLK_INSPECTION_HANDSHAKE, reply, now_us);
    } else {
        step_inspection(
            n, &(struct rlk_inspection_event){.kind = RLK_INSPECTION_HANDSHAKE, .now_us = now_us});
    }
    n->inspection_timer.fire = on_inspection_timer;
    schedule_next(n, now_us);
}

/* "run mark " */
static void write_start(const struct rlk_node *n, char start[RLK_COMMAND_START_SIZE])
{
    size_t len = strlen(n->info.run_id);

    memcpy(start, n->info.run_id, len);
    start[len++] = ' ';
    write_mark(n->quarantine.mark, start + len);
    memcpy(start + len + MARK_DIGITS, " ", sizeof(" "));
}

_Static_assert(sizeof(((struct rlk_server *)NULL)->run_id) + MARK_DIGITS + sizeof("  ") <=
                   RLK_COMMAND_START_SIZE,
               "there is room for a run, a mark and two spaces");

void rlk_inspect_expected_mark(const struct rlk_node *n, char key[RLK_COMMAND_INCARNATION_SIZE],
                               char start[RLK_COMMAND_START_SIZE])
{
    key[0] = start[0] = '\0';
    if (rlk_inspection_reads_mark(&n->quarantine, &n->info) && n->quarantine.mark != 0) {
        write_key(n, key);
        write_start(n, start);
    }
}

void rlk_inspect_mark_missed(struct rlk_node *n, uint64_t now_us)
{
    step_inspection(
        n, &(struct rlk_inspection_event){.kind = RLK_INSPECTION_MARK_MISSED, .now_us = now_us});
    rlk_inspect_ask_now(n, now_us);
    if (n->options->inspection_us == 0) {
        schedule_next(n, now_us);
    }
}

void rlk_inspect_end(struct rlk_node *n)
{
    rlk_timer_cancel(&n->loop->timers, &n->inspection_timer);
}
