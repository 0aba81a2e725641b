/* upkeep.c - tries the commands that renewals and releases need, and reads the refusals. */
#include "node/upkeep.h"

#include <stdio.h>
#include <string.h>

#include "core/classify.h"
#include "node/node.h"
#include "node/options.h"
#include "node/talk.h"
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

void rlk_upkeep_take_evalsha(const struct rlk_heard *h)
{
    if (h->reply->type == RLK_REPLY_ERROR) {
        judge_error(h->node, "EVALSHA", h->reply);
    }
}

const char *const rlk_upkeep_evalsha[] = {"EVALSHA", RLK_SCRIPT_NO_SHA, "0", NULL};

/* No manager but ours has our channel's name, so no key has it, either. */
bool rlk_upkeep_format_eval(struct rlk_command *c, const struct rlk_say *say)
{
    const char *const words[] = {"EVAL", rlk_script_upkeep.text, "1",
                                 say->node->options->wake_channel, NULL};

    return rlk_command_words(c, words) == 0;
}

void rlk_upkeep_begin(struct rlk_node *n)
{
    n->upkeep.asked = true;
    n->upkeep.unsure = false;
    n->upkeep.found = RLK_TROUBLE_NONE;
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

void rlk_upkeep_take_eval(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    if (h->reply->type == RLK_REPLY_ERROR) {
        judge_error(n, "EVAL", h->reply);
    } else if (h->reply->type == RLK_REPLY_STRING) {
        note_fault(n, RLK_TROUBLE_UPKEEP_IN_SCRIPTS, h->reply->str);
    } else if (h->reply->type != RLK_REPLY_INTEGER || h->reply->integer != 0) {
        note_fault(n, RLK_TROUBLE_UPKEEP_REFUSED, "an answer that no Redis server gives");
    }
    settle(&n->upkeep);
}

static void take_eval_again(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;
    bool was_allowed = rlk_upkeep_is_allowed(n);

    rlk_upkeep_take_eval(h);
    if (was_allowed == rlk_upkeep_is_allowed(n)) {
        return;
    }
    rlk_node_trace_quarantine(n, h->now_us);
    if (was_allowed) {
        n->hooks->quarantined(n, h->now_us);
    } else {
        n->hooks->capacity_freed(n, h->now_us);
    }
}

static const struct rlk_talk upkeep_talk = {
    RLK_LINES({.words = rlk_upkeep_evalsha, .take = rlk_upkeep_take_evalsha},
              {.format = rlk_upkeep_format_eval, .take = take_eval_again}),
    .in_handshake = true};

void rlk_upkeep_ask(struct rlk_node *n, uint64_t now_us)
{
    if (!n->upkeep.asked && rlk_node_ready(n, now_us)) {
        rlk_upkeep_begin(n);
        n->upkeep.asked = rlk_talk_begin(&n->link, &upkeep_talk, NULL, now_us);
    }
}

bool rlk_upkeep_is_allowed(const struct rlk_node *n)
{
    return n->upkeep.trouble == RLK_TROUBLE_NONE;
}

bool rlk_node_may_vote(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_upkeep_is_allowed(n) && rlk_quarantine_is_over(&n->quarantine, now_us);
}
