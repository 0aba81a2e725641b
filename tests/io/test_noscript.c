/* io/test_noscript.c - a server that has forgotten the scripts of a held lock is asked again,
 * with the script's text: but not for longer than the lock is valid, and not when nobody holds
 * it any more. */
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("noscript");
FIXTURE(NULL, farm_end_all);

/* Of the five: the node that forgets the scripts, and the node that keeps the round open. */
#define NODE 3
#define LAST 4

static struct farm f;
static struct held h;

static void renewed(unsigned after_ms, size_t count)
{
    suspend_ms(after_ms);
    scripts_wait(&f, NODE, &rlk_script_keep, count);
    loop_settle(f.base);
}

/* The node has extended once, and so knows that script by its SHA-1. */
static void start(void)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    renewed(HELD_THIRD_MS, 1);
}

static void forget_scripts(void)
{
    rlk_model_forget_scripts(fake_model(f.nodes[NODE]));
    farm_go_on(&f, NODE, NODE + 1);
    loop_settle(f.base);
}

/* The node is healed for the second time, by a SHA-1 that it no longer knows when it reads the
 * command. */
static void heal_by_hash(void)
{
    start();
    held_del(&f, NODE, NODE + 1);
    renewed(HELD_THIRD_MS, 2);
    scripts_wait(&f, NODE, &rlk_script_set_all, 1);
    loop_settle(f.base);
    held_del(&f, NODE, NODE + 1);
    farm_pause(&f, LAST, LAST + 1);
    renewed(OUTCOME_TTL_MS / 10, 3);
    farm_pause(&f, NODE, NODE + 1);
    farm_go_on(&f, LAST, LAST + 1);
    scripts_wait(&f, NODE, &rlk_script_set_all, 2);
    ck_assert(!scripts_is_text(scripts_last(&f, NODE, &rlk_script_set_all)));
}

TEST(a_heal_is_sent_again_for_the_time_that_is_left_then)
{
    uint32_t ttl_ms;

    heal_by_hash();
    suspend_ms(5000);
    ttl_ms = scripts_ttl(scripts_last(&f, NODE, &rlk_script_set_all));
    forget_scripts();
    ck_assert_uint_eq(scripts_count(&f, NODE, &rlk_script_set_all), 3);
    ck_assert(scripts_is_text(scripts_last(&f, NODE, &rlk_script_set_all)));
    ck_assert_uint_le(scripts_ttl(scripts_last(&f, NODE, &rlk_script_set_all)), ttl_ms - 5000);
    ck_assert_uint_gt(scripts_ttl(scripts_last(&f, NODE, &rlk_script_set_all)), OUTCOME_TTL_MS / 2);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    ck_assert_str_eq(h.order, "");
    held_end(&h);
    farm_wait_clean(&f);
}

/* _i: the lock is lost; the lock is forgotten. */
static void end_without_a_release(int how)
{
    if (how) {
        ck_assert_int_eq(redlock_lock_detach(h.lock), 0);
        h.lock = NULL;
    } else {
        suspend_ms(OUTCOME_TTL_MS);
        held_wait(&h, &h.lost, 1);
    }
}

TEST_LOOP(a_heal_is_not_sent_again_when_nobody_holds_the_lock, 0, 2)
{
    heal_by_hash();
    end_without_a_release(_i);
    forget_scripts();
    ck_assert_uint_eq(scripts_count(&f, NODE, &rlk_script_set_all), 2);
}

TEST_LOOP(an_extension_is_not_sent_again_when_nobody_holds_the_lock, 0, 2)
{
    start();
    farm_pause(&f, NODE, NODE + 1);
    renewed(HELD_THIRD_MS, 2);
    ck_assert(!scripts_is_text(scripts_last(&f, NODE, &rlk_script_keep)));
    end_without_a_release(_i);
    forget_scripts();
    ck_assert_uint_eq(scripts_count(&f, NODE, &rlk_script_keep), 2);
}

/* A late vote, by a SHA-1 that the node no longer knows when it reads the command. */
static void vote_by_hash(void)
{
    static struct held before;
    struct redlock_request request;

    held_start(&f);
    request = held_request(&before, &f, "k");
    request.fencing = true;
    held_acquire(&before, &request);
    ck_assert_int_eq(held_end(&before), REDLOCK_OK);
    farm_pause(&f, NODE, NODE + 1);
    request = held_request(&h, &f, "k");
    request.fencing = true;
    held_acquire(&h, &request);
    scripts_wait(&f, NODE, &rlk_script_vote, 2);
    ck_assert(!scripts_is_text(scripts_last(&f, NODE, &rlk_script_vote)));
}

TEST(a_late_vote_is_asked_for_again_while_the_lock_is_held)
{
    vote_by_hash();
    forget_scripts();
    ck_assert_uint_eq(scripts_count(&f, NODE, &rlk_script_vote), 3);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
    held_end(&h);
}

TEST_LOOP(a_late_vote_is_not_asked_for_again_when_nobody_holds_the_lock, 0, 2)
{
    vote_by_hash();
    end_without_a_release(_i);
    forget_scripts();
    ck_assert_uint_eq(scripts_count(&f, NODE, &rlk_script_vote), 2);
}

/* The master has replied that it does not know the script. When we read that, the time of the lock
 * is over, and its timer has not called us yet [S3]. */
TEST(a_late_vote_is_not_asked_for_again_when_the_time_of_the_lock_is_over)
{
    vote_by_hash();
    rlk_model_forget_scripts(fake_model(f.nodes[NODE]));
    farm_go_on(&f, NODE, NODE + 1);
    suspend_ms(OUTCOME_TTL_MS);
    held_wait(&h, &h.lost, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, NODE, &rlk_script_vote), 2);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 4);
}
