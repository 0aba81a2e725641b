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

/* What a client knows about a master: KNOWN bits. */
#define KNOWN 13

static uint64_t known_word(const struct packed *packed, const struct cell *cell, unsigned m)
{
    struct bits b = {0, 0};

    put(&b, cell->link, 3);
    put(&b, packed->asked >> m & 1, 1);
    put(&b, packed->coming >> m & 1, 1);
    put(&b, packed->yes >> m & 1, 1);
    put(&b, packed->no >> m & 1, 1);
    put(&b, packed->unknown >> m & 1, 1);
    put(&b, packed->held_by_others >> m & 1, 1);
    put(&b, packed->age[m], 4);
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

/* What has no names in it. A step leaves most of a world as it was: each word is kept with what it
 * was made of, until that changes. */
struct parts {
    struct cell cell_of[CLIENTS][MASTERS];
    struct client client_of[CLIENTS];
    uint64_t cells[CLIENTS][MASTERS], known[CLIENTS][MASTERS], clients[CLIENTS];
};

static void write_parts_of(const struct world *w, unsigned c, struct parts *p)
{
    const struct client *client = &w->clients[c];
    bool is_new = memcmp(&p->client_of[c], client, sizeof(*client)) != 0;
    unsigned m;

    if (is_new) {
        p->client_of[c] = *client;
        p->clients[c] = client_word(client);
    }
    for (m = 0; m < MASTERS; m++) {
        const struct cell *cell = &w->cells[c][m];
        bool is_new_cell = memcmp(&p->cell_of[c][m], cell, sizeof(*cell)) != 0;

        if (is_new_cell) {
            p->cell_of[c][m] = *cell;
            p->cells[c][m] = cell_word(cell);
        }
        if (is_new || is_new_cell) {
            p->known[c][m] = known_word(&client->packed, cell, m);
        }
    }
}

/* The master's own, a mark where the ghost is, and what the two clients know about it: 11 + 2 × 17
 * bits. */
static uint64_t master_word(const struct world *w, const struct parts *p, unsigned m, unsigned swap)
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
        put(&b, (unsigned)p->known[i ^ swap][m], KNOWN);
        put(&b, master->set[i ^ swap], CLAIMS);
    }
    return b.word;
}

static void write_words(const struct world *w, const struct parts *p, unsigned swap, bool numbered,
                        uint64_t words[WORDS])
{
    unsigned m, c;

    for (m = 0; m < MASTERS; m++) {
        uint64_t *record = words + (size_t)m * WORDS_MASTER;

        record[0] = master_word(w, p, m, swap);
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

/* Which client comes first: the one with the lesser word; of equal ones, that whose masters' words
 * are less. */
static const uint64_t *least_words(const struct world *w, const struct parts *p, bool numbered,
                                   uint64_t words[2][WORDS])
{
    unsigned i;

    if (p->clients[0] != p->clients[1]) {
        write_words(w, p, p->clients[1] < p->clients[0], numbered, words[0]);
        return words[0];
    }
    write_words(w, p, 0, numbered, words[0]);
    write_words(w, p, 1, numbered, words[1]);
    for (i = 0; i < WORDS - 1 && words[0][i] == words[1][i]; i++) {
    }
    return words[1][i] < words[0][i] ? words[1] : words[0];
}

struct key key_of(const struct world *w, const struct config *c)
{
    static struct parts p;                      /* of zeros, which make the word 0 */
    bool numbered = c->plain || c->keeps_votes; /* the lowest node breaks a tie */
    uint64_t words[2][WORDS];
    const uint64_t *least = words[0];

    write_parts_of(w, 0, &p);
    write_parts_of(w, 1, &p);
    if (c->plain || c->uneven) {
        write_words(w, &p, 0, numbered, words[0]);
    } else {
        least = least_words(w, &p, numbered, words);
    }
    return hash_words(least, WORDS);
}
