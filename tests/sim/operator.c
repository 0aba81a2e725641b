/* operator.c - the life of an operator: it wants a spare server in the place of a master, or one
 * master more or less, changes that, and dies at any time or is done; then it is started again.
 *
 * The change makes its manager itself, and closes it. The linker puts functions in between
 * (-Wl,--wrap, meson.build), so that the model knows that manager as it knows those of clients. */
#include "sim/operator.h"

#include <redlock/change.h>
#include <redlock/error.h>
#include <redlock/manager.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "lock/manager.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/fault.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/trace.h"

__typeof__(rlk_manager_open) __real_rlk_manager_open, __wrap_rlk_manager_open;
__typeof__(redlock_close) __real_redlock_close, __wrap_redlock_close;

enum operator_step {
    OPERATOR_STARTS = 0,
    OPERATOR_DIES,
    OPERATOR_STOPS_FORMER
};

static struct operator_life *operator_of(struct world *w, unsigned client)
{
    return &w->operators[client - w->o.clients];
}

static void plan(struct world *w, const struct operator_life *o, uint64_t us,
                 enum operator_step step)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_OPERATOR, (unsigned)(o - w->operators), step,
                  o->stamp);
}

bool operator_is_one(const struct world *w, unsigned client)
{
    return w->o.operators > 0 && client >= w->o.clients;
}

/* ---- former masters ---- */

/* [M5] A former list may lead to a master that left. Where masters lose their data, that one has to
 * be off, or to have its record of the change: otherwise a majority of the list may know nothing of
 * the present masters. Elsewhere such a master has at least the former record, and one that still
 * is a master has the latest, so former ones run on, or come back. (And where masters are added and
 * removed, no list has former ones: draw_list.) */
bool operator_keeps_off(const struct world *w, unsigned server)
{
    return w->o.operators && !w->o.resizes && (w->o.kinds >> FAULT_FORGET & 1) &&
           w->o.broken != ASSUME_FORMER_MASTERS && check_masters_left_unaware(w, server);
}

/* At once, and not when the change is over: until then a new process may get votes there. */
void operator_has_changed(struct world *w)
{
    if (w->o.operators) {
        plan(w, &w->operators[0], 0, OPERATOR_STOPS_FORMER);
    }
}

static uint64_t kept_off(const struct world *w)
{
    uint64_t servers = 0;
    unsigned i;

    for (i = 0; i < w->o.servers; i++) {
        servers |= w->servers[i].kept_off ? rlk_mask_bit(i) : 0;
    }
    return servers;
}

static void stop_former(struct world *w)
{
    unsigned server;

    for (server = 0; server < w->o.servers; server++) {
        if (operator_keeps_off(w, server)) {
            server_end(w, server, RLK_NEVER, false);
            w->servers[server].kept_off = true;
        }
    }
}

/* ---- what it wants ---- */

static bool has(const unsigned *list, unsigned n, unsigned address)
{
    unsigned i;

    for (i = 0; i < n && list[i] != address; i++) {
    }
    return i < n;
}

static bool has_any(const unsigned *list, unsigned n, uint64_t of)
{
    unsigned i;

    for (i = 0; i < n && !(of & rlk_mask_bit(list[i])); i++) {
    }
    return i < n;
}

static bool has_others(const unsigned *list, unsigned n, uint64_t than)
{
    unsigned i;

    for (i = 0; i < n && than & rlk_mask_bit(list[i]); i++) {
    }
    return i < n;
}

static unsigned write_list(uint64_t addresses, unsigned *list)
{
    unsigned address, n = 0;

    RLK_MASK_EACH (address, addresses) {
        list[n++] = address;
    }
    return n;
}

/* The first list, or that of after the changes that have become known. One of its masters has to be
 * one still, or nobody tells the client of the others. Where masters lose their data, former ones
 * may be empty or off, and tell nothing: so the record has to know them; and where masters are
 * added and removed, all have to be masters [M6]. Who is given another list has those from before
 * the last change, too, which is perhaps not over. After the faults no list has a master that is
 * kept off. Returns how many there are. */
static unsigned draw_list(struct world *w, unsigned *list)
{
    bool first = draw_chance(&w->prng, 500000), tells;
    bool forgets = (w->o.kinds >> FAULT_FORGET & 1) != 0;
    unsigned i, n = first ? w->o.nodes : w->n_moved;
    uint64_t listed = w->o.resizes || forgets ? check_masters_on_record(w) : 0;

    for (i = 0; i < n; i++) {
        list[i] = first ? i : w->moved_list[i];
    }
    tells = has_any(list, n, listed) &&
            !(forgets && has_others(list, n, w->o.resizes ? listed : check_masters_known(w))) &&
            !(w->healed && has_any(list, n, kept_off(w)));
    listed |= listed && w->o.resizes ? check_masters_before(w) : 0;
    return listed == 0 || tells ? n : write_list(listed, list);
}

/* Any of the masters and any of the spares: two operators may want the same one, or the other one
 * in the same place. False: it has that one already. */
static bool draw_replacement(struct world *w, struct operator_life *o)
{
    unsigned spares = w->o.servers - w->o.nodes;

    o->leaves = (unsigned)draw_upto(&w->prng, o->n - 1);
    o->joins = w->o.nodes + (unsigned)draw_upto(&w->prng, spares - 1);
    return !has(o->list, o->n, o->joins) && !w->servers[o->joins].kept_off;
}

/* Also one that was a master before. Where masters lose their data, those that are left have to be
 * so many that one of them may. */
static bool draw_resize(struct world *w, struct operator_life *o)
{
    unsigned least = w->o.kinds >> FAULT_FORGET & 1 ? 3 : 1;
    unsigned left = rlk_mask_count(check_masters_on_record(w));
    bool adds = draw_chance(&w->prng, 500000);

    o->leaves = adds ? NONE : (unsigned)draw_upto(&w->prng, o->n - 1);
    o->joins = adds ? (unsigned)draw_upto(&w->prng, w->o.servers - 1) : NONE;
    return adds ? !has(o->list, o->n, o->joins) : o->n > least && (left == 0 || left > least);
}

static bool draw_wish(struct world *w, struct operator_life *o)
{
    bool resizes = w->o.resizes && draw_chance(&w->prng, 700000);

    if (w->o.undisturbed && rlk_mask_count(check_masters_on_record(w)) < 3) {
        resizes = true; /* while the new one does not vote, the others are no majority [M7] */
    }
    o->n = draw_list(w, o->list);
    o->wishes = resizes ? draw_resize(w, o) : draw_replacement(w, o);
    return o->wishes;
}

void operator_list(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned i;

    if (operator_is_one(w, client)) {
        const struct operator_life *o = operator_of(w, client);

        c->nodes = o->n;
        for (i = 0; i < o->n; i++) {
            c->list[i] = o->list[i];
        }
        if (o->joins != NONE) {
            c->list[c->nodes++] = o->joins;
        }
    } else if (w->o.operators) {
        c->nodes = draw_list(w, c->list);
    } else {
        c->nodes = c->given;
    }
}

/* ---- its manager ---- */

int __wrap_rlk_manager_open(struct event_base *base, const struct redlock_options *options,
                            const struct rlk_manager_move *move, struct redlock **ret_rl)
{
    int status = __real_rlk_manager_open(base, options, move, ret_rl);

    if (status == 0) {
        ((struct client *)base)->rl = *ret_rl;
    }
    return status;
}

static void on_closed(void *arg)
{
    struct world *w = process_world();
    struct client *c = arg;
    struct operator_life *o = operator_of(w, c->index);

    o->closed(o->closed_arg); /* frees the change */
    o->change = NULL;
    c->rl = NULL; /* its memory has been freed */
    process_ended(w, c->index);
}

int __wrap_redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg)
{
    struct world *w = process_world();
    struct operator_life *o;

    if (!operator_is_one(w, w->running)) {
        return __real_redlock_close(rl, cb, arg);
    }
    o = operator_of(w, w->running);
    o->closed = cb;
    o->closed_arg = arg;
    return __real_redlock_close(rl, on_closed, &w->clients[w->running]);
}

/* The list of this operator, after its change; where others may have added and removed masters
 * meanwhile, what it was shown. */
static void note_moved(struct world *w, unsigned client, const struct operator_life *o)
{
    uint64_t shown = w->o.resizes ? check_masters_shown_to(w, client) : 0;
    unsigned i;

    if (shown) {
        w->n_moved = write_list(shown, w->moved_list);
    }
    for (i = 0; i < o->n && !w->o.resizes; i++) {
        w->moved_list[i] = i == o->leaves ? o->joins : o->list[i];
    }
}

/* Who was told that it is done knows the new list. Otherwise it tries again, or gives up. */
static void on_changed(int status, const char *error, void *arg)
{
    struct world *w = process_world();
    unsigned client = ((struct client *)arg)->index;
    struct operator_life *o = operator_of(w, client);

    trace(w, "c%u    its change ended with %d %s", client, status, error);
    if (status == 0) {
        note_moved(w, client, o);
    }
    o->wishes = status != 0 && draw_chance(&w->prng, 500000);
}

int operator_make(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    struct operator_life *o = operator_of(w, client);
    const char *uris[SIM_NODES];
    struct redlock_options masters;
    struct redlock_change_options change;

    process_options(w, c, uris, &masters);
    masters.n_nodes = o->n;
    redlock_change_options_init(&change);
    change.leaves = o->leaves == NONE ? REDLOCK_NO_MASTER : o->leaves;
    change.joins = o->joins == NONE ? NULL : uris[o->n];
    change.timeout_ms = (uint32_t)draw_between(&w->prng, 1000, 20000);
    change.change_cb = on_changed;
    change.arg = c;
    return redlock_change_masters((struct event_base *)c, &masters, &change, &o->change);
}

/* ---- its life ---- */

static void init(struct world *w, struct operator_life *o)
{
    struct client *c = &w->clients[w->o.clients + (unsigned)(o - w->operators)];
    unsigned i;

    clock_init(&c->clock, draw_ppm(&w->prng, w->o.rate_ppm), 5000000, 1000000000);
    for (i = 0; i < SIM_NODES; i++) {
        c->names[i] = i;
    }
    for (i = 0; i < SIM_WORKERS; i++) {
        process_init_worker(w, w->o.clients + (unsigned)(o - w->operators), i);
    }
}

void operator_start_all(struct world *w)
{
    unsigned i;

    for (i = 0; i < SIM_NODES; i++) {
        w->moved_list[i] = i;
    }
    w->n_moved = w->o.nodes;
    for (i = 0; i < w->o.operators; i++) {
        w->harmed = true; /* a new master has not what the former one had */
        init(w, &w->operators[i]);
        plan(w, &w->operators[i], draw_upto(&w->prng, 6000000), OPERATOR_STARTS);
    }
}

/* Whoever is replaced or removed may be down, and come back. */
static void end_former(struct world *w, const struct operator_life *o)
{
    unsigned server = o->leaves == NONE ? NONE : o->list[o->leaves];

    if (server != NONE && !w->o.undisturbed && w->servers[server].state == SERVER_RUNS &&
        draw_chance(&w->prng, 300000)) {
        server_end(w, server, w->now_us + draw_scale(&w->prng, 100000, w->o.longest_us), false);
    }
}

static void trace_wish(struct world *w, unsigned client, const struct operator_life *o)
{
    if (o->leaves == NONE) {
        trace(w, "c%u    wants n%u as one more master", client, o->joins);
    } else if (o->joins == NONE) {
        trace(w, "c%u    wants n%u removed", client, o->list[o->leaves]);
    } else {
        trace(w, "c%u    wants n%u in the place of n%u", client, o->joins, o->list[o->leaves]);
    }
}

static void start(struct world *w, struct operator_life *o)
{
    unsigned client = w->o.clients + (unsigned)(o - w->operators);

    if (!o->wishes && !draw_wish(w, o)) {
        plan(w, o, draw_upto(&w->prng, 4000000), OPERATOR_STARTS);
        return;
    }
    end_former(w, o);
    trace_wish(w, client, o);
    process_start(w, client);
    if (draw_chance(&w->prng, 400000)) {
        plan(w, o, draw_scale(&w->prng, 1000, 10000000), OPERATOR_DIES);
    }
}

void operator_ended(struct world *w, unsigned client)
{
    struct operator_life *o = operator_of(w, client);

    rlk_free(o->change);
    o->change = NULL;
    o->stamp++;
    plan(w, o, draw_scale(&w->prng, 10000, 3000000), OPERATOR_STARTS);
}

void operator_on_event(struct world *w, unsigned target, unsigned step, unsigned stamp)
{
    struct operator_life *o = &w->operators[target];
    unsigned client = w->o.clients + target;

    if (step == OPERATOR_STOPS_FORMER) {
        stop_former(w);
        return;
    }
    if (o->stamp != stamp || w->healed) {
        return;
    }
    if (step == OPERATOR_STARTS) {
        start(w, o);
    } else {
        trace(w, "c%u    dies", client);
        process_end(w, client);
    }
}

void operator_end_all(struct world *w)
{
    unsigned i;

    for (i = 0; i < w->o.operators; i++) {
        process_end(w, w->o.clients + i);
    }
}

/* ---- the clients ---- */

/* Who runs, and has missed so much that its masters cannot show the record to be agreed on, does
 * not follow before it is started again. */
static bool has_missed_changes(const struct world *w, const struct client *c)
{
    uint64_t listed = check_masters_on_record(w), theirs = 0;
    unsigned i, former = 0;

    for (i = 0; i < c->nodes && listed; i++) {
        if (!(c->vacant >> i & 1)) {
            former += (listed & rlk_mask_bit(c->list[i])) == 0;
            theirs |= rlk_mask_bit(c->list[i]);
        }
    }
    return former > 1 || (theirs & kept_off(w)) ||
           (w->o.resizes && rlk_mask_count(listed & theirs) <= rlk_mask_count(listed) / 2);
}

void operator_heal(struct world *w)
{
    unsigned i;

    operator_end_all(w);
    for (i = 0; i < w->o.clients && w->o.operators; i++) {
        if (has_missed_changes(w, &w->clients[i])) {
            fault_kill(w, i);
        }
    }
}

/* Nothing is kept of the former master; its keys end with their ttl. It may have been the last one
 * with the record, where others lose their data: without it the new one is not among the masters
 * on an earlier record. */
static void forget_former(struct world *w, unsigned client, unsigned node)
{
    struct client *c = &w->clients[client];
    struct peer *p = &c->peers[node];
    size_t i;

    c->saw_other |= (w->o.kinds >> FAULT_FORGET & 1) != 0;
    for (i = 0; i < w->n_claims; i++) {
        if (w->claims[i].client == client && w->claims[i].asked & rlk_mask_bit(node)) {
            w->claims[i].orphan = true;
        }
    }
    p->met_us = p->greeted_us = p->first_inspected_us = p->inspected_us = p->role_us = 0;
    p->timed_us = p->timed_error_us = p->timed_worst_us = p->hidden_us = p->mark = 0;
    p->timed_steps_us = 0;
    p->unread = false;
    p->masters = (struct on_record){0};
    p->denies_record = false;
}

void operator_moved(struct world *w, unsigned client, unsigned node, unsigned address)
{
    struct client *c = &w->clients[client];

    if (node >= SIM_PLACES) {
        check_violated(w, "work", "c%u has %u nodes", client, node + 1);
        return;
    }
    if (node < c->nodes && !(c->vacant >> node & 1)) {
        trace(w, "c%u    follows from n%u to n%u", client, c->list[node], address);
    } else {
        trace(w, "c%u    follows, and has n%u as well", client, address);
    }
    forget_former(w, client, node);
    c->nodes = node < c->nodes ? c->nodes : node + 1;
    c->vacant &= ~rlk_mask_bit(node);
    c->list[node] = address;
}

void operator_left(struct world *w, unsigned client, unsigned node)
{
    struct client *c = &w->clients[client];

    trace(w, "c%u    leaves n%u", client, c->list[node]);
    forget_former(w, client, node);
    c->vacant |= rlk_mask_bit(node);
}
