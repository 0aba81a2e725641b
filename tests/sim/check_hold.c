/* check_hold.c - what a holder believes, asks for and reports.
 *
 * [S2, S7] are computed a second time, from what each node was asked and when, and what it
 * answered: a node counts when it had confirmed the key before the last success; a success is a
 * majority of them that confirms again; the lock is valid until the time that a majority of
 * their leases reaches. And a success is true: each of these servers has had the keys without a
 * gap since the success before, whatever other servers have forgotten, so nobody else can have
 * had a majority meanwhile. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/trace.h"

/* A ttl less the drift. */
static uint64_t lease_us(const struct world *w, uint32_t ttl_ms)
{
    uint64_t ttl_us = (uint64_t)ttl_ms * 1000;

    return rlk_time_sub(ttl_us, ttl_us * w->o.drift_ppm / 1000000 + 2000);
}

/* The latest time that the leases of a majority reach, among the nodes that count. */
static void recompute_validity(const struct world *w, unsigned client, struct held *h)
{
    uint64_t left = h->counts, lasting, before_us = h->valid_us;
    unsigned node, other;

    h->valid_us = 0;
    RLK_MASK_EACH (node, left) {
        lasting = 0;
        for (other = 0; other < w->clients[client].nodes; other++) {
            lasting |= (uint64_t)(h->lease_us[other] >= h->lease_us[node]) << other;
        }
        if (world_is_majority(w, client, lasting & h->counts)) {
            h->valid_us = rlk_time_max(h->valid_us, h->lease_us[node]);
        }
    }
    if (h->valid_us < before_us) {
        h->dropped_us = w->now_us;
    }
}

/* [S11] What happened to the data of a node before the faults ended is found by the first
 * inspection after that; and what the node has confirmed before that inspection counts no more. */
static bool is_inspected(const struct world *w, unsigned client)
{
    unsigned node;

    for (node = 0; node < w->clients[client].nodes && w->o.health_us > 0; node++) {
        bool has_server = node != w->o.dead && !(w->clients[client].vacant & rlk_mask_bit(node));

        if (has_server && w->clients[client].peers[node].role_us < w->healed_us) {
            return false;
        }
    }
    return true;
}

/* Nothing fails now or later, and the network is fast compared with the ttl. */
static bool is_safe(const struct world *w, const struct worker *k)
{
    uint64_t way_us = w->o.delay_us + 128 * w->o.jitter_us, ttl_us = rlk_time_from_ms(k->ttl_ms);
    bool quiet = w->o.calm || w->o.undisturbed ||
                 (w->healed && w->now_us >= w->linger_us && is_inspected(w, k->client));

    return quiet && k->renew && !k->gated && k->max_hold_us == RLK_NEVER &&
           k->max_renewals == UINT32_MAX && 8 * way_us < w->o.timeout_us &&
           16 * way_us + 4 * w->o.turn_us < ttl_us;
}

/* [S7] From then on all nodes that granted the lock count, because of the first renewal. It begins
 * at a hundredth of the ttl, or after four times as long as the round took. */
static uint64_t grown_us(const struct world *w, const struct worker *k)
{
    uint64_t way_us = w->o.delay_us + 128 * w->o.jitter_us, ttl_us = rlk_time_from_ms(k->ttl_ms);
    uint64_t took_us = k->held.won_us - k->held.round_us;

    return k->held.round_us + rlk_time_max(ttl_us / 100, rlk_time_min(4 * took_us, ttl_us / 10)) +
           8 * way_us + 8 * w->o.turn_us;
}

/* [S11] What a node said or was asked before its clock moved proves nothing: the key may have
 * ended since. */
static void drop_lease(struct held *h, unsigned node)
{
    h->clock_suspect |= rlk_mask_bit(node);
    h->lease_us[node] = h->next_us[node] = 0;
}

void check_held(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    const struct claim *c = world_claim(w, k->claim);
    const struct rlk_round *r = &k->lock->acquiring->attempt.round;
    struct held *h = &k->held;
    unsigned node;

    *h =
        (struct held){.present = c->granted | c->quarantined, .counts = check_counted(w, k->claim)};
    h->voting = world_voters(w, client).set;
    h->counts &= h->voting;
    h->open = c->asked & ~(r->yes | r->no | r->unknown);
    h->won_us = world_client_us(w, client);
    h->round_us = r->started_us;
    h->success_us = w->now_us;
    h->may_be_safe = is_safe(w, k);
    h->safe = h->may_be_safe && !w->o.forgetful && !w->o.undisturbed;
    h->succeeded = true;
    h->due_us = RLK_NEVER;
    h->least_us = rlk_time_from_ms(k->ttl_ms);
    h->grown_us = grown_us(w, k);
    for (node = 0; node < w->clients[client].nodes; node++) {
        h->next_us[node] = c->sent_us[node] + lease_us(w, k->ttl_ms);
        h->lease_us[node] = h->next_us[node];
        if (c->clock_suspect & rlk_mask_bit(node)) {
            drop_lease(h, node);
        }
    }
    recompute_validity(w, client, h);
    h->before_us = h->valid_us;
}

/* ---- what is asked ---- */

/* One question at a time; each node once in a round; healed once after a success. */
static void check_asked_once(struct world *w, unsigned client, unsigned worker, unsigned node,
                             bool restore)
{
    const struct held *h = &world_worker(w, client, worker)->held;
    uint64_t bit = rlk_mask_bit(node);

    if (h->open & bit) {
        check_violated(w, "work", "c%u.%u asks n%u again, which has not answered yet", client,
                       worker, node);
    }
    if ((restore ? h->restored : h->asked) & bit) {
        check_violated(w, "work", "c%u.%u asks n%u to %s the keys twice in a round", client, worker,
                       node, restore ? "restore" : "keep");
    }
    if (restore && (h->present & bit)) {
        check_violated(w, "work", "c%u.%u restores n%u, which has the keys", client, worker, node);
    }
}

/* [S8] */
static void check_restore_time(struct world *w, const struct held *h, unsigned claim,
                               uint32_t ttl_ms, uint64_t now_us)
{
    if (now_us + rlk_time_from_ms(ttl_ms) > h->valid_us) {
        check_violated(w, "left", "t%08x is restored for %u ms, and the lock has %.3f left", claim,
                       ttl_ms, trace_ms(now_us, h->valid_us));
    }
}

/* The same question once more, with its own time. */
void check_restored_again(struct world *w, unsigned node, const struct message *m)
{
    struct worker *k = process_owner(w, m->claim);

    if (k == NULL || k->phase != WORKER_HELD) {
        check_violated(w, "left", "t%08x is restored, but nobody holds it", m->claim);
        return;
    }
    check_restore_time(w, &k->held, m->claim, m->ttl_ms, m->sent_us);
    k->held.next_us[node] = m->sent_us + lease_us(w, m->ttl_ms);
}

/* [S7] A node is not asked again when the lock is no longer held. */
void check_kept_again(struct world *w, unsigned node, const struct message *m)
{
    const struct worker *k = process_owner(w, m->claim);

    if (k == NULL || k->phase != WORKER_HELD || k->lock->hold.state != RLK_HOLD_HELD) {
        check_violated(w, "work", "n%u is asked again to keep t%08x, but nobody holds it", node,
                       m->claim);
    }
}

void check_held_asked(struct world *w, unsigned client, unsigned worker, unsigned node,
                      const struct message *m)
{
    struct worker *k = world_worker(w, client, worker);
    struct claim *c = world_claim(w, m->claim);
    struct held *h = &k->held;

    if (!process_owner(w, m->claim) || k->phase != WORKER_HELD || c->let_go) {
        check_violated(w, "work", "t%08x was %s after c%u.%u had begun to release it", m->claim,
                       m->restore ? "restored" : "extended", client, worker);
    }
    check_asked_once(w, client, worker, node, m->restore);
    check_pending_releases_first(w, m->claim, node);
    if (m->restore) {
        check_restore_time(w, h, m->claim, m->ttl_ms, m->sent_us);
    }
    c->asked |= m->restore ? rlk_mask_bit(node) : 0;
    c->refused &= m->restore ? ~rlk_mask_bit(node) : ~UINT64_C(0);
    h->open |= rlk_mask_bit(node);
    h->asked |= m->restore || h->begun_us[node] != h->round_us ? 0 : rlk_mask_bit(node);
    h->restored |= m->restore ? rlk_mask_bit(node) : 0;
    h->unsure |= m->restore;
    /* one that is asked late gets no longer lease */
    h->next_us[node] = (m->restore ? m->sent_us : h->begun_us[node]) + lease_us(w, m->ttl_ms);
}

/* ---- what is answered ---- */

static void confirmed(const struct world *w, unsigned client, struct held *h, unsigned node)
{
    bool fresh = !(h->present & rlk_mask_bit(node));

    h->present |= rlk_mask_bit(node);
    h->lease_us[node] =
        fresh ? h->next_us[node] : rlk_time_max(h->lease_us[node], h->next_us[node]);
    recompute_validity(w, client, h);
}

/* [S11] An answer also says whether the clock of its node can be relied on. */
static void note_clock(const struct world *w, unsigned client, struct held *h, unsigned node,
                       bool clock_suspect)
{
    if (!clock_suspect) {
        h->clock_suspect &= ~rlk_mask_bit(node);
        return;
    }
    drop_lease(h, node);
    h->counts &= ~rlk_mask_bit(node);
    recompute_validity(w, client, h);
}

/* [S7] The data were replaced: a key that is there now may be a copy of another server's. */
static void note_data_replaced(struct world *w, unsigned client, unsigned worker, unsigned node)
{
    struct worker *k = world_worker(w, client, worker);

    k->held.present &= ~rlk_mask_bit(node);
    k->held.counts &= ~rlk_mask_bit(node);
    k->held.confirmed &= ~rlk_mask_bit(node);
    world_claim(w, k->claim)->doubt |= rlk_mask_bit(node);
    recompute_validity(w, client, &k->held);
}

void check_held_clock(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev)
{
    struct held *h = &world_worker(w, client, worker)->held;
    unsigned node;

    if (ev->kind == RLK_EVENT_QUARANTINED && ev->data_replaced) {
        note_data_replaced(w, client, worker, ev->node);
        return;
    }
    if (ev->kind == RLK_EVENT_QUARANTINED) {
        return; /* a node that has our key has not forgotten it [S7] */
    }
    if (ev->kind == RLK_EVENT_CLOCK_SUSPECT) {
        note_clock(w, client, h, ev->node, true);
        return;
    }
    for (node = 0; node < w->clients[client].nodes; node++) {
        h->lease_us[node] = rlk_time_sub(h->lease_us[node], ev->by_us);
        h->next_us[node] = rlk_time_sub(h->next_us[node], ev->by_us);
        h->begun_us[node] = rlk_time_sub(h->begun_us[node], ev->by_us);
    }
    h->suspended_us += ev->by_us;
    h->round_us = rlk_time_sub(h->round_us, ev->by_us);
    recompute_validity(w, client, h);
    h->before_us = rlk_time_min(h->before_us, h->valid_us);
}

/* [S7] A new voter counts at once if its key was confirmed before, and where too few count, every
 * voter does. Until now a majority of the former voters has had the keys, so it does not matter
 * since when these have had them. */
void check_held_voters(struct world *w, unsigned client, unsigned worker)
{
    struct held *h = &world_worker(w, client, worker)->held;
    uint64_t set = world_voters(w, client).set, joined = set & ~h->voting;
    uint64_t present = h->present & ~h->clock_suspect & set;

    h->counts = (h->counts & set) | (joined & present);
    if (!world_is_majority(w, client, h->counts)) {
        joined |= present;
        h->counts = present;
    }
    h->joined |= joined;
    h->joined_us = joined ? w->now_us : h->joined_us;
    h->voting = set;
    recompute_validity(w, client, h);
}

void check_held_voted(struct world *w, unsigned client, unsigned worker, unsigned node,
                      enum rlk_vote vote, bool clock_suspect)
{
    struct worker *k = world_worker(w, client, worker);
    struct claim *c = world_claim(w, k->claim);
    uint64_t bit = rlk_mask_bit(node);
    bool found = vote == RLK_VOTE_OURS && (c->doubt & bit); /* otherwise it is a duplicate [S10] */
    bool granted = vote == RLK_VOTE_YES || vote == RLK_VOTE_QUARANTINED;

    if (vote != RLK_VOTE_UNKNOWN) {
        note_clock(w, client, &k->held, node, clock_suspect);
    }
    if ((k->held.open & bit) && (granted || found)) {
        confirmed(w, client, &k->held, node);
    }
    c->doubt |= vote == RLK_VOTE_UNKNOWN ? bit : 0;
    k->held.open &= ~bit;
}

void check_held_answered(struct world *w, unsigned client, unsigned worker, unsigned node,
                         enum rlk_answer answer, uint64_t since_us, bool clock_suspect)
{
    struct held *h = &world_worker(w, client, worker)->held;
    uint64_t bit = rlk_mask_bit(node);

    if (answer != RLK_ANSWER_UNKNOWN) {
        note_clock(w, client, h, node, clock_suspect);
    }
    if (answer == RLK_ANSWER_OURS) {
        check_masters_extend(w, client, node);
        h->confirmed |= bit & h->asked & ~h->clock_suspect;
        h->since_us[node] = since_us;
        confirmed(w, client, h, node);
    } else if (answer != RLK_ANSWER_UNKNOWN) {
        h->present &= ~bit;
        h->counts &= ~bit;
        recompute_validity(w, client, h);
    }
    h->open &= ~bit;
}

/* A broken connection counts as an answer. */
void check_disconnect_handled(struct world *w, unsigned client, unsigned node,
                              const struct message *m)
{
    const struct worker *k =
        m->kind == MESSAGE_KEEP || m->kind == MESSAGE_TAKE ? process_owner(w, m->claim) : NULL;

    if (k && k->phase == WORKER_HELD && (k->held.open & rlk_mask_bit(node))) {
        check_violated(w, "work", "c%u waits for n%u to answer for t%08x, but it is disconnected",
                       client, node, m->claim);
    }
}

/* ---- after each step ---- */

/* Whether these are all the masters that live. */
static bool are_all(const struct world *w, unsigned client, uint64_t nodes)
{
    unsigned node;

    for (node = 0; w->o.mortal && node < w->clients[client].nodes; node++) {
        bool dead = w->servers[world_server(w, client, node)].state != SERVER_RUNS;

        nodes |= dead ? rlk_mask_bit(node) : 0;
    }
    return rlk_mask_count(nodes) == world_voters(w, client).size;
}

/* [S7] A lock for which all nodes count by now can do without a minority of them. */
void check_server_dies(struct world *w)
{
    unsigned client, worker;

    for (client = 0; client < w->o.clients; client++) {
        for (worker = 0; worker < w->o.workers; worker++) {
            struct worker *k = world_worker(w, client, worker);
            struct held *h = &k->held;

            h->unsure |= world_client_us(w, client) < h->grown_us;
            h->safe |= k->phase == WORKER_HELD && h->may_be_safe && !h->unsure &&
                       are_all(w, client, h->present);
        }
    }
}

/* [S7] */
static void check_success(struct world *w, unsigned client, unsigned worker)
{
    struct held *h = &world_worker(w, client, worker)->held;
    uint64_t kept = h->confirmed & h->counts, left = kept, whole = 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        bool joined = (h->joined & rlk_mask_bit(node)) && h->since_us[node] <= h->joined_us;

        whole |= h->since_us[node] <= h->success_us || joined ? rlk_mask_bit(node) : 0;
    }
    if (!world_is_majority(w, client, kept)) {
        check_violated(w, "exclusion", "c%u.%u takes the word of %s for a majority", client, worker,
                       trace_nodes(kept));
    } else if (!world_is_majority(w, client, whole)) {
        check_violated(w, "exclusion", "c%u.%u goes on, but only %s had the keys all the time",
                       client, worker, trace_nodes(whole));
    }
    w->renewed++;
    h->counts = h->present & ~h->clock_suspect & h->voting;
    h->success_us = w->now_us;
    h->restored = h->joined = 0;
    h->trouble_reported = false;
    h->safe |= h->may_be_safe && are_all(w, client, h->counts);
    recompute_validity(w, client, h);
}

static void check_round(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t held_us = rlk_time_sub(world_client_us(w, client), k->held.won_us);

    if (k->held.rounds > 50 + 2 * k->held.extensions + 100 * held_us / k->held.least_us) {
        check_violated(w, "work", "c%u.%u: %u rounds in %.1f ms", client, worker, k->held.rounds,
                       (double)held_us / 1e3);
    }
}

/* [S9] A lock is lost when the nodes that count are no majority, or its time is over. */
static void check_lost(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    bool over = world_client_us(w, client) >= k->held.before_us;

    k->held.lost = true;
    k->held.due_us = w->now_us;
    if (!over && world_is_majority(w, client, k->held.counts)) {
        check_violated(w, "reported", "c%u.%u loses t%08x with %.3f ms left", client, worker,
                       k->claim, trace_ms(world_client_us(w, client), k->held.valid_us));
    }
    if (k->lock->hold.reason == REDLOCK_ELOST && !w->harmed && !w->claims[k->claim].broken) {
        check_violated(w, "reported", "c%u.%u gets ELOST for t%08x, but no master forgot it",
                       client, worker, k->claim);
    }
    if (k->held.safe && !w->starved) {
        check_violated(w, "live", "c%u.%u loses t%08x (%d), though nothing is wrong", client,
                       worker, k->claim, k->lock->hold.reason);
    }
}

/* [S9] When the time is over the loss is reported as soon as the loop runs. */
static void check_lost_in_time(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct client *c = &w->clients[client];
    uint64_t over_us = clock_when(&c->clock, k->held.before_us);
    uint64_t due_us = rlk_time_min(rlk_time_max(over_us, k->held.dropped_us), k->held.due_us);

    due_us = rlk_time_max(due_us, c->busy_us);
    if (!k->held.lost_reported && w->now_us > rlk_time_add(due_us, 2000 + 2 * w->o.turn_us)) {
        check_violated(w, "reported", "c%u.%u: the loss of t%08x is not reported for %.1f ms",
                       client, worker, k->claim, trace_ms(due_us, w->now_us));
    }
}

/* [S7] An extension never shortens. */
static void check_validity_of_hold(struct world *w, unsigned client, unsigned worker,
                                   uint64_t until_us)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t now_us = rlk_hold_valid_until_us(&k->lock->hold);

    if (now_us > k->held.valid_us) {
        check_violated(w, "exclusion", "c%u.%u believes in t%08x for %.3f ms longer than it may",
                       client, worker, k->claim, trace_ms(k->held.valid_us, now_us));
    }
    if (now_us < until_us && !k->held.lost && !w->harmed && !w->claims[k->claim].broken) {
        check_violated(w, "reported", "c%u.%u: an answer makes t%08x live %.3f ms shorter", client,
                       worker, k->claim, trace_ms(now_us, until_us));
    }
}

/* The question is sent at the end of the turn, and if the process is suspended in between, the
 * round may be over by then. */
static void note_round_of(struct held *h, uint64_t nodes)
{
    uint64_t left = nodes;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        h->begun_us[node] = h->round_us;
    }
}

void check_held_stepped(struct world *w, unsigned client, unsigned worker, uint64_t until_us,
                        const struct rlk_actions *out)
{
    struct worker *k = world_worker(w, client, worker);
    struct held *h = &k->held;
    uint64_t lease_for_us = k->lock->hold.config.ttl_us;

    check_lost_in_time(w, client, worker);
    if (k->lock->hold.leases.success && !h->succeeded) {
        h->succeeded = true;
        check_success(w, client, worker);
    }
    if (k->lock->hold.state != RLK_HOLD_LOST && k->lock->hold.round_us != h->round_us) {
        h->round_us = k->lock->hold.round_us;
        h->asked = h->confirmed = 0;
        h->succeeded = false;
        h->rounds++;
        check_round(w, client, worker);
        check_lead_renewed(w, client, worker);
    }
    note_round_of(h, out->extend);
    if (k->lock->hold.state == RLK_HOLD_LOST && !h->lost) {
        check_lost(w, client, worker);
    }
    check_validity_of_hold(w, client, worker, until_us);
    check_steps(w, client, worker);
    h->before_us = h->valid_us ? h->valid_us : h->before_us;
    if (out->report_extended && k->lock->hold.extend_status == REDLOCK_OK &&
        rlk_hold_valid_until_us(&k->lock->hold) + h->suspended_us + 1 <
            k->extend_us + lease_us(w, (uint32_t)(lease_for_us / 1000))) {
        check_violated(w, "reported", "c%u.%u: t%08x is reported as extended, and is not", client,
                       worker, k->claim);
    }
}

/* ---- what is reported to the user ---- */

void check_held_ends(struct world *w, unsigned client, unsigned worker)
{
    check_lost_in_time(w, client, worker);
}

void check_extending(struct world *w, unsigned client, unsigned worker, uint32_t ttl_ms)
{
    const struct client *c = &w->clients[client];
    struct worker *k = world_worker(w, client, worker);
    struct held *h = &k->held;

    h->least_us = rlk_time_min(h->least_us, rlk_time_from_ms(ttl_ms));
    h->safe = h->may_be_safe = false;
    h->extensions++;
    h->suspended_us = 0;
    k->extending = true;
    k->extend_us = world_client_us(w, client);
    k->extend_lost_us = c->lost_us - rlk_time_sub(c->busy_us, w->now_us);
}

/* An extension ends at the latest when the round in progress and its own round have ended. */
void check_extended(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    uint64_t lost_us = w->clients[client].lost_us - k->extend_lost_us;
    uint64_t took_us = rlk_time_sub(world_client_us(w, client), k->extend_us);
    uint64_t worked_us = rlk_time_sub(took_us, lost_us + lost_us / 50);

    if (!k->extending) {
        check_violated(w, "reported", "c%u.%u: an extension is reported twice", client, worker);
    }
    k->extending = false;
    if (worked_us > 2 * w->o.timeout_us + 4000 + 4 * w->o.turn_us + worked_us / 50) {
        check_violated(w, "reported", "c%u.%u: an extension was reported after %.1f ms", client,
                       worker, (double)worked_us / 1e3);
    }
}

static void check_still_held(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->phase != WORKER_HELD) {
        check_violated(w, "reported", "c%u.%u gets a notice about t%08x, which it does not hold",
                       client, worker, k->claim);
    }
}

/* An election hears each time that a renewal waits for its heartbeat. */
static bool waits_for_heartbeat(struct world *w, unsigned client, unsigned worker)
{
    const struct redlock_lock *lock = world_worker(w, client, worker)->lock;

    return lock->leads && lock->hold.renewal == RLK_RENEWAL_AWAITS_HEARTBEAT;
}

void check_trouble_reported(struct world *w, unsigned client, unsigned worker)
{
    struct held *h = &world_worker(w, client, worker)->held;

    if ((h->trouble_reported && !waits_for_heartbeat(w, client, worker)) || h->lost) {
        check_violated(w, "reported", "c%u.%u: trouble is reported %s", client, worker,
                       h->lost ? "when the lock is lost" : "twice");
    }
    h->trouble_reported = true;
    check_still_held(w, client, worker);
}

void check_lost_reported(struct world *w, unsigned client, unsigned worker)
{
    struct held *h = &world_worker(w, client, worker)->held;

    check_lost_in_time(w, client, worker);
    if (h->lost_reported) {
        check_violated(w, "reported", "c%u.%u: the loss is reported twice", client, worker);
    }
    if (rlk_hold_valid_until_us(&world_worker(w, client, worker)->lock->hold) != 0) {
        check_violated(w, "reported", "c%u.%u: a lost lock is valid", client, worker);
    }
    h->lost_reported = true;
    check_still_held(w, client, worker);
}
