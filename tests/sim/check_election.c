/* check_election.c - at one instant of true time one candidate leads at most, and the applications
 * hear of the beginning and of the end of their leads in the right order [L1 to L4].
 *
 * A client leads while redlock_election_is_leader() is 1: until its clock shows the deadline. As
 * with locks (check_exclusion.c) it is enough to compare when a deadline grows.
 *
 * In quiet elections nothing fails but the candidates. So it is known since when the lock behind
 * the lead can be had, and somebody is elected soon after that: after a release within some round
 * trips, after a death within the ttl and as much. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/trace.h"

/* ---- who leads, and until when ---- */

static bool leads_now(const struct world *w, const struct worker *k)
{
    return world_client_us(w, k->client) < k->candidacy.until_us;
}

/* True time: the lead is over, or will be. */
static uint64_t over_us(const struct world *w, const struct worker *k)
{
    const struct candidacy *y = &k->candidacy;

    return y->until_us ? clock_when(&w->clients[k->client].clock, y->until_us) : y->over_us;
}

/* True time: a loop that is not blocked has called back by then what was due at some time. */
static uint64_t called_by_us(const struct world *w, const struct worker *k, uint64_t due_us)
{
    due_us = rlk_time_max(due_us, w->clients[k->client].busy_us);
    return rlk_time_add(due_us, 2000 + 2 * w->o.turn_us);
}

/* Another candidate of the same election. */
static bool competes(const struct world *w, const struct worker *k, const struct worker *l)
{
    return l != k && l->is_candidate && l->candidacy.election && w->clients[l->client].alive &&
           l->candidacy.key == k->candidacy.key;
}

/* What the guarantee leaves open: see check_exclusion.c. */
static bool is_excused(const struct world *w, const struct worker *k)
{
    return w->o.forgetful ||
           (k->candidacy.claim != NONE && w->claims[k->candidacy.claim].exposed != 0);
}

static void check_other_leader(struct world *w, const struct worker *k, const struct worker *l)
{
    if (leads_now(w, l) && !is_excused(w, k) && !is_excused(w, l)) {
        check_violated(w, "election", "c%u.%u leads k%u for %.3f ms, and c%u.%u for %.3f ms",
                       k->client, k->index, k->candidacy.key,
                       trace_ms(world_client_us(w, k->client), k->candidacy.until_us), l->client,
                       l->index, trace_ms(world_client_us(w, l->client), l->candidacy.until_us));
    }
}

/* [L2] Whoever led before was demoted, or its loop is blocked; and its time to stop is over. */
static void check_predecessor(struct world *w, const struct worker *k, const struct worker *l)
{
    const struct candidacy *y = &l->candidacy;

    if (y->leads && called_by_us(w, l, over_us(w, l)) < w->now_us) {
        check_violated(w, "election", "c%u.%u is elected, and c%u.%u was not demoted for %.3f ms",
                       k->client, k->index, l->client, l->index,
                       trace_ms(over_us(w, l), w->now_us));
    }
    if (y->stopping && world_client_us(w, l->client) < y->stop_by_us && !is_excused(w, k) &&
        !is_excused(w, l)) {
        check_violated(w, "election", "c%u.%u is elected, and c%u.%u had %.3f ms left to stop",
                       k->client, k->index, l->client, l->index,
                       trace_ms(world_client_us(w, l->client), y->stop_by_us));
    }
}

static void check_others(struct world *w, const struct worker *k,
                         void (*check)(struct world *w, const struct worker *k,
                                       const struct worker *l))
{
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *l = world_worker(w, i, j);

            if (competes(w, k, l)) {
                check(w, k, l);
            }
        }
    }
}

/* [L1] Computed a second time: from what the masters have confirmed. A lock may get shorter, or be
 * lost, a turn before the election hears of it. */
static void check_deadline(struct world *w, const struct worker *k)
{
    const struct candidacy *y = &k->candidacy;
    uint64_t shrunk_us = rlk_time_max(k->held.dropped_us, k->held.lost ? k->held.due_us : 0);

    if (y->until_us == 0 || called_by_us(w, k, shrunk_us) >= w->now_us) {
        return;
    }
    if (k->phase != WORKER_HELD || y->until_us + y->spare_us > k->held.valid_us) {
        check_violated(w, "election", "c%u.%u believes in its lead for %.3f ms longer than it may",
                       k->client, k->index, trace_ms(k->held.valid_us, y->until_us + y->spare_us));
    }
}

void check_lead(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    struct candidacy *y = &k->candidacy;
    uint64_t until_us;

    if (y->election == NULL || !k->is_candidate) {
        return;
    }
    until_us = redlock_election_deadline_us(y->election);
    if (until_us < y->until_us) {
        y->over_us = rlk_time_min(over_us(w, k), w->now_us);
    }
    if (until_us > y->until_us) {
        y->until_us = until_us;
        check_others(w, k, check_other_leader);
    }
    y->until_us = until_us;
    check_deadline(w, k);
    check_not_outranked(w, client, worker);
    if (y->leads && called_by_us(w, k, over_us(w, k)) < w->now_us) {
        check_violated(w, "election", "c%u.%u does not lead for %.3f ms, and was not demoted",
                       client, worker, trace_ms(over_us(w, k), w->now_us));
    }
}

/* ---- when somebody must be elected ---- */

/* The lock can be had from then on; what somebody who died may have left is in the way for longer.
 */
static void note_vacant(struct world *w, unsigned key, uint64_t at_us)
{
    w->vacant_us[key] = rlk_time_max(w->vacant_us[key], at_us);
}

/* Two who are next, one after the other, and the round trips of looks and rounds (check_wait.c).
 * Each one before us who is dead costs some time more, when the key has expired [W4]. */
static uint64_t hand_over_us(const struct world *w)
{
    bool dead = w->o.bids && w->deaths > 0;
    uint64_t look_us = dead ? RLK_WAITING_PERIOD_US / 4 * 5 : w->ghosts * RLK_WAITING_BEHIND_US;

    return 60000 + 20 * (w->o.delay_us + w->o.jitter_us + w->o.turn_us) + look_us;
}

/* Whoever has had votes in a round that it lost does not go for so long, woken or not [W3]. The
 * first round shows that the key is held. */
static uint64_t back_off_us(const struct world *w, const struct worker *k)
{
    unsigned lost = rlk_lock_effort(k->lock).tries - (k->phase == WORKER_HELD);

    return lost > 1 ? options_max_ttl_us(&w->o) / 8 : 0;
}

static void check_vacancy(struct world *w, const struct worker *k)
{
    const struct candidacy *y = &k->candidacy;
    uint64_t since_us = rlk_time_max(w->vacant_us[y->key], y->campaigned_us);

    if (w->o.elections == ELECTIONS_QUIET && !w->healed && k->lock &&
        since_us + hand_over_us(w) + back_off_us(w, k) < w->now_us) {
        check_violated(w, "election", "nobody was elected for %.1f ms, and c%u.%u campaigned",
                       trace_ms(since_us, w->now_us), k->client, k->index);
    }
}

/* It asks again when the longest pause is over. */
static void note_campaigns_again(const struct world *w, struct candidacy *y)
{
    y->campaigned_us = w->now_us + y->delay_us + options_max_ttl_us(&w->o) / 8;
}

static bool is_held(const struct world *w, unsigned key)
{
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = &w->clients[i].workers[j];

            if (k->phase == WORKER_HELD && (k->keys >> key & 1)) {
                return true;
            }
        }
    }
    return false;
}

void check_vacancies(struct world *w)
{
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = world_worker(w, i, j);

            if (k->is_candidate && k->phase == WORKER_PENDING && k->candidacy.campaigns &&
                !is_held(w, k->candidacy.key)) {
                check_vacancy(w, k);
            }
        }
    }
}

/* ---- what the application does and hears ---- */

void check_campaigns(struct world *w, unsigned client, unsigned worker)
{
    world_worker(w, client, worker)->candidacy.campaigned_us = w->now_us;
}

void check_not_fit(struct world *w, unsigned client, unsigned worker)
{
    note_campaigns_again(w, &world_worker(w, client, worker)->candidacy);
}

void check_elected(struct world *w, unsigned client, unsigned worker, uint64_t term)
{
    struct worker *k = world_worker(w, client, worker);
    struct candidacy *y = &k->candidacy;

    if (y->leads || y->stopping || y->freeing || k->phase != WORKER_HELD) {
        check_violated(w, "election", "c%u.%u is elected, but %s", client, worker,
                       y->leads      ? "leads already"
                       : y->stopping ? "is still stopping"
                       : y->freeing  ? "is being freed"
                                     : "has no lock");
        return;
    }
    if (term != world_claim(w, k->claim)->due || term != redlock_election_term(y->election)) {
        check_violated(w, "election", "c%u.%u leads in term %llu, but its fence is %llu", client,
                       worker, (unsigned long long)term,
                       (unsigned long long)world_claim(w, k->claim)->due);
    }
    if (y->sick) {
        check_violated(w, "election", "c%u.%u is elected, and is not fit to lead", client, worker);
    }
    y->leads = true;
    y->claim = k->claim;
    y->elected_us = w->now_us;
    check_lead(w, client, worker);
    check_others(w, k, check_predecessor);
    check_first_in_rank(w, client, worker);
    check_vacancy(w, k);
}

void check_resigned(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (redlock_election_is_leader(k->candidacy.election)) {
        check_violated(w, "election", "c%u.%u has resigned, and leads", client, worker);
    }
}

void check_demoted(struct world *w, unsigned client, unsigned worker,
                   const struct redlock_demotion *demotion)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct candidacy *y = &k->candidacy;
    bool given_up = demotion->reason == REDLOCK_OK;

    if (!y->leads) {
        check_violated(w, "election", "c%u.%u is demoted, but does not lead", client, worker);
        return;
    }
    if (demotion->term != world_claim(w, y->claim)->due ||
        redlock_election_is_leader(y->election) || (given_up && y->campaigns) ||
        (demotion->reason == REDLOCK_ECANCELED && !w->clients[client].closing)) {
        check_violated(w, "election", "c%u.%u is demoted from term %llu (%d), and it is not true",
                       client, worker, (unsigned long long)demotion->term, demotion->reason);
    }
    check_lead_known(w, client, worker);
    check_outranked(w, client, worker, demotion->reason);
    if (demotion->stop_by_us > rlk_time_max(k->held.valid_us, k->held.before_us)) {
        check_violated(w, "election", "c%u.%u is to stop %.3f ms after the end of its lock", client,
                       worker, trace_ms(k->held.valid_us, demotion->stop_by_us));
    }
}

/* A lock that is not renewed is lost some day [L4]. */
void check_demoted_returns(struct world *w, unsigned client, unsigned worker,
                           const struct redlock_demotion *demotion)
{
    struct worker *k = world_worker(w, client, worker);
    struct candidacy *y = &k->candidacy;

    y->leads = false;
    y->stopping = y->stops_later && !y->stopped && !w->clients[client].closing;
    y->stopped = false;
    y->demoted_us = world_client_us(w, client);
    y->stop_by_us = demotion->stop_by_us;
    k->held.safe = k->held.may_be_safe = false;
}

void check_stopped(struct world *w, unsigned client, unsigned worker)
{
    struct candidacy *y = &world_worker(w, client, worker)->candidacy;

    y->stopped = y->leads;
    y->stopping = false;
    note_campaigns_again(w, y);
}

void check_freed(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->candidacy.leads || k->phase != WORKER_IDLE) {
        check_violated(w, "election", "c%u.%u: its election is gone, but %s", client, worker,
                       k->candidacy.leads ? "it was not demoted" : "its lock is not");
    }
    k->candidacy.election = NULL;
    k->candidacy.freeing = k->candidacy.stopping = false;
    k->candidacy.until_us = 0;
}

/* Its election is gone with its process. Nobody releases the lock of one that has died. */
void check_candidate_gone(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);
    const struct candidacy *y = &k->candidacy;

    if (w->clients[client].closing && (y->leads || (y->election && k->phase == WORKER_HELD))) {
        check_violated(w, "election", "c%u is closed, but c%u.%u %s", client, client, worker,
                       y->leads ? "was not demoted" : "still holds its lock");
    }
    if (y->election) {
        w->deaths++;
        w->ghosts += k->phase == WORKER_PENDING;
    }
    if (k->is_candidate) { /* a release may be lost, too: the election is gone when it has begun */
        note_vacant(w, y->key, w->now_us + options_max_ttl_us(&w->o));
    }
    k->candidacy = (struct candidacy){.step = y->step + 1,
                                      .claim = NONE,
                                      .key = y->key,
                                      .priority = y->priority,
                                      .highest = y->highest,
                                      .had_us = y->had_us};
}

/* ---- the lock behind the lead ---- */

void check_lead_given_up(struct world *w, unsigned client, unsigned worker)
{
    struct candidacy *y = &world_worker(w, client, worker)->candidacy;

    note_vacant(w, y->key, w->now_us);
    note_campaigns_again(w, y);
}

/* [L2] */
void check_lead_released(struct world *w, unsigned claim)
{
    const struct claim *c = world_claim(w, claim);
    const struct candidacy *y = &world_worker(w, c->client, c->worker)->candidacy;

    if (y->leads && y->claim == claim) {
        check_violated(w, "election",
                       "t%08x is released before c%u.%u has heard that it is demoted", claim,
                       c->client, c->worker);
    }
}

/* [L4] A round that had begun before still counts. */
void check_lead_renewed(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct candidacy *y = &k->candidacy;

    if (k->is_candidate && y->leads && y->sick) {
        check_violated(w, "election", "c%u.%u renews t%08x, and is not fit to lead", client, worker,
                       k->claim);
    }
    if (k->is_candidate && y->claim == k->claim && !y->leads &&
        k->lock->hold.round_us > y->demoted_us) {
        check_violated(w, "election", "c%u.%u renews t%08x, and was demoted %.3f ms ago", client,
                       worker, k->claim, trace_ms(y->demoted_us, k->lock->hold.round_us));
    }
}
