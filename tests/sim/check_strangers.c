/* check_strangers.c - [S11] A step of a server's clock is put on record at the server by a
 * client that was connected before and after it, within a time that follows from the options.
 * From then on a process that meets the server for the first time does not count its votes, for
 * as long as a lock could live that the step has ended.
 *
 * Checked only for steps that nothing hides: no other server's clock was set shortly before or
 * after, the server's own clock was not set back then, and one client was connected all the
 * time. For a server that refuses or denies its mark, the time begins when it no longer does. */
#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"

/* A smaller step could be taken for drift, or for a suspension of the client. */
#define LEAST_US 200000

/* The interval of a client that relies on no master, as in core/inspection.c. */
static uint64_t idle_us(const struct world *w)
{
    return rlk_time_max(w->o.health_us, rlk_time_min(5 * w->o.health_us, 5000000));
}

/* Two inspections, a second one for a single witness, the one that writes the record, and late
 * answers. */
static uint64_t recorded_within_us(const struct world *w)
{
    return idle_us(w) + 2 * w->o.health_us + 1200000 + 2 * w->o.timeout_us +
           8 * (w->o.delay_us + w->o.jitter_us);
}

static bool is_recent(const struct world *w, uint64_t at_us)
{
    return at_us > 0 && w->now_us < at_us + recorded_within_us(w);
}

/* The client has compared this server's clock and another one's for some inspections. A server
 * that was greeted after the last inspection of the other one shows nothing. */
static bool is_witness(const struct world *w, const struct client *c, unsigned server)
{
    unsigned node, others = 0;
    bool sees = false;

    for (node = 0; node < c->nodes; node++) {
        const struct peer *p = &c->peers[node];
        bool timed = world_node_up(w, c->index, node) && p->timed_us > 0 &&
                     p->greeted_us + 2 * w->o.health_us <= w->now_us &&
                     p->timed_us + 2 * w->o.health_us >= w->now_us;

        sees |= timed && world_server(w, c->index, node) == server;
        others += timed && world_server(w, c->index, node) != server;
    }
    return c->alive && sees && others > 0;
}

void check_clock_set(struct world *w, unsigned server, uint64_t by_us)
{
    struct server *s = &w->servers[server];
    bool alone = by_us >= LEAST_US;
    unsigned i;

    for (i = 0; i < w->o.servers; i++) {
        alone = alone && !is_recent(w, w->servers[i].back_us);
        if (i != server && is_recent(w, w->servers[i].stepped_us)) {
            w->servers[i].witnesses = 0;
            alone = false;
        }
    }
    s->stepped_us = w->now_us;
    s->witnesses = 0;
    for (i = 0; alone && i < w->o.clients; i++) {
        s->witnesses |= (uint64_t)is_witness(w, &w->clients[i], server) << i;
    }
}

/* Two inspections may show only the sum of both steps, and a server that was set back does not show
 * that the client was not suspended when another one stepped. */
void check_clock_set_back(struct world *w, unsigned server)
{
    unsigned i;

    w->servers[server].back_us = w->now_us;
    for (i = 0; i < w->o.servers; i++) {
        if (is_recent(w, w->servers[i].stepped_us)) {
            w->servers[i].witnesses = 0;
        }
    }
}

/* The record is part of the server's data. */
void check_record_lost(struct world *w, unsigned server)
{
    w->servers[server].witnesses = 0;
}

void check_witness_lost(struct world *w, unsigned client)
{
    unsigned server;

    for (server = 0; server < w->o.servers; server++) {
        if (is_recent(w, w->servers[server].stepped_us)) {
            w->servers[server].witnesses &= ~rlk_mask_bit(client);
        }
    }
}

void check_newcomer_vote(struct world *w, unsigned client, unsigned node)
{
    const struct peer *p = &w->clients[client].peers[node];
    const struct server *s = &w->servers[world_server(w, client, node)];
    uint64_t writable_us = rlk_time_max(s->refuses_us, s->denies_mark_us);
    uint64_t recorded_us = rlk_time_max(s->stepped_us, writable_us) + recorded_within_us(w);
    uint64_t until_us = s->stepped_us + options_max_ttl_us(&w->o) / 100 * 97;

    if (w->o.policy == RLK_QUARANTINE_STRICT && s->witnesses != 0 && p->met_us > s->stepped_us &&
        p->inspected_us > recorded_us && w->now_us < until_us) {
        check_violated(w, "exclusion",
                       "c%u counts the vote of n%u, which it did not know when its clock was set",
                       client, node);
    }
}
