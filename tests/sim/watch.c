/* watch.c - what the library sends and reads. */
#include "sim/watch.h"

#include <string.h>

#include "base/mask.h"
#include "sim/check.h"
#include "sim/command.h"
#include "sim/process.h"

unsigned watch_claim(const struct world *w, const struct rlk_claim *claim)
{
    return command_claim(w, rlk_claim_token(claim), claim->token_len);
}

static bool is_no_script(const struct message *m)
{
    return m->answer == ANSWER_ERROR && strncmp(m->error, "NOSCRIPT", 8) == 0;
}

/* ---- what it sends ---- */

/* The same question with the script's text, because the server has forgotten the script; or for one
 * lock alone, because the answer for many was not a plain yes for it. */
static bool is_asked_again(const struct world *w, const struct message *m)
{
    const struct message *h = world_reading(w, m->claim);

    if (h && h->many && !m->many) {
        return m->kind == MESSAGE_KEEP && !(h->answer == ANSWER_INTEGER && h->integer == 1);
    }
    return h && m->text && h->kind == m->kind && is_no_script(h);
}

/* A pending request that asks to keep a key is an adoption. */
static bool is_adoption(struct world *w, const struct message *m)
{
    const struct worker *k = process_owner(w, m->claim);

    return m->kind == MESSAGE_ADOPT || (m->kind == MESSAGE_KEEP && k && k->phase == WORKER_PENDING);
}

static void note_asked_again(struct world *w, unsigned node, const struct message *m)
{
    if (message_releases(m)) {
        world_claim(w, m->claim)->excuses++;
        check_release_sent(w, m->claim, node);
    } else if (is_adoption(w, m)) {
        check_adoption_again(w, m->claim, node);
    } else if (m->restore) {
        check_restored_again(w, node, m);
    } else if (m->kind == MESSAGE_KEEP) {
        check_kept_again(w, node, m);
    } else {
        check_set_again(w, m->claim, node);
    }
}

/* The other way, because the server has refused one; or because somebody waits who must be woken.
 */
static bool is_released_again(const struct world *w, const struct message *m)
{
    const struct message *h = w->reading;

    if (h && h->kind == MESSAGE_LISTED) {
        return h->answer == ANSWER_INTEGER && h->integer == 1 && m->kind == MESSAGE_RELEASE &&
               h->keys == w->claims[m->claim].keys;
    }
    return h && message_releases(h) && h->kind != m->kind && h->claim == m->claim &&
           h->answer == ANSWER_ERROR;
}

static void note_release(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    world_claim(w, m->claim)->excuses += is_released_again(w, m);
    check_native_known(w, client, node, m);
    check_release_sent(w, m->claim, node);
}

static void note_asked(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    unsigned worker = world_claim(w, m->claim)->worker;

    if (message_releases(m)) {
        note_release(w, client, node, m);
    } else if (m->kind == MESSAGE_CONFIRM) {
        check_confirm_sent(w, m->claim, node, m->fence);
    } else if (is_adoption(w, m)) {
        world_claim(w, m->claim)->hint = m->kind == MESSAGE_ADOPT ? m->fence : 0;
        check_adoption_sent(w, m->claim, node);
    } else if (m->restore || m->kind == MESSAGE_KEEP) {
        check_held_asked(w, client, worker, node, m);
    } else {
        check_set_sent(w, m->claim, node);
    }
}

void watch_request(struct world *w, unsigned client, unsigned node, struct message *m)
{
    const struct worker *k;

    w->effort.commands += m->kind >= MESSAGE_CACHING;
    if (m->kind == MESSAGE_MARK || m->kind == MESSAGE_TIME) {
        check_role_asked(w, client, node, m);
    }
    if (m->kind < MESSAGE_SET) {
        return;
    }
    if (is_asked_again(w, m)) {
        m->restore = world_reading(w, m->claim)->restore;
        note_asked_again(w, node, m);
    } else {
        k = process_owner(w, m->claim);
        check_vote_reads_mark(w, client, node, m);
        m->restore = m->kind == MESSAGE_TAKE && !(k && k->phase == WORKER_PENDING);
        note_asked(w, client, node, m);
    }
}

/* ---- what it reads ---- */

static void note_inspection(struct peer *p, const struct message *m, bool up)
{
    if (m->kind == MESSAGE_INFO && m->section == SECTION_REPLICATION && m->answer != ANSWER_ERROR) {
        p->role_us = m->done_us;
    } else if (m->kind == MESSAGE_MARK && up && m->answer != ANSWER_ERROR) {
        p->first_inspected_us = p->inspected_us ? p->first_inspected_us : m->done_us;
        p->inspected_us = m->done_us;
        p->unread = false;
    } else if (m->kind == MESSAGE_MARK && up) {
        p->unread = true;
    }
}

/* [S11] An inspection in a greeting counts only if the greeting succeeds: watch_core.c. */
void watch_reply(struct world *w, unsigned client, unsigned node, const struct message *m,
                 unsigned parts)
{
    note_inspection(&w->clients[client].peers[node], m, world_node_up(w, client, node));
    if ((m->kind == MESSAGE_MARK || m->kind == MESSAGE_MASTERS) && world_node_up(w, client, node)) {
        check_masters_shown(w, client, node, m);
    }
    if (m->kind == MESSAGE_WAIT) {
        check_listed(w, client, m);
    }
    w->reading = m;
    w->n_reading = parts;
    w->noted = w->timed = false;
}

bool watch_is_refusal(const struct message *m)
{
    return (m->answer == ANSWER_STRING && (unsigned)m->integer != m->claim) ||
           (m->kind == MESSAGE_SET && !m->get && m->answer == ANSWER_NIL);
}

/* An answer for a round that is over changes only what has to be released. */
static void note_late_answer(struct world *w, unsigned node, const struct message *m)
{
    struct claim *c = world_claim(w, m->claim);
    struct worker *k = world_worker(w, c->client, c->worker);

    if (watch_is_refusal(m) && !m->restore) {
        c->refused |= rlk_mask_bit(node);
        k->refusals += k->op == c->op;
    }
}

void watch_reply_done(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    bool votes = m->kind == MESSAGE_SET || m->kind == MESSAGE_TAKE || m->kind == MESSAGE_VOTE ||
                 m->kind == MESSAGE_ADOPT;

    if (votes && !w->noted) {
        note_late_answer(w, node, m);
    }
    if ((m->kind == MESSAGE_MARK || m->kind == MESSAGE_TIME) && m->answer != ANSWER_ERROR) {
        check_compared(w, client, node);
    }
    if (message_releases(m) && m->answer == ANSWER_ERROR) {
        check_refused(w, client, node, m->claim);
    }
    w->reading = NULL;
}

/* ---- the end of a connection ---- */

static void is_unanswered(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    if (m->kind >= MESSAGE_SET) {
        check_unanswered(w, client, node, m);
    }
    if (m->kind == MESSAGE_SET || m->kind == MESSAGE_VOTE || m->kind == MESSAGE_TAKE) {
        check_may_outlive(w, m->claim, client, node);
    }
}

void watch_close(struct world *w, unsigned wire)
{
    const struct wire *x = &w->wires[wire];
    unsigned m;

    if (w->ending) {
        return;
    }
    check_witness_lost(w, x->client);
    for (m = x->unanswered; m != NONE; m = w->messages[m].next) {
        is_unanswered(w, x->client, x->node, &w->messages[m]);
    }
    w->clients[x->client].peers[x->node].closed = wire;
}

/* ---- after the client's code has run ---- */

/* No lock may go on waiting for an answer over a connection that has ended. */
static void check_disconnected(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = &w->clients[client].peers[node];
    unsigned m;

    for (m = w->wires[p->closed].unanswered; m != NONE; m = w->messages[m].next) {
        check_disconnect_handled(w, client, node, &w->messages[m]);
    }
    p->closed = NONE;
}

static void check_worker_left(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->suspension_unnotified) {
        check_suspension_notified(w, client, worker);
    }
    if (k->data_replaced) {
        check_data_replaced_notified(w, client, worker);
    }
    if (k->is_candidate && k->candidacy.election) {
        check_lead(w, client, worker);
    }
    if (k->releasing != NONE) {
        check_let_go(w, k->releasing);
        k->releasing = NONE;
    }
}

void watch_left(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    bool has_duplicate = w->o.duplicate < SIM_NODES;
    unsigned i;

    for (i = 0; i < w->o.workers; i++) {
        check_worker_left(w, client, i);
    }
    for (i = 0; c->rl && i < c->nodes; i++) {
        if (c->peers[i].closed != NONE) {
            check_disconnected(w, client, i);
        }
        c->peers[i].duplicate |= has_duplicate && world_node(w, client, i)->duplicate;
    }
}
