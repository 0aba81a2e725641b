/* check_left.c - when all faults have ended and every release has had its time, no server has a
 * key of a claim that was let go, and no client has a pending release.
 *
 * These keys are excused; all of them end with their ttl, by the server's clock:
 *
 *   - of a process that died;
 *   - of a SET that lay in the socket of a stopped server when the connection broke, where CLIENT
 *     KILL is not allowed;
 *   - where a server's clock was set back: those whose pending release was dropped after the ttl;
 *   - on a replica that took over and had not got the release;
 *   - on a server with two addresses, of which one is refused. */
#include "base/mask.h"
#include "sim/check.h"
#include "sim/heir.h"
#include "sim/server.h"
#include "sim/trace.h"
#include "sim/watch.h"

/* A release of the claim is on its way to the server, or will be. */
static bool will_be_released(const struct world *w, unsigned claim, unsigned client, unsigned node)
{
    const struct rlk_pending_list *d = &world_node(w, client, node)->pending;
    unsigned wire = w->clients[client].peers[node].wire, m;
    size_t i;

    for (i = 0; i < d->ring.count; i++) {
        const struct rlk_pending_release *pending_release = rlk_pending_list_at(d, i);

        if (watch_claim(w, pending_release->claim) == claim &&
            pending_release->until_us > world_client_us(w, client)) {
            return true;
        }
    }
    for (m = wire == NONE ? NONE : w->wires[wire].unexecuted; m != NONE; m = w->messages[m].next) {
        if (message_releases(&w->messages[m]) && w->messages[m].claim == claim) {
            return true;
        }
    }
    return false;
}

/* [S5] Every node that was asked and has not refused gets a release, or has one pending. */
void check_let_go(struct world *w, unsigned claim)
{
    struct claim *c = world_claim(w, claim);
    uint64_t left = c->asked & ~c->refused & ~c->release_nodes;
    unsigned node;

    if (c->let_go) {
        return;
    }
    c->let_go = true;
    c->let_go_us = w->now_us;
    check_key_let_go(w, claim);
    RLK_MASK_EACH (node, left) {
        if (!c->orphan && !will_be_released(w, claim, c->client, node)) {
            check_violated(
                w, "left",
                "t%08x of c%u.%u is not wanted any more, but no release is sent to n%u or pending",
                claim, c->client, c->worker, node);
        }
    }
}

void check_died(struct world *w, unsigned client)
{
    size_t i;

    for (i = 0; i < w->n_claims; i++) {
        if (w->claims[i].client == client) {
            w->claims[i].orphan = true;
            check_let_go(w, (unsigned)i);
        }
    }
    check_keys_left(w, client);
}

/* The next connection does not end this one. */
void check_may_outlive(struct world *w, unsigned claim, unsigned client, unsigned node)
{
    const struct client *c = &w->clients[client];

    if (!w->o.kills || w->o.no_client || w->o.no_info ||
        c->names[c->list[node]] != world_server(w, client, node)) {
        world_claim(w, claim)->orphan = true;
    }
}

void check_unanswered(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    (void)client;
    if (m->kind == MESSAGE_SET || m->kind == MESSAGE_TAKE || m->kind == MESSAGE_KEEP ||
        m->kind == MESSAGE_VOTE || m->kind == MESSAGE_ADOPT) {
        world_claim(w, m->claim)->unanswered |= rlk_mask_bit(node);
    }
}

/* Over any address of the server. */
static bool server_will_release(const struct world *w, unsigned claim, unsigned server)
{
    unsigned client = w->claims[claim].client, node;

    for (node = 0; node < w->clients[client].nodes; node++) {
        if (world_server(w, client, node) == server && will_be_released(w, claim, client, node)) {
            return true;
        }
    }
    return false;
}

/* A key that had expired may be there again. */
void check_set_back(struct world *w, unsigned server)
{
    unsigned key;

    for (key = 0; key < SIM_STORED; key++) {
        unsigned claim = w->servers[server].keys[key].claim;

        if (claim != NONE && w->claims[claim].let_go) {
            w->claims[claim].orphan = true;
        }
    }
}

/* A replica took over that had not got the release. */
void check_resurrected(struct world *w, unsigned server)
{
    unsigned key;

    for (key = 0; key < SIM_STORED; key++) {
        unsigned claim = w->servers[server].keys[key].claim;

        if (claim != NONE && (w->claims[claim].let_go || w->claims[claim].released)) {
            w->claims[claim].orphan = true;
        }
    }
}

void check_copied(struct world *w, unsigned claim)
{
    if (claim != NONE) {
        w->claims[claim].orphan = true;
    }
}

/* [S5] A pending release is dropped only after the key must have expired. */
void check_expired(struct world *w, unsigned claim, unsigned node)
{
    const struct claim *c = world_claim(w, claim);
    unsigned server = world_server(w, c->client, node), key;
    uint64_t left = c->keys;

    if (w->set_back_us > 0) {
        world_claim(w, claim)->orphan = true;
    }
    /* An heir does not know what the dead process has sent. */
    if (c->unanswered & rlk_mask_bit(node) && !heir_is_one(w, w->running)) {
        check_violated(w, "left",
                       "the pending release of t%08x is dropped, but n%u may yet set or extend it",
                       claim, node);
    }
    RLK_MASK_EACH (key, left) {
        if (server_value(w, server, key) == claim && !c->orphan &&
            !server_will_release(w, claim, server)) {
            check_violated(w, "left", "t%08x of c%u.%u is not released by n%u, and is still there",
                           claim, c->client, c->worker, node);
        }
    }
}

/* A key that is set after its release stays until its ttl, and nobody knows of it. */
void check_granted(struct world *w, unsigned claim, unsigned server, enum message_kind by)
{
    const struct claim *c = world_claim(w, claim);

    check_key_set(w, claim, server);
    if (by == MESSAGE_KEEP) {
        check_violated(w, "left", "t%08x of c%u.%u was set on n%u by an extension", claim,
                       c->client, c->worker, server);
    }
    if (c->let_go && !c->orphan && !server_will_release(w, claim, server)) {
        check_violated(w, "left", "t%08x of c%u.%u was set on n%u after all its releases", claim,
                       c->client, c->worker, server);
    }
}

void check_refused(struct world *w, unsigned client, unsigned node, unsigned claim)
{
    const struct claim *c = world_claim(w, claim);

    if (!will_be_released(w, claim, client, node)) {
        check_violated(w, "left", "t%08x of c%u.%u was not released by n%u, and is not to be again",
                       claim, c->client, c->worker, node);
    }
}

/* [S10] One of its addresses is refused, so what is pending there is dropped after the ttl. */
static bool is_duplicate(const struct world *w, unsigned server)
{
    return w->o.duplicate < SIM_NODES && server == world_server(w, 0, w->o.duplicate);
}

/* No name leads there any more. */
static bool is_abandoned(const struct world *w, unsigned server)
{
    unsigned address;

    for (address = 0; address < w->o.nodes; address++) {
        if ((w->found[address] ? w->found[address] : address) == server) {
            return false;
        }
    }
    return (w->o.kinds >> FAULT_RENAME & 1) != 0;
}

static void check_key(struct world *w, unsigned server, unsigned key)
{
    unsigned claim = server_value(w, server, key);
    const struct claim *c;

    if (claim == NONE || is_abandoned(w, server) || server == w->o.replica || server == w->o.dead ||
        is_duplicate(w, server)) {
        return;
    }
    c = world_claim(w, claim);
    if (c->let_go && !c->orphan) {
        check_violated(w, "left", "t%08x of c%u.%u, not wanted for %.1f ms, is still on n%u", claim,
                       c->client, c->worker, trace_ms(c->let_go_us, w->now_us), server);
    }
}

static void check_pending_releases(struct world *w, unsigned client)
{
    unsigned node;

    for (node = 0; node < w->clients[client].nodes; node++) {
        size_t pending = world_node(w, client, node)->pending.ring.count;

        if (node != w->o.replica && node != w->o.dead &&
            !w->servers[world_server(w, client, node)].kept_off &&
            !is_duplicate(w, world_server(w, client, node)) && pending > 0) {
            check_violated(w, "left", "c%u still has releases pending for n%u: %zu", client, node,
                           pending);
        }
    }
}

void check_left_at_end(struct world *w)
{
    unsigned i, key;

    for (i = 0; i < w->o.servers; i++) {
        for (key = 0; key < SIM_STORED; key++) {
            check_key(w, i, key);
        }
    }
    for (i = 0; i < w->o.clients; i++) {
        check_pending_releases(w, i);
    }
}
