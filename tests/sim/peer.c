#include "sim/peer.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/backoff.h"
#include "core/validity.h"
#include "sim/check.h"
#include "sim/drive.h"
#include "sim/health.h"
#include "sim/memory.h"
#include "sim/trace.h"
#include "sim/wire.h"

#define RECONNECT_MIN_US 10000
#define RECONNECT_MAX_US 2000000
#define PAY_AGAIN_US 250000
#define GOOD_AFTER_US 1000000

static struct peer *peer_at(struct world *w, unsigned client, unsigned node)
{
    return &w->clients[client].peers[node];
}

static void set_timer(struct world *w, unsigned client, unsigned node, uint64_t at_us)
{
    struct peer *p = peer_at(w, client, node);

    p->timer_us = at_us;
    p->timer_set = true;
    schedule_push(&w->schedule,
                  rlk_time_max(clock_when(&w->clients[client].clock, at_us), w->now_us),
                  EVENT_PEER_TIMER, client, node, ++p->stamp);
}

static void cancel_timer(struct peer *p)
{
    p->stamp++;
    p->timer_set = false;
}

/* ---- debts ---- */

static void pay_later(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);

    if (p->state == PEER_UP && p->n_debts > 0 && !p->timer_set) {
        set_timer(w, client, node, world_client_us(w, client) + PAY_AGAIN_US);
    }
}

/* When a key that is there now has ended, by a server's clock that is slower than ours. */
static uint64_t key_ends_us(const struct world *w, unsigned client, const struct claim *c)
{
    uint64_t ttl_us = rlk_time_from_ms(c->ttl_ms);
    uint64_t drift_us = ttl_us - rlk_validity_lease_us(ttl_us, w->o.drift_ppm);

    return c->set_lost ? RLK_NEVER : world_client_us(w, client) + ttl_us + drift_us;
}

void peer_owe(struct world *w, unsigned client, unsigned node, unsigned claim)
{
    struct peer *p = peer_at(w, client, node);
    uint64_t until_us = key_ends_us(w, client, world_claim(w, claim));

    p->debts = memory_room(p->debts, &p->cap_debts, p->n_debts, sizeof(*p->debts));
    p->debts[p->n_debts++] = (struct debt){claim, until_us, world_client_us(w, client)};
    check_owed(w, claim, node);
    pay_later(w, client, node);
}

static void pay_debts(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);
    size_t i;

    for (i = 0; i < p->n_debts; i++) {
        struct debt d = p->debts[i];

        if (d.until_us > world_client_us(w, client)) {
            drive_send_release(w, client, node, d.claim, false);
        } else {
            check_expired(w, d.claim, node);
        }
    }
    p->n_debts = 0;
    pay_later(w, client, node);
}

/* ---- the connection ---- */

static void start(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);

    p->state = PEER_CONNECTING;
    p->wire = wire_open(w, client, node);
    set_timer(w, client, node, world_client_us(w, client) + w->o.connect_us);
}

void peer_init(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);
    struct debt *debts = p->debts;
    size_t cap = p->cap_debts;
    unsigned stamp = p->stamp, health_stamp = p->health_stamp;
    uint64_t there_us = p->there_clear_us, back_us = p->back_clear_us;

    *p = (struct peer){
        .debts = debts, .cap_debts = cap, .stamp = stamp, .health_stamp = health_stamp};
    p->there_clear_us = there_us;
    p->back_clear_us = back_us;
    start(w, client, node);
}

static void try_again(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);
    uint64_t delay_us = 0;

    if (p->failures > 0) {
        delay_us = rlk_backoff_us(&w->prng, p->failures, RECONNECT_MIN_US, RECONNECT_MAX_US);
    }
    p->state = PEER_DOWN;
    if (delay_us == 0) {
        start(w, client, node);
    } else {
        set_timer(w, client, node, world_client_us(w, client) + delay_us);
    }
}

static void break_requests(struct world *w, unsigned client, unsigned node, unsigned wire)
{
    struct message *m;

    while ((m = wire_take_broken(w, wire)) != NULL) {
        check_unanswered(w, client, node, m);
        drive_broken(w, client, node, m);
        check_heard(w, client, node, m);
    }
}

static void forget_first(struct peer *p)
{
    unsigned i;

    for (i = 1; i < p->n_former; i++) {
        p->former[i - 1] = p->former[i];
    }
    p->n_former -= p->n_former > 0;
}

static void meet(struct peer *p)
{
    if (p->former_run != p->run) {
        p->n_former = 0;
        p->former_run = p->run;
    }
}

/* A connection that ends with something unanswered may still have it carried out. */
static void remember(struct world *w, struct peer *p, unsigned wire)
{
    if (wire_oldest_us(w, wire) == RLK_NEVER) {
        return;
    }
    meet(p);
    if (p->n_former == FORMER_MAX) {
        forget_first(p);
    }
    p->former[p->n_former++] = wire;
}

static void fall(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);
    uint64_t now_us = world_client_us(w, client);
    bool was_up = p->state == PEER_UP;
    unsigned wire = p->wire;

    trace(w, "c%u-n%u  %s", client, node, was_up ? "disconnected" : "cannot be connected");
    check_looks_away(w, client);
    cancel_timer(p);
    health_end(w, client, node);
    wire_close(w, wire);
    p->state = PEER_DOWN;
    if (was_up) {
        p->failures = now_us - p->since_us >= GOOD_AFTER_US ? 0 : p->failures + 1;
        remember(w, p, wire);
    } else {
        p->failures++;
        p->failed = true;
    }
    break_requests(w, client, node, wire);
    try_again(w, client, node);
    if (!was_up) {
        drive_node_down(w, client, node);
    }
}

void peer_refuse(struct world *w, unsigned client, unsigned node)
{
    fall(w, client, node);
}

void peer_end(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);

    cancel_timer(p);
    health_end(w, client, node);
    wire_close(w, p->wire);
    p->state = PEER_DOWN;
    p->n_debts = 0;
}

bool peer_ask(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);

    if (p->state != PEER_UP) {
        return false;
    }
    wire_send(w, p->wire, m);
    return true;
}

void peer_on_opened(struct world *w, unsigned wire)
{
    const struct wire *x = &w->wires[wire];
    struct peer *p = peer_at(w, x->client, x->node);
    struct message m = {.kind = MESSAGE_HELLO, .sent_us = world_client_us(w, x->client)};

    if (p->wire == wire && p->state == PEER_CONNECTING) {
        p->state = PEER_GREETING;
        wire_send(w, wire, &m);
    }
}

/* What the same process may still read from our former connections must not come behind the
 * debts [S5]. src/node/former.h */
static void kill_former(struct world *w, unsigned client, struct peer *p)
{
    struct message m = {.kind = MESSAGE_KILL, .sent_us = world_client_us(w, client)};
    unsigned i;

    meet(p);
    for (i = 0; w->o.kills && i < p->n_former; i++) {
        m.claim = p->former[i];
        wire_send(w, p->wire, &m);
    }
}

/* [S10] The other address of the server, when it is UP; SIM_NODES when there is none. */
static unsigned twin_of(const struct world *w, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];
    unsigned other;

    for (other = 0; other < c->nodes; other++) {
        if (other != node && c->peers[other].state == PEER_UP &&
            c->peers[other].facts.run == c->peers[node].facts.run) {
            return other;
        }
    }
    return SIM_NODES;
}

/* The greeting is over, with what was heard of the incarnation key or without (NULL). What is known
 * of the node is not to be overwritten by what another server says. src/node/handshake.c */
static void welcome(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);
    unsigned other = twin_of(w, client, node);

    p->twin = other != SIM_NODES;
    if (p->twin) {
        trace(w, "c%u-n%u  refused: is the same server as n%u", client, node, other);
        fall(w, client, node);
        return;
    }
    health_begin(w, client, node, m);
    kill_former(w, client, p);
    cancel_timer(p);
    p->state = PEER_UP;
    p->failed = false;
    p->since_us = world_client_us(w, client);
    pay_debts(w, client, node);
    drive_node_up(w, client, node);
}

/* The answer to the first half: the role, and what it says of itself. */
static void greeted(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);

    if (m->answer == ANSWER_ERROR) {
        trace(w, "c%u-n%u  refused: %s", client, node, m->error);
        health_judge_role(w, client, node, m);
        fall(w, client, node);
        return;
    }
    p->facts = m->facts;
    p->run = m->facts.run;
    p->scripts = 0;
    if (m->facts.loading) {
        trace(w, "c%u-n%u  refused: is loading its data", client, node);
        fall(w, client, node);
    } else if (!health_greet(w, client, node)) {
        welcome(w, client, node, NULL);
    }
}

static bool refuses_everything(const struct message *m)
{
    return m->answer == ANSWER_ERROR &&
           (strncmp(m->error, "BUSY", 4) == 0 || strncmp(m->error, "LOADING", 7) == 0);
}

/* The incarnation key, or the time. Who cannot say just now who it is is not let in; whose data
 * cannot be looked at just now is, and does not vote. */
static void looked_at(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    if (peer_at(w, client, node)->state == PEER_UP) {
        health_on_reply(w, client, node, m);
    } else if (refuses_everything(m)) {
        trace(w, "c%u-n%u  refused: %.10s...", client, node, m->error);
        fall(w, client, node);
    } else {
        welcome(w, client, node, m);
    }
}

void peer_on_reply(struct world *w, unsigned wire)
{
    unsigned client = w->wires[wire].client, node = w->wires[wire].node;
    struct message *taken = wire_take_answer(w, wire), m;

    if (taken == NULL) {
        return;
    }
    m = *taken;
    if (m.kind == MESSAGE_HELLO) {
        greeted(w, client, node, &m);
    } else if (m.kind == MESSAGE_MARK || m.kind == MESSAGE_TIME) {
        looked_at(w, client, node, &m);
    } else if (m.kind == MESSAGE_KILL) {
        forget_first(peer_at(w, client, node));
    } else {
        drive_answered(w, client, node, &m);
    }
}

void peer_on_broken(struct world *w, unsigned wire)
{
    const struct wire *x = &w->wires[wire];

    if (x->client_open && peer_at(w, x->client, x->node)->wire == wire) {
        fall(w, x->client, x->node);
    }
}

void peer_on_timer(struct world *w, unsigned client, unsigned node, unsigned stamp)
{
    struct peer *p = peer_at(w, client, node);

    if (p->stamp != stamp) {
        return;
    }
    if (world_client_us(w, client) < p->timer_us) {
        set_timer(w, client, node, p->timer_us);
        return;
    }
    p->timer_set = false;
    if (p->state == PEER_DOWN) {
        start(w, client, node);
    } else if (p->state == PEER_UP) {
        pay_debts(w, client, node);
    } else {
        fall(w, client, node);
    }
}

/* ---- what is known of them ---- */

static bool overdue(const struct world *w, const struct peer *p, uint64_t now_us)
{
    return now_us > rlk_time_add(wire_oldest_us(w, p->wire), w->o.timeout_us);
}

void peer_nodes(const struct world *w, unsigned client, uint64_t *ret_ready, uint64_t *ret_coming,
                uint64_t *ret_open)
{
    uint64_t now_us = world_client_us(w, client);
    unsigned node;

    *ret_ready = *ret_coming = *ret_open = 0;
    for (node = 0; node < w->clients[client].nodes; node++) {
        const struct peer *p = &w->clients[client].peers[node];

        if (p->state == PEER_UP) {
            *ret_open |= rlk_mask_bit(node);
            *ret_ready |= overdue(w, p, now_us) ? 0 : rlk_mask_bit(node);
        } else if (p->state != PEER_DOWN && !p->failed) {
            *ret_coming |= rlk_mask_bit(node);
        }
    }
}
