#include "node/health.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/classify.h"
#include "core/clocks.h"
#include "net/loop.h"
#include "node/handshake.h"
#include "node/info.h"
#include "node/node.h"
#include "node/options.h"
#include "scripts/scripts.h"

/* Along with renewals, but not with each of many. */
#define AGAIN_AFTER_US 20000

static bool is_wanted(const struct rlk_node *n)
{
    return n->standing.policy != RLK_QUARANTINE_OFF && !n->health.refused && n->info.run_id[0];
}

/* ---- what goes out ---- */

static void write_key(const struct rlk_node *n, char key[RLK_HEALTH_KEY_ROOM])
{
    snprintf(key, RLK_HEALTH_KEY_ROOM, "%s%s", n->options->key_prefix, RLK_HEALTH_KEY);
}

static bool ask_for_mark(struct rlk_node *n, const struct rlk_request_kind *kind, uint64_t now_us)
{
    bool known = rlk_standing_knows(&n->standing, n->info.run_id);
    uint64_t note_us = n->health.notes ? rlk_standing_note(&n->standing, now_us) : 0;
    char mark[20], age[24], note[24], key[RLK_HEALTH_KEY_ROOM];
    const char *const words[] = {"EVAL",
                                 rlk_script_incarnation.text,
                                 "1",
                                 key,
                                 n->info.run_id,
                                 mark,
                                 age,
                                 rlk_server_keeps_data(&n->info) ? "1" : "0",
                                 note,
                                 NULL};

    write_key(n, key);
    snprintf(mark, sizeof(mark), "%016" PRIx64, rlk_prng_next(&n->prng) | 1);
    snprintf(age, sizeof(age), "%" PRIu64, rlk_server_believed_us(&n->info, known));
    snprintf(note, sizeof(note), "%" PRIu64, note_us);
    return rlk_node_say(n, kind, words, now_us);
}

static bool ask(struct rlk_node *n, const struct rlk_request_kind *kind, uint64_t now_us)
{
    static const char *const time_words[] = {"TIME", NULL};
    bool asked =
        is_wanted(n) ? ask_for_mark(n, kind, now_us) : rlk_node_say(n, kind, time_words, now_us);

    n->health.asked = asked;
    n->health.sent_us = now_us;
    return asked;
}

/* ---- what comes back ---- */

static uint64_t number(const char *text, int base)
{
    return strtoull(text, NULL, base);
}

/* TIME: seconds and microseconds. scripts/incarnation.lua: "run mark born", and the time. 0 is
 * what is not told. */
static bool read_answer(const struct rlk_reply *reply, struct rlk_birth *ret)
{
    const char *mark;

    *ret = (struct rlk_birth){0};
    if (reply->type != RLK_REPLY_ARRAY || reply->integer != 2 ||
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

static void tell_time(struct rlk_node *n, uint64_t server_us, uint64_t now_us)
{
    struct rlk_clock_sample sample = {
        .sent_us = n->health.sent_us, .received_us = now_us, .server_us = server_us};

    n->hooks->timed(n, &sample);
}

static bool votes(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_standing_bar(&n->standing, now_us, NULL) == RLK_BAR_NONE;
}

/* What it has granted before counts no more either; nor does what a lock that is held has there, if
 * these are other data [S7]. */
static void tell_barred(struct rlk_node *n, bool voted, uint64_t now_us)
{
    if ((voted && !votes(n, now_us)) || n->standing.exchanged) {
        n->hooks->barred(n, now_us);
    }
}

/* Ahead of the time, which may show a step that is on record already. */
static void tell_birth(struct rlk_node *n, const struct rlk_birth *birth, uint64_t now_us)
{
    bool voted = votes(n, now_us);

    rlk_standing_born(&n->standing, birth, now_us);
    n->health.notes = n->health.notes && rlk_standing_note(&n->standing, now_us) != 0;
    tell_barred(n, voted, now_us);
}

static bool look(struct rlk_node *n, uint64_t mark, uint64_t now_us)
{
    bool voted = votes(n, now_us), another = rlk_standing_look(&n->standing, mark, now_us);

    tell_barred(n, voted, now_us);
    return another;
}

static void set_unread(struct rlk_node *n, bool unread, uint64_t now_us)
{
    bool voted = votes(n, now_us);

    rlk_standing_unread(&n->standing, unread);
    tell_barred(n, voted, now_us);
}

void rlk_health_judge_role(struct rlk_node *n, enum rlk_unfit unfit, uint64_t promotion,
                           uint64_t now_us)
{
    bool master = unfit == RLK_UNFIT_NOT;

    if (rlk_standing_role(&n->standing, master, promotion, now_us)) {
        n->hooks->barred(n, now_us); /* whatever the policy: it is no master */
        rlk_node_refuse(
            n, &(struct rlk_trouble){.kind = master ? RLK_TROUBLE_WAS_REPLICA : RLK_TROUBLE_UNFIT,
                                     .unfit = unfit});
    }
}

/* Whether another look may tell more: it could not answer just now, or it could before and gives
 * any other error than that it may not (an ACL). */
static bool may_answer_later(const struct rlk_node *n, const struct rlk_reply *reply)
{
    return rlk_classify_refused_for_now(reply) ||
           ((n->standing.mark != 0 || n->standing.lost) && !rlk_classify_is_error(reply, "NOPERM"));
}

/* It did not run the script, which says nothing of its data [S7]. It is asked again, and does not
 * vote before; or it is asked for the time only, until the next greeting. */
static void on_refused(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    n->health.refused = n->health.refused || !may_answer_later(n, reply);
    set_unread(n, is_wanted(n), now_us);
}

static void on_health(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_birth birth;

    (void)r;
    n->health.asked = false;
    if (!read_answer(reply, &birth)) {
        on_refused(n, reply, now_us);
        return;
    }
    tell_birth(n, &birth, now_us);
    tell_time(n, birth.server_us, now_us);
    if (birth.mark != 0 && look(n, birth.mark, now_us)) {
        rlk_node_refuse(n, &(struct rlk_trouble){.kind = RLK_TROUBLE_EXCHANGED});
    }
}

/* The section that the greeting has asked for as well. What it does not say is not held against it:
 * without INFO nobody sees more than that. */
static void on_role(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    (void)r;
    n->health.mute = rlk_classify_is_error(reply, "NOPERM");
    rlk_info_read(&n->info, reply);
    rlk_health_judge_role(n, rlk_server_unfit(n->info.role, n->info.mode), n->info.promotion,
                          now_us);
}

static void on_hello(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                     uint64_t now_us)
{
    (void)r;
    if (reply->type == RLK_REPLY_ARRAY) {
        rlk_health_judge_role(n, rlk_handshake_unfit(reply), 0, now_us);
    }
}

static void on_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    n->health.asked = false;
}

static void on_unheard(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    (void)n;
    (void)r;
    (void)now_us;
}

/* INFO tells more; where both are refused nobody sees it. */
static bool ask_role(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind info_kind = {.answered = on_role, .broken = on_unheard},
                                         hello_kind = {.answered = on_hello, .broken = on_unheard};
    static const char *const info[] = {"INFO", "replication", NULL};
    static const char *const hello[] = {"HELLO", "2", NULL};

    if (n->info.role[0] != '\0' && !n->health.mute) {
        return rlk_node_say(n, &info_kind, info, now_us);
    }
    return !n->tells_role || rlk_node_say(n, &hello_kind, hello, now_us);
}

/* ---- the life of a connection ---- */

static void again_later(struct rlk_node *n, uint64_t now_us)
{
    if (n->options->health_us > 0) {
        rlk_timer_set(&n->loop->timers, &n->health.timer,
                      rlk_time_add(now_us, n->options->health_us));
    }
}

void rlk_health_ask_now(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind kind = {.answered = on_health, .broken = on_broken};

    if (!n->health.asked && rlk_node_ready(n, now_us) &&
        !(ask_role(n, now_us) && ask(n, &kind, now_us))) {
        rlk_node_complain(n, RLK_TROUBLE_NO_MEMORY_TO_LOOK, NULL);
    }
}

void rlk_health_ask(struct rlk_node *n, uint64_t now_us)
{
    if (n->options->health_us > 0 && now_us >= rlk_time_add(n->health.sent_us, AGAIN_AFTER_US)) {
        rlk_health_ask_now(n, now_us);
    }
}

void rlk_health_note(struct rlk_node *n, uint64_t now_us)
{
    if (!n->health.notes && is_wanted(n)) {
        n->health.notes = true;
        rlk_health_ask_now(n, now_us);
    }
}

static void on_memory(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    bool voted = votes(n, now_us);

    (void)r;
    rlk_info_read(&n->info, reply);
    rlk_standing_evicts(&n->standing, rlk_server_evicts(&n->info), now_us);
    tell_barred(n, voted, now_us);
}

/* Whether it evicts may be changed at any time: it is asked again now and then, and more often
 * while it is to be changed. */
static void ask_memory(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind kind = {.answered = on_memory, .broken = on_unheard};
    static const char *const words[] = {"INFO", "memory", NULL};
    bool due = n->health.looks % (rlk_server_evicts(&n->info) ? 2 : 30) == 0;

    if (due && n->standing.policy == RLK_QUARANTINE_STRICT && rlk_node_ready(n, now_us)) {
        rlk_node_say(n, &kind, words, now_us);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_node *n = RLK_CONTAINER(t, struct rlk_node, health.timer);

    n->health.looks++;
    ask_memory(n, now_us);
    rlk_health_ask(n, now_us);
    again_later(n, now_us);
}

void rlk_health_init(struct rlk_node *n)
{
    n->health = (struct rlk_health){0};
    rlk_timer_init(&n->health.timer, on_timer);
}

bool rlk_health_is_wanted(struct rlk_node *n)
{
    n->health.refused = n->health.asked = n->health.mute = false;
    return is_wanted(n);
}

bool rlk_health_greet(struct rlk_node *n, const struct rlk_request_kind *kind, uint64_t now_us)
{
    return ask(n, kind, now_us);
}

void rlk_health_begin(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    bool unread = false;
    struct rlk_birth birth = {0};
    struct rlk_facts facts;

    n->health.asked = false;
    if (reply && !read_answer(reply, &birth)) {
        unread = may_answer_later(n, reply);
        n->health.refused = !unread;
    }
    facts = rlk_server_facts(&n->info, &birth, unread);
    if (rlk_standing_greet(&n->standing, &facts, now_us)) {
        n->hooks->replaced(n);
    }
    tell_barred(n, true, now_us);
    if (birth.server_us) {
        tell_time(n, birth.server_us, now_us);
    }
    again_later(n, now_us);
}

void rlk_health_expect(const struct rlk_node *n, char key[RLK_HEALTH_KEY_ROOM],
                       char start[RLK_HEALTH_START_ROOM])
{
    key[0] = start[0] = '\0';
    if (is_wanted(n) && n->standing.mark != 0) {
        write_key(n, key);
        snprintf(start, RLK_HEALTH_START_ROOM, "%s %016" PRIx64 " ", n->info.run_id,
                 n->standing.mark);
    }
}

void rlk_health_surprised(struct rlk_node *n, uint64_t now_us)
{
    look(n, 0, now_us);
    rlk_health_ask_now(n, now_us);
}

void rlk_health_end(struct rlk_node *n)
{
    rlk_timer_cancel(&n->loop->timers, &n->health.timer);
}

/* It votes, and nobody looks whether it should. */
static enum rlk_trouble_kind unseen(const struct rlk_node *n)
{
    if (n->standing.policy == RLK_QUARANTINE_OFF) {
        return RLK_TROUBLE_NONE;
    }
    if (n->info.run_id[0] == '\0') {
        return n->tells_role ? RLK_TROUBLE_UNSEEN : RLK_TROUBLE_UNSEEN_ROLE;
    }
    return n->health.refused ? RLK_TROUBLE_UNSEEN_DATA : RLK_TROUBLE_NONE;
}

struct rlk_trouble rlk_health_trouble(const struct rlk_node *n, uint64_t now_us)
{
    struct rlk_trouble t = {.kind = RLK_TROUBLE_QUARANTINE};

    t.bar = rlk_standing_bar(&n->standing, now_us, &t.number);
    if (t.bar == RLK_BAR_NONE) {
        t.kind = unseen(n);
    } else if (t.number != RLK_NEVER) {
        t.number = (t.number - now_us + 999999) / 1000000;
    }
    return t;
}
