/* key.c - packing a world, and choosing one order for those that differ in names. */
#include "fence/key.h"

#include "fence/moves.h"

/* The widths: at most 126 bits, for five masters and three attempts. */
#define COUNTER_BITS 4u
#define PHASE_BITS 2u
#define FENCE_BITS 4u
#define ATTEMPT_BITS (PHASE_BITS + 2 * FENCE_BITS)

static unsigned owner_bits(const struct config *c)
{
    return c->attempts <= 3 ? 2 : 3;
}

static unsigned cell_bits(const struct config *c)
{
    return c->plain ? 5 : 4;
}

static unsigned node_bits(const struct config *c)
{
    return owner_bits(c) + COUNTER_BITS + 1 + c->attempts * cell_bits(c);
}

bool key_fits(const struct config *c)
{
    return c->nodes * node_bits(c) + c->attempts * ATTEMPT_BITS <= 128;
}

/* Without plain steps there is no YES and nothing UNREAD, which makes room. */
static unsigned pack_cell(const struct config *c, unsigned cell)
{
    if (c->plain || cell < CELL_YES) {
        return cell;
    }
    return cell == CELL_AGREES ? 3 : cell - CELL_READ + 4;
}

static unsigned unpack_cell(const struct config *c, unsigned code)
{
    if (c->plain || code < 3) {
        return code;
    }
    return code == 3 ? CELL_AGREES : code - 4 + CELL_READ;
}

/* ---- in ---- */

static uint64_t node_code(const struct world *w, const struct config *c, const uint8_t *order,
                          unsigned n)
{
    const struct node *node = &w->nodes[n];
    uint64_t code = 0;
    unsigned a, owner = 0;

    for (a = 0; a < c->attempts; a++) {
        owner = node->owner == order[a] + 1u ? a + 1 : owner;
        code = code << cell_bits(c) | pack_cell(c, w->cells[order[a]][n]);
    }
    code = code << owner_bits(c) | owner;
    code = code << COUNTER_BITS | node->counter;
    return code << 1 | node->forgot;
}

static void put(struct key *key, unsigned bits, uint64_t value)
{
    key->high = key->high << bits | key->low >> (64 - bits);
    key->low = key->low << bits | value;
}

static unsigned attempt_code(const struct world *w, unsigned a)
{
    const struct attempt *attempt = &w->attempts[a];

    return (((unsigned)attempt->phase << FENCE_BITS) | attempt->fence) << FENCE_BITS |
           attempt->floor;
}

static void sort(uint64_t *codes, unsigned n)
{
    unsigned i, j;

    for (i = 1; i < n; i++) {
        uint64_t code = codes[i];

        for (j = i; j > 0 && codes[j - 1] > code; j--) {
            codes[j] = codes[j - 1];
        }
        codes[j] = code;
    }
}

/* The attempts in this order, the masters in the order of what they are. */
static struct key key_in(const struct world *w, const struct config *c, const uint8_t *order)
{
    uint64_t codes[MAX_NODES];
    struct key key = {0};
    unsigned i;

    for (i = 0; i < c->attempts; i++) {
        put(&key, ATTEMPT_BITS, attempt_code(w, order[i]));
    }
    for (i = 0; i < c->nodes; i++) {
        codes[i] = node_code(w, c, order, i);
    }
    sort(codes, c->nodes);
    for (i = 0; i < c->nodes; i++) {
        put(&key, node_bits(c), codes[i]);
    }
    return key;
}

struct least {
    const struct world *w;
    const struct config *c;
    uint8_t order[MAX_ATTEMPTS];
    struct key key;
    bool any;
};

static bool is_less(struct key a, struct key b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Every order in which the attempts' own codes do not fall: more than one only when some are the
 * same. */
static void each_order(struct least *l, unsigned placed, unsigned used, unsigned code)
{
    unsigned a;

    if (placed == l->c->attempts) {
        struct key key = key_in(l->w, l->c, l->order);

        if (!l->any || is_less(key, l->key)) {
            l->key = key;
            l->any = true;
        }
        return;
    }
    for (a = 0; a < l->c->attempts; a++) {
        unsigned other, own = attempt_code(l->w, a);
        bool next = !(used >> a & 1) && own >= code;

        for (other = 0; next && other < l->c->attempts; other++) {
            next = (used >> other & 1) || attempt_code(l->w, other) >= own;
        }
        if (next) {
            l->order[placed] = (uint8_t)a;
            each_order(l, placed + 1, used | 1u << a, own);
        }
    }
}

struct key key_of(const struct world *w, const struct config *c)
{
    struct world settled = *w;
    struct least least = {.w = &settled, .c = c};

    if (!c->plain) {
        merged_settle(&settled, c);
    }
    each_order(&least, 0, 0, 0);
    return least.key;
}

/* ---- out ---- */

static unsigned take(struct key *key, unsigned bits)
{
    unsigned value = (unsigned)(key->low & ((1u << bits) - 1));

    key->low = key->low >> bits | key->high << (64 - bits);
    key->high >>= bits;
    return value;
}

/* What was put last is taken first. */
void key_world(struct key key, const struct config *c, struct world *ret_world)
{
    struct world *w = ret_world;
    unsigned a, n;

    *w = (struct world){0};
    for (n = c->nodes; n-- > 0;) {
        w->nodes[n].forgot = take(&key, 1);
        w->nodes[n].counter = (uint8_t)take(&key, COUNTER_BITS);
        w->nodes[n].owner = (uint8_t)take(&key, owner_bits(c));
        for (a = c->attempts; a-- > 0;) {
            w->cells[a][n] = (uint8_t)unpack_cell(c, take(&key, cell_bits(c)));
        }
    }
    for (a = c->attempts; a-- > 0;) {
        w->attempts[a].floor = (uint8_t)take(&key, FENCE_BITS);
        w->attempts[a].fence = (uint8_t)take(&key, FENCE_BITS);
        w->attempts[a].phase = (uint8_t)take(&key, PHASE_BITS);
    }
}
