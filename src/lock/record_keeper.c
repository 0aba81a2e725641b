/* record_keeper.c - drives core/membership.h: what the masters show, and what is written there. */
#include "lock/record_keeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/text.h"
#include "base/time.h"
#include "core/event.h"
#include "core/proposal.h"
#include "net/clock.h"
#include "net/loop.h"
#include "net/uri.h"
#include "net/uri_format.h"
#include "node/inspect.h"
#include "node/node.h"
#include "node/options.h"
#include "node/record_text.h"
#include "node/talk.h"
#include "scripts/scripts.h"

/* A longer record is not written: of a reply we keep one text of up to 8 KiB. */
#define MOST_TEXT 7168

/* The pause before writing is random, up to this, and up to twice as long after each failure. The
 * first record is written at once, because an acquire waits for it. Later, many clients may see
 * that the record is missing, and most of them learn at their next inspection that one has written
 * it. That a change is over is seen by all of them at once. Who changes the masters waits for each
 * step, too. */
#define FIRST_PAUSE_US 20000
#define PAUSE_US 1000000
#define SETTLED_PAUSE_US 5000000
#define MOST_DOUBLED 5

/* The pause after there was no memory for a node. */
#define ADD_AGAIN_US 1000000

/* ---- judging ---- */

/* Something may still point to it. */
static bool is_used(const void *arg, const struct rlk_record *r)
{
    const struct rlk_record_keeper *k = arg;
    unsigned i;

    for (i = 0; i < k->membership.n && k->membership.shown[i].record != r; i++) {
    }
    return i < k->membership.n || r == k->membership.in_use || r == k->membership.last ||
           r == k->verdict.record || r == k->verdict.base || r == k->moved_by || r == k->looked_for;
}

/* It is connected, and we can read its mark and its record. */
static bool is_readable(const struct rlk_record_keeper *k, const struct rlk_node *n)
{
    return n->link.state == RLK_LINK_UP && n->quarantine.mark != 0 && !n->quarantine.mark_lost &&
           rlk_inspection_reads_mark(&n->quarantine, &n->info) &&
           !(k->denied & rlk_mask_bit(n->index));
}

/* There was no memory for the record that it shows. */
static bool hides_record(const struct rlk_record_keeper *k, const struct rlk_node *n)
{
    return n->link.state == RLK_LINK_UP && (k->unkept & rlk_mask_bit(n->index));
}

static void look_at_nodes(struct rlk_record_keeper *k)
{
    unsigned i;

    for (i = 0; i < k->membership.n; i++) {
        const struct rlk_node *n = &k->nodes[i];
        struct rlk_shown *s = &k->membership.shown[i];

        s->tried = (s->tried || k->impatient || !rlk_node_connecting(n)) && !hides_record(k, n);
        s->connected = n->link.state == RLK_LINK_UP;
        s->readable = is_readable(k, n);
        if (s->readable) {
            rlk_membership_set_mark(&k->membership, i, n->quarantine.mark);
        } else if (s->connected && !(k->denied & rlk_mask_bit(i))) {
            rlk_membership_hide_record(&k->membership, i); /* [M6] also one that denies INFO now */
        }
    }
}

/* When a misfit is found, requests hear of every master that does not vote, so that they end:
 * perhaps none of these masters voted before. */
static void set_votes(struct rlk_record_keeper *k, bool had_misfit, uint64_t now_us)
{
    bool tells = !had_misfit && rlk_keeper_has_misfit(k);
    bool unconfirmed = k->membership.in_use == NULL && k->verdict.misfit == RLK_MISFIT_NOT;
    unsigned i;

    for (i = 0; i < k->membership.n; i++) {
        struct rlk_node *n = &k->nodes[i];
        bool voted = rlk_quarantine_is_over(&n->quarantine, now_us);
        bool waited = rlk_quarantine_needs_inspection(&n->quarantine);

        rlk_quarantine_set_unlisted(&n->quarantine, k->verdict.until_us[i],
                                    (k->verdict.extends_nothing & rlk_mask_bit(i)) != 0);
        n->unconfirmed = unconfirmed;
        n->hides_record = k->membership.shown[i].hidden && k->verdict.misfit == RLK_MISFIT_NOT &&
                          k->verdict.until_us[i] == RLK_NEVER;
        if (k->verdict.until_us[i] == RLK_NEVER && !waited) {
            rlk_inspect_wait(n, now_us);
        }
        if ((voted || tells) && !rlk_quarantine_is_over(&n->quarantine, now_us)) {
            n->hooks->quarantined(n, now_us);
        }
    }
}

static void on_release(struct rlk_call *call)
{
    struct rlk_record_keeper *k = RLK_CONTAINER(call, struct rlk_record_keeper, release);
    struct rlk_event ev = {.kind = RLK_EVENT_NODE_UP, .now_us = rlk_clock_us()};
    uint64_t released = k->released;

    k->released = 0;
    RLK_MASK_EACH (ev.node, released) {
        if (rlk_node_ready(&k->nodes[ev.node], ev.now_us)) {
            k->hooks->node_up(k, &ev);
        }
    }
}

static void release_nodes(struct rlk_record_keeper *k, uint64_t nodes)
{
    k->released |= nodes;
    if (nodes) {
        rlk_turn_report(&k->loop->turn, &k->release);
    }
}

static bool is_to_write(const struct rlk_record_keeper *k)
{
    return !k->retired && k->verdict.task != RLK_RECORD_NOTHING &&
           (k->verdict.task != RLK_RECORD_FIRST || k->may_begin);
}

static uint64_t readable_nodes(const struct rlk_record_keeper *k)
{
    uint64_t readable = 0;
    unsigned i;

    for (i = 0; i < k->membership.n; i++) {
        readable |= k->membership.shown[i].readable ? rlk_mask_bit(i) : 0;
    }
    return readable;
}

static bool may_write(const struct rlk_record_keeper *k)
{
    return is_to_write(k) &&
           rlk_membership_may_write(&k->membership, &k->verdict, readable_nodes(k));
}

static uint64_t pause_us(struct rlk_record_keeper *k)
{
    static const uint64_t most_us[] = {[RLK_RECORD_FIRST] = FIRST_PAUSE_US,
                                       [RLK_RECORD_AGAIN] = PAUSE_US,
                                       [RLK_RECORD_REPLACED] = PAUSE_US,
                                       [RLK_RECORD_SETTLED] = SETTLED_PAUSE_US,
                                       [RLK_RECORD_CHANGED] = PAUSE_US};
    bool at_once = k->verdict.task == RLK_RECORD_FIRST || k->judged;
    unsigned doubled = k->failures < MOST_DOUBLED ? k->failures : MOST_DOUBLED;

    return at_once && k->failures == 0
               ? 0
               : rlk_prng_upto(k->prng, most_us[k->verdict.task] << doubled);
}

/* Perhaps somebody else has written what we are about to write: then our votes need not wait. */
static void look_again(struct rlk_record_keeper *k, uint64_t now_us)
{
    uint64_t readable = readable_nodes(k);
    unsigned node;

    RLK_MASK_EACH (node, readable) {
        rlk_inspect_ask(&k->nodes[node], now_us);
    }
}

/* One of them shows a record that the others may have, too: until they show it, their votes do not
 * make a majority. */
static void look_when_new(struct rlk_record_keeper *k, uint64_t now_us)
{
    const struct rlk_record *latest = k->verdict.base;
    bool is_new =
        latest && k->membership.in_use && latest != k->membership.in_use && latest != k->looked_for;
    uint64_t left = is_new ? readable_nodes(k) : 0;
    unsigned node;

    k->looked_for = latest;
    RLK_MASK_EACH (node, left) {
        rlk_inspect_ask_now(&k->nodes[node], now_us);
    }
}

static void plan(struct rlk_record_keeper *k, uint64_t now_us)
{
    if (k->phase != RLK_KEEPER_IDLE || k->planned || !may_write(k)) {
        return;
    }
    rlk_timer_set(&k->loop->timers, &k->timer, rlk_time_add(now_us, pause_us(k)));
    k->planned = true;
    if (k->verdict.task != RLK_RECORD_FIRST && k->failures > 0) {
        look_again(k, now_us);
    }
}

static bool has_to_move(const struct rlk_record_keeper *k)
{
    const struct rlk_membership_verdict *v = &k->verdict;

    if (k->retired) {
        return false;
    }
    if (v->moves >= 0) {
        return !(k->failed_moves & rlk_mask_bit((unsigned)v->moves));
    }
    return v->vacates >= 0 || (v->adds >= 0 && k->add_error[0] == '\0');
}

/* Not now: a conversation of that master may be on the stack. */
static void plan_move(struct rlk_record_keeper *k)
{
    if (k->moved_by != k->verdict.record) {
        k->moved_by = k->verdict.record;
        k->failed_moves = 0;
        k->add_error[0] = '\0';
        k->retry_us = RLK_NEVER;
    }
    if (has_to_move(k)) {
        rlk_turn_flush(&k->loop->turn, &k->move);
    }
}

static void judge(struct rlk_record_keeper *k, uint64_t now_us)
{
    bool had_misfit = rlk_keeper_has_misfit(k);
    uint64_t pending = k->verdict.pending;
    struct rlk_voters voters = k->verdict.voters;

    look_at_nodes(k);
    k->membership.writes = k->may_begin && k->failures == 0 && !k->retired;
    rlk_membership_judge(&k->membership, now_us, &k->verdict);
    rlk_record_list_drop(&k->records, is_used, k);
    rlk_timer_set(&k->loop->timers, &k->again,
                  k->retired ? RLK_NEVER : rlk_time_min(k->verdict.again_us, k->retry_us));
    if (voters.set != k->verdict.voters.set || voters.size != k->verdict.voters.size) {
        k->hooks->voters(k, now_us);
    }
    set_votes(k, had_misfit, now_us);
    release_nodes(k, pending & ~k->verdict.pending);
    look_when_new(k, now_us);
    plan(k, now_us);
    plan_move(k);
    if (k->judged) {
        k->judged(k, now_us);
    }
}

void rlk_keeper_check(struct rlk_record_keeper *k, uint64_t now_us)
{
    if (k->nodes) {
        judge(k, now_us);
    }
}

void rlk_keeper_suspended(struct rlk_record_keeper *k, uint64_t now_us)
{
    if (k->nodes) {
        rlk_membership_suspended(&k->membership);
        judge(k, now_us);
    }
}

void rlk_keeper_begin(struct rlk_record_keeper *k, uint64_t now_us)
{
    if (k->nodes && !k->may_begin) {
        k->may_begin = true;
        judge(k, now_us);
    }
}

void rlk_keeper_retire(struct rlk_record_keeper *k)
{
    k->retired = true;
}

/* ---- what a master shows ---- */

/* It shows a record, but which one? Until we know, it counts as not tried. */
static void note_unkept(struct rlk_record_keeper *k, unsigned node)
{
    k->unkept |= rlk_mask_bit(node);
    k->membership.shown[node].tried = false;
    rlk_node_note_kind(&k->nodes[node], RLK_TROUBLE_NO_MEMORY_TO_INSPECT, NULL);
}

/* The value of its key. True: it differs from the last one. */
static bool take_value(struct rlk_record_keeper *k, unsigned node, const char *value,
                       uint64_t server_us, uint64_t now_us)
{
    struct rlk_shown *s = &k->membership.shown[node];
    const char *text = "";
    struct rlk_ballot promised = {0, 0};
    const struct rlk_record *record = NULL;
    uint64_t since_us = 0;
    bool same;

    if (!rlk_record_read_kept(value, &promised, &since_us, &text)) {
        text = "";
    }
    if (rlk_record_is_of_later_form(text)) { /* we cannot read it, nor may we replace it */
        k->denied |= rlk_mask_bit(node);
        text = "";
    }
    if (*text && !rlk_record_list_find(&k->records, text, now_us, &record)) {
        note_unkept(k, node);
        return true;
    }
    same = record == s->record && rlk_ballot_compare(&promised, &s->promised) == 0 &&
           !(k->unkept & rlk_mask_bit(node));
    k->unkept &= ~rlk_mask_bit(node);
    if (record != s->record) {
        s->since_us = rlk_time_sub(now_us, rlk_time_sub(server_us, since_us));
    }
    rlk_membership_set_record(&k->membership, node, record);
    s->promised = promised;
    return !same;
}

/* [M6] We may not read the key. */
static void take_denial(struct rlk_record_keeper *k, unsigned node, uint64_t now_us)
{
    k->denied |= rlk_mask_bit(node);
    rlk_membership_hide_record(&k->membership, node);
    judge(k, now_us);
}

/* We asked for the mark then or later; in a handshake, after the previous connection. */
static uint64_t asked_us(const struct rlk_node *n)
{
    return n->link.state == RLK_LINK_UP ? n->inspection.read_us : n->since_us;
}

void rlk_keeper_take_shown(struct rlk_record_keeper *k, struct rlk_node *n,
                           const struct rlk_reply *record, uint64_t server_us, uint64_t now_us)
{
    uint64_t bit = rlk_mask_bit(n->index), denied = k->denied & bit;
    struct rlk_shown *s = &k->membership.shown[n->index];
    bool is_older = s->read_us < k->records.seen_us, changed;

    if (k->nodes == NULL) {
        return;
    }
    if (record == NULL || record->type == RLK_REPLY_ERROR) {
        take_denial(k, n->index, now_us);
        return;
    }
    k->denied &= ~bit;
    changed = take_value(k, n->index, record->type == RLK_REPLY_STRING ? record->str : "",
                         server_us, now_us);
    s->read_us = asked_us(n);
    if (changed || (k->denied & bit) != denied || s->mark != n->quarantine.mark || is_older) {
        judge(k, now_us);
    }
}

/* ---- writing ---- */

static void ask(struct rlk_record_keeper *k, uint64_t nodes, const char *text, uint64_t now_us);

static void finish(struct rlk_record_keeper *k, bool succeeded, uint64_t now_us)
{
    k->phase = RLK_KEEPER_IDLE;
    k->planned = false;
    k->asked = 0;
    k->failures = succeeded ? 0 : k->failures + 1;
    rlk_timer_cancel(&k->loop->timers, &k->timer);
    judge(k, now_us);
}

/* A copy that the caller frees; NULL: out of memory. */
static char *copy_text(const struct rlk_record *r, size_t len)
{
    struct rlk_text text = {.to = rlk_alloc(len + 1), .size = len};

    if (text.to) {
        rlk_record_write(r, &text);
        text.to[text.len] = '\0';
    }
    return text.to;
}

/* The masters will not get the record. */
static void note_unwritten(struct rlk_record_keeper *k)
{
    unsigned node;
    uint64_t promised = k->promised;

    RLK_MASK_EACH (node, promised) {
        rlk_node_note_kind(&k->nodes[node], RLK_TROUBLE_NO_MEMORY, NULL);
    }
}

/* The text of the record that the verdict asks for; NULL: out of memory, or it is too long. */
static char *write_text(struct rlk_record_keeper *k)
{
    struct rlk_record *r = rlk_alloc(sizeof(*r));
    struct rlk_text length = {.to = NULL};
    char *text = NULL;

    if (r) {
        rlk_membership_write(&k->membership, &k->verdict, &k->ballot, r);
        rlk_record_write(r, &length);
        text = length.len < MOST_TEXT ? copy_text(r, length.len) : NULL;
    }
    if (text == NULL && length.len < MOST_TEXT) {
        note_unwritten(k);
    }
    rlk_free(r);
    return text;
}

/* The promises may have shown another record, so judge again. */
static void go_on(struct rlk_record_keeper *k, uint64_t now_us)
{
    char *text = NULL;

    judge(k, now_us);
    if (k->phase == RLK_KEEPER_ACCEPTING) {
        finish(k, k->verdict.task == RLK_RECORD_NOTHING, now_us);
        return;
    }
    if (may_write(k) && rlk_membership_may_write(&k->membership, &k->verdict, k->promised)) {
        text = write_text(k);
    }
    if (text == NULL) {
        finish(k, false, now_us);
        return;
    }
    k->phase = RLK_KEEPER_ACCEPTING;
    ask(k, k->promised, text, now_us);
    rlk_free(text);
}

static void answered(struct rlk_record_keeper *k, unsigned node, uint64_t now_us)
{
    uint64_t bit = rlk_mask_bit(node);

    if ((k->asked & bit) == 0) {
        return;
    }
    k->asked &= ~bit;
    if (k->asked == 0) {
        go_on(k, now_us);
    }
}

static bool has_promised(const struct rlk_record_keeper *k, unsigned node)
{
    return !(k->unkept & rlk_mask_bit(node)) &&
           rlk_ballot_compare(&k->membership.shown[node].promised, &k->ballot) == 0;
}

/* The reply is {value, now}. What it shows counts at once, even if it is too late for us. */
static void take_answer(const struct rlk_heard *h)
{
    const struct rlk_reply *r = h->reply;
    struct rlk_record_keeper *k = h->context;
    unsigned node = h->node->index;

    if (r->type == RLK_REPLY_ARRAY && r->integer == 2 && r[1].type == RLK_REPLY_STRING &&
        r[2].type == RLK_REPLY_STRING) {
        bool changed = take_value(k, node, r[1].str, strtoull(r[2].str, NULL, 10), h->now_us);

        if (has_promised(k, node)) {
            k->promised |= rlk_mask_bit(node);
        }
        if (changed) {
            judge(k, h->now_us);
        }
    }
    answered(k, node, h->now_us);
}

/* We go on later: requests that lose a vote by that would release their keys before they hear that
 * their own command over this connection may still be carried out [S5]. */
static void on_broken(const struct rlk_heard *h)
{
    struct rlk_record_keeper *k = h->context;

    k->asked &= ~rlk_mask_bit(h->node->index);
    if (k->asked == 0 && k->phase != RLK_KEEPER_IDLE && !k->retired) {
        rlk_timer_set(&k->loop->timers, &k->timer, h->now_us);
    }
}

/* The script with the record, or with "" for a promise. */
static bool format(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_record_keeper *k = say->context;
    char number[24], id[24];
    const char *const words[] = {
        "EVAL", rlk_script_masters.text, "1", k->options->record_key, number, id, k->text, NULL};

    snprintf(number, sizeof(number), "%" PRIu64, k->ballot.number);
    snprintf(id, sizeof(id), "%016" PRIx64, k->ballot.id);
    return rlk_command_words(c, words) == 0;
}

static const struct rlk_talk writing = {RLK_LINES({.format = format, .take = take_answer}),
                                        .broken = on_broken};

/* A master that cannot be asked counts as one that does not answer. */
static void ask(struct rlk_record_keeper *k, uint64_t nodes, const char *text, uint64_t now_us)
{
    unsigned node;
    uint64_t left = nodes;

    k->text = text;
    k->asked = 0;
    RLK_MASK_EACH (node, left) {
        if (rlk_talk_begin(&k->nodes[node].link, &writing, k, now_us)) {
            k->asked |= rlk_mask_bit(node);
        }
    }
    k->text = NULL;
    if (k->asked == 0) {
        finish(k, false, now_us);
        return;
    }
    rlk_timer_set(&k->loop->timers, &k->timer, rlk_time_add(now_us, k->options->node_timeout_us));
}

static void begin(struct rlk_record_keeper *k, uint64_t now_us)
{
    k->ballot =
        (struct rlk_ballot){rlk_membership_next_number(&k->membership), rlk_prng_next(k->prng)};
    k->phase = RLK_KEEPER_PROMISING;
    k->promised = 0;
    ask(k, readable_nodes(k), "", now_us);
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_record_keeper *k = RLK_CONTAINER(t, struct rlk_record_keeper, timer);

    if (k->phase != RLK_KEEPER_IDLE) {
        k->asked = 0;
        go_on(k, now_us);
        return;
    }
    k->planned = false;
    judge(k, now_us);
    if (may_write(k)) {
        rlk_timer_cancel(&k->loop->timers, t);
        begin(k, now_us);
    }
}

/* ---- another server in the place of one ---- */

static int name_masters(struct rlk_record_keeper *k);

/* What the former server of the node has promised says nothing about the next one. */
static void leave_server(struct rlk_record_keeper *k, unsigned node, uint64_t now_us)
{
    rlk_node_leave(&k->nodes[node], now_us);
    k->promised &= ~rlk_mask_bit(node);
}

static void connect_to_other(struct rlk_record_keeper *k, struct rlk_node *n, const char *place,
                             uint64_t now_us)
{
    char why[160] = "";

    leave_server(k, n->index, now_us);
    k->hooks->moved(k, n->index);
    rlk_membership_clear(&k->membership, n->index);
    if (rlk_options_move(k->options, n->index, place, why, sizeof(why)) || name_masters(k)) {
        k->failed_moves |= rlk_mask_bit(n->index);
        rlk_node_note_kind(n, RLK_TROUBLE_MOVED, place);
    }
    rlk_node_start(n, now_us);
}

/* Where there is no room for one more, in the place of one that was removed. */
static int find_vacant(const struct rlk_record_keeper *k)
{
    bool full = k->options->n_nodes == k->options->room;

    return full && k->membership.vacant ? __builtin_ctzll(k->membership.vacant) : -1;
}

/* If its address cannot be kept, it is known by its mark. */
static int use_vacant(struct rlk_record_keeper *k, unsigned node, const char *place,
                      uint64_t now_us)
{
    int status = rlk_options_move(k->options, node, place, k->add_error, sizeof(k->add_error));

    if (status == 0) {
        k->options->vacant &= ~rlk_mask_bit(node);
        k->membership.vacant = k->options->vacant;
        (void)name_masters(k);
        rlk_node_join(&k->nodes[node], now_us);
    }
    return status;
}

static int add_node(struct rlk_record_keeper *k, const char *place, uint64_t now_us)
{
    unsigned node = k->options->n_nodes;
    int status = REDLOCK_ENOMEM;

    if (k->hooks->fits(k)) {
        status = rlk_options_add(k->options, place, k->add_error, sizeof(k->add_error));
    }
    if (status == 0) {
        rlk_membership_add(&k->membership);
        k->hooks->added(k);
        (void)name_masters(k);
        rlk_node_start(&k->nodes[node], now_us);
    }
    return status;
}

static void connect_to_another(struct rlk_record_keeper *k, const char *place, uint64_t now_us)
{
    int vacant = find_vacant(k);
    unsigned node = vacant >= 0 ? (unsigned)vacant : k->options->n_nodes;
    bool is_guest = k->verdict.adds_guest;
    int status;

    k->membership.guests |= is_guest ? rlk_mask_bit(node) : 0;
    status = vacant >= 0 ? use_vacant(k, node, place, now_us) : add_node(k, place, now_us);
    if (status) {
        k->membership.guests &= ~rlk_mask_bit(node);
    }

    if (status == REDLOCK_ENOMEM) {
        snprintf(k->add_error, sizeof(k->add_error), "out of memory");
        k->retry_us = rlk_time_add(now_us, ADD_AGAIN_US);
    } else if (status == 0) {
        k->add_error[0] = '\0';
    }
}

static void leave(struct rlk_record_keeper *k, unsigned node, uint64_t now_us)
{
    leave_server(k, node, now_us);
    k->options->vacant |= rlk_mask_bit(node);
    rlk_membership_vacate(&k->membership, node);
    k->hooks->left(k, node, now_us);
}

/* A copy, because it is of the record, which may be dropped; NULL: out of memory. */
static char *copy_place(const struct rlk_record *r, int at)
{
    const struct rlk_record_master *to = &r->master[at];

    return rlk_uri_copy(to->address, to->len);
}

static void follow_record(struct rlk_record_keeper *k, uint64_t now_us)
{
    const struct rlk_membership_verdict *v = &k->verdict;
    char *place = NULL;

    if (v->vacates >= 0) {
        leave(k, (unsigned)v->vacates, now_us);
    } else {
        place =
            v->moves >= 0 ? copy_place(v->record, v->moves_to) : copy_place(v->adds_of, v->adds);
    }
    if (place && v->moves >= 0) {
        connect_to_other(k, &k->nodes[v->moves], place, now_us);
    } else if (place) {
        connect_to_another(k, place, now_us);
    }
    rlk_free(place);
}

static void on_move(struct rlk_call *call)
{
    struct rlk_record_keeper *k = RLK_CONTAINER(call, struct rlk_record_keeper, move);
    uint64_t now_us = rlk_clock_us();

    judge(k, now_us);
    rlk_list_remove(&k->move.link);
    if (has_to_move(k)) {
        follow_record(k, now_us);
        judge(k, now_us);
    }
}

static void on_again(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_record_keeper *k = RLK_CONTAINER(t, struct rlk_record_keeper, again);

    if (now_us >= k->retry_us) {
        k->retry_us = RLK_NEVER;
        k->add_error[0] = '\0';
    }
    judge(k, now_us);
}

/* ---- beginning and end ---- */

/* As long as there is no record, a master that hangs must not keep everybody waiting. */
static void on_patience(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_record_keeper *k = RLK_CONTAINER(t, struct rlk_record_keeper, patience);

    k->impatient = true;
    judge(k, now_us);
}

static int name_masters(struct rlk_record_keeper *k)
{
    struct rlk_text text = {.to = NULL};
    uint64_t named = rlk_mask_all(k->membership.n) & ~k->membership.vacant, left = named;
    unsigned i;
    size_t at;
    char *addresses;

    RLK_MASK_EACH (i, named) {
        rlk_uri_format_place(&k->options->uris[i], &text);
    }
    addresses = rlk_alloc(text.len);
    if (addresses == NULL) {
        return REDLOCK_ENOMEM;
    }
    rlk_free(k->addresses);
    k->addresses = addresses;
    text = (struct rlk_text){.to = addresses, .size = text.len};
    RLK_MASK_EACH (i, left) {
        at = text.len;
        rlk_uri_format_place(&k->options->uris[i], &text);
        k->membership.shown[i].address = k->addresses + at;
        k->membership.shown[i].len = text.len - at;
    }
    return 0;
}

int rlk_keeper_init(struct rlk_record_keeper *k, const struct rlk_keeper_of *of)
{
    rlk_record_list_init(&k->records);
    k->timer.fire = on_timer;
    k->patience.fire = on_patience;
    k->again.fire = on_again;
    k->retry_us = RLK_NEVER;
    rlk_call_init(&k->release, on_release);
    rlk_call_init(&k->move, on_move);
    if (of->options->record_key == NULL) {
        return 0;
    }
    k->loop = of->loop;
    k->options = of->options;
    k->nodes = of->nodes;
    k->prng = of->prng;
    k->hooks = of->hooks;
    rlk_timer_set(&k->loop->timers, &k->patience,
                  rlk_time_add(rlk_clock_us(), k->options->node_timeout_us / 4));
    rlk_membership_init(&k->membership, k->options->n_nodes, k->options->max_ttl_ms,
                        k->options->drift_ppm);
    k->verdict.voters = (struct rlk_voters){rlk_mask_all(k->membership.n), k->membership.n};
    return name_masters(k);
}

void rlk_keeper_move(struct rlk_record_keeper *k, int joins, int leaves,
                     void (*judged)(struct rlk_record_keeper *k, uint64_t now_us))
{
    k->membership.joins = joins;
    k->membership.leaves = leaves;
    k->judged = judged;
}

void rlk_keeper_stop(struct rlk_record_keeper *k)
{
    if (k->nodes) {
        rlk_timer_cancel(&k->loop->timers, &k->timer);
        rlk_timer_cancel(&k->loop->timers, &k->patience);
        rlk_timer_cancel(&k->loop->timers, &k->again);
        rlk_list_remove(&k->release.link);
        rlk_list_remove(&k->move.link);
    }
}

void rlk_keeper_end(struct rlk_record_keeper *k)
{
    rlk_record_list_end(&k->records);
    rlk_free(k->addresses);
}
