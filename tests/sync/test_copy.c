/* sync/test_copy.c - a result that another thread keeps is a copy of all that it points to. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "lib/test.h"
#include "lock/result.h"
#include "sync/rig.h"

SUITE("copy");

static struct rig r;

/* The numbers in the results of this test are smaller. An int and the padding beside it have one
 * half that is small: the upper or the lower one, as the order of bytes is. */
static bool looks_like_a_pointer(uintptr_t word)
{
    uint64_t wide = word;

    if (sizeof(word) == 4) {
        return wide >= 1 << 24;
    }
    return (wide & UINT32_MAX) >= 16 && wide >> 32 >= 16;
}

/* Whatever looks like a pointer has another value in the copy. So a pointer that a later version
 * appends, and does not copy, is found here without this test knowing its name. */
static void expect_no_shared_pointer(const void *original, const void *copy, size_t size)
{
    size_t at, pointers = 0;
    uintptr_t one, other;

    for (at = 0; at + sizeof(one) <= size; at += sizeof(one)) {
        memcpy(&one, (const char *)original + at, sizeof(one));
        memcpy(&other, (const char *)copy + at, sizeof(other));
        if (looks_like_a_pointer(one)) {
            pointers++;
            ck_assert_msg(one != other, "the pointer at offset %zu was not copied", at);
        }
    }
    ck_assert_uint_gt(pointers, 0);
}

static void on_result(const struct redlock_query_result *result, int status, void *arg)
{
    struct redlock_query_result *copy;
    size_t i;

    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_str_ne(result->value, "");
    copy = rlk_result_copy(result);
    ck_assert_ptr_nonnull(copy);
    expect_no_shared_pointer(result, copy, sizeof(*result));
    for (i = 0; i < result->n_nodes; i++) {
        expect_no_shared_pointer(result->nodes[i], copy->nodes[i], sizeof(*result->nodes[i]));
    }
    ck_assert_str_eq(copy->token, result->token);
    ck_assert_str_eq(copy->owner, result->owner);
    ck_assert_str_eq(copy->leader, "ann");
    ck_assert_str_eq(copy->value, "10.0.0.1:80");
    rlk_free(copy);
    atomic_store((atomic_int *)arg, 1);
}

static void ask(struct redlock *rl, void *arg)
{
    ck_assert_int_eq(redlock_query(rl, "k", 0, on_result, arg), REDLOCK_OK);
}

TEST(a_copied_result_shares_no_pointer_with_the_original)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    atomic_int done = 0;

    rig_start(&r);
    request.owner = "leader+7 ann 10.0.0.1:80";
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_run(r.s, ask, &done), REDLOCK_OK);
    rig_wait_for(&done);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}
