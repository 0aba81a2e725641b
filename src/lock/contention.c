/* contention.c - who is active on which key.
 *
 * There is a record for each key, and for each set of several keys. It counts by whom it is
 * *occupied*: a key by each lock that is held or asked for without waiting; a set by its head. For
 * a request with one key the key is its set. A contender that is BEHIND waits at one record of its
 * own, always an occupied one. When records are vacated, the contenders that wait there get their
 * chance in the order of their arrival: each becomes active, or moves to another occupied record.
 *
 * That keeps the order within a set. Take two of a set, both BEHIND. The one that became its head
 * came when the set was vacant, or was the earliest of those that waited at the set. The other one
 * waits at the set until the head has passed. And a newcomer does not overtake them, because the
 * set is occupied. In particular, all requests for one key alone wait at that key, and become
 * active in the order in which they came.
 *
 * The work for one vacated record is not bounded by one contender: heads of different sets that
 * have this key among others move on to the next key that is occupied. It is at most one step for
 * each such set, however many requests wait behind its head. */
#include "lock/contention.h"

#include <string.h>

#include "lock/contention_key.h"
#include "node/claim.h"

/* ---- the keys of a contender ---- */

static struct rlk_contention_key *const *keys_of(const struct rlk_contender *who)
{
    return who->n_keys > 1 ? who->keys : &who->key;
}

/* NULL: it cannot wait. */
static struct rlk_contention_key *set_of(const struct rlk_contender *who)
{
    return who->may_wait ? keys_of(who)[who->n_keys > 1 ? who->n_keys : 0] : NULL;
}

static size_t size_of_keys(unsigned n_keys)
{
    return (n_keys + 1) * sizeof(struct rlk_contention_key *);
}

static void drop_keys(struct rlk_contention *c, struct rlk_contender *who)
{
    struct rlk_contention_key *const *keys = keys_of(who);
    unsigned i;

    if (who->n_keys > 1 && keys[who->n_keys]) {
        rlk_contention_key_unref(c->pool, &c->sets, keys[who->n_keys]);
    }
    for (i = 0; i < who->n_keys; i++) {
        if (keys[i]) {
            rlk_contention_key_unref(c->pool, &c->keys, keys[i]);
        }
    }
    if (who->n_keys > 1) {
        rlk_pool_give(c->pool, who->keys, size_of_keys(who->n_keys));
    }
    rlk_contender_init(who);
}

/* False: out of memory; those that are not known are NULL. */
static bool refer_to_keys(struct rlk_contention *c, struct rlk_contender *who,
                          const struct rlk_claim *claim)
{
    struct rlk_contention_key **keys = &who->key;
    const char *at = rlk_claim_keys(claim);
    bool known = true;
    unsigned i;

    if (claim->n_keys > 1) {
        keys = rlk_pool_take(c->pool, size_of_keys(claim->n_keys));
        if (keys == NULL) {
            return false;
        }
        keys[claim->n_keys] = NULL;
        who->keys = keys;
    }
    for (i = 0; i < claim->n_keys; i++) {
        keys[i] = rlk_contention_key_ref(c->pool, &c->keys, at, claim->key_len[i], true);
        known = known && keys[i];
        at += claim->key_len[i] + 1;
    }
    who->n_keys = claim->n_keys;
    return known;
}

/* The same keys in another order are the same set. Records stay where they are while somebody
 * refers to them, so their addresses name the set. */
static struct rlk_contention_key *ref_set(struct rlk_contention *c, const struct rlk_contender *who)
{
    uintptr_t name[REDLOCK_MAX_KEYS];
    unsigned i, at;

    for (i = 0; i < who->n_keys; i++) {
        uintptr_t key = (uintptr_t)keys_of(who)[i];

        for (at = i; at > 0 && name[at - 1] > key; at--) {
            name[at] = name[at - 1];
        }
        name[at] = key;
    }
    return rlk_contention_key_ref(c->pool, &c->sets, name, who->n_keys * sizeof(name[0]), false);
}

/* False: out of memory. */
static bool init_wait(struct rlk_contention *c, struct rlk_contender *who,
                      struct rlk_contention_wait *t)
{
    unsigned i;

    t->links = &t->link;
    if (who->n_keys > 1) {
        t->links = rlk_pool_take(c->pool, who->n_keys * sizeof(*t->links));
    }
    if (t->links == NULL) {
        return false;
    }
    for (i = 0; i < who->n_keys; i++) {
        rlk_list_init(&t->links[i].link);
        t->links[i].contender = who;
    }
    t->contender = who;
    t->at = NULL;
    t->has_failed = false;
    rlk_list_init(&t->failed);
    rlk_list_init(&t->ready);
    who->wait = t;
    return true;
}

/* wait: NULL: it does not wait. */
static bool refer(struct rlk_contention *c, struct rlk_contender *who,
                  struct rlk_contention_wait *wait, const struct rlk_claim *claim)
{
    bool known = refer_to_keys(c, who, claim);

    if (known && wait) {
        who->may_wait = true;
        if (who->n_keys > 1) {
            who->keys[who->n_keys] = ref_set(c, who);
        }
        known = set_of(who) != NULL && init_wait(c, who, wait);
    }
    if (!known) {
        drop_keys(c, who);
    }
    return known;
}

/* ---- waiting ---- */

static void occupy_keys(struct rlk_contender *who)
{
    unsigned i;

    who->occupies_keys = true;
    for (i = 0; i < who->n_keys; i++) {
        keys_of(who)[i]->occupied++;
    }
}

/* It is listed so that a wake can find it. */
static void list(struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        rlk_list_push(&keys_of(who)[i]->contenders, &who->wait->links[i].link);
    }
}

static void unlist(struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        rlk_list_remove(&who->wait->links[i].link);
    }
}

/* What keeps it from being active; NULL: nothing does. */
static struct rlk_contention_key *obstacle(const struct rlk_contender *who)
{
    unsigned i;

    if (!who->is_head && set_of(who)->occupied > 0) {
        return set_of(who);
    }
    for (i = 0; i < who->n_keys; i++) {
        if (keys_of(who)[i]->occupied > 0) {
            return keys_of(who)[i];
        }
    }
    return NULL;
}

/* Make a contender that may wait ACTIVE, or put it BEHIND the record that stops it. */
static void place(struct rlk_contender *who)
{
    struct rlk_contention_wait *t = who->wait;

    t->at = obstacle(who);
    if (t->at != set_of(who) && !who->is_head) {
        who->is_head = true;
        set_of(who)->occupied++;
    }
    if (t->at) {
        who->state = RLK_CONTENDER_BEHIND;
        rlk_heap_insert(&t->at->behind, &t->behind);
    } else {
        who->state = RLK_CONTENDER_ACTIVE;
        list(who);
    }
}

static void vacate(struct rlk_contender *who)
{
    unsigned i;

    if (who->is_head) {
        set_of(who)->occupied--;
    }
    for (i = 0; who->occupies_keys && i < who->n_keys; i++) {
        keys_of(who)[i]->occupied--;
    }
    who->is_head = who->occupies_keys = false;
}

static struct rlk_heap_node *earlier(struct rlk_heap_node *first,
                                     const struct rlk_contention_key *key)
{
    struct rlk_heap_node *other = key->occupied == 0 ? key->behind.root : NULL;

    return first == NULL || (other && other->key < first->key) ? other : first;
}

/* The earliest of those that wait at one of its records, now vacant; NULL: nobody waits there. */
static struct rlk_contender *next_after(const struct rlk_contender *who)
{
    const struct rlk_contention_key *set = set_of(who);
    struct rlk_heap_node *first = set ? earlier(NULL, set) : NULL;
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        first = earlier(first, keys_of(who)[i]);
    }
    return first ? RLK_CONTAINER(first, struct rlk_contention_wait, behind)->contender : NULL;
}

/* ---- those who have failed [W2] ---- */

/* A contender that is started reads its state then. */
static void make_ready(struct rlk_contention *c, struct rlk_contender *who)
{
    rlk_list_remove(&who->wait->ready);
    rlk_list_push(&c->ready, &who->wait->ready);
}

/* It is the last of them. */
static void note_failure(struct rlk_contender *who)
{
    struct rlk_contention_key *set = set_of(who);

    who->wait->has_failed = true;
    if (set->failed) {
        rlk_list_push(&set->failed->wait->failed, &who->wait->failed);
    } else {
        set->failed = who;
    }
}

static void clear_failure(struct rlk_contender *who)
{
    struct rlk_contention_wait *t = who->wait;
    struct rlk_list *next = t->failed.next;

    if (t->has_failed && set_of(who)->failed == who) {
        set_of(who)->failed =
            next == &t->failed ? NULL
                               : RLK_CONTAINER(next, struct rlk_contention_wait, failed)->contender;
    }
    rlk_list_remove(&t->failed);
    t->has_failed = false;
}

/* The first of them rests next, unless it already has: then it waits at a record, or asks. */
static void rest_next(struct rlk_contention *c, const struct rlk_contention_key *set)
{
    struct rlk_contender *first = set ? set->failed : NULL;

    if (first && first->state == RLK_CONTENDER_BEHIND && first->wait->at == NULL) {
        first->state = RLK_CONTENDER_RESTS;
        make_ready(c, first);
    }
}

/* One of them got the lock. */
static void line_up_all(struct rlk_contention_key *set)
{
    struct rlk_contender *who;

    while ((who = set->failed) != NULL) {
        clear_failure(who);
        place(who);
    }
}

/* ---- the end of waiting ---- */

static void stop_waiting(struct rlk_contention_wait *t)
{
    rlk_heap_remove(&t->at->behind, &t->behind);
    t->at = NULL;
}

/* It no longer waits for its turn, nor for a wake. */
static void end_wait(const struct rlk_contention *c, struct rlk_contender *who)
{
    struct rlk_contention_wait *t = who->wait;

    if (t == NULL) {
        return;
    }
    if (t->at) {
        stop_waiting(t);
    }
    clear_failure(who);
    rlk_list_remove(&t->ready);
    unlist(who);
    if (t->links != &t->link) {
        rlk_pool_give(c->pool, t->links, who->n_keys * sizeof(*t->links));
    }
    who->wait = NULL;
}

static void start_next(struct rlk_contention *c, const struct rlk_contender *who)
{
    struct rlk_contender *next;

    while ((next = next_after(who)) != NULL) {
        stop_waiting(next->wait);
        place(next);
        if (next->state == RLK_CONTENDER_ACTIVE) {
            make_ready(c, next);
        }
    }
}

/* A contender that is started may fail at once and let the next one start: that only adds to the
 * list. So the end of 10,000 requests is a loop, and no recursion. */
static void start_ready(struct rlk_contention *c)
{
    struct rlk_list *link;

    if (c->starting) {
        return;
    }
    c->starting = true;
    while ((link = rlk_list_pop(&c->ready)) != NULL) {
        c->start(RLK_CONTAINER(link, struct rlk_contention_wait, ready)->contender);
    }
    c->starting = false;
}

/* ---- what the drivers call ---- */

void rlk_contention_init(struct rlk_contention *c, struct rlk_pool *pool,
                         const struct rlk_hash_seed *seed, void (*start)(struct rlk_contender *who))
{
    rlk_table_init(&c->keys, seed);
    rlk_table_init(&c->sets, seed);
    c->pool = pool;
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
    who->may_wait = false;
    who->key = NULL;
    who->wait = NULL;
}

bool rlk_contention_enter(struct rlk_contention *c, struct rlk_contender *who,
                          struct rlk_contention_wait *wait, const struct rlk_claim *claim)
{
    if (!refer(c, who, wait, claim)) {
        return false;
    }
    if (wait) {
        wait->behind.key = c->arrivals++;
        place(who);
    } else {
        who->state = RLK_CONTENDER_ACTIVE;
        occupy_keys(who);
    }
    return true;
}

void rlk_contention_rest(struct rlk_contention *c, struct rlk_contender *who)
{
    struct rlk_contention_wait *t = who->wait;

    who->state = RLK_CONTENDER_BEHIND;
    t->behind.key = c->arrivals++;
    unlist(who);
    vacate(who);
    clear_failure(who);
    note_failure(who);
    make_ready(c, who);
    start_next(c, who);
    rest_next(c, set_of(who));
    start_ready(c);
}

void rlk_contention_line_up(struct rlk_contender *who)
{
    place(who);
}

void rlk_contention_hold(const struct rlk_contention *c, struct rlk_contender *who)
{
    bool had_failed = who->wait && who->wait->has_failed;

    who->state = RLK_CONTENDER_HOLDS;
    end_wait(c, who);
    if (!who->occupies_keys) {
        occupy_keys(who);
    }
    if (had_failed) {
        line_up_all(set_of(who));
    }
}

void rlk_contention_pass(struct rlk_contention *c, struct rlk_contender *who)
{
    if (who->state == RLK_CONTENDER_OUT || who->state == RLK_CONTENDER_PASSED) {
        return;
    }
    who->state = RLK_CONTENDER_PASSED;
    end_wait(c, who);
    vacate(who);
    if (!c->stopped) {
        start_next(c, who);
        rest_next(c, set_of(who));
        start_ready(c);
    }
}

void rlk_contention_leave(struct rlk_contention *c, struct rlk_contender *who)
{
    rlk_contention_pass(c, who);
    if (who->state != RLK_CONTENDER_OUT) {
        drop_keys(c, who);
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

static bool has_others(const struct rlk_contention_key *key, const struct rlk_contender *who)
{
    struct rlk_list *link = key->contenders.next;

    while (link != &key->contenders &&
           RLK_CONTAINER(link, struct rlk_contention_link, link)->contender == who) {
        link = link->next;
    }
    return link != &key->contenders;
}

bool rlk_contention_is_shared(const struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        if (has_others(keys_of(who)[i], who)) {
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
        uint32_t hash = keys_of(who)[i]->entry.hash;

        keys_of(who)[i]->contended = true;
        c->woken[hash % RLK_CONTENTION_WOKEN] = (struct rlk_contention_woken){hash, until_us};
    }
}

void rlk_contention_clear_woken(struct rlk_contender *who)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        keys_of(who)[i]->contended = false;
    }
}

/* A hash collision of two keys costs one position check. */
static bool was_woken(const struct rlk_contention *c, uint32_t hash, uint64_t now_us)
{
    const struct rlk_contention_woken *w = &c->woken[hash % RLK_CONTENTION_WOKEN];

    return w->hash == hash && now_us < w->until_us;
}

bool rlk_contention_is_contended(const struct rlk_contention *c, const struct rlk_contender *who,
                                 uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < who->n_keys; i++) {
        const struct rlk_contention_key *key = keys_of(who)[i];

        if (key->contended || was_woken(c, key->entry.hash, now_us)) {
            return true;
        }
    }
    return false;
}
