/* A lock with a fence: what is asked of the masters, and what they say. As src/lock/acquire.c. */
#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "core/fence.h"
#include "sim/check.h"
#include "sim/drive.h"
#include "sim/health.h"
#include "sim/peer.h"
#include "sim/trace.h"

/* [S12] The wall clock makes the masters agree at once; nothing depends on it being right. */
uint64_t drive_hint(const struct world *w, unsigned client, const struct worker *k)
{
    uint64_t wanted = rlk_time_max(k->seen_fence + 1, world_wall_us(w, client));

    return rlk_time_min(wanted, RLK_FENCE_LIMIT - 1);
}

struct message drive_vote_message(const struct world *w, unsigned node, unsigned claim,
                                  uint64_t now_us)
{
    const struct claim *c = &w->claims[claim];

    return (struct message){.kind = MESSAGE_VOTE,
                            .claim = claim,
                            .ttl_ms = c->ttl_ms,
                            .sent_us = now_us,
                            .fence = c->hint,
                            .mark = health_expect(w, c->client, node)};
}

void drive_answered_vote(struct world *w, unsigned client, unsigned node, const struct message *m,
                         const struct rlk_reply *reply)
{
    const struct claim *c = world_claim(w, m->claim);
    struct worker *k = world_worker(w, client, c->worker);
    const struct rlk_standing *s = &w->clients[client].peers[node].standing;
    uint64_t fence;
    enum rlk_vote vote = rlk_classify_fenced(reply, &fence);

    if (vote == RLK_VOTE_BARRED) {
        health_surprised(w, client, node);
    }
    if (k->op == c->op) {
        k->seen_fence = rlk_time_max(k->seen_fence, fence);
    }
    if (vote == RLK_VOTE_YES &&
        rlk_standing_bar(s, world_client_us(w, client), NULL) != RLK_BAR_NONE) {
        vote = RLK_VOTE_BARRED;
    }
    drive_voted(w, client, node, m, vote, fence);
}

void drive_confirmed(struct world *w, unsigned client, unsigned node, const struct message *m,
                     enum rlk_answer answer)
{
    const struct claim *c = world_claim(w, m->claim);
    const struct worker *k = world_worker(w, client, c->worker);
    struct rlk_event ev = {.kind = RLK_EVENT_CONFIRM,
                           .node = node,
                           .now_us = world_client_us(w, client),
                           .round = c->round,
                           .answer = answer};

    if (k->op == c->op && k->phase == WORKER_PENDING) {
        trace(w, "c%u.%u  n%u %s the fence of t%u", client, c->worker, node,
              answer == RLK_ANSWER_OURS ? "confirms" : "does not confirm", m->claim);
        check_confirmed(w, m->claim, node, answer == RLK_ANSWER_OURS);
        drive_step(w, client, c->worker, &ev);
    }
}

/* Those that it cannot be sent to have not confirmed. */
void drive_ask_to_confirm(struct world *w, unsigned client, unsigned worker,
                          const struct rlk_actions *out, uint64_t now_us)
{
    const struct worker *k = world_worker(w, client, worker);
    struct message m = {
        .kind = MESSAGE_CONFIRM, .claim = k->claim, .sent_us = now_us, .fence = out->fence};
    uint64_t left = out->confirm, unsent = 0;
    unsigned node;

    world_claim(w, m.claim)->fence = out->fence;
    trace(w, "c%u.%u  asks %s to confirm the fence %llu of t%u", client, worker,
          trace_nodes(out->confirm), (unsigned long long)m.fence, m.claim);
    RLK_MASK_EACH (node, left) {
        m.text = !drive_knows(w, client, node, m.kind);
        if (peer_ask(w, client, node, &m)) {
            check_confirm_sent(w, m.claim, node, m.fence);
        } else {
            unsent |= rlk_mask_bit(node);
        }
    }
    RLK_MASK_EACH (node, unsent) {
        drive_confirmed(w, client, node, &m, RLK_ANSWER_UNKNOWN);
    }
}
