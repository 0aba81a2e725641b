/* check.c - a violation ends the history; and what must hold of each vote and each time told. */
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

/* What the promise leaves open: who had not looked at the server since FLUSHALL, when the vote did
 * not look itself, or was shown the mark of before by data that were copied to and fro; who meets
 * it for the first time, when its key was written anew by somebody who had heard its age before
 * FLUSHALL; and with `observed`, who meets it for the first time. */
static bool is_exposed(const struct world *w, unsigned client, unsigned node,
                       const struct message *m)
{
    const struct peer *p = &w->clients[client].peers[node];
    bool looks = m->kind == MESSAGE_VOTE && m->mark.mark != 0 && !m->disguised;

    if (m->flushed_us && p->inspected_us < m->flushed_us && !looks) {
        return true;
    }
    if (m->misleading && p->first_look_us >= m->flushed_us) {
        return true;
    }
    return w->o.policy == RLK_QUARANTINE_OBSERVED &&
           p->met_us > rlk_time_max(m->forgot_us, m->flushed_us) &&
           rlk_time_max(m->forgot_us, m->flushed_us) > 0;
}

/* [S11] Said again of a vote that counts, from what is true: it was no replica's that this client
 * has looked at since; the data were looked at; and if that was not possible when it was met, then
 * so long ago that no lock is left from before. */
static void check_vote_counts(struct world *w, unsigned client, unsigned node,
                              const struct message *m)
{
    const struct peer *p = &w->clients[client].peers[node];
    uint64_t least_us = options_max_ttl_us(&w->o) / 100 * 97; /* by our clock */

    if (m->replica && p->role_us >= m->flushed_us) {
        check_violated(w, "exclusion",
                       "c%u counts the vote of n%u, a replica that it has looked at", client, node);
    } else if (w->o.policy == RLK_QUARANTINE_OFF) {
        return;
    } else if (p->inspected_us == 0 || p->unread) {
        check_violated(w, "exclusion", "c%u counts the vote of n%u, and could not look at its data",
                       client, node);
    } else if (p->first_look_us > p->met_us && w->now_us < p->first_look_us + least_us) {
        check_violated(
            w, "exclusion",
            "c%u counts the vote of n%u, whose data it saw first %.1f ms after it met it", client,
            node, trace_ms(p->met_us, p->first_look_us));
    }
}

void check_comes_from(struct world *w, unsigned claim, unsigned node, bool told,
                      const struct message *m)
{
    if (told && m == NULL) {
        check_violated(w, "told", "n%u is taken to have said something of t%08x, and did not", node,
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
        c->clock_suspect &= ~rlk_mask_bit(node);
        c->clock_suspect |= process_is_clock_suspect(w, c->client, node) ? rlk_mask_bit(node) : 0;
    }
    if (vote == RLK_VOTE_YES && m) {
        check_vote_counts(w, c->client, node, m);
        check_stranger_counts(w, c->client, node);
        c->granted |= rlk_mask_bit(node);
        c->exposed |= is_exposed(w, c->client, node, m) ? rlk_mask_bit(node) : 0;
        if (c->fenced) {
            check_fence_voted(w, claim, node, fence);
        }
    } else if (vote == RLK_VOTE_QUARANTINED) {
        c->quarantined |= rlk_mask_bit(node);
        w->quarantined++;
    } else if (vote == RLK_VOTE_NO) {
        c->refused |= rlk_mask_bit(node);
        k->refusals += k->op == c->op;
    } else if (vote == RLK_VOTE_UNKNOWN) {
        c->doubt |= rlk_mask_bit(node);
    }
}

/* [S11] Only what went wrong is blamed. */
void check_ahead(struct world *w, unsigned client, unsigned node)
{
    if (!w->moved) {
        check_violated(w, "told", "c%u takes the clock of n%u to be ahead, and none was set",
                       client, node);
    }
}

/* What a look is compared with is a second old, or what that showed: so some looks may count whose
 * answers took long. */
#define BASELINE_US 1020000

/* [S11] What was set forward by more than can be explained is found by the next look. */
void check_timed(struct world *w, unsigned client, unsigned node, const struct message *m,
                 enum rlk_clock_verdict verdict)
{
    struct client *c = &w->clients[client];
    struct peer *p = &c->peers[node];
    uint64_t error_us = (world_client_us(w, client) - m->sent_us) / 2;
    uint64_t worst_us = rlk_time_max(p->timed_worst_us, p->timed_error_us);
    uint64_t bound_us = 2 * (error_us + worst_us) + (w->now_us - p->timed_us) / 25 + 20000;
    bool found = verdict == RLK_CLOCK_AHEAD || verdict == RLK_CLOCK_WE_WERE_SUSPENDED;

    c->stood |= verdict == RLK_CLOCK_WE_WERE_SUSPENDED;
    if (p->timed_us > 0 && m->steps_us - p->timed_steps_us > (int64_t)bound_us && !found &&
        !c->stood) {
        check_violated(w, "told", "c%u does not see that the clock of n%u was set forward", client,
                       node);
    }
    p->timed_worst_us = rlk_time_max(p->timed_worst_us, error_us);
    if (p->timed_us == 0 || verdict != RLK_CLOCK_STEADY || w->now_us >= p->timed_us + BASELINE_US) {
        p->timed_us = w->now_us;
        p->timed_error_us = rlk_time_max(p->timed_worst_us, error_us);
        p->timed_steps_us = m->steps_us;
        p->timed_worst_us = error_us;
    }
}

/* A vote that counted does not any more; or all that was granted ends sooner. */
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
    for (node = 0; c && ev->kind == RLK_EVENT_SUSPENDED && node < SIM_NODES; node++) {
        c->sent_us[node] = rlk_time_sub(c->sent_us[node], ev->by_us);
    }
}

void check_stepped(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->lock->attempt.round.state == RLK_ROUND_WON && k->claim != NONE) {
        check_validity(w, client, worker);
    }
    if (k->lock->attempt.state == RLK_ATTEMPT_ASKING) {
        check_decided(w, client, worker);
    }
}
