/* check_heir.c - what must hold of the locks of a process that died, and of its heir.
 *
 * While a command works nobody else gets its lock. Where nothing was wrong with a master, it has
 * carried out both releases, and no key is left that came before the second one. The same goes for
 * one that refused releases for a time and was connected: the heir outlasts that. In a healthy
 * world whoever waits gets the lock soon after the first release, and not after the ttl: except
 * where a process that died while it asked has left keys on most masters, or on two queue masters.
 * (That nobody gets it before the time of --at-least is checked as for locks that are left to their
 * time.) */
#include "base/mask.h"
#include "sim/check.h"
#include "sim/heir.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/trace.h"

/* ---- what is left ---- */

/* Every message has arrived by then. */
uint64_t check_heir_arrival_us(const struct world *w)
{
    return 100000 + 200 * (w->o.delay_us + w->o.jitter_us) + 4 * w->o.turn_us;
}

/* Nothing was wrong with a master, nor with the way to it, since the first release, except that it
 * may have refused: so it has carried out the second one. A replica carries out none: it has no
 * vote, so nobody connects to it, and its keys are those of its master, which may be down. */
static bool was_well(const struct world *w, const struct heir *h, unsigned node)
{
    const struct server *s = &w->servers[world_server(w, h->client, node)];
    const struct peer *p = &w->clients[w->o.clients + (unsigned)(h - w->heirs)].peers[node];

    return world_server(w, h->client, node) != w->o.replica && s->state == SERVER_RUNS &&
           s->stamp == h->stamps[node] && s->ended_us < h->began_us && s->forgot_us < h->began_us &&
           (s->refuses_us < h->began_us || !(h->away & rlk_mask_bit(node))) &&
           s->loading_us < h->began_us && p->there_clear_us < h->began_us &&
           p->back_clear_us < h->began_us;
}

static void check_key(struct world *w, const struct heir *h, const struct inherited *x,
                      unsigned server, unsigned key)
{
    const struct value *v = &w->servers[server].keys[key];

    if (server_value(w, server, key) == x->claim && v->since_us < h->first_us + HEIR_PAUSE_US) {
        check_violated(w, "left",
                       "t%08x was released twice for c%u, which is dead, and n%u has had it for "
                       "%.3f ms",
                       x->claim, h->client, server, trace_ms(v->since_us, w->now_us));
    }
}

/* What a replica copies has the times of the other server. */
void check_heir_left(struct world *w, const struct heir *h)
{
    unsigned nodes = w->clients[h->client].nodes, node, i, key;

    for (node = 0; node < nodes && !(w->o.kinds >> FAULT_REPLICA & 1); node++) {
        for (i = 0; i < h->n && was_well(w, h, node); i++) {
            for (key = 0; key < SIM_KEYS && !h->of[i].kept; key++) {
                check_key(w, h, &h->of[i], world_server(w, h->client, node), key);
            }
        }
    }
}

/* ---- who waits ---- */

/* In true time: how long a wake and a round may take, and what is lost when those who are first in
 * the queue have died, or are in a back-off. */
uint64_t check_heir_soon_us(const struct world *w)
{
    return 60000 + 20 * (w->o.delay_us + w->o.jitter_us + w->o.turn_us) + w->o.retry_max_us +
           25000 * (uint64_t)w->o.clients;
}

void check_heir_taken(struct world *w, const struct worker *k)
{
    uint64_t left = k->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        w->taken_us[key] = w->now_us;
    }
}

static bool waits(const struct client *c, const struct worker *k, unsigned key, uint64_t since_us)
{
    return c->alive && !c->closing && k->phase == WORKER_PENDING && k->keys == 1U << key &&
           k->called_us < since_us;
}

/* Who dies while it asks for a lock leaves keys, and nobody knows their token. */
static bool has_orphan(struct world *w, unsigned server, unsigned key)
{
    unsigned claim = server_value(w, server, key);

    return claim != NONE && w->claims[claim].orphan;
}

/* On a majority. */
static bool is_free(struct world *w, unsigned key)
{
    unsigned server, n = 0;

    for (server = 0; server < w->o.servers; server++) {
        n += !has_orphan(w, server, key);
    }
    return n > w->o.nodes / 2;
}

/* [W3] Two of its queue masters have keys of a dead process. They deny what a majority would grant,
 * and the waiter asks all the same, but only after some seconds. */
static bool is_denied(struct world *w, const struct worker *k, unsigned key)
{
    uint64_t queues =
        k->lock && k->lock->acquiring ? k->lock->acquiring->attempt.waiting.queues : 0;
    unsigned node, n = 0;

    RLK_MASK_EACH (node, queues) {
        n += has_orphan(w, world_server(w, k->client, node), key);
    }
    return n >= RLK_WAITING_WAKES;
}

void check_heir_waiters(struct world *w, unsigned key)
{
    uint64_t freed_us = w->freed_us[key];
    unsigned i, j;

    if (w->healed || w->taken_us[key] >= freed_us || freed_us + check_heir_soon_us(w) > w->now_us ||
        !is_free(w, key)) {
        return;
    }
    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = world_worker(w, i, j);

            if (waits(&w->clients[i], k, key, freed_us) && !is_denied(w, k, key)) {
                check_violated(w, "wait",
                               "k%u was released %.1f ms ago for its dead holder, and c%u.%u waits",
                               key, trace_ms(freed_us, w->now_us), i, j);
            }
        }
    }
}

/* ---- who works ---- */

static void check_command(struct world *w, const struct worker *k, const struct heir *h,
                          const struct inherited *x)
{
    uint64_t now_us = world_client_us(w, h->client);

    if (w->now_us < x->dead_us && (k->keys & x->keys) && k->claim != x->claim &&
        now_us < x->deadline_us && w->claims[k->claim].exposed == 0 &&
        w->claims[x->claim].exposed == 0) {
        check_violated(w, "exclusion",
                       "%s is held by c%u.%u (t%08x), and what c%u.%u has begun under t%08x still "
                       "works",
                       trace_key_mask(k->keys & x->keys), k->client, k->index, k->claim, h->client,
                       x->worker, x->claim);
    }
}

void check_heirs_exclusion(struct world *w, const struct worker *k)
{
    unsigned i, j;

    for (i = 0; i < SIM_HEIRS; i++) {
        for (j = 0; w->heirs[i].busy && j < w->heirs[i].n; j++) {
            check_command(w, k, &w->heirs[i], &w->heirs[i].of[j]);
        }
    }
}
