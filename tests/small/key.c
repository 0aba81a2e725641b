/* key.c - packing a world, and choosing one order for those that differ in names. */
#include "small/key.h"

#include <string.h>

#include "search/hash.h"

#define WORDS_MASTER 3
#define WORDS (WORDS_MASTER * MASTERS + CLIENTS + 1)

/* Bits, packed from the lowest up. */
struct bits {
    uint64_t word;
    unsigned used;
};

static void put(struct bits *b, unsigned value, unsigned width)
{
    b->word |= (uint64_t)value << b->used;
    b->used += width;
}

/* A message is never 0, so the length needs no bits. */
static void put_queue(struct bits *b, const uint8_t *queue, unsigned n, unsigned room)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        b->word |= (uint64_t)queue[i] << (b->used + 4 * i);
    }
    b->used += 4 * room;
}

/* 36 + 16 + 12 bits. */
static uint64_t cell_word(const struct cell *cell)
{
    struct bits b = {0, 0};
    unsigned i;

    put_queue(&b, cell->requests, cell->n_requests, REQUESTS);
    put_queue(&b, cell->replies, cell->n_replies, REPLIES);
    for (i = 0; i < CLAIMS; i++) {
        put(&b, cell->pending[i], 3);
    }
    return b.word;
}

/* The master's own, a mark where the ghost is, and what the two clients know about it: 11 + 2 × 17
 * bits. */
static uint64_t master_word(const struct world *w, unsigned m, unsigned swap)
{
    const struct master *master = &w->masters[m];
    struct bits b = {0, 0};
    unsigned i;

    put(&b, master->has_key, 1);
    put(&b, master->has_key ? master->owner ^ swap : 0, 1);
    put(&b, master->token, 2);
    put(&b, master->left, 3);
    put(&b, master->away, 3);
    put(&b, w->ghost.n && w->ghost.master == m, 1);
    for (i = 0; i < CLIENTS; i++) {
        const struct packed *packed = &w->clients[i ^ swap].packed;

        put(&b, w->cells[i ^ swap][m].link, 3);
        put(&b, master->set[i ^ swap], 4);
        put(&b, packed->asked >> m & 1, 1);
        put(&b, packed->coming >> m & 1, 1);
        put(&b, packed->yes >> m & 1, 1);
        put(&b, packed->no >> m & 1, 1);
        put(&b, packed->unknown >> m & 1, 1);
        put(&b, packed->held_by_others >> m & 1, 1);
        put(&b, packed->age[m], 4);
    }
    return b.word;
}

static uint64_t client_word(const struct client *c)
{
    const struct packed *packed = &c->packed;
    struct bits b = {0, 0};

    put(&b, c->phase, 2);
    put(&b, c->attempts, 3);
    put(&b, c->report, 1);
    put(&b, c->timer, 4);
    put(&b, c->frozen, 2);
    put(&b, c->lost, CLAIMS);
    put(&b, packed->attempt, 3);
    put(&b, packed->round, 2);
    put(&b, packed->tries, 3);
    put(&b, packed->has_status, 1);
    put(&b, packed->has_reason, 1);
    put(&b, packed->retry, 4);
    put(&b, packed->give_up, 4);
    put(&b, packed->deadline, 4);
    put(&b, packed->end_of_round, 4);
    put(&b, packed->until, 4);
    put(&b, packed->asked_again, 3);
    return b.word;
}

static uint64_t rest_word(const struct world *w, unsigned swap)
{
    struct bits b = {0, 0};

    put(&b, w->faults, 8);
    put(&b, w->attempts, 4);
    put(&b, w->wrong, 4);
    put(&b, w->ghost.n ? w->ghost.client ^ swap : 0, 1);
    put_queue(&b, w->ghost.requests, w->ghost.n, REQUESTS);
    return b.word;
}

static void order(uint64_t a[WORDS_MASTER], uint64_t b[WORDS_MASTER])
{
    uint64_t spare[WORDS_MASTER];
    unsigned i;

    for (i = 0; i < WORDS_MASTER; i++) {
        if (a[i] != b[i]) {
            break;
        }
    }
    if (i < WORDS_MASTER && a[i] > b[i]) {
        memcpy(spare, a, sizeof(spare));
        memcpy(a, b, sizeof(spare));
        memcpy(b, spare, sizeof(spare));
    }
}

/* The words of the connections and of the clients, which have no names in them. */
struct parts {
    uint64_t cells[CLIENTS][MASTERS], clients[CLIENTS];
};

static void write_parts(const struct world *w, struct parts *p)
{
    unsigned c, m;

    for (c = 0; c < CLIENTS; c++) {
        p->clients[c] = client_word(&w->clients[c]);
        for (m = 0; m < MASTERS; m++) {
            p->cells[c][m] = cell_word(&w->cells[c][m]);
        }
    }
}

static void write_words(const struct world *w, const struct parts *p, unsigned swap, bool numbered,
                        uint64_t words[WORDS])
{
    unsigned m, c;

    for (m = 0; m < MASTERS; m++) {
        uint64_t *record = words + (size_t)m * WORDS_MASTER;

        record[0] = master_word(w, m, swap);
        for (c = 0; c < CLIENTS; c++) {
            record[1 + c] = p->cells[c ^ swap][m];
        }
    }
    if (!numbered) {
        order(words, words + WORDS_MASTER);
        order(words + WORDS_MASTER, words + 2 * WORDS_MASTER);
        order(words, words + WORDS_MASTER);
    }
    for (c = 0; c < CLIENTS; c++) {
        words[WORDS_MASTER * MASTERS + c] = p->clients[c ^ swap];
    }
    words[WORDS - 1] = rest_word(w, swap);
}

struct key key_of(const struct world *w, const struct config *c)
{
    bool numbered = c->plain || c->keeps_votes; /* the lowest node breaks a tie */
    uint64_t words[2][WORDS], *least = words[0];
    struct parts p;
    unsigned i;

    write_parts(w, &p);
    write_words(w, &p, 0, numbered, words[0]);
    if (!c->plain && !c->uneven) {
        write_words(w, &p, 1, numbered, words[1]);
        for (i = 0; i < WORDS - 1 && words[0][i] == words[1][i]; i++) {
        }
        least = words[1][i] < words[0][i] ? words[1] : words[0];
    }
    return hash_words(least, WORDS);
}
