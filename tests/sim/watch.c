/* watch.c - what is seen on the wires. */
#include "sim/watch.h"

#include <string.h>

#include "base/mask.h"
#include "sim/check.h"
#include "sim/command.h"
#include "sim/process.h"

unsigned watch_claim(const struct world *w, const struct rlk_claim *claim)
{
    return command_claim(w, claim->token, claim->token_len);
}

static bool is_no_script(const struct message *m)
{
    return m->answer == ANSWER_ERROR && strncmp(m->error, "NOSCRIPT", 8) == 0;
}

/* ---- what it asks ---- */

/* The same question with its text, because the server has forgotten the script. */
static bool is_again(const struct world *w, const struct message *m)
{
    const struct message *h = w->heard;

    return h && m->text && h->kind == m->kind && h->claim == m->claim && is_no_script(h);
}

static void asks_again(struct world *w, unsigned node, const struct message *m)
{
    if (m->kind == MESSAGE_RELEASE) {
        world_claim(w, m->claim)->excuses++;
        check_release_sent(w, m->claim, node);
    } else if (m->heal) {
        check_healed_again(w, node, m);
    } else if (m->kind == MESSAGE_KEEP) {
        check_kept_again(w, node, m);
    } else {
        check_set_again(w, m->claim, node);
    }
}

static void asks(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    unsigned worker = world_claim(w, m->claim)->worker;

    if (m->kind == MESSAGE_RELEASE) {
        check_release_sent(w, m->claim, node);
    } else if (m->kind == MESSAGE_CONFIRM) {
        check_confirm_sent(w, m->claim, node, m->fence);
    } else if (m->heal || m->kind == MESSAGE_KEEP) {
        check_held_asked(w, client, worker, node, m);
    } else {
        check_set_sent(w, m->claim, node);
    }
}

void watch_asks(struct world *w, unsigned client, unsigned node, struct message *m)
{
    const struct worker *k;

    if (m->kind == MESSAGE_MARK || m->kind == MESSAGE_TIME) {
        check_role_asked(w, client, node);
    }
    if (m->kind < MESSAGE_SET) {
        return;
    }
    if (is_again(w, m)) {
        m->heal = w->heard->heal;
        asks_again(w, node, m);
    } else {
        k = process_owner(w, m->claim);
        check_vote_looks(w, client, node, m);
        m->heal = m->kind == MESSAGE_TAKE && !(k && k->phase == WORKER_PENDING);
        asks(w, client, node, m);
    }
}

/* ---- what it hears ---- */

static void looks(struct peer *p, const struct message *m, bool up)
{
    if (m->kind == MESSAGE_INFO && m->section == SECTION_REPLICATION && m->answer != ANSWER_ERROR) {
        p->role_us = m->done_us;
    } else if (m->kind == MESSAGE_MARK && up && m->answer != ANSWER_ERROR) {
        p->first_look_us = p->inspected_us ? p->first_look_us : m->done_us;
        p->inspected_us = m->done_us;
        p->unread = false;
    } else if (m->kind == MESSAGE_MARK && up) {
        p->unread = true;
    }
}

/* [S11] A look of the greeting counts when it has gone well: watch_core.c. */
void watch_hears(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    looks(&w->clients[client].peers[node], m, world_node_up(w, client, node));
    w->heard = m;
    w->noted = w->timed = false;
}

/* What was said of a round that is over changes nothing but what has to be released. */
static void hears_late(struct world *w, unsigned node, const struct message *m)
{
    struct claim *c = world_claim(w, m->claim);
    struct worker *k = world_worker(w, c->client, c->worker);
    bool refused = (m->answer == ANSWER_STRING && (unsigned)m->integer != m->claim) ||
                   (m->kind == MESSAGE_SET && !m->get && m->answer == ANSWER_NIL);

    if (refused && !m->heal) {
        c->refused |= rlk_mask_bit(node);
        k->refusals += k->op == c->op;
    }
}

void watch_heard(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    bool votes = m->kind == MESSAGE_SET || m->kind == MESSAGE_TAKE || m->kind == MESSAGE_VOTE;

    if (votes && !w->noted) {
        hears_late(w, node, m);
    }
    if ((m->kind == MESSAGE_MARK || m->kind == MESSAGE_TIME) && m->answer != ANSWER_ERROR) {
        check_compared(w, client, node);
    }
    if (m->kind == MESSAGE_RELEASE && m->answer == ANSWER_ERROR) {
        check_refused(w, m->claim, node);
    }
    w->heard = NULL;
}

/* ---- the end of a connection ---- */

static void is_unanswered(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    if (m->kind >= MESSAGE_SET) {
        check_unanswered(w, client, node, m);
    }
    if (m->kind == MESSAGE_SET || m->kind == MESSAGE_VOTE || m->kind == MESSAGE_TAKE) {
        check_may_outlive(w, m->claim);
    }
}

void watch_closes(struct world *w, unsigned wire)
{
    const struct wire *x = &w->wires[wire];
    unsigned m;

    if (w->ending) {
        return;
    }
    check_looks_away(w, x->client);
    for (m = x->unanswered; m != NONE; m = w->messages[m].next) {
        is_unanswered(w, x->client, x->node, &w->messages[m]);
    }
    w->clients[x->client].peers[x->node].closed = wire;
}

/* ---- when its code has run ---- */

/* Whoever was waited for over a connection that has ended is not waited for any more. */
static void check_disconnected(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = &w->clients[client].peers[node];
    unsigned m;

    if (p->closed == NONE) {
        return;
    }
    for (m = w->wires[p->closed].unanswered; m != NONE; m = w->messages[m].next) {
        check_heard(w, client, node, &w->messages[m]);
    }
    p->closed = NONE;
}

void watch_left(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned i;

    for (i = 0; i < w->o.workers; i++) {
        struct worker *k = &c->workers[i];

        check_heard_of_suspension(w, client, i);
        check_heard_of_exchange(w, client, i);
        if (k->lets_go) {
            k->lets_go = false;
            check_let_go(w, k->claim);
        }
    }
    for (i = 0; c->rl && i < c->nodes; i++) {
        check_disconnected(w, client, i);
        c->peers[i].duplicate |= w->o.duplicate < SIM_NODES && world_node(w, client, i)->duplicate;
    }
}
