/* master.c - the commands that a master knows. */
#include "small/master.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SET key token NX PX ttl. */
static enum reply_kind set(struct world *w, unsigned c, unsigned m, unsigned token)
{
    struct master *master = &w->masters[m];

    if (master->has_key) {
        return REPLY_NO;
    }
    if (master->set[c] >> token & 1) {
        w->wrong = WRONG_TOKEN;
    }
    master->set[c] |= (uint8_t)(1u << token);
    master->has_key = 1;
    master->owner = (uint8_t)c;
    master->token = (uint8_t)token;
    master->left = (uint8_t)limits.life;
    return REPLY_YES;
}

/* Compare and delete. */
static void release(struct master *master, unsigned c, unsigned token)
{
    if (master->has_key && master->owner == c && master->token == token) {
        master->has_key = master->owner = master->token = master->left = 0;
    }
}

static void reply(struct cell *cell, enum reply_kind kind, unsigned claim)
{
    if (cell->n_replies == REPLIES) {
        fprintf(stderr, "small: more replies on one connection than there is room for\n");
        abort();
    }
    cell->replies[cell->n_replies++] = message(kind, claim);
}

/* CLIENT KILL of the sender's old connection. */
static void end_ghost(struct world *w, unsigned c, unsigned m)
{
    if (w->ghost.client == c && w->ghost.master == m) {
        memset(&w->ghost, 0, sizeof(w->ghost));
    }
}

/* `cell`: where the reply goes. */
static void carry_out(struct world *w, unsigned c, unsigned m, uint8_t request, struct cell *cell)
{
    unsigned claim = message_claim(request), token = world_token(claim);
    enum reply_kind said;

    switch ((enum request_kind)message_kind(request)) {
    case REQUEST_SET:
        said = set(w, c, m, token);
        if (cell) {
            reply(cell, said, claim);
        }
        break;
    case REQUEST_RELEASE:
        release(&w->masters[m], c, token);
        break;
    case REQUEST_KILL:
        end_ghost(w, c, m);
        break;
    }
}

void master_read(struct world *w, unsigned c, unsigned m)
{
    struct cell *cell = &w->cells[c][m];
    uint8_t request = world_shift(cell->requests, &cell->n_requests);

    carry_out(w, c, m, request, cell->link == LINK_DEAD ? NULL : cell);
}

void master_read_ghost(struct world *w)
{
    uint8_t request = world_shift(w->ghost.requests, &w->ghost.n);

    carry_out(w, w->ghost.client, w->ghost.master, request, NULL);
}
