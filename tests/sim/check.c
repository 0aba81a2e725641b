/* check.c - reports a violation, which ends the history; and checks each vote and each TIME. */
#include "sim/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/process.h"
#include "sim/trace.h"

void check_violated(struct world *w, const char *checker, const char *format, ...)
{
    va_list args;
    int len;

    if (w->violated) {
        return;
    }
    w->violated = true;
    len = snprintf(w->violation, sizeof(w->violation), "%s: ", checker);
    va_start(args, format);
    vsnprintf(w->violation + len, sizeof(w->violation) - (size_t)len, format, args);
    va_end(args);
    trace(w, "VIOLATION %s", w->violation);
}

/* What the guarantee leaves open. With FLUSHALL: a client that has not inspected the server
 * since, when the vote did not read the mark or the data were copied back and forth and still
 * carry the old mark. With `lenient`: every client that meets the server for the first time. */
static bool is_exposed(const struct world *w, unsigned client, unsigned node,
                       const struct message *m)
{
    const struct peer *p = &w->clients[client].peers[node];
    bool looks = m->kind == MESSAGE_VOTE && m->mark.mark != 0 && !m->disguised;

    if (m->flushed_us && p->inspected_us < m->flushed_us && !looks) {
        return true;
    }
    return w->o.policy == RLK_QUARANTINE_LENIENT &&
           p->met_us > rlk_time_max(m->forgot_us, m->flushed_us) &&
           rlk_time_max(m->forgot_us, m->flushed_us) > 0;
}

/* [S11] The rule for a vote that counts, checked against what is true: it did not come from a
 * replica whose role this client has read since; the data were inspected; and if that was
 * impossible at the first greeting, so much time has passed that no lock is left from before. */
static void check_vote_counts(struct world *w, unsigned client, unsigned node,
                              const struct message *m)
{
    const struct peer *p = &w->clients[client].peers[node];
    uint64_t least_us = options_max_ttl_us(&w->o) / 100 * 97; /* by our clock */

    bool tells_nothing = w->o.no_info & rlk_mask_bit(world_server(w, client, node));

    if (tells_nothing && w->o.policy == RLK_QUARANTINE_STRICT) {
        check_violated(w, "exclusion", "c%u counts the vote of n%u, which may have restarted",
                       client, node);
    } else if (m->replica && p->role_us >= m->flushed_us) {
        check_violated(w, "exclusion",
                       "c%u counts the vote of n%u, which it has seen to be a replica", client,
                       node);
    } else if (w->o.policy == RLK_QUARANTINE_OFF || tells_nothing) {
        return; /* without a run there is no mark to be read */
    } else if (p->inspected_us == 0 || p->unread) {
        check_violated(w, "exclusion", "c%u counts the vote of n%u, and could not read its data",
                       client, node);
    } else if (p->first_inspected_us > p->met_us && w->now_us < p->first_inspected_us + least_us) {
        check_violated(
            w, "exclusion",
            "c%u counts the vote of n%u, whose data it first read %.1f ms after its greeting",
            client, node, trace_ms(p->met_us, p->first_inspected_us));
    }
}

void check_comes_from(struct world *w, unsigned claim, unsigned node, bool answered,
                      const struct message *m)
{
    if (answered && m == NULL) {
        check_violated(w, "reported", "n%u is believed to have answered t%08x, and has not", node,
                       claim);
    }
}

void check_voted(struct world *w, unsigned node, unsigned claim, const struct message *m,
                 enum rlk_vote vote, uint64_t fence)
{
    struct claim *c = world_claim(w, claim);
    struct worker *k = world_worker(w, c->client, c->worker);

    check_comes_from(w, claim, node, vote != RLK_VOTE_UNKNOWN, m);
    if (vote != RLK_VOTE_UNKNOWN) {
        c->taken &= ~rlk_mask_bit(node);
        c->clock_suspect &= ~rlk_mask_bit(node);
        c->clock_suspect |= process_is_clock_suspect(w, c->client, node) ? rlk_mask_bit(node) : 0;
    }
    if (vote == RLK_VOTE_YES && m) {
        if (!c->adopted || c->fenced) { /* a node that has our key has not forgotten it [S7] */
            check_vote_counts(w, c->client, node, m);
            check_newcomer_vote(w, c->client, node);
            check_masters_vote(w, c->client, node, c->sent_us[node]);
        }
        c->granted |= rlk_mask_bit(node);
        c->exposed |= is_exposed(w, c->client, node, m) ? rlk_mask_bit(node) : 0;
        if (c->fenced) {
            check_fence_voted(w, claim, node, fence);
        }
    } else if (vote == RLK_VOTE_QUARANTINED) {
        c->quarantined |= rlk_mask_bit(node);
        w->quarantined++;
    } else if (vote == RLK_VOTE_NO) {
        if (!c->adopted) {
            check_split_refused(w, claim, node, m);
        }
        k->refusals += k->op == c->op;
    } else if (vote == RLK_VOTE_UNKNOWN) {
        c->doubt |= rlk_mask_bit(node);
    }
}

/* [S11] A clock is found to be ahead only if one was set, or if it is another server's. */
void check_ahead(struct world *w, unsigned client, unsigned node)
{
    if (!w->moved && w->renamed == 0) {
        check_violated(w, "reported",
                       "c%u believes that the clock of n%u is ahead, and none was set", client,
                       node);
    }
}

/* A sample is compared with one that is a second old, or with the last one that showed a step.
 * So the errors of several samples may add up. */
#define BASELINE_US 1020000

/* [S11] A clock step that is larger than the measurement error is found by the next sample. */
void check_timed(struct world *w, unsigned client, unsigned node, const struct message *m,
                 enum rlk_clock_verdict verdict)
{
    struct client *c = &w->clients[client];
    struct peer *p = &c->peers[node];
    uint64_t error_us = (world_client_us(w, client) - m->sent_us) / 2;
    uint64_t worst_us = rlk_time_max(p->timed_worst_us, p->timed_error_us);
    uint64_t bound_us = 2 * (error_us + worst_us) + (w->now_us - p->timed_us) / 25 + 20000;
    bool found = verdict == RLK_CLOCK_AHEAD || verdict == RLK_CLOCK_WE_WERE_SUSPENDED;

    c->noticed_suspension |= verdict == RLK_CLOCK_WE_WERE_SUSPENDED;
    if (p->timed_us > 0 && m->steps_us - p->timed_steps_us > (int64_t)bound_us && !found &&
        !c->noticed_suspension) {
        check_violated(w, "reported", "c%u has not noticed that the clock of n%u was set forward",
                       client, node);
    }
    p->timed_worst_us = rlk_time_max(p->timed_worst_us, error_us);
    if (p->timed_us == 0 || verdict != RLK_CLOCK_STEADY || w->now_us >= p->timed_us + BASELINE_US) {
        p->timed_us = w->now_us;
        p->timed_error_us = rlk_time_max(p->timed_worst_us, error_us);
        p->timed_steps_us = m->steps_us;
        p->timed_worst_us = error_us;
    }
}

/* A vote no longer counts; or all leases end sooner. */
void check_clock(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev)
{
    struct worker *k = world_worker(w, client, worker);
    struct claim *c = k->claim == NONE ? NULL : world_claim(w, k->claim);
    uint64_t bit = rlk_mask_bit(ev->node);
    unsigned node;

    if (k->phase == WORKER_HELD) {
        check_held_clock(w, client, worker, ev);
    } else if (c && ev->kind != RLK_EVENT_SUSPENDED) {
        c->clock_suspect |= ev->kind == RLK_EVENT_CLOCK_SUSPECT ? bit : 0;
        c->quarantined |= c->granted & bit;
        c->granted &= ~bit;
    }
    for (node = 0; c && ev->kind == RLK_EVENT_SUSPENDED && node < SIM_PLACES; node++) {
        c->sent_us[node] = rlk_time_sub(c->sent_us[node], ev->by_us);
    }
}

/* Right after the step: nothing is sent yet. */
static void check_kept(struct world *w, const struct worker *k)
{
    const struct rlk_round *r = &k->lock->acquiring->attempt.round;
    struct claim *c = k->claim == NONE ? NULL : world_claim(w, k->claim);

    if (c && c->round == k->lock->acquiring->attempt.tries && r->asked_again > c->asked_again) {
        c->asked_again = r->asked_again;
        check_split_kept(w, k->claim);
    }
}

void check_stepped(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->lock->acquiring->attempt.round.state == RLK_ROUND_WON && k->claim != NONE) {
        check_validity(w, client, worker);
    }
    if (k->lock->acquiring->attempt.state == RLK_ATTEMPT_ASKING) {
        check_decided(w, client, worker);
        check_kept(w, k);
    }
}
