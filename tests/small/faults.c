/* faults.c - what each fault changes. */
#include "small/faults.h"

#include <string.h>

#include "small/drive.h"
#include "small/packed.h"

/* For how long a frozen clock stops. */
#define FREEZE_TICKS 2

bool fault_possible(const struct world *w, enum fault fault, unsigned c, unsigned m)
{
    switch (fault) {
    case FAULT_BREAK:
        return w->cells[c][m].link == LINK_UP && w->clients[c].phase != PHASE_CRASHED;
    case FAULT_ERROR:
        return w->cells[c][m].n_replies > 0;
    case FAULT_CRASH:
        return m == 0 && w->clients[c].phase != PHASE_CRASHED;
    case FAULT_FREEZE:
        return m == 0 && w->clients[c].phase != PHASE_CRASHED;
    case FAULT_RESTART:
    case FAULT_FORGET:
    case FAULT_EMPTY:
        return c == 0 && w->masters[m].away == 0;
    case FAULT_JUMP:
        return c == 0 && w->masters[m].has_key;
    }
    return false;
}

static void clear_requests(struct cell *cell)
{
    memset(cell->requests, 0, sizeof(cell->requests));
    cell->n_requests = 0;
}

static void clear_replies(struct cell *cell)
{
    memset(cell->replies, 0, sizeof(cell->replies));
    cell->n_replies = 0;
}

/* Everything in flight stays in the master's socket. The master reads as much of it as it likes,
 * whenever it likes, until the connection is killed. */
static void break_connection(struct world *w, unsigned c, unsigned m)
{
    struct cell *cell = &w->cells[c][m];

    w->ghost.client = (uint8_t)c;
    w->ghost.master = (uint8_t)m;
    w->ghost.n = cell->n_requests;
    memcpy(w->ghost.requests, cell->requests, sizeof(w->ghost.requests));
    drive_broken(w, c, m);
}

/* The client's requests stay in flight; nobody reads the replies. */
static void crash(struct world *w, unsigned c)
{
    struct client *client = &w->clients[c];
    unsigned m;

    memset(client, 0, sizeof(*client));
    client->phase = PHASE_CRASHED;
    client->timer = TICKS_NEVER;
    packed_clear(&client->packed);
    for (m = 0; m < MASTERS; m++) {
        struct cell *cell = &w->cells[c][m];

        if (cell->link != LINK_UP) {
            clear_requests(cell);
        }
        clear_replies(cell);
        memset(cell->pending, 0, sizeof(cell->pending));
        cell->link = LINK_DEAD;
    }
}

/* Replies in flight still arrive. Requests do not, but the clients do not know that. What they send
 * until they notice is lost with the rest. */
static void restart(struct world *w, unsigned m, bool keeps, unsigned away)
{
    unsigned c;

    for (c = 0; c < CLIENTS; c++) {
        struct cell *cell = &w->cells[c][m];

        if (cell->link == LINK_UP) {
            cell->link = LINK_CUT;
        } else if (cell->link == LINK_DEAD) {
            clear_requests(cell);
        }
    }
    if (w->ghost.master == m) {
        memset(&w->ghost, 0, sizeof(w->ghost));
    }
    w->masters[m].away = (uint8_t)away;
    if (!keeps) {
        w->masters[m].has_key = w->masters[m].owner = 0;
        w->masters[m].token = w->masters[m].left = 0;
    }
}

void fault_strike(struct world *w, enum fault fault, unsigned c, unsigned m)
{
    w->faults |= (uint8_t)fault;
    switch (fault) {
    case FAULT_BREAK:
        break_connection(w, c, m);
        break;
    case FAULT_ERROR:
        w->cells[c][m].replies[0] = message(REPLY_ERROR, message_claim(w->cells[c][m].replies[0]));
        drive_reply(w, c, m);
        break;
    case FAULT_CRASH:
        crash(w, c);
        break;
    case FAULT_RESTART:
        restart(w, m, true, 0);
        break;
    case FAULT_FORGET:
        restart(w, m, false, limits.life + 1);
        break;
    case FAULT_EMPTY:
        restart(w, m, false, 0);
        break;
    case FAULT_JUMP:
        w->masters[m].has_key = w->masters[m].owner = 0;
        w->masters[m].token = w->masters[m].left = 0;
        break;
    case FAULT_FREEZE:
        w->clients[c].frozen = FREEZE_TICKS;
        break;
    }
}

static const struct {
    enum fault fault;
    const char *name;
} names[] = {
    {FAULT_BREAK, "break"},   {FAULT_CRASH, "crash"}, {FAULT_RESTART, "restart"},
    {FAULT_FORGET, "forget"}, {FAULT_EMPTY, "empty"}, {FAULT_JUMP, "jump"},
    {FAULT_FREEZE, "freeze"}, {FAULT_ERROR, "error"},
};

const char *fault_name(enum fault fault)
{
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].fault == fault) {
            return names[i].name;
        }
    }
    return NULL;
}

unsigned fault_by_name(const char *name, unsigned len)
{
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0) {
            return names[i].fault;
        }
    }
    return 0;
}
