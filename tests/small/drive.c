/* drive.c - stepping the core, and carrying out its actions in the world. */
#include "small/drive.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "core/former.h"
#include "core/leases.h"
#include "core/pending.h"
#include "core/reach.h"
#include "core/release.h"
#include "small/packed.h"
#include "lib/voters.h"

static void step(struct world *w, unsigned c, const struct rlk_event *ev);

/* ---- what it knows of its nodes ---- */

static bool has_unanswered(const struct cell *cell)
{
    return cell->n_requests || cell->n_replies;
}

static bool is_connected(const struct cell *cell)
{
    return cell->link == LINK_UP || cell->link == LINK_CUT;
}

static unsigned connected(const struct world *w, unsigned c)
{
    unsigned m, mask = 0;

    for (m = 0; m < MASTERS; m++) {
        mask |= is_connected(&w->cells[c][m]) ? 1u << m : 0;
    }
    return mask;
}

/* Whether the master can be asked, or waited for. There is a best and a worst case: when its oldest
 * reply is due is not in the world, nor how far its connection has come. */
static bool is_of_use(const struct cell *cell, bool luck)
{
    struct rlk_reach_facts facts = {
        .up = is_connected(cell),
        .connecting = luck,
        .overdue_us = config.stuck && has_unanswered(cell) && !luck ? 0 : RLK_NEVER};
    enum rlk_reach reach = rlk_reach_of(&facts, NOW_US);

    return reach == RLK_REACH_READY || reach == RLK_REACH_CONNECTING;
}

void drive_nodes(const struct world *w, unsigned c, unsigned *ret_sure, unsigned *ret_perhaps)
{
    unsigned m;

    *ret_sure = *ret_perhaps = 0;
    for (m = 0; m < MASTERS; m++) {
        *ret_sure |= is_of_use(&w->cells[c][m], false) ? 1u << m : 0;
        *ret_perhaps |= is_of_use(&w->cells[c][m], true) ? 1u << m : 0;
    }
    *ret_perhaps &= ~*ret_sure;
}

/* ---- releases ---- */

static void keep_pending(struct cell *cell, unsigned claim, bool set_lost)
{
    struct rlk_pending p = {.set_lost = set_lost && !(config.slips & SLIP_SHORT_PENDING),
                            .unanswered = is_connected(cell) && has_unanswered(cell),
                            .max_life_us = limits.ttl_us};
    uint8_t ticks = packed_ticks(rlk_pending_until_us(&p, DRIFT_PPM, NOW_US));

    ticks = ticks == TICKS_NEVER ? PENDING_NEVER : ticks;
    if (!(config.slips & SLIP_FORGIVE) && cell->pending[claim] < ticks) {
        cell->pending[claim] = ticks;
    }
}

/* ---- stepping ---- */

/* A vote goes to the attempt that made the claim, whatever the state of that attempt: the core has
 * to ignore votes of earlier rounds, and votes that are late. */
static void voted(struct world *w, unsigned c, unsigned m, unsigned claim, enum rlk_vote vote)
{
    struct rlk_event ev = {.kind = RLK_EVENT_VOTE,
                           .node = m,
                           .now_us = NOW_US,
                           .round = claim % config.rounds + 1,
                           .vote = vote};

    if (claim / config.rounds + 1 == w->clients[c].attempts) {
        step(w, c, &ev);
    }
}

/* No reply will come. The results of releases are not reported here. */
static void lose(struct world *w, unsigned c, unsigned m, uint8_t request, bool sent)
{
    static const enum rlk_leftover left[] = {[REQUEST_SET] = RLK_LEFTOVER_KEYS,
                                             [REQUEST_RELEASE] = RLK_LEFTOVER_RELEASE,
                                             [REQUEST_KILL] = RLK_LEFTOVER_NOTHING};
    struct rlk_loss loss = rlk_pending_loss(left[message_kind(request)], sent);
    unsigned claim = message_claim(request);

    w->clients[c].lost = (uint8_t)(w->clients[c].lost | (loss.set_lost ? 1u << claim : 0));
    if (loss.pending) {
        keep_pending(&w->cells[c][m], claim, w->clients[c].lost >> claim & 1);
    }
    if (loss.unknown && message_kind(request) == REQUEST_SET) {
        voted(w, c, m, claim, RLK_VOTE_UNKNOWN);
    }
}

static void send(struct cell *cell, uint8_t request)
{
    world_push(cell, request);
    if (config.slips & SLIP_OVERTAKE && message_kind(request) == REQUEST_RELEASE) {
        memmove(cell->requests + 1, cell->requests, cell->n_requests - 1u);
        cell->requests[0] = request;
    }
}

static void ask(struct world *w, unsigned c, uint64_t nodes, uint8_t request)
{
    uint64_t left = nodes, unsent = 0;
    unsigned m;

    RLK_MASK_EACH (m, left) {
        if (is_connected(&w->cells[c][m])) {
            send(&w->cells[c][m], request);
        } else {
            unsent |= rlk_mask_bit(m);
        }
    }
    RLK_MASK_EACH (m, unsent) {
        lose(w, c, m, request, false);
    }
}

static void carry_out(struct world *w, unsigned c, unsigned old_claim,
                      const struct rlk_actions *out)
{
    struct client *client = &w->clients[c];

    ask(w, c, out->release, message(REQUEST_RELEASE, old_claim));
    if (out->report) {
        client->report = 1;
    }
    client->timer = config.slips & SLIP_NO_TIMER ? TICKS_NEVER : packed_ticks(out->deadline_us);
    /* Last: it may step again. */
    ask(w, c, out->acquire, message(REQUEST_SET, world_claim(client)));
}

static void step(struct world *w, unsigned c, const struct rlk_event *ev)
{
    static struct rlk_attempt a;
    struct client *client = &w->clients[c];
    unsigned claim = world_claim(client);
    enum rlk_attempt_state before;
    struct rlk_actions out;

    packed_load(&client->packed, c, &a);
    before = a.state;
    rlk_attempt_step(&a, ev, &out);
    if (a.state != before && (a.state == RLK_ATTEMPT_FAILED || a.state == RLK_ATTEMPT_WAITING) &&
        !packed_is_quiet(&a)) {
        w->wrong = WRONG_LOUD;
    }
    packed_store(&client->packed, &a);
    carry_out(w, c, claim, &out);
}

static void step_with_nodes(struct world *w, unsigned c, enum rlk_event_kind kind, unsigned nodes)
{
    unsigned up = connected(w, c);
    struct rlk_event ev = {
        .kind = kind, .now_us = NOW_US, .ready = nodes & up, .connecting = nodes & ~up};

    step(w, c, &ev);
}

static void step_plain(struct world *w, unsigned c, enum rlk_event_kind kind, unsigned m)
{
    struct rlk_event ev = {.kind = kind, .now_us = NOW_US, .node = m};

    step(w, c, &ev);
}

static void end_attempt(struct client *c)
{
    c->phase = PHASE_IDLE;
    c->report = 0;
    c->timer = TICKS_NEVER;
    packed_clear(&c->packed);
}

void drive_start(struct world *w, unsigned c, unsigned nodes)
{
    struct client *client = &w->clients[c];

    w->attempts--;
    client->attempts++;
    client->phase = PHASE_PENDING;
    packed_clear(&client->packed);
    step_with_nodes(w, c, RLK_EVENT_START, nodes);
}

void drive_timer(struct world *w, unsigned c, unsigned nodes)
{
    struct client before = w->clients[c];

    step_with_nodes(w, c, RLK_EVENT_TIMER, nodes);
    if (memcmp(&before, &w->clients[c], sizeof(before)) == 0) {
        w->wrong = WRONG_UNREPORTED; /* a timer that is due for ever */
    }
}

void drive_cancel(struct world *w, unsigned c)
{
    step_plain(w, c, RLK_EVENT_CANCEL, 0);
    if (w->clients[c].packed.attempt != RLK_ATTEMPT_FAILED) {
        w->wrong = WRONG_GOES_ON;
    }
}

void drive_tell(struct world *w, unsigned c)
{
    struct client *client = &w->clients[c];

    if (config.slips & SLIP_NO_LOOK && client->packed.attempt == RLK_ATTEMPT_WON) {
        client->packed.attempt = RLK_ATTEMPT_HELD;
    } else {
        step_plain(w, c, RLK_EVENT_DELIVER, 0);
    }
    client->report = 0;
    if (client->packed.attempt == RLK_ATTEMPT_HELD) {
        client->phase = PHASE_HELD;
        if (!drive_believes(client)) {
            w->wrong = WRONG_REPORTED_LATE;
        }
    } else if (client->packed.attempt == RLK_ATTEMPT_FAILED) {
        if (!client->packed.has_status) {
            w->wrong = WRONG_NO_REASON;
        }
        end_attempt(client);
    }
}

void drive_let_go(struct world *w, unsigned c)
{
    static struct rlk_attempt a;
    struct client *client = &w->clients[c];
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = NOW_US, .ready = connected(w, c)};
    struct rlk_actions out;
    uint64_t room[RLK_LEASES_ROOM(MASTERS)];
    struct rlk_leases leases;
    struct rlk_release release;

    packed_load(&client->packed, c, &a);
    rlk_leases_init(&leases, MASTERS, all_voters(MASTERS), &a.round, room);
    rlk_release_init(&release, all_voters(MASTERS), leases.may_have_key, NOW_US + TICK_US);
    rlk_release_step(&release, &ev, &out);
    ask(w, c, out.release, message(REQUEST_RELEASE, world_claim(client)));
    end_attempt(client);
}

/* All leases that are over have the same age. */
bool drive_believes(const struct client *c)
{
    return c->phase == PHASE_HELD &&
           (c->packed.until < limits.age_cap || config.slips & SLIP_NO_DEADLINE);
}

/* ---- what comes back ---- */

void drive_reply(struct world *w, unsigned c, unsigned m)
{
    /* The bytes, as a script or as EVALSHA, whichever the master may know. */
    static const struct rlk_reply forms[][4] = {
        {[REPLY_YES] = {RLK_REPLY_STATUS, 0, "OK", 2},
         [REPLY_NO] = {RLK_REPLY_NIL, 0, "", 0},
         [REPLY_ERROR] = {RLK_REPLY_ERROR, 0, "ERR no more", 11}},
        {[REPLY_YES] = {RLK_REPLY_NIL, 0, "", 0},
         [REPLY_NO] = {RLK_REPLY_STRING, 0, "other", 5},
         [REPLY_ERROR] = {RLK_REPLY_ERROR, 0, "ERR no more", 11}}};
    static const char *const tokens[CLAIMS] = {"a", "b", "c", "d"};
    struct cell *cell = &w->cells[c][m];
    uint8_t first = world_shift(cell->replies, &cell->n_replies);
    const struct rlk_reply *reply = &forms[config.returns_holder][message_kind(first)];
    unsigned claim = message_claim(first);

    voted(w, c, m, claim, rlk_classify_key(reply, config.returns_holder, tokens[claim], 1));
}

/* As in src/node: the connection is down before the first request is told so. What was answered is
 * older than what was not. */
void drive_broken(struct world *w, unsigned c, unsigned m)
{
    struct cell *cell = &w->cells[c][m], old = *cell;
    unsigned i;

    cell->link = LINK_DOWN;
    cell->n_requests = cell->n_replies = 0;
    memset(cell->requests, 0, sizeof(cell->requests));
    memset(cell->replies, 0, sizeof(cell->replies));
    for (i = 0; i < old.n_replies + old.n_requests; i++) {
        uint8_t r = i < old.n_replies ? message(REQUEST_SET, message_claim(old.replies[i]))
                                      : old.requests[i - old.n_replies];

        lose(w, c, m, r, true);
    }
}

/* ---- connecting ---- */

/* The old connection keeps what was unanswered when it ended. When all of that has been carried out
 * since, nothing is left. A master that restarted has no ghost. */
static bool has_former(const struct world *w, unsigned c, unsigned m)
{
    struct rlk_former f = {0};

    if (w->ghost.client == c && w->ghost.master == m) {
        rlk_former_ended(&f, "run", 1, w->ghost.n);
    }
    rlk_former_note_run(&f, "run");
    return f.count > 0;
}

void drive_up(struct world *w, unsigned c, unsigned m)
{
    struct cell *cell = &w->cells[c][m];
    unsigned i;

    cell->link = LINK_UP;
    if (has_former(w, c, m) && !(config.slips & SLIP_NO_KILL)) {
        world_push(cell, message(REQUEST_KILL, 0));
    }
    for (i = 0; i < CLAIMS; i++) {
        if (cell->pending[i]) {
            world_push(cell, message(REQUEST_RELEASE, i));
            cell->pending[i] = 0;
        }
    }
    if (w->clients[c].phase == PHASE_PENDING) {
        step_plain(w, c, RLK_EVENT_NODE_UP, m);
    }
}

void drive_down(struct world *w, unsigned c, unsigned m)
{
    step_plain(w, c, RLK_EVENT_NODE_DOWN, m);
}
