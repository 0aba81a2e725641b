/* io/test_deadline.c - the deadline that other threads can read, and how they learn that it
 * moved. */
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/rig.h"
#include "lib/test.h"

SUITE("deadline");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

static void acquire_with_moves(struct farm *farm, int renew)
{
    struct redlock_request request = held_request(&h, farm, "k");

    request.renew = renew;
    request.flags = REDLOCK_NOTIFY_MOVES;
    held_acquire(&h, &request);
}

TEST(it_is_the_validity_as_a_point_in_time)
{
    uint64_t deadline_us, now_us;

    held_start(&f);
    suspend_freeze();
    held_acquire_key(&h, &f, "k");
    deadline_us = redlock_lock_deadline_us(h.lock);
    now_us = redlock_clock_us();
    ck_assert_uint_eq((deadline_us - now_us) / 1000, redlock_lock_validity_ms(h.lock));
    suspend_unfreeze();
    suspend_ms(OUTCOME_TTL_MS / 4);
    ck_assert_uint_eq(redlock_lock_deadline_us(h.lock), deadline_us);
    ck_assert_uint_ge(redlock_clock_us(), now_us + OUTCOME_TTL_MS * 250);
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_deadline_us(h.lock), 0);
    ck_assert_uint_eq(redlock_lock_deadline_us(NULL), 0);
}

TEST(each_renewal_and_extension_moves_it)
{
    uint64_t deadline_us;
    size_t i;

    held_start(&f);
    acquire_with_moves(&f, 1);
    ck_assert_str_eq(h.order, "");
    deadline_us = redlock_lock_deadline_us(h.lock);
    for (i = 1; i <= 2; i++) {
        suspend_ms(HELD_THIRD_MS);
        held_wait(&h, &h.moved, (int)i);
        loop_settle(f.base);
        ck_assert_uint_ge(h.deadline_us, deadline_us + HELD_THIRD_MS * 1000);
        ck_assert_uint_gt(h.left_ms, 2 * HELD_THIRD_MS);
        ck_assert_int_eq(h.reason, 0);
        deadline_us = h.deadline_us;
    }
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    loop_settle(f.base);
    ck_assert_uint_gt(h.deadline_us, deadline_us);
    ck_assert_int_eq(h.moved, 3);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    ck_assert_int_eq(h.moved, 3);
}

TEST(moves_are_reported_only_on_request)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "");
}

/* Masters 3 and 4 have not renewed it. When a third one loses the key, a majority has it only
 * for as long as these two have it. */
TEST(it_moves_to_an_earlier_time_when_a_master_forgets_the_key)
{
    uint64_t first_us, renewed_us;

    held_start(&f);
    acquire_with_moves(&f, 1);
    first_us = redlock_lock_deadline_us(h.lock);
    farm_pause(&f, 3, 5);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.moved, 1);
    renewed_us = h.deadline_us;
    ck_assert_uint_gt(renewed_us, first_us);
    held_del(&f, 0, 1);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.moved, 2);
    ck_assert_uint_eq(h.deadline_us, first_us);
    ck_assert_int_eq(h.lost, 0);
    suspend_ms(HELD_TIMEOUT_MS);
    held_wait(&h, &h.troubles, 1);
    ck_assert_uint_eq(h.deadline_us, first_us);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_uint_eq(h.deadline_us, 0);
    ck_assert_str_eq(h.order, "mmtl");
}

/* Our own client was suspended. */
TEST(it_moves_to_an_earlier_time_after_a_suspension)
{
    uint64_t deadline_us;
    size_t i;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_pass_ms(RIG_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&rig, i, "EVAL", 1);
    }
    loop_settle(rig.base);
    acquire_with_moves(&rig, 0);
    deadline_us = redlock_lock_deadline_us(h.lock);
    for (i = 0; i < 3; i++) {
        rig_set_clock_forward(i, 30000);
    }
    rig_pass_ms(RIG_HEALTH_MS);
    held_wait(&h, &h.moved, 1);
    /* The clocks are compared by round trips, which take long on a busy machine. */
    ck_assert_uint_le(h.deadline_us, deadline_us - 29000 * 1000);
    ck_assert_uint_eq(h.deadline_us, redlock_lock_deadline_us(h.lock));
}

static void release_it(struct held *held)
{
    held->on_notice = NULL;
    ck_assert_int_eq(held_release(held), REDLOCK_OK);
}

/* A notice that is queued after this callback is dropped. */
TEST(it_may_be_released_when_a_move_is_reported)
{
    held_start(&f);
    acquire_with_moves(&f, 1);
    h.on_notice = release_it;
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.released, 1);
    ck_assert_str_eq(h.order, "mr");
}
