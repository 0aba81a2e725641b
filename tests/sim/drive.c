#include "sim/drive.h"

#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/memory.h"
#include "sim/peer.h"
#include "sim/trace.h"
#include "sim/user.h"

/* The claim is of what its worker does now. */
static struct worker *owner_of(struct world *w, const struct claim *claim)
{
    struct worker *k = world_worker(w, claim->client, claim->worker);

    return k->op == claim->op ? k : NULL;
}

struct worker *drive_owner(struct world *w, unsigned claim)
{
    struct worker *k = owner_of(w, world_claim(w, claim));

    return k && k->claim == claim ? k : NULL;
}

/* The process stands still in the middle of a step: what it does next, it does later. */
void drive_stall(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];

    if (w->o.stall_ppm && !w->healed && draw_chance(&w->prng, w->o.stall_ppm)) {
        uint64_t from_us = rlk_time_max(w->now_us, c->busy_us);
        uint64_t us = rlk_time_min(draw_scale(&w->prng, 100, w->o.longest_us),
                                   rlk_time_sub(w->o.until_us, from_us));

        trace(w, "c%u    stalls for %.1f ms", client, (double)us / 1e3);
        c->busy_us = from_us + us;
        c->lost_us += us;
    }
}

void drive_set_timer(struct world *w, unsigned client, unsigned worker, uint64_t at_us)
{
    struct worker *k = world_worker(w, client, worker);
    uint64_t when_us = clock_when(&w->clients[client].clock, at_us);

    k->timer_us = at_us;
    k->stamp++;
    if (at_us != RLK_NEVER) {
        when_us = when_us > w->now_us ? when_us : w->now_us + 20;
        schedule_push(&w->schedule, when_us, EVENT_TIMER, client, worker, k->stamp);
    }
}

/* Once, at the end of the turn of the loop: other callbacks may come before. */
static void tell(struct world *w, unsigned client, unsigned worker, uint64_t later_us)
{
    struct worker *k = world_worker(w, client, worker);

    if (!k->telling) {
        k->telling = true;
        schedule_push(&w->schedule, rlk_time_max(w->now_us, w->clients[client].busy_us) + later_us,
                      EVENT_DELIVER, client, worker, k->op);
    }
}

/* ---- what goes out ---- */

bool drive_knows(const struct world *w, unsigned client, unsigned node, enum message_kind script)
{
    return w->clients[client].peers[node].scripts >> script & 1;
}

static unsigned fresh_claim(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    w->claims = memory_room(w->claims, &w->cap_claims, w->n_claims, sizeof(*w->claims));
    w->claims[w->n_claims] = (struct claim){.client = client,
                                            .worker = worker,
                                            .op = k->op,
                                            .keys = k->keys,
                                            .round = k->attempt.tries,
                                            .ttl_ms = k->ttl_ms,
                                            .fenced = k->fenced,
                                            .hint = drive_hint(w, client, k)};
    return (unsigned)w->n_claims++;
}

/* src/lock/acquire.c, send_all() */
static struct message question(const struct world *w, const struct worker *k, unsigned node,
                               uint64_t now_us)
{
    bool several = rlk_mask_count(k->keys) > 1;
    struct message m = {.kind = several ? MESSAGE_TAKE : MESSAGE_SET,
                        .claim = k->claim,
                        .ttl_ms = k->ttl_ms,
                        .sent_us = now_us};

    if (k->fenced) {
        return drive_vote_message(w, node, k->claim, now_us);
    }
    m.get = !several && (w->o.tells_holder & rlk_mask_bit(node)) != 0;
    return m;
}

static void send_sets(struct world *w, unsigned client, unsigned worker, uint64_t nodes,
                      uint64_t now_us)
{
    const struct worker *k = world_worker(w, client, worker);
    unsigned claim = k->claim, node;

    trace(w, "c%u.%u  round %u: t%u to %s", client, worker, world_claim(w, claim)->round, claim,
          trace_nodes(nodes));
    RLK_MASK_EACH (node, nodes) {
        struct message m = question(w, k, node, now_us);

        m.text = !drive_knows(w, client, node, m.kind);
        if (peer_ask(w, client, node, &m)) {
            check_set_sent(w, claim, node);
        }
    }
}

void drive_send_release(struct world *w, unsigned client, unsigned node, unsigned claim, bool text)
{
    uint64_t now_us = world_client_us(w, client);
    struct message m = {.kind = MESSAGE_RELEASE, .claim = claim, .text = text, .sent_us = now_us};

    if (peer_ask(w, client, node, &m)) {
        check_release_sent(w, claim, node);
    } else {
        peer_owe(w, client, node, claim);
    }
}

static void send_releases(struct world *w, unsigned client, unsigned claim, uint64_t nodes)
{
    unsigned node;

    world_claim(w, claim)->released = true;
    trace(w, "c%u.%u  releases t%u on %s", client, world_claim(w, claim)->worker, claim,
          trace_nodes(nodes));
    RLK_MASK_EACH (node, nodes) {
        drive_send_release(w, client, node, claim, false);
    }
}

/* ---- the attempt ---- */

static void carry_out(struct world *w, unsigned client, unsigned worker,
                      const struct rlk_actions *out, uint64_t now_us)
{
    struct worker *k = world_worker(w, client, worker);

    drive_stall(w, client);
    if (out->release) {
        send_releases(w, client, k->claim, out->release);
    }
    if (out->tell) {
        tell(w, client, worker, draw_upto(&w->prng, w->o.turn_us));
    }
    if (out->fresh) {
        if (k->claim != NONE) {
            check_let_go(w, k->claim);
        }
        k->claim = fresh_claim(w, client, worker);
    }
    drive_set_timer(w, client, worker, out->deadline_us);
    if (out->acquire) {
        drive_stall(w, client);
        send_sets(w, client, worker, out->acquire, now_us);
    } else if (out->confirm) {
        drive_stall(w, client);
        drive_ask_to_confirm(w, client, worker, out, now_us);
    }
}

void drive_step(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev)
{
    struct worker *k = world_worker(w, client, worker);
    struct rlk_actions out;

    rlk_attempt_step(&k->attempt, ev, &out);
    check_stepped(w, client, worker);
    carry_out(w, client, worker, &out, ev->now_us);
}

static void step_with_nodes(struct world *w, unsigned client, unsigned worker,
                            enum rlk_event_kind kind)
{
    struct rlk_event ev = {.kind = kind, .now_us = world_client_us(w, client)};
    uint64_t open;

    peer_nodes(w, client, &ev.ready, &ev.coming, &open);
    drive_step(w, client, worker, &ev);
}

/* [S10] Whoever counts on five masters and has four is to know it: nothing is acquired. */
static void refuse_twins(struct world *w, unsigned client, unsigned worker)
{
    struct rlk_event ev = {.kind = RLK_EVENT_CANCEL, .now_us = world_client_us(w, client)};
    unsigned node;

    for (node = 0; node < w->clients[client].nodes; node++) {
        if (w->clients[client].peers[node].twin) {
            drive_step(w, client, worker, &ev);
            world_worker(w, client, worker)->trouble = REDLOCK_ECONFIG;
            return;
        }
    }
}

void drive_acquire(struct world *w, unsigned client, unsigned worker, const struct drive_request *q)
{
    struct worker *k = world_worker(w, client, worker);
    uint64_t ttl_us = rlk_time_from_ms(q->ttl_ms);
    struct rlk_attempt_config config = {
        .terms = {.nodes = w->clients[client].nodes,
                  .lease_us = rlk_validity_lease_us(ttl_us, w->o.drift_ppm),
                  .min_validity_us = ttl_us / 10,
                  .timeout_us = w->o.timeout_us,
                  .fenced = q->fenced},
        .wait_us = q->wait_us,
        .retry_min_us = q->retry_min_us,
        .retry_max_us = q->retry_max_us,
        .max_retries = q->max_retries,
        .seed = rlk_prng_next(&w->prng)};

    k->phase = WORKER_PENDING;
    k->op++;
    k->keys = q->keys;
    k->ttl_ms = q->ttl_ms;
    k->renew = q->renew;
    k->gated = q->gated;
    k->fenced = q->fenced;
    k->seen_fence = 0;
    k->trouble = 0;
    k->max_hold_us = q->max_hold_us;
    k->max_renewals = q->max_renewals;
    k->claim = NONE;
    rlk_attempt_init(&k->attempt, &config);
    check_started(w, client, worker, rlk_time_max(q->wait_us, w->o.timeout_us));
    refuse_twins(w, client, worker);
    step_with_nodes(w, client, worker, RLK_EVENT_START);
}

void drive_cancel(struct world *w, unsigned client, unsigned worker)
{
    struct rlk_event ev = {.kind = RLK_EVENT_CANCEL, .now_us = world_client_us(w, client)};

    if (world_worker(w, client, worker)->phase == WORKER_PENDING) {
        trace(w, "c%u.%u  cancels", client, worker);
        check_cancelled(w, client, worker);
        drive_step(w, client, worker, &ev);
    }
}

uint64_t drive_valid_until_us(const struct worker *k)
{
    return k->phase == WORKER_HELD ? rlk_hold_valid_until_us(&k->hold) : 0;
}

bool drive_holds(const struct world *w, unsigned client, unsigned worker)
{
    return world_client_us(w, client) < drive_valid_until_us(&w->clients[client].workers[worker]);
}

/* ---- the release ---- */

static void step_release(struct world *w, unsigned client, unsigned worker,
                         const struct rlk_event *ev)
{
    struct worker *k = world_worker(w, client, worker);
    struct rlk_actions out;

    rlk_release_step(&k->release, ev, &out);
    drive_stall(w, client);
    if (out.release) {
        send_releases(w, client, k->claim, out.release);
    }
    drive_set_timer(w, client, worker, out.deadline_us);
    if (out.tell) {
        tell(w, client, worker, 0);
    }
}

void drive_release(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = world_client_us(w, client)};
    uint64_t ready;

    k->valid_us = drive_valid_until_us(k);
    drive_hold_end(w, client, worker);
    k->phase = WORKER_RELEASING;
    check_started(w, client, worker, w->o.timeout_us);
    rlk_release_init(&k->release, w->clients[client].nodes, k->hold.leases.touched,
                     rlk_time_add(ev.now_us, w->o.timeout_us));
    peer_nodes(w, client, &ready, &ev.coming, &ev.ready);
    step_release(w, client, worker, &ev);
    check_let_go(w, k->claim);
}

/* ---- what comes back ---- */

/* Of a round: the attempt hears it until the lock is had, and the hold from then on. */
void drive_voted(struct world *w, unsigned client, unsigned node, const struct message *m,
                 enum rlk_vote vote, uint64_t fence)
{
    static const char *const names[] = {"nothing", "yes", "no", "ours", "barred"};
    const struct claim *c = world_claim(w, m->claim);
    struct worker *k = owner_of(w, c);
    struct rlk_event ev = {.kind = RLK_EVENT_VOTE,
                           .node = node,
                           .now_us = world_client_us(w, client),
                           .round = c->round,
                           .vote = vote,
                           .mistimed = drive_is_mistimed(w, client, node),
                           .fence = fence};

    check_voted(w, node, m, vote, fence);
    if (k && (k->phase == WORKER_PENDING || k->phase == WORKER_HELD)) {
        trace(w, "c%u.%u  n%u says %s to t%u", client, c->worker, node, names[vote], m->claim);
    }
    if (k && k->phase == WORKER_PENDING) {
        drive_step(w, client, c->worker, &ev);
    } else {
        drive_hold_voted(w, client, node, m, vote);
    }
}

static void release_answered(struct world *w, unsigned client, unsigned node, unsigned claim,
                             enum rlk_answer answer)
{
    const struct claim *c = world_claim(w, claim);
    struct worker *k = owner_of(w, c);
    struct rlk_event ev = {.kind = RLK_EVENT_ANSWER,
                           .node = node,
                           .now_us = world_client_us(w, client),
                           .answer = answer};

    if (k && k->phase == WORKER_RELEASING && k->claim == claim) {
        step_release(w, client, c->worker, &ev);
    }
}

static struct rlk_reply number(int64_t n)
{
    return (struct rlk_reply){.type = RLK_REPLY_INTEGER, .integer = n, .str = ""};
}

/* As the reader of src/net would hand it over. */
static void reply_of(const struct message *m, char *text, size_t room, struct rlk_reply out[3])
{
    struct rlk_reply r = {.type = RLK_REPLY_NIL, .str = ""};

    switch (m->answer) {
    case ANSWER_NONE:
    case ANSWER_NIL:
        break;
    case ANSWER_OK:
        r.type = RLK_REPLY_STATUS;
        r.str = "OK";
        break;
    case ANSWER_ERROR:
        r.type = RLK_REPLY_ERROR;
        r.str = m->error;
        break;
    case ANSWER_STRING:
        snprintf(text, room, "t%lld", (long long)m->integer);
        r.type = RLK_REPLY_STRING;
        r.str = text;
        break;
    case ANSWER_INTEGER:
        r = number(m->integer);
        break;
    case ANSWER_PAIR:
        r.type = RLK_REPLY_ARRAY;
        r.integer = 2;
        out[1] = number(m->integer);
        out[2] = number(m->same);
        break;
    }
    r.len = strlen(r.str);
    out[0] = r;
}

/* [S11] What a master grants that may have forgotten another lock is on record, and not counted. */
static enum rlk_vote weighed(const struct world *w, unsigned client, unsigned node,
                             enum rlk_vote vote)
{
    const struct rlk_standing *s = &w->clients[client].peers[node].standing;
    bool barred = rlk_standing_bar(s, world_client_us(w, client), NULL) != RLK_BAR_NONE;

    return vote == RLK_VOTE_YES && barred ? RLK_VOTE_BARRED : vote;
}

static void voted(struct world *w, unsigned client, unsigned node, const struct message *m,
                  enum rlk_vote vote)
{
    drive_voted(w, client, node, m, weighed(w, client, node, vote), 0);
}

static void answered_set(struct world *w, unsigned client, unsigned node, const struct message *m,
                         const struct rlk_reply *reply)
{
    char token[24];
    int len = snprintf(token, sizeof(token), "t%u", m->claim);

    voted(w, client, node, m,
          m->get ? rlk_classify_set_get(reply, token, (size_t)len) : rlk_classify_set(reply));
}

/* A round asks for the longest ttl again; a hold as drive_hold_ttl_again() says. */
static uint32_t ttl_again_ms(struct world *w, unsigned client, unsigned node,
                             const struct message *m)
{
    if (m->kind == MESSAGE_KEEP || m->heal) {
        return drive_hold_ttl_again(w, client, node, m);
    }
    return world_claim(w, m->claim)->ttl_ms;
}

/* What it has run once it knows by its hash, until it forgets: then the same question goes out
 * again with the text, but not after the release. src/lock/script.c */
bool drive_asked_again(struct world *w, unsigned client, unsigned node, const struct message *m,
                       const struct rlk_reply *reply)
{
    unsigned *known = &w->clients[client].peers[node].scripts, bit = 1U << m->kind;
    const struct claim *c = world_claim(w, m->claim);
    struct message again = *m;

    if (!rlk_classify_no_script(reply)) {
        *known |= m->answer != ANSWER_ERROR ? bit : 0;
        return false;
    }
    *known &= ~bit;
    if (m->kind == MESSAGE_VOTE) {
        again = drive_vote_message(w, node, m->claim, 0);
    }
    again.text = true;
    again.ttl_ms = ttl_again_ms(w, client, node, m);
    again.sent_us = world_client_us(w, client);
    if (again.ttl_ms == 0 || c->released || !peer_ask(w, client, node, &again)) {
        return false;
    }
    if (m->heal) {
        check_healed_again(w, node, &again);
    }
    return true;
}

static void answered_script(struct world *w, unsigned client, unsigned node,
                            const struct message *m, const struct rlk_reply *reply)
{
    if (drive_asked_again(w, client, node, m, reply)) {
        return;
    }
    if (m->kind == MESSAGE_VOTE) {
        drive_answered_vote(w, client, node, m, reply);
    } else if (m->kind == MESSAGE_CONFIRM) {
        drive_confirmed(w, client, node, m, rlk_classify_confirm(reply));
    } else if (m->kind == MESSAGE_KEEP) {
        drive_hold_answered(w, client, node, m, rlk_classify_keep(reply));
    } else if (m->heal) {
        drive_hold_voted(w, client, node, m, rlk_classify_take(reply));
    } else {
        voted(w, client, node, m, rlk_classify_take(reply));
    }
}

static void answered_release(struct world *w, unsigned client, unsigned node,
                             const struct message *m, const struct rlk_reply *reply)
{
    if (rlk_classify_no_script(reply)) {
        world_claim(w, m->claim)->excuses++;
        drive_send_release(w, client, node, m->claim, true);
        return;
    }
    if (rlk_classify_refused_for_now(reply)) {
        peer_owe(w, client, node, m->claim);
    }
    if (m->answer == ANSWER_ERROR) {
        check_refused(w, m->claim, node);
    }
    release_answered(w, client, node, m->claim, rlk_classify_release(reply));
}

void drive_answered(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    char text[24];
    struct rlk_reply reply[3];

    reply_of(m, text, sizeof(text), reply);
    if (m->kind == MESSAGE_SET) {
        answered_set(w, client, node, m, reply);
    } else if (m->kind == MESSAGE_RELEASE) {
        answered_release(w, client, node, m, reply);
    } else {
        answered_script(w, client, node, m, reply);
    }
}

/* [S5] It may have been carried out, or may yet be. */
void drive_broken(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    if (m->kind == MESSAGE_RELEASE) {
        peer_owe(w, client, node, m->claim);
        release_answered(w, client, node, m->claim, RLK_ANSWER_UNKNOWN);
    } else if (m->kind == MESSAGE_KEEP || m->heal) {
        drive_hold_broken(w, client, node, m);
    } else if (m->kind == MESSAGE_CONFIRM) {
        drive_confirmed(w, client, node, m, RLK_ANSWER_UNKNOWN);
    } else if (m->kind == MESSAGE_SET || m->kind == MESSAGE_TAKE || m->kind == MESSAGE_VOTE) {
        world_claim(w, m->claim)->set_lost = true;
        check_may_outlive(w, m->claim);
        drive_voted(w, client, node, m, RLK_VOTE_UNKNOWN, 0);
    }
}

static void node_event(struct world *w, unsigned client, unsigned node, enum rlk_event_kind kind)
{
    struct rlk_event ev = {.kind = kind, .node = node};
    unsigned worker;

    for (worker = 0; worker < w->o.workers; worker++) {
        ev.now_us = world_client_us(w, client);
        if (world_worker(w, client, worker)->phase == WORKER_PENDING) {
            if (kind == RLK_EVENT_NODE_DOWN) {
                refuse_twins(w, client, worker);
            }
            drive_step(w, client, worker, &ev);
        } else if (world_worker(w, client, worker)->phase == WORKER_RELEASING &&
                   kind == RLK_EVENT_NODE_DOWN) {
            step_release(w, client, worker, &ev);
        }
    }
}

void drive_node_up(struct world *w, unsigned client, unsigned node)
{
    node_event(w, client, node, RLK_EVENT_NODE_UP);
}

void drive_node_down(struct world *w, unsigned client, unsigned node)
{
    node_event(w, client, node, RLK_EVENT_NODE_DOWN);
}

/* A lock that is being released needs no clock. */
void drive_clock(struct world *w, unsigned client, const struct rlk_event *ev)
{
    unsigned worker;

    for (worker = 0; worker < w->o.workers; worker++) {
        const struct worker *k = world_worker(w, client, worker);

        if (k->phase == WORKER_PENDING) {
            check_clock(w, client, worker, ev);
            drive_step(w, client, worker, ev);
        } else if (k->phase == WORKER_HELD) {
            check_clock(w, client, worker, ev);
            drive_hold_clock(w, client, worker, ev);
        }
    }
}

/* ---- time, and telling the user ---- */

void drive_on_timer(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = world_client_us(w, client)};

    if (k->stamp != stamp) {
        return;
    }
    if (ev.now_us < k->timer_us) {
        drive_set_timer(w, client, worker, k->timer_us);
    } else if (k->phase == WORKER_RELEASING) {
        step_release(w, client, worker, &ev);
    } else if (k->phase == WORKER_HELD) {
        drive_hold_timer(w, client, worker);
    } else {
        step_with_nodes(w, client, worker, RLK_EVENT_TIMER);
    }
}

void drive_rate_changed(struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];
    unsigned worker;

    for (worker = 0; worker < w->o.workers; worker++) {
        const struct worker *k = &c->workers[worker];

        if (k->timer_us != 0 && k->timer_us != RLK_NEVER) {
            schedule_push(&w->schedule, rlk_time_max(w->now_us, clock_when(&c->clock, k->timer_us)),
                          EVENT_TIMER, client, worker, k->stamp);
        }
    }
}

/* The last look: a win that has grown too old while it stood in line is none. */
static void deliver_attempt(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    struct rlk_event ev = {.kind = RLK_EVENT_DELIVER, .now_us = world_client_us(w, client)};
    int status;

    refuse_twins(w, client, worker);
    drive_step(w, client, worker, &ev);
    k->telling = false; /* what the step decided is told here */
    if (k->attempt.state == RLK_ATTEMPT_HELD) {
        world_claim(w, k->claim)->fence = k->attempt.round.fence.value;
        k->phase = WORKER_HELD;
        drive_hold_begin(w, client, worker);
        check_told(w, client, worker, REDLOCK_OK);
        user_acquired(w, client, worker, REDLOCK_OK);
    } else if (k->attempt.state == RLK_ATTEMPT_FAILED) {
        k->phase = WORKER_IDLE;
        if (k->claim != NONE) {
            check_let_go(w, k->claim);
        }
        status = k->trouble ? k->trouble : k->attempt.status;
        check_told(w, client, worker, status);
        user_acquired(w, client, worker, status);
    }
}

void drive_on_deliver(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->op != stamp) {
        return;
    }
    k->telling = false;
    if (k->phase == WORKER_PENDING) {
        deliver_attempt(w, client, worker);
    } else if (k->phase == WORKER_RELEASING) {
        k->phase = WORKER_IDLE;
        check_told(w, client, worker, k->release.status);
        user_released(w, client, worker, k->release.status);
    }
}
