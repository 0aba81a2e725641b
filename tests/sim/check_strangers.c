/* check_strangers.c - [S11] A step of a server's clock is put on record there by a client that was
 * connected before and after it, and by a time that follows from the options: from then on a
 * process that meets the server first does not count its votes, for as long as a lock that the step
 * has ended could live.
 *
 * Only steps are looked at that nothing hides: no other server's clock stepped just before or after
 * it, its own was not set back then, and one client saw it through. */
#include "base/time.h"
#include "sim/check.h"

/* What a look could take for drift, or for a suspension of its own. */
#define LEAST_US 200000

/* Two looks, a second for a single witness, the look that writes it, and answers that are late. */
static uint64_t noted_within_us(const struct world *w)
{
    return 3 * w->o.health_us + 1200000 + 2 * w->o.timeout_us +
           8 * (w->o.delay_us + w->o.jitter_us);
}

static bool is_recent(const struct world *w, uint64_t at_us)
{
    return at_us > 0 && w->now_us < at_us + noted_within_us(w);
}

/* It has compared this server's clock, and another's, for some looks: one that was met behind the
 * last look at the other shows nothing. */
static bool is_witness(const struct world *w, const struct client *c, unsigned server)
{
    unsigned node, others = 0;
    bool sees = false;

    for (node = 0; node < c->nodes; node++) {
        const struct peer *p = &c->peers[node];
        bool timed = world_node_up(w, c->index, node) && p->timed_us > 0 &&
                     p->met_us + 2 * w->o.health_us <= w->now_us &&
                     p->timed_us + 2 * w->o.health_us >= w->now_us;

        sees |= timed && world_server(w, node) == server;
        others += timed && world_server(w, node) != server;
    }
    return c->alive && sees && others > 0;
}

void check_clock_set(struct world *w, unsigned server, uint64_t by_us)
{
    struct server *s = &w->servers[server];
    bool alone = by_us >= LEAST_US && !is_recent(w, s->back_us);
    unsigned i;

    for (i = 0; i < w->o.nodes; i++) {
        if (i != server && is_recent(w, w->servers[i].stepped_us)) {
            w->servers[i].witnesses = 0;
            alone = false;
        }
    }
    s->stepped_us = w->now_us;
    s->witnesses = 0;
    for (i = 0; alone && i < w->o.clients; i++) {
        s->witnesses |= (unsigned)is_witness(w, &w->clients[i], server) << i;
    }
}

/* Two looks may show the sum of both. */
void check_clock_set_back(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];

    s->back_us = w->now_us;
    if (is_recent(w, s->stepped_us)) {
        s->witnesses = 0;
    }
}

/* The record is one of its data. */
void check_record_lost(struct world *w, unsigned server)
{
    w->servers[server].witnesses = 0;
}

void check_looks_away(struct world *w, unsigned client)
{
    unsigned server;

    for (server = 0; server < w->o.nodes; server++) {
        if (is_recent(w, w->servers[server].stepped_us)) {
            w->servers[server].witnesses &= ~(1U << client);
        }
    }
}

void check_stranger_counts(struct world *w, unsigned client, unsigned node)
{
    const struct peer *p = &w->clients[client].peers[node];
    const struct server *s = &w->servers[world_server(w, node)];
    uint64_t noted_us = s->stepped_us + noted_within_us(w);
    uint64_t until_us = s->stepped_us + options_max_ttl_us(&w->o) / 100 * 97;

    if (w->o.policy == RLK_QUARANTINE_STRICT && s->witnesses != 0 && p->met_us > s->stepped_us &&
        p->inspected_us > noted_us && w->now_us < until_us) {
        check_violated(w, "exclusion",
                       "c%u counts the vote of n%u, which it did not know when its clock was set",
                       client, node);
    }
}
