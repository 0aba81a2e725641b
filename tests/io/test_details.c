/* io/test_details.c - redlock_lock_node(): what each master last answered about a lock, and
 * when. */
#include <stdio.h>
#include <string.h>

#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("details");

static struct farm f;
static struct held h;

static struct redlock_node_detail detail_at(size_t node)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    ck_assert_int_eq(redlock_lock_node(h.lock, node, &detail), REDLOCK_OK);
    return detail;
}

static void must_have_answered(size_t node, enum redlock_vote vote, enum redlock_said said)
{
    struct redlock_node_detail d = detail_at(node);

    ck_assert_msg(d.vote == vote && d.said == said, "master %zu: vote %d, answer %d: '%s'", node,
                  (int)d.vote, (int)d.said, d.error);
    ck_assert((d.error[0] == '\0') == (vote == REDLOCK_VOTE_YES || vote == REDLOCK_VOTE_NO));
}

static void in_small_steps_until(const int *reported)
{
    while (*reported == 0) {
        suspend_ms(5000);
        loop_settle(f.base);
    }
}

/* The last answer of masters 2 to 4 is their vote, two minutes ago. */
static void must_name_masters_that_did_not_answer(void)
{
    size_t i;

    ck_assert_int_eq(h.reason, REDLOCK_ENOQUORUM);
    for (i = 0; i < 2; i++) {
        must_have_answered(i, REDLOCK_VOTE_YES, REDLOCK_SAID_KEPT);
        ck_assert_uint_lt(detail_at(i).said_ms, 2 * HELD_THIRD_MS);
    }
    for (; i < 5; i++) {
        must_have_answered(i, REDLOCK_VOTE_UNKNOWN, REDLOCK_SAID_SET);
        ck_assert_uint_ge(detail_at(i).said_ms, OUTCOME_TTL_MS * 9 / 10);
    }
}

static void start(void)
{
    held_start(&f);
}

FIXTURE(start, farm_end_all);

TEST(a_lost_lock_names_the_masters_that_did_not_answer_and_since_when)
{
    size_t i;

    held_acquire_key(&h, &f, "k");
    farm_pause(&f, 2, 5);
    in_small_steps_until(&h.lost);
    must_name_masters_that_did_not_answer();
    for (i = 2; i < 5; i++) {
        ck_assert_int_eq(detail_at(i).waiting, 1);
        ck_assert_uint_ge(detail_at(i).asked_ms, HELD_THIRD_MS);
        ck_assert_uint_lt(detail_at(i).asked_ms, detail_at(i).said_ms);
        ck_assert_ptr_nonnull(strstr(detail_at(i).error, "has not replied for"));
    }
}

/* These masters were never asked again: they were not connected. */
TEST(a_lost_lock_names_the_masters_that_are_disconnected)
{
    size_t i;

    held_acquire_key(&h, &f, "k");
    for (i = 2; i < 5; i++) {
        fake_down(f.nodes[i]);
        farm_wait(&f, i, REDLOCK_NODE_DOWN);
    }
    in_small_steps_until(&h.lost);
    must_name_masters_that_did_not_answer();
    ck_assert_int_eq(detail_at(2).waiting, 0);
}

/* All had voted yes, and were not asked again: their keys have expired. */
TEST(a_master_whose_lease_ended_is_not_reported_as_yes)
{
    struct redlock_request request = held_request(&h, &f, "k");
    size_t i;

    request.renew = 0;
    held_acquire(&h, &request);
    suspend_ms(OUTCOME_TTL_MS);
    held_wait(&h, &h.lost, 1);
    for (i = 0; i < 5; i++) {
        must_have_answered(i, REDLOCK_VOTE_UNKNOWN, REDLOCK_SAID_SET);
        ck_assert_ptr_nonnull(strstr(detail_at(i).error, "before our key expired"));
    }
}

TEST(every_kind_of_answer_is_reported)
{
    held_acquire_key(&h, &f, "k");
    must_have_answered(0, REDLOCK_VOTE_YES, REDLOCK_SAID_SET);
    ck_assert_uint_eq(detail_at(0).waiting, 0);
    rlk_model_del(fake_model(f.nodes[4]), "k");
    rlk_model_set(fake_model(f.nodes[3]), "k", "another", OUTCOME_TTL_MS);
    fake_on(f.nodes[2], "EVAL", FAKE_REPLY, "-ERR not today\r\n");
    fake_on(f.nodes[2], "EVALSHA", FAKE_REPLY, "-ERR not today\r\n");
    farm_pause(&f, 4, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    must_have_answered(0, REDLOCK_VOTE_YES, REDLOCK_SAID_KEPT);
    must_have_answered(1, REDLOCK_VOTE_YES, REDLOCK_SAID_KEPT);
    must_have_answered(2, REDLOCK_VOTE_UNKNOWN, REDLOCK_SAID_ERROR);
    must_have_answered(3, REDLOCK_VOTE_NO, REDLOCK_SAID_TAKEN);
    ck_assert_str_eq(detail_at(3).holder, "another");
    ck_assert_int_eq(detail_at(4).waiting, 1);
    farm_go_on(&f, 4, 5);
    loop_settle(f.base);
    must_have_answered(4, REDLOCK_VOTE_NO, REDLOCK_SAID_GONE);
    ck_assert_int_eq(detail_at(4).waiting, 0);
}

/* The handle is still there until the callback has run. */
TEST(once_the_release_has_begun_the_last_answers_are_reported)
{
    held_acquire_key(&h, &f, "k");
    rlk_model_set(fake_model(f.nodes[3]), "k", "another", OUTCOME_TTL_MS);
    fake_on(f.nodes[2], "EVAL", FAKE_REPLY, "-ERR not today\r\n");
    fake_on(f.nodes[2], "EVALSHA", FAKE_REPLY, "-ERR not today\r\n");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    must_have_answered(0, REDLOCK_VOTE_YES, REDLOCK_SAID_KEPT);
    must_have_answered(2, REDLOCK_VOTE_UNKNOWN, REDLOCK_SAID_ERROR);
    must_have_answered(3, REDLOCK_VOTE_NO, REDLOCK_SAID_TAKEN);
    ck_assert_str_eq(detail_at(3).holder, "another");
}

TEST(a_healed_master_is_reported_as_set)
{
    held_acquire_key(&h, &f, "k");
    rlk_model_del(fake_model(f.nodes[4]), "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 4, 5, &rlk_script_set_all, 1);
    loop_settle(f.base);
    must_have_answered(4, REDLOCK_VOTE_YES, REDLOCK_SAID_SET);
    must_have_answered(3, REDLOCK_VOTE_YES, REDLOCK_SAID_KEPT);
}

static struct redlock_node_detail refused[5];

static void on_refused(struct redlock_lock *lock, int status, void *arg)
{
    size_t i;

    ck_assert_int_lt(status, 0);
    for (i = 0; i < 5; i++) {
        refused[i].size = sizeof(refused[i]);
        ck_assert_int_eq(redlock_lock_node(lock, i, &refused[i]), REDLOCK_OK);
    }
    *(int *)arg = 1;
}

TEST(a_failed_acquire_reports_the_answers_of_its_last_round)
{
    struct redlock_request request = outcome_request("k");
    int reported = 0, i;

    rlk_model_set(fake_model(f.nodes[0]), "k", "another", OUTCOME_TTL_MS);
    farm_pause(&f, 1, 3);
    fake_on(f.nodes[3], "SET", FAKE_REPLY, "-OOM no memory\r\n");
    fake_down(f.nodes[4]);
    farm_wait(&f, 4, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, on_refused, &reported, NULL), REDLOCK_OK);
    loop_must(f.base, &reported);
    ck_assert_int_eq(refused[0].vote, REDLOCK_VOTE_NO);
    ck_assert_int_eq(refused[0].said, REDLOCK_SAID_TAKEN);
    for (i = 1; i < 3; i++) {
        ck_assert_int_eq(refused[i].vote, REDLOCK_VOTE_UNKNOWN);
        ck_assert_int_eq(refused[i].said, REDLOCK_SAID_NOTHING);
        ck_assert_int_eq(refused[i].waiting, 1);
        ck_assert_uint_ne(refused[i].asked_ms, UINT64_MAX);
    }
    ck_assert_int_eq(refused[3].said, REDLOCK_SAID_ERROR);
    ck_assert_int_eq(refused[3].vote, REDLOCK_VOTE_UNKNOWN);
    ck_assert_int_eq(refused[4].said, REDLOCK_SAID_NOTHING);
    ck_assert_uint_eq(refused[4].said_ms, UINT64_MAX);
    ck_assert_uint_eq(refused[4].asked_ms, UINT64_MAX);
}

/* A request that waits, until it is cancelled. */
static struct refusal {
    struct redlock_lock *lock;
    int reported, may_be_held;
    char holders[5][32];
} r;

static void on_cancelled(struct redlock_lock *lock, int status, void *arg)
{
    size_t i;

    r.may_be_held = redlock_lock_may_be_held(lock);
    on_refused(lock, status, arg);
    for (i = 0; i < 5; i++) {
        snprintf(r.holders[i], sizeof(r.holders[i]), "%s", refused[i].holder);
    }
}

static bool has_failed(void *arg)
{
    (void)arg;
    return redlock_lock_reason(r.lock) == REDLOCK_EHELD;
}

/* Until the first try has failed; the next one is far away. */
static void try_once(void)
{
    struct redlock_request request = outcome_request("k");

    r = (struct refusal){0};
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_min_ms = request.retry_max_ms = 60000;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, on_cancelled, &r.reported, &r.lock),
                     REDLOCK_OK);
    loop_must_true(f.base, has_failed, NULL);
}

static void stop_waiting(void)
{
    ck_assert_int_eq(redlock_cancel(r.lock), REDLOCK_OK);
    loop_must(f.base, &r.reported);
}

static void must_be_refused(size_t first, size_t last, const char *holder)
{
    for (; first < last; first++) {
        ck_assert_int_eq(refused[first].vote, REDLOCK_VOTE_NO);
        ck_assert_str_eq(r.holders[first], holder);
        ck_assert_str_eq(refused[first].error, "");
    }
}

/* All masters are well. */
TEST(a_refusal_after_the_decision_names_its_holder_and_no_answer_is_called_late)
{
    farm_give_away(&f, 0, 5);
    fake_on(f.nodes[3], "SET", FAKE_STALL, NULL);
    fake_on(f.nodes[4], "SET", FAKE_STALL, NULL);
    try_once();
    fake_go_on(f.nodes[3]);
    loop_settle(f.base);
    stop_waiting();
    must_be_refused(0, 4, FARM_OTHER);
    ck_assert_int_eq(refused[4].vote, REDLOCK_VOTE_UNKNOWN);
    ck_assert_str_eq(refused[4].error, "has not replied yet");
}

TEST(a_master_that_broke_the_connection_on_our_question_is_said_to_have_done_so)
{
    struct redlock_request request = outcome_request("k");

    farm_give_away(&f, 0, 4);
    farm_on(&f, 1, 4, "SET", FAKE_STALL, NULL);
    fake_on(f.nodes[4], "SET", FAKE_DO_CLOSE, NULL);
    r = (struct refusal){0};
    ck_assert_int_eq(redlock_acquire(f.rl, &request, on_cancelled, &r.reported, &r.lock),
                     REDLOCK_OK);
    farm_wait(&f, 4, REDLOCK_NODE_DOWN);
    farm_wait(&f, 4, REDLOCK_NODE_UP);
    fake_go_on(f.nodes[1]);
    loop_must(f.base, &r.reported);
    must_be_refused(0, 2, FARM_OTHER);
    ck_assert_str_eq(refused[4].error, "the connection broke before it replied");
}

/* Two masters of five refuse for one holder, two for another. */
TEST(after_a_split_vote_nobody_holds_the_lock_once_all_have_answered)
{
    size_t i;

    for (i = 0; i < 4; i++) {
        rlk_model_set(fake_model(f.nodes[i]), "k", i < 2 ? "one" : "another", OUTCOME_TTL_MS);
    }
    fake_on_next(f.nodes[4], 1, "SET", FAKE_STALL, NULL, 0);
    try_once();
    ck_assert_int_eq(redlock_lock_may_be_held(r.lock), 1);
    fake_go_on(f.nodes[4]);
    loop_settle(f.base);
    stop_waiting();
    ck_assert_int_eq(r.may_be_held, 0);
}

/* Nobody can adopt a lock whose key is missing, or somebody else's. */
TEST(a_failed_adoption_reports_missing_keys_and_other_holders)
{
    struct redlock_request request = outcome_request("k");
    int reported = 0, i;

    rlk_model_set(fake_model(f.nodes[0]), "k", "another", OUTCOME_TTL_MS);
    farm_pause(&f, 3, 5);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "ours", on_refused, &reported, NULL),
                     REDLOCK_OK);
    loop_must(f.base, &reported);
    ck_assert_int_eq(refused[0].said, REDLOCK_SAID_TAKEN);
    for (i = 1; i < 3; i++) {
        ck_assert_int_eq(refused[i].said, REDLOCK_SAID_GONE);
    }
}
