/* moves.c - which moves a world has, and making them. */
#include "small/moves.h"

#include "core/attempt.h"
#include "small/check.h"
#include "small/drive.h"
#include "small/faults.h"
#include "small/master.h"

/* What all moves need: the world before, and the function that gets the world after. */
struct walk {
    const struct world *from;
    on_move *f;
    void *arg;
};

static void apply(struct world *w, const struct move *m)
{
    switch ((enum move_kind)m->kind) {
    case MOVE_TICK:
        world_tick(w);
        break;
    case MOVE_START:
        drive_start(w, m->client, m->detail);
        break;
    case MOVE_REQUEST:
        master_read(w, m->client, m->master);
        break;
    case MOVE_GHOST:
        master_read_ghost(w);
        break;
    case MOVE_REPLY:
        drive_reply(w, m->client, m->master);
        break;
    case MOVE_TIMER:
        drive_timer(w, m->client, m->detail);
        break;
    case MOVE_TELL:
        drive_tell(w, m->client);
        break;
    case MOVE_LET_GO:
        drive_let_go(w, m->client);
        break;
    case MOVE_CANCEL:
        drive_cancel(w, m->client);
        break;
    case MOVE_NOTICE:
        drive_broken(w, m->client, m->master);
        break;
    case MOVE_UP:
        drive_up(w, m->client, m->master);
        break;
    case MOVE_DOWN:
        drive_down(w, m->client, m->master);
        break;
    case MOVE_FAULT:
        fault_strike(w, (enum fault)m->detail, m->client, m->master);
        break;
    }
}

static void go(const struct walk *walk, enum move_kind kind, unsigned c, unsigned m,
               unsigned detail)
{
    struct move move = {(uint8_t)kind, (uint8_t)c, (uint8_t)m, (uint8_t)detail};
    struct world after = *walk->from;

    apply(&after, &move);
    if (after.wrong == WRONG_NOTHING) {
        after.wrong = (uint8_t)check_world(&after);
    }
    world_settle(&after, walk->from);
    walk->f(&after, &move, walk->arg);
}

/* A round may begin: once for each set of nodes that it may have to leave out. */
static void go_asking(const struct walk *walk, enum move_kind kind, unsigned c)
{
    unsigned sure, perhaps, some;

    drive_nodes(walk->from, c, &sure, &perhaps);
    for (some = perhaps;; some = (some - 1) & perhaps) {
        go(walk, kind, c, 0, sure | some);
        if (some == 0) {
            break;
        }
    }
}

static void moves_of_client(const struct walk *walk, unsigned c)
{
    const struct client *client = &walk->from->clients[c];

    switch ((enum phase)client->phase) {
    case PHASE_IDLE:
        if (walk->from->attempts > 0 && client->attempts < config.each) {
            go_asking(walk, MOVE_START, c);
        }
        break;
    case PHASE_PENDING:
        if (client->report) {
            go(walk, MOVE_TELL, c, 0, 0);
        }
        if (client->timer == 0 && client->packed.attempt == RLK_ATTEMPT_WAITING) {
            go_asking(walk, MOVE_TIMER, c);
        } else if (client->timer == 0) {
            go(walk, MOVE_TIMER, c, 0, 0);
        }
        if (client->packed.attempt != RLK_ATTEMPT_FAILED) {
            go(walk, MOVE_CANCEL, c, 0, 0);
        }
        break;
    case PHASE_HELD:
        go(walk, MOVE_LET_GO, c, 0, 0);
        break;
    case PHASE_CRASHED:
        break;
    }
}

static void moves_of_connection(const struct walk *walk, unsigned c, unsigned m)
{
    const struct cell *cell = &walk->from->cells[c][m];

    if (cell->n_requests && (cell->link == LINK_UP || cell->link == LINK_DEAD)) {
        go(walk, MOVE_REQUEST, c, m, 0);
    }
    if (cell->n_replies) {
        go(walk, MOVE_REPLY, c, m, 0);
    }
    if (cell->link == LINK_CUT) {
        go(walk, MOVE_NOTICE, c, m, 0);
    }
    if (cell->link == LINK_DOWN && walk->from->masters[m].away == 0) {
        go(walk, MOVE_UP, c, m, 0);
    }
    /* Matters only to a round that counts on it. */
    if (cell->link == LINK_DOWN && (walk->from->clients[c].packed.coming >> m & 1)) {
        go(walk, MOVE_DOWN, c, m, 0);
    }
}

static void moves_of_fault(const struct walk *walk, enum fault fault)
{
    unsigned c, m;

    for (c = 0; c < CLIENTS; c++) {
        for (m = 0; m < MASTERS; m++) {
            if (fault_possible(walk->from, fault, c, m)) {
                go(walk, MOVE_FAULT, c, m, fault);
            }
        }
    }
}

void moves_each(const struct world *w, const struct config *chosen, on_move *f, void *arg)
{
    struct walk walk = {w, f, arg};
    unsigned c, m, fault;

    go(&walk, MOVE_TICK, 0, 0, 0);
    for (c = 0; c < CLIENTS; c++) {
        moves_of_client(&walk, c);
        for (m = 0; m < MASTERS; m++) {
            moves_of_connection(&walk, c, m);
        }
    }
    if (w->ghost.n) {
        go(&walk, MOVE_GHOST, w->ghost.client, w->ghost.master, 0);
    }
    for (fault = 1; fault <= FAULT_ERROR; fault <<= 1) {
        if (chosen->faults & ~w->faults & fault) {
            moves_of_fault(&walk, (enum fault)fault);
        }
    }
}
