/* contention.c - who is active on which key.
 *
 * A key, and a set of several keys, is a record. It is *occupied* by so many: a key by each lock
 * that is held or asked for without waiting; a set by its head. For a request with one key the key
 * is its set. A contender that is BEHIND stands at one record of its own, always an occupied one.
 * When records are vacated, those who stand there are asked in the order of their arrival: each
 * becomes active, or moves to another record that is occupied.
 *
 * That keeps the order within a set. Take two of a set, both BEHIND. The one that became its head
 * did so first: it came when the set was vacant, or was the earliest of those that stood at the
 * set. The other one stands at the set until the head has passed. And a newcomer does not overtake
 * them, because the set is occupied. In particular: all requests for one key alone stand at that
 * key, and become active in the order in which they came.
 *
 * The work for one vacated record is not bounded by one contender: heads of different sets that
 * have this key among others move on to the next key that is occupied. It is at most one step for
 * each such set, however many requests stand behind its head. */
#include "lock/contention.h"

#include <string.h>

#include "base/alloc.h"
#include "lock/contention_key.h"
#include "node/claim.h"

/* ---- the keys of a contender ---- */

static bool is_set_of_several(const struct rlk_contender *who)
{
    return who->set && who->n_keys > 1;
}

static void forget_keys(struct rlk_contention *c, struct rlk_contender *who)
{
    if (is_set_of_several(who)) {
        rlk_contention_key_unref(&c->pool, &c->sets, who->set);
    }
    for (; who->n_keys > 0; who->n_keys--) {
        rlk_contention_key_unref(&c->pool, &c->keys, who->links[who->n_keys - 1].key);
    }
    if (who->links != &who->link) {
        rlk_free(who->links);
    }
    rlk_contender_init(who);
}

static void init_link(struct rlk_contender *who, unsigned i, struct rlk_contention_key *key)
{
    struct rlk_contention_link *l = &who->links[i];

    rlk_list_init(&l->link);
    l->key = key;
    l->contender = who;
}

/* False: out of memory; n_keys says how many are known. */
static bool refer_to_keys(struct rlk_contention *c, struct rlk_contender *who,
                          const struct rlk_claim *claim)
{
    const char *at = claim->key;
    unsigned i;

    who->links = &who->link;
    if (claim->n_keys > 1) {
        who->links = rlk_alloc(claim->n_keys * sizeof(*who->links));
    }
    for (i = 0; who->links && i < claim->n_keys; i++) {
        struct rlk_contention_key *key =
            rlk_contention_key_ref(&c->pool, &c->keys, at, claim->key_len[i]);

        if (key == NULL) {
            return false;
        }
        init_link(who, i, key);
        who->n_keys++;
        at += claim->key_len[i] + 1;
    }
    return who->links != NULL;
}

/* The same keys in another order are the same set. Records stay where they are while somebody
 * refers to them, so their addresses name the set. */
static struct rlk_contention_key *ref_set(struct rlk_contention *c, const struct rlk_contender *who)
{
    uintptr_t name[REDLOCK_MAX_KEYS];
    unsigned i, at;

    for (i = 0; i < who->n_keys; i++) {
        uintptr_t key = (uintptr_t)who->links[i].key;

        for (at = i; at > 0 && name[at - 1] > key; at--) {
            name[at] = name[at - 1];
        }
        name[at] = key;
    }
    return rlk_contention_key_ref(&c->pool, &c->sets, name, who->n_keys * sizeof(name[0]));
}

static bool refer(struct rlk_contention *c, struct rlk_contender *who,
                  const struct rlk_claim *claim, bool may_wait)
{
    bool known = refer_to_keys(c, who, claim);

    if (known && may_wait) {
        who->set = who->n_keys > 1 ? ref_set(c, who) : who->link.key;
        known = who->set != NULL;
    }
    if (!known) {
        forget_keys(c, who);
    }
    return known;
}

/* ---- turns ---- */

static void occupy_keys(struct rlk_contender *who)
{
    unsigned i;

    who->occupies_keys = true;
    for (i = 0; i < who->n_keys; i++) {
        who->links[i].key->occupied++;
    }
}

/* It is listed while somebody may want to wake it. */
static void list(struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        rlk_list_push(&who->links[i].key->contenders, &who->links[i].link);
    }
}

static void unlist(struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        rlk_list_remove(&who->links[i].link);
    }
}

/* What keeps it from being active; NULL: nothing does. */
static struct rlk_contention_key *obstacle(const struct rlk_contender *who)
{
    unsigned i;

    if (!who->is_head && who->set->occupied > 0) {
        return who->set;
    }
    for (i = 0; i < who->n_keys; i++) {
        if (who->links[i].key->occupied > 0) {
            return who->links[i].key;
        }
    }
    return NULL;
}

/* Find the place of one that may wait. */
static void place(struct rlk_contender *who)
{
    who->at = obstacle(who);
    if (who->at != who->set && !who->is_head) {
        who->is_head = true;
        who->set->occupied++;
    }
    if (who->at) {
        who->state = RLK_CONTENDER_BEHIND;
        rlk_heap_insert(&who->at->behind, &who->behind);
    } else {
        who->state = RLK_CONTENDER_ACTIVE;
        list(who);
    }
}

static void vacate(struct rlk_contender *who)
{
    unsigned i;

    if (who->is_head) {
        who->set->occupied--;
    }
    for (i = 0; who->occupies_keys && i < who->n_keys; i++) {
        who->links[i].key->occupied--;
    }
    who->is_head = who->occupies_keys = false;
}

static struct rlk_heap_node *earlier(struct rlk_heap_node *first,
                                     const struct rlk_contention_key *key)
{
    struct rlk_heap_node *other = key->occupied == 0 ? key->behind.root : NULL;

    return first == NULL || (other && other->key < first->key) ? other : first;
}

/* The earliest of those that stand at one of its records, now vacant; NULL: nobody does. */
static struct rlk_contender *next_after(const struct rlk_contender *who)
{
    struct rlk_heap_node *first = who->set ? earlier(NULL, who->set) : NULL;
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        first = earlier(first, who->links[i].key);
    }
    return first ? RLK_CONTAINER(first, struct rlk_contender, behind) : NULL;
}

static void stop_standing(struct rlk_contender *who)
{
    rlk_heap_remove(&who->at->behind, &who->behind);
    who->at = NULL;
}

static void pass_turn(struct rlk_contention *c, const struct rlk_contender *who)
{
    struct rlk_contender *next;

    while ((next = next_after(who)) != NULL) {
        stop_standing(next);
        place(next);
        if (next->state == RLK_CONTENDER_ACTIVE) {
            rlk_list_push(&c->ready, &next->ready);
        }
    }
}

/* One that is started may fail at once, and pass its turn on: that only adds to the list. So the
 * end of 10,000 requests is a loop, and no recursion. */
static void start_ready(struct rlk_contention *c)
{
    struct rlk_list *link;

    if (c->starting) {
        return;
    }
    c->starting = true;
    while ((link = rlk_list_pop(&c->ready)) != NULL) {
        c->start(RLK_CONTAINER(link, struct rlk_contender, ready));
    }
    c->starting = false;
}

/* ---- what the drivers call ---- */

void rlk_contention_init(struct rlk_contention *c, const struct rlk_hash_seed *seed,
                         void (*start)(struct rlk_contender *who))
{
    rlk_table_init(&c->keys, seed);
    rlk_table_init(&c->sets, seed);
    rlk_pool_init(&c->pool, RLK_CONTENTION_KEEP_KEYS);
    c->arrivals = 0;
    c->start = start;
    rlk_list_init(&c->ready);
    c->starting = c->stopped = false;
    memset(c->woken, 0, sizeof(c->woken));
}

void rlk_contention_end(struct rlk_contention *c)
{
    rlk_table_end(&c->keys);
    rlk_table_end(&c->sets);
    rlk_pool_end(&c->pool);
}

void rlk_contention_stop(struct rlk_contention *c)
{
    c->stopped = true;
}

void rlk_contender_init(struct rlk_contender *who)
{
    who->state = RLK_CONTENDER_OUT;
    who->is_head = who->occupies_keys = false;
    who->n_keys = 0;
    who->set = who->at = NULL;
    who->links = NULL;
    rlk_list_init(&who->ready);
}

bool rlk_contention_enter(struct rlk_contention *c, struct rlk_contender *who,
                          const struct rlk_claim *claim, bool may_wait)
{
    if (!refer(c, who, claim, may_wait)) {
        return false;
    }
    who->behind.key = c->arrivals++;
    if (may_wait) {
        place(who);
    } else {
        who->state = RLK_CONTENDER_ACTIVE;
        occupy_keys(who);
    }
    return true;
}

void rlk_contention_hold(struct rlk_contender *who)
{
    who->state = RLK_CONTENDER_HOLDS;
    unlist(who);
    if (!who->occupies_keys) {
        occupy_keys(who);
    }
}

void rlk_contention_pass(struct rlk_contention *c, struct rlk_contender *who)
{
    if (who->state == RLK_CONTENDER_OUT || who->state == RLK_CONTENDER_PASSED) {
        return;
    }
    if (who->at) {
        stop_standing(who);
    }
    who->state = RLK_CONTENDER_PASSED;
    rlk_list_remove(&who->ready);
    unlist(who);
    vacate(who);
    if (!c->stopped) {
        pass_turn(c, who);
        start_ready(c);
    }
}

void rlk_contention_leave(struct rlk_contention *c, struct rlk_contender *who)
{
    rlk_contention_pass(c, who);
    if (who->state != RLK_CONTENDER_OUT) {
        forget_keys(c, who);
    }
}

struct rlk_contender *rlk_contention_find(struct rlk_contention *c, const void *bytes, size_t len,
                                          const struct rlk_contender *after)
{
    struct rlk_contention_key *key = rlk_contention_key_find(&c->keys, bytes, len);
    struct rlk_list *link;
    bool found = after == NULL;

    for (link = key ? key->contenders.next : NULL; link && link != &key->contenders;
         link = link->next) {
        struct rlk_contender *who =
            RLK_CONTAINER(link, struct rlk_contention_link, link)->contender;

        if (found) {
            return who;
        }
        found = who == after;
    }
    return NULL;
}

bool rlk_contention_is_used(struct rlk_contention *c, const void *bytes, size_t len)
{
    const struct rlk_contention_key *key = rlk_contention_key_find(&c->keys, bytes, len);

    return key && (key->occupied > 0 || !rlk_list_empty(&key->contenders));
}

/* Whether there are links other than this one. */
static bool has_others(const struct rlk_list *contenders, const struct rlk_list *own)
{
    const struct rlk_list *first = contenders->next == own ? own->next : contenders->next;

    return first != contenders;
}

bool rlk_contention_is_shared(const struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        if (has_others(&who->links[i].key->contenders, &who->links[i].link)) {
            return true;
        }
    }
    return false;
}

void rlk_contention_note_woken(struct rlk_contention *c, struct rlk_contender *who,
                               uint64_t until_us)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        uint64_t hash = who->links[i].key->entry.hash;

        who->links[i].key->contended = true;
        c->woken[hash % RLK_CONTENTION_WOKEN] = (struct rlk_contention_woken){hash, until_us};
    }
}

void rlk_contention_forget_woken(struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        who->links[i].key->contended = false;
    }
}

/* Two keys with one hash cost a request for a place. */
static bool was_woken(const struct rlk_contention *c, uint64_t hash, uint64_t now_us)
{
    const struct rlk_contention_woken *w = &c->woken[hash % RLK_CONTENTION_WOKEN];

    return w->hash == hash && now_us < w->until_us;
}

bool rlk_contention_is_contended(const struct rlk_contention *c, const struct rlk_contender *who,
                                 uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        const struct rlk_contention_key *key = who->links[i].key;

        if (key->contended || was_woken(c, key->entry.hash, now_us)) {
            return true;
        }
    }
    return false;
}
