/* test_table.c - hashes, and tables that find objects by their keys. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "base/table.h"
#include "lib/test.h"

SUITE("table");

#define MOST 3000

/* The key of 16 bytes 0, 1, 2, ... of the published numbers. */
static const struct rlk_hash_seed counting = {
    {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

static const struct {
    const char *claim;
    size_t len; /* of the bytes 0, 1, 2, ... */
    uint64_t hash;
} published[] = {
    {"the_hash_of_nothing_is_the_published_one", 0, UINT64_C(0x726fdb47dd0e0e31)},
    {"the_hash_of_15_bytes_is_the_published_one", 15, UINT64_C(0xa129ca6149be45e5)},
};

TEST_ROWS(a_published_hash, published)
{
    unsigned char bytes[16];
    unsigned i;

    for (i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)i;
    }
    ck_assert_uint_eq(rlk_hash(&counting, bytes, published[_i].len), published[_i].hash);
}

TEST(another_seed_gives_another_hash)
{
    struct rlk_hash_seed one = counting, other = counting;

    one.words[0] ^= 1;
    other.words[1] ^= 1;
    ck_assert_uint_ne(rlk_hash(&counting, "key", 3), rlk_hash(&one, "key", 3));
    ck_assert_uint_ne(rlk_hash(&counting, "key", 3), rlk_hash(&other, "key", 3));
}

struct thing {
    struct rlk_table_entry entry;
    uint32_t key; /* four bytes, some of them NUL */
    bool in;
};

static struct thing *things(struct rlk_table *t)
{
    struct thing *all = calloc(MOST, sizeof(*all));
    uint32_t i;

    rlk_table_init(t, &counting);
    for (i = 0; all && i < MOST; i++) {
        all[i].key = i;
        all[i].entry.key = &all[i].key;
        all[i].entry.len = sizeof(all[i].key);
    }
    ck_assert_ptr_nonnull(all);
    return all;
}

static void toggle(struct rlk_table *t, struct thing *one)
{
    if (one->in) {
        rlk_table_remove(t, &one->entry);
    } else {
        ck_assert_ptr_null(rlk_table_find(t, &one->key, sizeof(one->key)));
        rlk_table_insert(t, &one->entry);
    }
    one->in = !one->in;
}

static void check_all(struct rlk_table *t, struct thing *all)
{
    size_t count = 0;
    uint32_t i;

    for (i = 0; i < MOST; i++) {
        struct rlk_table_entry *found = rlk_table_find(t, &i, sizeof(i));

        ck_assert_ptr_eq(found, all[i].in ? &all[i].entry : NULL);
        count += all[i].in;
    }
    ck_assert_uint_eq(t->count, count);
}

TEST_LOOP(a_table_finds_what_is_in_it_and_nothing_else, 0, 3)
{
    struct rlk_table t;
    struct thing *all = things(&t);
    struct rlk_prng prng;
    int round, i;

    rlk_prng_seed(&prng, (uint64_t)_i);
    check_all(&t, all);
    for (round = 0; round < 10; round++) {
        for (i = 0; i < MOST / 3; i++) {
            toggle(&t, &all[rlk_prng_upto(&prng, MOST - 1)]);
        }
        check_all(&t, all);
    }
    rlk_table_end(&t);
    free(all);
}

static size_t longest_bucket(const struct rlk_table *t)
{
    size_t i, longest = 0;

    for (i = 0; i < t->n_buckets; i++) {
        const struct rlk_table_entry *e = t->buckets ? t->buckets[i] : t->first;
        size_t len = 0;

        for (; e; e = e->next) {
            len++;
        }
        longest = len > longest ? len : longest;
    }
    return longest;
}

TEST(buckets_stay_short)
{
    struct rlk_table t;
    struct thing *all = things(&t);
    int i;

    for (i = 0; i < MOST; i++) {
        toggle(&t, &all[i]);
        ck_assert_uint_le(t.count, t.n_buckets);
    }
    ck_assert_uint_le(longest_bucket(&t), 8);
    rlk_table_end(&t);
    free(all);
}

static int refuse(size_t size)
{
    (void)size;
    return 0;
}

TEST(a_table_that_cannot_grow_takes_more_and_grows_when_it_can)
{
    struct rlk_table t;
    struct thing *all = things(&t);
    int i;

    rlk_alloc_hook(refuse);
    for (i = 0; i < MOST / 2; i++) {
        toggle(&t, &all[i]);
    }
    ck_assert_ptr_null(t.buckets);
    check_all(&t, all);
    rlk_alloc_hook(NULL);
    for (; i < MOST; i++) {
        toggle(&t, &all[i]);
    }
    check_all(&t, all);
    ck_assert_uint_ge(t.n_buckets, MOST / 2);
    rlk_table_end(&t);
    free(all);
}

TEST(keys_are_bytes_and_a_part_of_a_key_is_another_key)
{
    struct rlk_table_entry whole = {.key = "a\0b", .len = 3}, part = {.key = "a\0b", .len = 1};
    struct rlk_table t;

    rlk_table_init(&t, &counting);
    ck_assert_ptr_null(rlk_table_find(&t, "a\0b", 3));
    rlk_table_insert(&t, &whole);
    ck_assert_ptr_null(rlk_table_find(&t, "a", 1));
    rlk_table_insert(&t, &part);
    ck_assert_ptr_eq(rlk_table_find(&t, "a\0c", 1), &part);
    ck_assert_ptr_eq(rlk_table_find(&t, "a\0b", 3), &whole);
    ck_assert_ptr_null(rlk_table_find(&t, "a\0c", 3));
    rlk_table_end(&t);
}
