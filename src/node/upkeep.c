/* upkeep.c - asks for the commands of renewals and releases, and reads the refusals. */
#include "node/upkeep.h"

#include <stdio.h>
#include <string.h>

#include "core/classify.h"
#include "node/node.h"
#include "node/options.h"
#include "scripts/scripts.h"

static void note_fault(struct rlk_node *n, enum rlk_trouble_kind trouble, const char *words)
{
    struct rlk_upkeep *u = &n->upkeep;

    if (u->found == RLK_TROUBLE_NONE) {
        u->found = trouble;
        rlk_node_quote(n, words, u->found_words, sizeof(u->found_words));
    }
}

/* The text of a NOPERM about keys always has the word "access". It says nothing about commands, and
 * the same keys are denied to a vote. */
static bool is_denied(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOPERM") && strstr(reply->str, "access") == NULL;
}

static void judge_error(struct rlk_node *n, const char *command, const struct rlk_reply *reply)
{
    if (rlk_classify_unknown_command(reply)) {
        note_fault(n, RLK_TROUBLE_UPKEEP_UNKNOWN, command);
    } else if (is_denied(reply)) {
        note_fault(n, RLK_TROUBLE_UPKEEP_DENIED, command);
    } else if (rlk_classify_refused_for_now(reply)) {
        n->upkeep.unsure |= !rlk_classify_no_script(reply);
    } else if (!rlk_classify_is_error(reply, "NOPERM")) {
        note_fault(n, RLK_TROUBLE_UPKEEP_REFUSED, reply->str);
    }
}

static void on_evalsha(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    if (reply->type == RLK_REPLY_ERROR) {
        judge_error(n, "EVALSHA", reply);
    }
}

/* No manager but ours has our channel's name, so nobody has a key with it. */
bool rlk_upkeep_send(struct rlk_node *n, const struct rlk_exchange_kind *last, uint64_t now_us)
{
    static const struct rlk_exchange_kind evalsha = {.answered = on_evalsha};
    static const char *const evalsha_words[] = {"EVALSHA", RLK_SCRIPT_NO_SHA, "0", NULL};
    const char *const eval_words[] = {"EVAL", rlk_script_upkeep.text, "1", n->options->wake_channel,
                                      NULL};

    n->upkeep.asked = true;
    n->upkeep.unsure = false;
    n->upkeep.found = RLK_TROUBLE_NONE;
    return rlk_node_send_words(n, &evalsha, evalsha_words, now_us) &&
           rlk_node_send_words(n, last, eval_words, now_us);
}

/* What a server refuses only for now changes nothing. */
static void settle(struct rlk_upkeep *u)
{
    u->asked = false;
    if (u->found != RLK_TROUBLE_NONE || !u->unsure) {
        u->trouble = u->found;
        memcpy(u->words, u->found_words, sizeof(u->words));
    }
}

void rlk_upkeep_take(struct rlk_node *n, const struct rlk_reply *reply)
{
    if (reply->type == RLK_REPLY_ERROR) {
        judge_error(n, "EVAL", reply);
    } else if (reply->type == RLK_REPLY_STRING) {
        note_fault(n, RLK_TROUBLE_UPKEEP_IN_SCRIPTS, reply->str);
    } else if (reply->type != RLK_REPLY_INTEGER || reply->integer != 0) {
        note_fault(n, RLK_TROUBLE_UPKEEP_REFUSED, "an answer that no Redis server gives");
    }
    settle(&n->upkeep);
}

static void on_asked_again(struct rlk_node *n, const struct rlk_exchange *r,
                           const struct rlk_reply *reply, uint64_t now_us)
{
    bool was_allowed = rlk_upkeep_is_allowed(n);

    (void)r;
    rlk_upkeep_take(n, reply);
    if (was_allowed == rlk_upkeep_is_allowed(n)) {
        return;
    }
    rlk_node_trace_quarantine(n, now_us);
    if (was_allowed) {
        n->hooks->quarantined(n, now_us);
    } else {
        n->hooks->capacity_freed(n, now_us);
    }
}

void rlk_upkeep_ask(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_asked_again};

    if (!n->upkeep.asked && rlk_node_ready(n, now_us)) {
        n->upkeep.asked = rlk_upkeep_send(n, &kind, now_us);
    }
}

bool rlk_upkeep_is_allowed(const struct rlk_node *n)
{
    return n->upkeep.trouble == RLK_TROUBLE_NONE;
}

bool rlk_node_may_vote(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_upkeep_is_allowed(n) &&
           rlk_quarantine_reason(&n->quarantine, now_us, NULL) == RLK_QUARANTINED_NOT;
}
