/* test_base.c - times, masks, lists, heaps, pools, rings and random numbers. */
#include <stdbool.h>

#include "base/alloc.h"
#include "base/heap.h"
#include "base/histogram.h"
#include "base/list.h"
#include "base/mask.h"
#include "base/pool.h"
#include "base/prng.h"
#include "base/ring.h"
#include "base/time.h"
#include "lib/test.h"

SUITE("base");

TEST(times_saturate_at_never_and_at_zero)
{
    ck_assert_uint_eq(rlk_time_add(RLK_NEVER, 1), RLK_NEVER);
    ck_assert_uint_eq(rlk_time_add(RLK_NEVER - 1, 1), RLK_NEVER);
    ck_assert_uint_eq(rlk_time_add(1, 2), 3);
    ck_assert_uint_eq(rlk_time_sub(1, 2), 0);
    ck_assert_uint_eq(rlk_time_sub(5, 2), 3);
    ck_assert_uint_eq(rlk_time_from_ms(UINT64_MAX), RLK_NEVER);
    ck_assert_uint_eq(rlk_time_from_ms(7), 7000);
}

TEST(a_histogram_counts_up_to_and_with_its_bounds)
{
    struct rlk_histogram h = {0};

    ck_assert_uint_eq(rlk_histogram_bucket(0), 0);
    ck_assert_uint_eq(rlk_histogram_bucket(64), 0);
    ck_assert_uint_eq(rlk_histogram_bucket(65), 1);
    ck_assert_uint_eq(rlk_histogram_bucket(128), 1);
    ck_assert_uint_eq(rlk_histogram_bucket(129), 2);
    ck_assert_uint_eq(rlk_histogram_bucket(64ull << 22), 22);
    ck_assert_uint_eq(rlk_histogram_bucket((64ull << 22) + 1), 23);
    ck_assert_uint_eq(rlk_histogram_bucket(UINT64_MAX), 23);
    rlk_histogram_add(&h, 100);
    rlk_histogram_add(&h, 65);
    ck_assert_uint_eq(h.sum_us, 165);
    ck_assert_uint_eq(h.buckets[1], 2);
}

TEST(masks_are_walked_lowest_first)
{
    uint64_t left = rlk_mask_bit(0) | rlk_mask_bit(7) | rlk_mask_bit(62);
    unsigned node, seen[3], n = 0;

    RLK_MASK_EACH (node, left) {
        seen[n++] = node;
    }
    ck_assert_uint_eq(n, 3);
    ck_assert(seen[0] == 0 && seen[1] == 7 && seen[2] == 62);
    ck_assert_uint_eq(rlk_mask_count(rlk_mask_all(63)), 63);
}

TEST(lists_keep_order_and_removal_is_harmless_twice)
{
    struct rlk_list head, other, a, b;

    rlk_list_init(&head);
    rlk_list_init(&a);
    rlk_list_init(&b);
    rlk_list_push(&head, &a);
    rlk_list_push(&head, &b);
    rlk_list_take(&other, &head);
    ck_assert(rlk_list_empty(&head));
    ck_assert_ptr_eq(rlk_list_pop(&other), &a);
    rlk_list_remove(&b);
    rlk_list_remove(&b);
    ck_assert_ptr_null(rlk_list_pop(&other));
    rlk_list_take(&other, &head);
    ck_assert(rlk_list_empty(&other));
}

/* Inserts and removes at random, and compares with an array. */
TEST_LOOP(the_heap_always_has_the_smallest_on_top, 0, 3)
{
    enum {
        N = 200
    };
    struct rlk_heap_node nodes[N];
    bool in[N] = {false};
    struct rlk_heap h = {NULL};
    struct rlk_prng prng;
    int trial, i;

    rlk_prng_seed(&prng, (uint64_t)_i);
    for (trial = 0; trial < 20000; trial++) {
        int k = (int)rlk_prng_upto(&prng, N - 1);
        uint64_t least = UINT64_MAX;

        if (in[k]) {
            rlk_heap_remove(&h, &nodes[k]);
        } else {
            nodes[k].key = rlk_prng_upto(&prng, 50);
            rlk_heap_insert(&h, &nodes[k]);
        }
        in[k] = !in[k];
        for (i = 0; i < N; i++) {
            if (in[i] && nodes[i].key < least) {
                least = nodes[i].key;
            }
        }
        ck_assert(h.root ? h.root->key == least : least == UINT64_MAX);
    }
}

TEST(a_seed_gives_the_same_numbers_and_another_gives_others)
{
    struct rlk_prng a, b, c;
    int same = 0, i;

    rlk_prng_seed(&a, 1);
    rlk_prng_seed(&b, 1);
    rlk_prng_seed(&c, 2);
    for (i = 0; i < 100; i++) {
        uint64_t x = rlk_prng_next(&a);

        ck_assert_uint_eq(x, rlk_prng_next(&b));
        same += x == rlk_prng_next(&c);
        ck_assert_uint_le(rlk_prng_upto(&a, 9), 9);
        rlk_prng_upto(&b, 9);
    }
    ck_assert_int_eq(same, 0);
}

static void *must_take(struct rlk_pool *p, size_t size)
{
    void *object = rlk_pool_take(p, size);

    ck_assert_ptr_nonnull(object);
    return object;
}

static const size_t pool_sizes[] = {1, 8, 9, 200, 2000, 4096};

/* Each byte of an object is the object's own. What a burst took goes back to the system. */
TEST_LOOP(a_burst_of_objects_leaves_nothing_behind, 0, N_ROWS(pool_sizes))
{
    static void *objects[2000];
    const size_t size = pool_sizes[_i];
    struct rlk_pool p;
    unsigned round, i;

    rlk_pool_init(&p, RLK_POOL_BLOCK);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < N_ROWS(objects); i++) {
            objects[i] = must_take(&p, size);
            ck_assert_uint_eq((uintptr_t)objects[i] % 8, 0);
            memset(objects[i], (int)i, size);
        }
        ck_assert_uint_eq(p.kept, 0);
        for (i = 0; i < N_ROWS(objects); i++) { /* in another order than they were taken */
            unsigned at = i * 7 % N_ROWS(objects);
            const unsigned char *bytes = objects[at];

            ck_assert_uint_eq(bytes[0], at % 256);
            ck_assert_uint_eq(bytes[size - 1], at % 256);
            rlk_pool_give(&p, objects[at], size);
        }
        ck_assert_uint_ge(p.kept, 1);
        ck_assert_uint_le(p.kept, RLK_POOL_BLOCK);
    }
    rlk_pool_end(&p);
    ck_assert_uint_eq(p.kept, 0);
}

TEST(a_pool_gives_back_what_it_was_given)
{
    struct rlk_pool p;
    size_t kept;
    void *a, *b;

    rlk_pool_init(&p, 1000);
    a = must_take(&p, 64);
    b = must_take(&p, 64);
    ck_assert_ptr_ne(a, b);
    ck_assert_uint_eq(p.kept, 0);
    rlk_pool_give(&p, a, 64);
    ck_assert_ptr_eq(must_take(&p, 64), a);
    rlk_pool_give(&p, a, 64);
    rlk_pool_give(&p, b, 64);
    kept = p.kept;
    ck_assert_uint_ge(kept, 128);
    ck_assert_uint_lt(kept, 300);
    a = must_take(&p, 900);
    rlk_pool_give(&p, a, 900); /* more than are kept: freed */
    ck_assert_uint_eq(p.kept, kept);
    rlk_pool_end(&p);
}

/* As one between others that live for longer, in a block that had none left. */
TEST(a_pool_uses_every_free_object_again)
{
    static void *objects[2000];
    struct rlk_pool p;
    unsigned i;
    void *free[3];

    rlk_pool_init(&p, 0);
    for (i = 0; i < N_ROWS(objects); i++) {
        objects[i] = must_take(&p, 200);
    }
    for (i = 0; i < 3; i++) {
        free[i] = objects[i * 900];
        rlk_pool_give(&p, free[i], 200);
    }
    for (i = 0; i < 3; i++) {
        void *again = must_take(&p, 200);

        ck_assert(again == free[0] || again == free[1] || again == free[2]);
        objects[i * 900] = again;
    }
    for (i = 0; i < N_ROWS(objects); i++) {
        rlk_pool_give(&p, objects[i], 200);
    }
    ck_assert_uint_eq(p.kept, 0);
    rlk_pool_end(&p);
}

static int refuse(size_t size)
{
    (void)size;
    return 0;
}

/* Pushes and drops values at random, and pushes more than it drops. Each value is its number. */
TEST_LOOP(a_ring_gives_back_in_order_what_it_was_given_up_to_its_bound, 0, 3)
{
    struct rlk_ring r = {0};
    struct rlk_prng prng;
    uint64_t in = 0, out = 0;

    rlk_prng_seed(&prng, (uint64_t)_i);
    while (rlk_ring_reserve(&r, sizeof(uint64_t), 1024)) {
        *(uint64_t *)rlk_ring_push(&r, sizeof(uint64_t)) = in++;
        if (rlk_prng_upto(&prng, 2) == 0) {
            ck_assert_uint_eq(*(uint64_t *)rlk_ring_at(&r, sizeof(uint64_t), 0), out++);
            rlk_ring_drop(&r);
        }
    }
    ck_assert_uint_eq(r.count, 1024);
    for (; out < in; out++) {
        size_t last = (size_t)(in - out) - 1;

        ck_assert_uint_eq(*(uint64_t *)rlk_ring_at(&r, sizeof(uint64_t), 0), out);
        ck_assert_uint_eq(*(uint64_t *)rlk_ring_at(&r, sizeof(uint64_t), last), in - 1);
        rlk_ring_drop(&r);
    }
    ck_assert_uint_eq(r.count, 0);
    rlk_ring_end(&r);
    ck_assert(r.values == NULL && r.cap == 0);
}

TEST(a_ring_that_cannot_grow_keeps_what_it_has)
{
    struct rlk_ring r = {0};
    char i;

    for (i = 0; rlk_ring_reserve(&r, 1, 64); i++) {
        *(char *)rlk_ring_push(&r, 1) = i;
    }
    rlk_alloc_hook(refuse);
    ck_assert(!rlk_ring_reserve(&r, 1, 128));
    rlk_ring_drop(&r);
    ck_assert(rlk_ring_reserve(&r, 1, 128)); /* there is capacity again */
    rlk_alloc_hook(NULL);
    *(char *)rlk_ring_push(&r, 1) = i;
    ck_assert_uint_eq(r.count, 64);
    for (; r.count > 0; rlk_ring_drop(&r)) {
        ck_assert_int_eq(*(char *)rlk_ring_at(&r, 1, 0), i + 1 - (int)r.count);
    }
    rlk_ring_end(&r);
}

TEST(an_allocation_can_be_made_to_fail)
{
    rlk_alloc_hook(refuse);
    ck_assert_ptr_null(rlk_alloc(8));
    ck_assert_ptr_null(rlk_realloc(NULL, 8));
    rlk_alloc_hook(NULL);
    rlk_free(NULL);
}
