#include "sim/health.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/drive.h"
#include "sim/peer.h"
#include "sim/trace.h"
#include "sim/wire.h"

#define AGAIN_AFTER_US 20000

static struct peer *peer_at(struct world *w, unsigned client, unsigned node)
{
    return &w->clients[client].peers[node];
}

static bool is_wanted(const struct peer *p)
{
    return p->standing.policy != RLK_QUARANTINE_OFF && !p->health_refused;
}

/* ---- what goes out ---- */

static void write_run(const struct peer *p, char run[16])
{
    snprintf(run, 16, "r%u", p->facts.run);
}

static bool is_suspect(const struct peer *p)
{
    return p->facts.flushed || p->facts.promotion != 0;
}

static uint64_t believed_age_us(const struct peer *p)
{
    uint64_t up_us = p->facts.uptime_s > 0 ? (uint64_t)p->facts.uptime_s * 1000000 : 0;
    char run[16];

    write_run(p, run);
    if ((p->standing.met && strcmp(p->standing.run, run) == 0) || is_suspect(p)) {
        return 0;
    }
    return up_us;
}

static void ask(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);
    struct message m = {.kind = is_wanted(p) ? MESSAGE_MARK : MESSAGE_TIME,
                        .sent_us = world_client_us(w, client),
                        .age_us = believed_age_us(p),
                        .note_us = p->health_notes
                                       ? rlk_standing_note(&p->standing, world_client_us(w, client))
                                       : 0,
                        .facts = p->facts};

    m.mark = (struct mark){.run = p->facts.run, .mark = rlk_prng_next(&w->prng) | 1};
    wire_send(w, p->wire, &m);
    p->health_asked = true;
    p->health_sent_us = m.sent_us;
}

static void set_timer(struct world *w, unsigned client, unsigned node, uint64_t at_us)
{
    struct peer *p = peer_at(w, client, node);

    p->health_timer_us = at_us;
    schedule_push(&w->schedule,
                  rlk_time_max(clock_when(&w->clients[client].clock, at_us), w->now_us),
                  EVENT_HEALTH, client, node, ++p->health_stamp);
}

static void again_later(struct world *w, unsigned client, unsigned node)
{
    if (w->o.health_us > 0) {
        set_timer(w, client, node, world_client_us(w, client) + w->o.health_us);
    }
}

void health_ask(struct world *w, unsigned client, unsigned node)
{
    const struct peer *p = peer_at(w, client, node);
    uint64_t ready, coming, open;

    peer_nodes(w, client, &ready, &coming, &open);
    if (w->o.health_us > 0 && !p->health_asked && (ready & rlk_mask_bit(node)) &&
        world_client_us(w, client) >= p->health_sent_us + AGAIN_AFTER_US) {
        ask(w, client, node);
    }
}

void health_on_timer(struct world *w, unsigned client, unsigned node, unsigned stamp)
{
    const struct peer *p = peer_at(w, client, node);

    if (p->health_stamp != stamp) {
        return;
    }
    if (world_client_us(w, client) < p->health_timer_us) {
        set_timer(w, client, node, p->health_timer_us);
        return;
    }
    health_ask(w, client, node);
    again_later(w, client, node);
}

/* ---- what comes back ---- */

static void ask_now(struct world *w, unsigned client, unsigned node)
{
    uint64_t ready, coming, open;

    peer_nodes(w, client, &ready, &coming, &open);
    if (!peer_at(w, client, node)->health_asked && (ready & rlk_mask_bit(node))) {
        ask(w, client, node);
    }
}

/* As rlk_health_note(): with this look, and with each until it is on record. */
static void note(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);

    if (!p->health_notes && is_wanted(p)) {
        p->health_notes = true;
        ask_now(w, client, node);
    }
}

/* As note_step(). */
static void note_step(struct world *w, unsigned client, unsigned ahead)
{
    const struct client *c = &w->clients[client];
    uint64_t now_us = world_client_us(w, client), others;
    unsigned node;

    if (rlk_standing_note(&c->peers[ahead].standing, now_us) == 0) {
        return;
    }
    if (rlk_clocks_is_certain(&c->clocks, ahead, now_us)) {
        note(w, client, ahead);
        return;
    }
    others = rlk_clocks_to_ask(&c->clocks, ahead);
    RLK_MASK_EACH (node, others) {
        ask_now(w, client, node);
    }
}

/* [S11] As on_node_timed(). */
static void tell_time(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct client *c = &w->clients[client];
    struct peer *p = peer_at(w, client, node);
    struct rlk_event ev = {.node = node, .now_us = world_client_us(w, client)};
    struct rlk_clock_sample sample = {
        .sent_us = p->health_sent_us, .received_us = ev.now_us, .server_us = m->server_us};
    uint64_t nodes;
    enum rlk_clock_verdict verdict =
        rlk_clocks_sample(&c->clocks, node, &sample, &ev.by_us, &nodes);

    check_timed(w, client, node, m, verdict);
    switch (verdict) {
    case RLK_CLOCK_AHEAD:
        trace(w, "c%u-n%u  its clock got ahead by %.1f ms", client, node, (double)ev.by_us / 1e3);
        check_ahead(w, client, node);
        rlk_standing_clock_moved(&p->standing, m->server_us, ev.now_us);
        if (rlk_standing_is_mistimed(&p->standing, ev.now_us)) {
            ev.kind = RLK_EVENT_MISTIMED;
            drive_clock(w, client, &ev);
        }
        break;
    case RLK_CLOCK_WE_STOOD:
        trace(w, "c%u    finds that it stood still for %.1f ms", client, (double)ev.by_us / 1e3);
        check_ahead(w, client, node);
        RLK_MASK_EACH (node, nodes) {
            rlk_standing_clock_excused(&c->peers[node].standing);
        }
        ev.kind = RLK_EVENT_STOOD;
        drive_clock(w, client, &ev);
        break;
    case RLK_CLOCK_STEADY:
        rlk_standing_clock_steady(&p->standing, ev.now_us);
        break;
    case RLK_CLOCK_BEHIND:
        break;
    }
    for (node = 0; node < c->nodes; node++) {
        note_step(w, client, node);
    }
}

/* For the checkers. */
static void looked(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);

    if (m->kind == MESSAGE_MARK) {
        p->first_look_us = p->looked_us ? p->first_look_us : m->done_us;
        p->looked_us = m->done_us;
        p->unread = false;
    }
}

static bool votes(const struct world *w, unsigned client, unsigned node)
{
    return rlk_standing_bar(&w->clients[client].peers[node].standing, world_client_us(w, client),
                            NULL) == RLK_BAR_NONE;
}

static void tell_barred(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);
    struct rlk_event ev = {.kind = RLK_EVENT_BARRED,
                           .node = node,
                           .now_us = world_client_us(w, client),
                           .exchanged = rlk_standing_take_exchanged(&p->standing)};

    trace(w, "c%u-n%u  its votes do not count", client, node);
    drive_clock(w, client, &ev);
}

static void tell_if_barred(struct world *w, unsigned client, unsigned node, bool voted)
{
    bool exchanged = peer_at(w, client, node)->standing.exchanged;

    if ((voted && !votes(w, client, node)) || exchanged) {
        tell_barred(w, client, node);
    }
}

static struct rlk_birth birth_of(const struct message *m)
{
    return (struct rlk_birth){
        .mark = m->mark.mark, .born_us = m->mark.born_us, .server_us = m->server_us};
}

static void tell_birth(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);
    struct rlk_birth birth = birth_of(m);
    uint64_t now_us = world_client_us(w, client);
    bool voted = votes(w, client, node);

    if (m->kind == MESSAGE_MARK) {
        rlk_standing_born(&p->standing, &birth, now_us);
        p->health_notes = p->health_notes && rlk_standing_note(&p->standing, now_us) != 0;
        tell_if_barred(w, client, node, voted);
    }
}

static bool look(struct world *w, unsigned client, unsigned node, uint64_t mark)
{
    bool voted = votes(w, client, node);
    bool another =
        rlk_standing_look(&peer_at(w, client, node)->standing, mark, world_client_us(w, client));

    tell_if_barred(w, client, node, voted);
    return another;
}

bool health_judge_role(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);
    bool ends =
        rlk_standing_role(&p->standing, !m->replica, m->promotion, world_client_us(w, client));

    if (ends) {
        trace(w, "c%u-n%u  %s", client, node,
              m->replica ? "is a replica" : "was a replica for a while");
        tell_barred(w, client, node);
    }
    return ends;
}

/* Every error of the model is one for now: it is asked again, and does not vote before. */
static void on_unread(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);
    bool voted = votes(w, client, node);

    if (m->kind == MESSAGE_MARK) {
        p->unread = true;
        rlk_standing_unread(&p->standing, true);
        tell_if_barred(w, client, node, voted);
    }
}

void health_on_reply(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    peer_at(w, client, node)->health_asked = false;
    peer_at(w, client, node)->role_us = m->done_us;
    if (health_judge_role(w, client, node, m)) {
        peer_refuse(w, client, node);
        return;
    }
    if (m->answer == ANSWER_ERROR) {
        on_unread(w, client, node, m);
        return;
    }
    tell_birth(w, client, node, m);
    tell_time(w, client, node, m);
    looked(w, client, node, m);
    if (m->kind == MESSAGE_MARK && look(w, client, node, m->mark.mark)) {
        peer_refuse(w, client, node);
    }
}

/* ---- the life of a connection ---- */

void health_init(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned node;

    c->stood = false;
    rlk_clocks_init(&c->clocks, c->nodes, w->o.drift_ppm, options_max_ttl_us(&w->o));
    for (node = 0; node < c->nodes; node++) {
        rlk_standing_init(&c->peers[node].standing, w->o.policy, options_max_ttl_us(&w->o),
                          w->o.drift_ppm);
    }
}

bool health_greet(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);

    p->health_refused = p->health_asked = false;
    if (!is_wanted(p)) {
        return false;
    }
    ask(w, client, node);
    return true;
}

static uint64_t data_age_us(const struct peer *p, const struct message *m)
{
    if (m && m->answer != ANSWER_ERROR) {
        return rlk_time_sub(m->server_us, m->mark.born_us);
    }
    return is_suspect(p) ? 0 : RLK_NEVER;
}

void health_begin(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    struct peer *p = peer_at(w, client, node);
    uint64_t now_us = world_client_us(w, client);
    char run[16];
    struct rlk_facts facts = {
        .run = run, .promotion = p->facts.promotion, .durable = p->facts.durable};

    write_run(p, run);
    p->health_asked = false;
    p->unread = facts.unread = m && m->answer == ANSWER_ERROR;
    if (m && !facts.unread) {
        facts.birth = birth_of(m);
    }
    facts.age_us = p->facts.uptime_s > 0 ? (uint64_t)p->facts.uptime_s * 1000000 : 0;
    facts.data_age_us = data_age_us(p, m);
    if (rlk_standing_greet(&p->standing, &facts, now_us)) {
        rlk_clocks_forget(&w->clients[client].clocks, node);
        p->timed_us = 0;
    }
    p->met_us = p->met_us ? p->met_us : w->now_us;
    if (!votes(w, client, node) || p->standing.exchanged) {
        tell_barred(w, client, node);
    }
    if (m && !facts.unread) {
        looked(w, client, node, m);
        tell_time(w, client, node, m);
    }
    again_later(w, client, node);
}

void health_end(struct world *w, unsigned client, unsigned node)
{
    struct peer *p = peer_at(w, client, node);

    p->health_stamp++;
    p->health_asked = false;
}

struct mark health_expect(const struct world *w, unsigned client, unsigned node)
{
    const struct peer *p = &w->clients[client].peers[node];

    return (struct mark){.run = p->facts.run, .mark = is_wanted(p) ? p->standing.mark : 0};
}

void health_surprised(struct world *w, unsigned client, unsigned node)
{
    look(w, client, node, 0);
    ask_now(w, client, node);
}
