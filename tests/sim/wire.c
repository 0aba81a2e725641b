/* wire.c - moving messages: sent, on the way, read, answered, lost. */
#include "sim/wire.h"

#include "base/time.h"
#include "sim/draw.h"
#include "sim/heir.h"
#include "sim/memory.h"
#include "sim/server.h"
#include "sim/trace.h"

static struct peer *peer_of(struct world *w, const struct wire *x)
{
    return &w->clients[x->client].peers[x->node];
}

static uint64_t delay_us(struct world *w, const struct peer *p)
{
    uint64_t us = w->o.delay_us + draw_tail(&w->prng, w->o.jitter_us);

    return p->slow_until_us > w->now_us ? us + p->slow_us : us;
}

/* When a message that leaves at `from_us` arrives. */
static uint64_t arrives_us(struct world *w, const struct peer *p, uint64_t from_us, bool there)
{
    uint64_t clear_us = there ? p->there_clear_us : p->back_clear_us;

    return rlk_time_max(from_us, clear_us) + delay_us(w, p);
}

static uint64_t client_free_us(const struct world *w, unsigned client)
{
    return rlk_time_max(w->now_us, w->clients[client].busy_us);
}

unsigned wire_open(struct world *w, unsigned client, unsigned node, unsigned server)
{
    unsigned wire = (unsigned)w->n_wires;
    bool up = w->servers[server].state != SERVER_DOWN;
    struct peer *p = &w->clients[client].peers[node];
    uint64_t there_us = arrives_us(w, p, client_free_us(w, client), true);

    w->wires = memory_room(w->wires, &w->cap_wires, w->n_wires, sizeof(*w->wires));
    w->wires[w->n_wires++] = (struct wire){.client = client,
                                           .node = node,
                                           .server = server,
                                           .client_open = true,
                                           .server_open = up,
                                           .unsent = NONE,
                                           .unexecuted = NONE,
                                           .unanswered = NONE,
                                           .last = NONE,
                                           .taken = NONE,
                                           .redirect = NONE,
                                           .there_us = there_us};
    w->wires[wire].back_us = arrives_us(w, p, there_us, false);
    if (up || draw_chance(&w->prng, 500000)) {
        schedule_push(&w->schedule, w->wires[wire].back_us, up ? EVENT_OPENED : EVENT_BROKEN, wire,
                      0, 0);
    }
    return wire;
}

/* Greetings do not count: a node that is refused is greeted again and again. */
static void note_not_quiet(struct world *w, const struct message *m, uint64_t until_us)
{
    if (m->kind >= MESSAGE_SET) {
        w->quiet_us = rlk_time_max(w->quiet_us, until_us);
    }
}

/* Few are used at once, so these stay in the caches. */
static unsigned new_message(struct world *w)
{
    unsigned at = w->free_message;

    if (at != NONE) {
        w->free_message = w->messages[at].next;
        return at;
    }
    w->messages = memory_room(w->messages, &w->cap_messages, w->n_messages, sizeof(*w->messages));
    return (unsigned)w->n_messages++;
}

static void free_message(struct world *w, unsigned at)
{
    w->messages[at].next = w->free_message;
    w->free_message = at;
}

void wire_put(struct world *w, unsigned wire, const struct message *m)
{
    unsigned at = new_message(w);
    struct wire *x = &w->wires[wire];

    w->messages[at] = *m;
    w->messages[at].next = NONE;
    if (x->last != NONE) {
        w->messages[x->last].next = at;
    }
    x->last = at;
    x->unsent = x->unsent == NONE ? at : x->unsent;
    x->unexecuted = x->unexecuted == NONE ? at : x->unexecuted;
    x->unanswered = x->unanswered == NONE ? at : x->unanswered;
}

/* The connection breaks right after this, or its client dies soon: what was to be written to all
 * masters reaches some. */
static bool is_cut_short(struct world *w, struct wire *x, const struct message *m)
{
    if (m->kind == MESSAGE_MASTERS && w->o.kinds >> FAULT_CRASH & 1 && !w->healed &&
        draw_chance(&w->prng, 20000)) {
        heir_kill_soon(w, x->client);
    }
    return (m->kind == MESSAGE_SET || m->kind == MESSAGE_TAKE || m->kind == MESSAGE_KEEP ||
            m->kind == MESSAGE_VOTE || m->kind == MESSAGE_ADOPT || m->kind == MESSAGE_CONFIRM ||
            m->kind == MESSAGE_MASTERS) &&
           peer_of(w, x)->breaks && !w->healed;
}

static void send_one(struct world *w, unsigned wire, const struct message *m)
{
    struct wire *x = &w->wires[wire];

    if (!x->cut && x->server_open && !m->joined) {
        x->there_us = rlk_time_max(
            x->there_us, arrives_us(w, peer_of(w, x), client_free_us(w, x->client), true));
        note_not_quiet(w, m, x->there_us);
        schedule_push(&w->schedule, x->there_us, EVENT_REQUEST, wire, 0, 0);
    }
    if (is_cut_short(w, x, m)) {
        peer_of(w, x)->breaks = draw_chance(&w->prng, 500000);
        wire_break(w, wire);
    }
}

void wire_flush(struct world *w, unsigned wire)
{
    struct wire *x = &w->wires[wire];

    bool first = true;

    while (x->unsent != NONE) {
        struct message *m = &w->messages[x->unsent];

        m->joined = m->part || (!first && !draw_chance(&w->prng, 60000));
        first = false;
        x->unsent = m->next;
        send_one(w, wire, m);
    }
}

static void answer(struct world *w, unsigned wire, const struct message *m)
{
    struct wire *x = &w->wires[wire];

    if (!x->cut && x->client_open && x->server_open) {
        x->back_us = rlk_time_max(x->back_us, arrives_us(w, peer_of(w, x), w->now_us, false));
        note_not_quiet(w, m, x->back_us);
        schedule_push(&w->schedule, x->back_us, EVENT_REPLY, wire, 0, 0);
    }
}

void wire_push(struct world *w, unsigned wire, enum push_kind kind, unsigned key, uint64_t late_us)
{
    struct wire *x = &w->wires[wire];

    if (!x->cut && x->client_open && x->server_open) {
        x->back_us =
            rlk_time_max(x->back_us, arrives_us(w, peer_of(w, x), w->now_us, false)) + late_us;
        schedule_push(&w->schedule, x->back_us, EVENT_PUSH, wire, key, kind);
    }
}

/* The next message arrives together with it. */
static bool is_followed(const struct world *w, const struct wire *x, unsigned m)
{
    unsigned next = w->messages[m].next;

    return next != NONE && next != x->unsent && w->messages[next].joined;
}

/* The message stays in the socket, after those that are there already. */
static void hold(const struct world *w, struct wire *x)
{
    unsigned m = x->unexecuted, skip = x->held;

    for (; skip > 0 && w->messages[m].next != NONE; skip--) {
        m = w->messages[m].next;
    }
    x->held_parts++;
    x->held++;
    for (; is_followed(w, x, m); m = w->messages[m].next) {
        x->held++;
    }
}

/* Messages that arrived together are answered together. */
static void execute(struct world *w, unsigned wire)
{
    struct wire *x = &w->wires[wire];
    struct message *m = NULL;
    bool goes_on = true;

    while (goes_on && x->server_open && !(x->cut && x->survivors == 0)) {
        m = &w->messages[x->unexecuted];
        goes_on = is_followed(w, x, x->unexecuted);
        x->survivors -= x->cut;
        x->unexecuted = m->next;
        server_execute(w, wire, m);
    }
    if (m) {
        m->ends = true;
        answer(w, wire, m);
    }
}

void wire_on_request(struct world *w, unsigned wire)
{
    struct wire *x = &w->wires[wire];

    if (!x->server_open || x->unexecuted == x->unsent) {
        return;
    }
    if (x->late_us > w->now_us) {
        schedule_push(&w->schedule, x->late_us, EVENT_REQUEST, wire, 0, 0);
    } else if (w->servers[x->server].state == SERVER_STOPPED) {
        hold(w, x);
    } else {
        execute(w, wire);
    }
}

const struct message *wire_take_answer(struct world *w, unsigned wire)
{
    struct wire *x = &w->wires[wire];
    const struct message *m;

    if (!x->client_open || x->cut || x->unanswered == x->unexecuted) {
        return NULL;
    }
    if (x->taken != NONE) {
        free_message(w, x->taken); /* only now: it may have been the last one that was sent */
    }
    x->taken = x->unanswered;
    m = &w->messages[x->taken];
    x->unanswered = m->next;
    return m;
}

bool wire_is_part_next(const struct world *w, unsigned wire)
{
    unsigned next = w->wires[wire].unanswered;

    return next != NONE && w->messages[next].part;
}

uint64_t wire_oldest_us(const struct world *w, unsigned wire)
{
    unsigned oldest = w->wires[wire].unanswered;

    return oldest == NONE ? RLK_NEVER : w->messages[oldest].sent_us;
}

/* How many of the messages in flight still arrive: all of them, when the system delivers them
 * for a process that has closed. */
static void cut(struct world *w, struct wire *x, bool all)
{
    unsigned left = 0, m;

    if (x->cut) {
        return;
    }
    for (m = x->unexecuted; m != x->unsent; m = w->messages[m].next) {
        left++;
    }
    x->cut = true;
    if (x->watch) {
        x->gone_us = w->now_us + draw_scale(&w->prng, 100, w->o.longest_us);
    }
    x->survivors = all ? left : left ? (unsigned)draw_upto(&w->prng, left) : 0;
    /* Messages in the socket of a server that is stopped have arrived. */
    x->survivors = x->survivors > x->held ? x->survivors : x->held;
    if (x->survivors > x->held && !w->healed && draw_chance(&w->prng, 500000)) {
        x->late_us = w->now_us + draw_scale(&w->prng, 1000, w->o.longest_us);
        w->quiet_us = rlk_time_max(w->quiet_us, x->late_us);
    }
}

void wire_close(struct world *w, unsigned wire, bool hard)
{
    struct wire *x = &w->wires[wire];

    cut(w, x, !hard);
    x->client_open = false;
}

void wire_break(struct world *w, unsigned wire)
{
    struct wire *x = &w->wires[wire];

    if (!x->cut && x->client_open) {
        uint64_t noticed_us = w->now_us + draw_tail(&w->prng, w->o.delay_us * 4);

        trace(w, "c%u-n%u  the connection breaks", x->client, x->node);
        cut(w, x, false);
        w->quiet_us = rlk_time_max(w->quiet_us, noticed_us);
        schedule_push(&w->schedule, noticed_us, EVENT_BROKEN, wire, 0, 0);
    }
}

void wire_server_ended(struct world *w, unsigned server)
{
    unsigned i;

    for (i = 0; i < w->n_wires; i++) {
        struct wire *x = &w->wires[i];

        if (x->server == server && x->server_open) {
            x->server_open = false;
            x->held = x->held_parts = 0;
            if (x->client_open && !x->cut) {
                uint64_t noticed_us = arrives_us(w, peer_of(w, x), w->now_us, false);

                x->cut = true;
                w->quiet_us = rlk_time_max(w->quiet_us, noticed_us);
                schedule_push(&w->schedule, noticed_us, EVENT_BROKEN, i, 0, 0);
            }
        }
    }
}

void wire_server_goes_on(struct world *w, unsigned server)
{
    unsigned i;

    for (i = 0; i < w->n_wires; i++) {
        struct wire *x = &w->wires[i];

        if (x->server == server && x->server_open) {
            x->held = 0;
            for (; x->held_parts > 0; x->held_parts--) {
                schedule_push(&w->schedule, w->now_us + draw_upto(&w->prng, 50), EVENT_REQUEST, i,
                              0, 0);
            }
        }
    }
}
