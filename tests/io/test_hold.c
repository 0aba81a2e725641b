/* io/test_hold.c - the life of a lock: renewed, healed, in trouble, lost. Time passes by
 * suspend_ms() only, so that a test takes no longer than its messages. */
#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("hold");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

/* All five masters count: those that had answered by then count from the win on, the others from
 * the next renewal on. */
static void start_with_renewed(void)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
}

static size_t n_keeps(size_t node)
{
    return scripts_count(&f, node, &rlk_script_keep);
}

static size_t n_takes(size_t node)
{
    return scripts_count(&f, node, &rlk_script_set_all);
}

/* ---- renewing ---- */

TEST(a_lock_is_renewed_beyond_its_ttl)
{
    size_t i;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    for (i = 1; i <= 10; i++) {
        suspend_ms(HELD_THIRD_MS);
        scripts_wait_all(&f, 0, 5, &rlk_script_keep, i);
        loop_settle(f.base);
        ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    }
    ck_assert_uint_eq(scripts_ttl(scripts_last(&f, 4, &rlk_script_keep)), OUTCOME_TTL_MS);
    ck_assert_str_eq(scripts_token(scripts_last(&f, 4, &rlk_script_keep)), h.token);
    ck_assert_str_eq(h.order, "");
    ck_assert_uint_eq(n_takes(0), 0);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(a_renewal_lets_keys_live_longer_and_never_shorter)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    rlk_model_set(fake_model(f.nodes[0]), "k", h.token, 70000);
    rlk_model_set(fake_model(f.nodes[1]), "k", h.token, 10 * OUTCOME_TTL_MS);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 2, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_uint_gt(rlk_model_ttl(fake_model(f.nodes[0]), "k"), 70000);
    ck_assert_uint_gt(rlk_model_ttl(fake_model(f.nodes[1]), "k"), 9 * OUTCOME_TTL_MS);
}

TEST(without_renewing_it_ends_at_its_deadline)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    request.renew = 0;
    held_acquire(&h, &request);
    suspend_ms(2 * HELD_THIRD_MS);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "");
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_EUNRENEWED);
    ck_assert_str_eq(h.order, "l");
    ck_assert_uint_eq(n_keeps(0), 0);
}

TEST(nothing_is_renewed_after_the_release)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    farm_pause(&f, 0, 5);
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    suspend_ms(HELD_THIRD_MS);
    loop_settle(f.base);
    farm_go_on(&f, 0, 5);
    loop_settle(f.base);
    suspend_ms(2 * HELD_THIRD_MS);
    loop_settle(f.base);
    ck_assert_uint_eq(n_keeps(0), 0);
    ck_assert_str_eq(h.order, "r");
    farm_wait_clean(&f);
}

/* A renewal in flight changes nothing once the release was asked for. */
TEST(an_answer_that_comes_after_the_release_changes_nothing)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    farm_pause(&f, 0, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    loop_settle(f.base);
    held_del(&f, 0, 5);
    farm_on(&f, 0, 5, "EVALSHA", FAKE_STALL, NULL);
    farm_go_on(&f, 0, 5); /* the release */
    loop_settle(f.base);
    ck_assert_int_eq(h.released, 0);
    farm_go_on(&f, 0, 5);
    held_wait(&h, &h.released, 1);
    ck_assert_int_eq(h.release_status, REDLOCK_GONE);
    ck_assert_str_eq(h.order, "r");
    ck_assert_uint_eq(n_takes(0), 0);
    farm_wait_clean(&f);
}

static void is_not_renewed_after(size_t times)
{
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.troubles, 1);
    ck_assert_int_eq(h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_gt(h.left_ms, 0);
    ck_assert_uint_le(h.left_ms, 2 * HELD_THIRD_MS);
    suspend_ms(2 * HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_EUNRENEWED);
    ck_assert_str_eq(h.order, "tl");
    ck_assert_uint_eq(n_keeps(0), times);
    farm_end(&f);
}

TEST(renewals_have_a_number)
{
    struct redlock_request request = held_request(&h, &f, "k");
    size_t i;

    held_start(&f);
    request.max_renewals = 2;
    held_acquire(&h, &request);
    for (i = 1; i <= 2; i++) {
        suspend_ms(HELD_THIRD_MS);
        scripts_wait_all(&f, 0, 5, &rlk_script_keep, i);
        loop_settle(f.base);
    }
    is_not_renewed_after(2);
}

TEST(holding_has_a_limit)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    request.max_hold_ms = OUTCOME_TTL_MS + 2 * HELD_THIRD_MS - 1;
    held_acquire(&h, &request);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    is_not_renewed_after(1);
}

TEST(it_is_renewed_only_while_it_is_petted)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    request.needs_heartbeat = 1;
    held_acquire(&h, &request);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.troubles, 1);
    ck_assert_int_eq(h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_eq(n_keeps(0), 1);
    ck_assert_int_eq(redlock_lock_heartbeat(h.lock), REDLOCK_OK);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 2);
    loop_settle(f.base);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    ck_assert_int_eq(redlock_lock_heartbeat(h.lock), REDLOCK_OK);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 3);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "t");
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.troubles, 2);
    suspend_ms(2 * HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_str_eq(h.order, "ttl");
    ck_assert_uint_eq(n_keeps(0), 3);
}

/* An answer always belongs to the last question. */
TEST(a_node_is_not_asked_again_before_it_has_answered)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    farm_pause(&f, 4, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 4, &rlk_script_keep, 2);
    loop_settle(f.base);
    ck_assert_uint_eq(n_keeps(4), 1);
    farm_go_on(&f, 4, 5);
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 4, &rlk_script_keep, 2);
    ck_assert_uint_eq(n_takes(4), 0);
    ck_assert_str_eq(h.order, "");
}

/* ---- trouble and loss ---- */

static void get_into_trouble(int times)
{
    size_t before = n_keeps(0);

    farm_pause(&f, 0, 3);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, before + 1);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    held_wait(&h, &h.troubles, times);
    ck_assert_int_eq(h.reason, REDLOCK_ENOQUORUM);
    ck_assert_uint_gt(h.left_ms, 0);
    ck_assert_uint_le(h.left_ms, OUTCOME_TTL_MS - HELD_THIRD_MS - HELD_TIMEOUT_MS);
    ck_assert_uint_le(h.validity_ms, h.left_ms); /* read later, by the same clock */
    ck_assert_uint_gt(h.validity_ms + HELD_THIRD_MS / 2, h.left_ms);
}

TEST(trouble_is_reported_once_and_again_after_a_recovery)
{
    int i;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    for (i = 1; i <= 3; i++) {
        get_into_trouble(i);
        suspend_ms(OUTCOME_TTL_MS / 10);
        loop_settle(f.base);
        suspend_ms(HELD_TIMEOUT_MS + 1);
        loop_settle(f.base);
        ck_assert_int_eq(h.troubles, i);
        farm_go_on(&f, 0, 3);
        loop_settle(f.base);
        suspend_ms(OUTCOME_TTL_MS / 10);
        loop_settle(f.base);
        ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    }
    ck_assert_str_eq(h.order, "ttt");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(it_is_lost_by_the_clock_when_nobody_answers)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    farm_pause(&f, 3, 5);
    get_into_trouble(1);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    while (redlock_lock_validity_ms(h.lock) > 0) {
        suspend_ms(HELD_TIMEOUT_MS / 2); /* the program runs whenever something is due */
        loop_settle(f.base);
    }
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(h.left_ms, 0);
    ck_assert_uint_eq(h.validity_ms, 0);
    farm_go_on(&f, 0, 5);
    loop_settle(f.base);
    suspend_ms(OUTCOME_TTL_MS);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "tl");
    ck_assert_uint_eq(redlock_lock_validity_ms(h.lock), 0);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(it_is_lost_at_once_when_a_majority_forgot_the_key)
{
    size_t i;

    start_with_renewed();
    held_del(&f, 0, 3);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_uint_eq(h.validity_ms, 0);
    loop_settle(f.base);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(n_takes(i), 0);
    }
    ck_assert_int_eq(held_vote(&h, 0), REDLOCK_VOTE_NO);
    ck_assert_str_eq(held_holder(&h, 0), "");
    ck_assert_str_eq(h.order, "l");
    ck_assert_int_eq(held_end(&h), REDLOCK_GONE);
    farm_wait_clean(&f);
}

TEST(it_is_lost_at_once_when_a_majority_gave_it_away)
{
    start_with_renewed();
    farm_give_away(&f, 1, 4);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_int_eq(held_vote(&h, 1), REDLOCK_VOTE_NO);
    ck_assert_int_eq(held_vote(&h, 3), REDLOCK_VOTE_NO);
    ck_assert_str_eq(held_holder(&h, 3), FARM_OTHER);
    ck_assert_str_eq(h.order, "l");
    ck_assert_int_eq(held_end(&h), REDLOCK_TAKEN);
    ck_assert_uint_eq(farm_count(&f, "k", FARM_OTHER), 3);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 2);
}

/* No reply and no timer has come yet: the first turn after the suspension finds it. */
TEST(it_is_lost_at_once_after_a_suspend)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    suspend_ms(OUTCOME_TTL_MS);
    ck_assert_uint_eq(redlock_lock_validity_ms(h.lock), 0);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "l");
    ck_assert_int_eq(h.reason, REDLOCK_ESUSPENDED);
    ck_assert_uint_eq(h.validity_ms, 0);
    ck_assert_uint_eq(n_keeps(0), 0);
}

/* ---- healing ---- */

TEST(a_minority_that_forgot_the_key_is_healed)
{
    start_with_renewed();
    held_del(&f, 3, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 3, 5, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_uint_eq(n_takes(0), 0);
    ck_assert_int_eq(held_vote(&h, 4), REDLOCK_VOTE_YES);
    suspend_ms(OUTCOME_TTL_MS / 10);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 3);
    ck_assert_str_eq(h.order, "");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* As with lua-replicate-commands no, before Redis 7. */
TEST(servers_that_replicate_whole_scripts_renew_and_heal)
{
    size_t i;

    held_start(&f);
    for (i = 0; i < 5; i++) {
        fake_model(f.nodes[i])->whole_scripts = true;
    }
    held_acquire_key(&h, &f, "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    held_del(&f, 4, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 4, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_str_eq(h.order, "");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* The round waits for a node that does not answer; so less time is left. */
TEST(a_heal_has_the_time_that_is_left)
{
    start_with_renewed();
    held_del(&f, 3, 4);
    farm_pause(&f, 4, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 2);
    loop_settle(f.base);
    ck_assert_uint_eq(n_takes(3), 0);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    scripts_wait(&f, 3, &rlk_script_set_all, 1);
    ck_assert_uint_le(scripts_ttl(scripts_last(&f, 3, &rlk_script_set_all)),
                      OUTCOME_TTL_MS - OUTCOME_TTL_MS / 100 - HELD_TIMEOUT_MS);
    ck_assert_uint_gt(scripts_ttl(scripts_last(&f, 3, &rlk_script_set_all)), 2 * HELD_THIRD_MS);
    ck_assert_str_eq(scripts_token(scripts_last(&f, 3, &rlk_script_set_all)), h.token);
    ck_assert_uint_eq(n_takes(4), 0);
}

static void contender_leaves(struct held *held)
{
    (void)held;
    held_del(&f, 3, 5);
}

TEST(a_bare_majority_is_healed_soon)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    farm_give_away(&f, 3, 5);
    h.on_acquired = contender_leaves;
    held_acquire(&h, &request);
    scripts_wait_all(&f, 3, 5, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_uint_eq(n_keeps(0), 0);
    suspend_ms(OUTCOME_TTL_MS / 10);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    ck_assert_str_eq(h.order, "");
}

TEST(a_contender_that_stays_is_named_and_left_alone)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    farm_give_away(&f, 3, 5);
    held_acquire(&h, &request);
    scripts_wait_all(&f, 3, 5, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", FARM_OTHER), 2);
    ck_assert_int_eq(held_vote(&h, 4), REDLOCK_VOTE_NO);
    ck_assert_str_eq(held_holder(&h, 4), FARM_OTHER);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(n_takes(4), 1);
    held_del(&f, 3, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 3, 5, &rlk_script_set_all, 2);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_str_eq(h.order, "");
}

/* [S5] The key was set, and the answer was lost. */
TEST(a_heal_whose_connection_broke_is_released)
{
    start_with_renewed();
    held_del(&f, 4, 5);
    fake_on_next(f.nodes[4], 1, "EVAL", FAKE_DO_CLOSE, NULL, 0);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 4, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_int_ne(held_vote(&h, 4), REDLOCK_VOTE_YES);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(a_heal_in_flight_is_followed_by_its_release)
{
    start_with_renewed();
    held_del(&f, 4, 5);
    fake_on_next(f.nodes[4], 1, "EVAL", FAKE_STALL, NULL, 0);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 4, &rlk_script_set_all, 1);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    scripts_wait(&f, 4, &rlk_script_release, 1);
    fake_go_on(f.nodes[4]);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_conns(f.nodes[4]), 1);
    farm_wait_clean(&f);
}

/* [S5] Either command may still be carried out, whenever the server reads what is left in its
 * socket. */
TEST_LOOP(a_pending_release_after_a_lost_keep_or_heal_has_no_end, 0, 2)
{
    bool heals = _i == 1;

    start_with_renewed();
    fake_on(f.nodes[4], heals ? "EVAL" : "EVALSHA", FAKE_MUTE, NULL);
    if (heals) {
        held_del(&f, 4, 5);
    }
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 4, heals ? &rlk_script_set_all : &rlk_script_keep, heals ? 1 : 2);
    fake_down(f.nodes[4]);
    farm_wait_error(&f, 4, "");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    rlk_model_set(fake_model(f.nodes[4]), "k", h.token, 0);
    suspend_ms(10 * OUTCOME_TTL_MS);
    loop_settle(f.base);
    fake_behave(f.nodes[4]);
    fake_up(f.nodes[4]);
    scripts_wait(&f, 4, &rlk_script_release, 1);
    farm_wait_clean(&f);
}
