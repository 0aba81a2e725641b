/* io/test_fence.c - fences: how many commands one takes, and which masters are asked. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("fence");
FIXTURE(NULL, farm_end_all);

/* Counters that are greater than every wall clock; the largest hint that a master takes; the last
 * number that a counter can have. */
#define AHEAD UINT64_C(3000000000000000)
#define LAST_HINT ((UINT64_C(1) << 52) - 1)
#define LAST_NUMBER ((UINT64_C(1) << 53) - 1)

#define A_CENTURY_AGO_US UINT64_C(1000000000)

#define COUNTER ":redlock-fence"
#define WAITING ":redlock-waiting"

static struct farm f;
static struct held h;

static void start(size_t n)
{
    farm_start_open(&f, n);
}

static struct model *model(size_t node)
{
    return fake_model(f.nodes[node]);
}

static struct outcome acquire(const char *key)
{
    struct redlock_request request = outcome_fenced_request(key);

    return farm_acquire_as(&f, &request);
}

static void must_release(struct outcome *got)
{
    ck_assert_int_eq(got->status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, got->lock), REDLOCK_OK);
    farm_wait_gone(&f, "k");
}

/* Acquire the lock once, and release it. */
static uint64_t one_fence(const char *key)
{
    struct outcome got = acquire(key);
    uint64_t fence;

    ck_assert_int_eq(got.status, REDLOCK_OK);
    fence = redlock_lock_fencing_token(got.lock);
    loop_settle(f.base);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_gone(&f, key);
    return fence;
}

static uint64_t counter_of(size_t node, const char *key)
{
    const char *value;
    char name[64];

    snprintf(name, sizeof(name), "%s%s", key, COUNTER);
    value = rlk_model_get(model(node), name);
    return value ? strtoull(value, NULL, 10) : 0;
}

static void set_counter(size_t node, const char *key, uint64_t value)
{
    char name[64], text[24];

    snprintf(name, sizeof(name), "%s%s", key, COUNTER);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    rlk_model_set(model(node), name, text, 0);
}

static void set_counters(size_t first, size_t last, const char *key, uint64_t value)
{
    for (; first < last; first++) {
        set_counter(first, key, value);
    }
}

static size_t confirms(size_t node)
{
    return scripts_count(&f, node, &rlk_script_confirm);
}

/* ---- one round trip ---- */

TEST(a_fence_costs_one_command_a_master)
{
    size_t i, before[5];
    struct outcome got;
    const struct resp_request *vote = NULL;

    start(5);
    one_fence("k"); /* sends the text */
    for (i = 0; i < 5; i++) {
        before[i] = fake_n_commands(f.nodes[i], 0);
    }
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    loop_settle(f.base);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(fake_n_commands(f.nodes[i], 0), before[i] + 1);
        ck_assert(rlk_resp_is(fake_request(f.nodes[i], 0, before[i]), 0, "EVALSHA"));
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_vote), 2);
        vote = scripts_last(&f, i, &rlk_script_vote);
        ck_assert_str_eq(vote->argv[3], "k");
        ck_assert_str_eq(vote->argv[4], got.token);
        ck_assert_str_eq(rlk_model_get(model(i), "k"), got.token);
        ck_assert_uint_eq(counter_of(i, "k"), redlock_lock_fencing_token(got.lock));
        ck_assert_uint_eq(confirms(i), 0);
    }
    must_release(&got);
}

/* The same with a quarantine: no more commands are sent. */
TEST(a_fence_costs_no_more_with_a_quarantine)
{
    size_t i, before[3];
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    f.options.inspection_ms = FARM_NEVER_MS;
    for (i = 0; i < 3; i++) {
        rlk_model_make_old(fake_model(f.nodes[i]));
    }
    farm_open(&f);
    one_fence("k");
    for (i = 0; i < 3; i++) {
        before[i] = fake_n_commands(f.nodes[i], 0);
    }
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    loop_settle(f.base);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_n_commands(f.nodes[i], 0), before[i] + 1);
        ck_assert(rlk_resp_is(fake_request(f.nodes[i], 0, before[i]), 0, "EVALSHA"));
    }
    must_release(&got);
}

TEST(fences_grow)
{
    uint64_t last = 0, next;
    struct redlock *second;
    struct outcome got;
    struct redlock_request request = outcome_fenced_request("k");
    size_t i;

    start(3);
    ck_assert_int_eq(redlock_new(f.base, &f.options, &second), REDLOCK_OK);
    for (i = 0; i < 20; i++) {
        if (i % 2) {
            got = outcome_of_acquire(f.base, second, 3, &request);
            ck_assert_int_eq(got.status, REDLOCK_OK);
            next = redlock_lock_fencing_token(got.lock);
            must_release(&got);
        } else {
            next = one_fence("k");
        }
        ck_assert_uint_gt(next, last);
        last = next;
    }
    watch_close(f.base, second);
}

/* As after a client whose wall clock was a thousand years ahead: each fence grows by one from
 * there. */
TEST(a_hint_below_the_counters_is_not_used)
{
    start(3);
    set_counters(0, 3, "k", AHEAD);
    ck_assert_uint_eq(one_fence("k"), AHEAD + 1);
    ck_assert_uint_eq(one_fence("k"), AHEAD + 2);
    ck_assert_uint_eq(confirms(0) + confirms(1) + confirms(2), 0);
}

/* The clock of the client is a century ahead of those of the masters: its hint is cut, on all
 * masters to the same number, and then the counters go on from there. */
TEST(a_client_from_another_century_uses_up_no_numbers)
{
    size_t i;

    start(3);
    for (i = 0; i < 3; i++) {
        rlk_model_stop_clock(model(i));
        model(i)->clock_us = A_CENTURY_AGO_US + 1000 * i;
    }
    ck_assert_uint_eq(one_fence("k"), A_CENTURY_AGO_US + 60000000);
    ck_assert_uint_eq(one_fence("k"), A_CENTURY_AGO_US + 60000001);
    ck_assert_uint_eq(confirms(0) + confirms(1) + confirms(2), 0);
}

/* The largest hint that any client can have sent leaves as many numbers again. */
TEST(a_counter_at_the_last_hint_goes_on)
{
    start(3);
    set_counters(0, 3, "k", LAST_HINT);
    ck_assert_uint_eq(one_fence("k"), LAST_HINT + 1);
    ck_assert_uint_eq(one_fence("k"), LAST_HINT + 2);
}

/* ---- counters that differ ---- */

/* While all three wait for the others, the majority are those that answer first. */
TEST(only_masters_that_voted_lower_are_asked_to_confirm)
{
    const struct resp_request *confirm;
    struct outcome got;

    start(3);
    set_counter(0, "k", AHEAD);
    set_counter(1, "k", AHEAD + 7);
    fake_pause(f.nodes[2]);
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 8);
    ck_assert_uint_eq(confirms(0), 1);
    ck_assert_uint_eq(confirms(1), 0);
    ck_assert_uint_eq(confirms(2), 0);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_confirm), 1);
    confirm = scripts_last(&f, 0, &rlk_script_confirm);
    ck_assert_str_eq(confirm->argv[3], "k");
    ck_assert_str_eq(confirm->argv[4], got.token);
    ck_assert_uint_eq(strtoull(confirm->argv[5], NULL, 10), AHEAD + 8);
    ck_assert_uint_eq(counter_of(0, "k"), AHEAD + 8);
    ck_assert_uint_eq(counter_of(1, "k"), AHEAD + 8);
    fake_go_on(f.nodes[2]);
    must_release(&got);
}

/* Three of five voted with three numbers: both lower ones are raised to the largest. */
TEST(a_majority_agrees_on_the_largest)
{
    struct outcome got;
    size_t i;

    start(5);
    for (i = 0; i < 5; i++) {
        set_counter(i, "k", AHEAD + 10 * i);
    }
    fake_pause(f.nodes[0]);
    fake_pause(f.nodes[4]);
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 31);
    for (i = 1; i <= 3; i++) {
        ck_assert_uint_eq(counter_of(i, "k"), AHEAD + 31);
        ck_assert_uint_eq(confirms(i), i < 3);
    }
    fake_go_on(f.nodes[0]);
    fake_go_on(f.nodes[4]);
    must_release(&got);
}

/* The next fence is greater, whichever majority votes. */
TEST(the_next_fence_is_greater_with_any_majority)
{
    uint64_t last = 0, next;
    size_t i;

    start(3);
    set_counter(0, "k", AHEAD);
    set_counter(1, "k", AHEAD + 7);
    for (i = 0; i < 9; i++) {
        struct outcome got;

        fake_pause(f.nodes[i % 3]);
        got = acquire("k");
        ck_assert_int_eq(got.status, REDLOCK_OK);
        next = redlock_lock_fencing_token(got.lock);
        ck_assert_uint_gt(next, last);
        last = next;
        fake_go_on(f.nodes[i % 3]);
        must_release(&got);
    }
}

/* The rule for the confirmation exists before the vote is answered: both are EVAL, and the vote
 * comes first. */
static struct outcome got;

static void begin_with_confirm(enum fake_how how, const char *confirm)
{
    struct redlock_request request = outcome_fenced_request("k");

    got = (struct outcome){.n = 3};
    set_counter(0, "k", AHEAD);
    set_counter(1, "k", AHEAD + 7);
    set_counter(2, "k", AHEAD + 3);
    fake_on(f.nodes[0], "EVAL", how, confirm);
    fake_on_next(f.nodes[0], 1, "EVAL", FAKE_MODEL, NULL, 0);
    fake_pause(f.nodes[2]);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    scripts_wait(&f, 0, &rlk_script_confirm, 1);
}

/* The key was given to another client there, or its counter is greater: its vote is lost, and
 * the third master is asked instead. */
TEST(a_confirmation_that_is_refused_is_a_lost_vote)
{
    start(3);
    begin_with_confirm(FAKE_REPLY, ":0\r\n");
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, 0);
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 8);
    ck_assert_uint_eq(confirms(2), 1);
    ck_assert_uint_eq(counter_of(2, "k"), AHEAD + 8);
    fake_behave(f.nodes[0]);
    must_release(&got);
}

/* No majority is left: what was granted is released. */
TEST_LOOP(without_a_majority_that_confirms_there_is_no_lock, 0, 2)
{
    start(3);
    fake_on(f.nodes[2], "EVAL", FAKE_REPLY, "-ERR no\r\n");
    begin_with_confirm(FAKE_REPLY, _i ? "-ERR no\r\n" : ":0\r\n");
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNKNOWN);
    ck_assert_int_eq(got.votes[1].vote, REDLOCK_VOTE_YES);
    farm_wait_gone(&f, "k");
}

/* The confirmation may or may not have been carried out when the connection broke: the vote is
 * lost, and the key is released. */
TEST_LOOP(an_answer_to_a_confirmation_that_is_lost_is_a_lost_vote, 0, 2)
{
    start(3);
    begin_with_confirm(_i ? FAKE_DO_CLOSE : FAKE_REPLY_CLOSE, "");
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_ne(got.votes[0].vote, REDLOCK_VOTE_YES);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 8);
    fake_behave(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    must_release(&got);
}

/* A master does not answer the confirmation: the third one completes the majority. */
TEST(a_confirmation_that_does_not_come_is_not_waited_for)
{
    start(3);
    begin_with_confirm(FAKE_MUTE, "");
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 8);
}

/* A vote with a greater number comes after the fence was chosen: it is too late to count, and
 * the master is not asked to lower its counter. */
TEST(a_late_vote_that_is_greater_does_not_change_the_fence)
{
    start(3);
    begin_with_confirm(FAKE_STALL, NULL);
    set_counter(2, "k", AHEAD + 100);
    fake_go_on(f.nodes[2]);
    scripts_wait(&f, 2, &rlk_script_vote, 1);
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, 0);
    ck_assert_uint_eq(confirms(2), 0);
    fake_behave(f.nodes[0]);
    fake_go_on(f.nodes[0]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 8);
    ck_assert_uint_eq(counter_of(2, "k"), AHEAD + 101);
    must_release(&got);
    ck_assert_uint_gt(one_fence("k"), AHEAD + 8);
}

/* Node 1 has granted with a greater number, as another client's clock is half a minute ahead, and
 * the others refuse: the next round asks all masters for more than that, so that all agree at once.
 */
TEST(a_lost_round_raises_the_hint_of_the_next_one)
{
    struct redlock_request request = outcome_fenced_request("k");
    static const char refusal[] = "$8\r\nsomebody\r\n";
    uint64_t ahead;
    size_t i;

    start(3);
    ahead = rlk_model_now_us(model(1)) + 30000000;
    set_counter(1, "k", ahead);
    fake_on_next(f.nodes[0], 1, "EVAL", FAKE_REPLY, refusal, strlen(refusal));
    fake_on_next(f.nodes[2], 1, "EVAL", FAKE_REPLY, refusal, strlen(refusal));
    fake_pause(f.nodes[0]);
    got = (struct outcome){.n = 3};
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    scripts_wait(&f, 1, &rlk_script_vote, 1);
    loop_settle(f.base);
    fake_go_on(f.nodes[0]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(got.tries, 2);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), ahead + 2);
    loop_settle(f.base);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(confirms(i), 0);
        ck_assert_uint_eq(counter_of(i, "k"), ahead + 2);
    }
    must_release(&got);
}

/* ---- several keys ---- */

static const char *const two[] = {"a", "b"};

TEST(each_of_several_keys_has_a_counter_and_all_grow)
{
    struct redlock_request request = outcome_fenced_request(NULL);
    uint64_t fence;
    size_t i;

    start(3);
    set_counters(0, 3, "b", AHEAD);
    request.keys = two;
    request.n_keys = 2;
    got = farm_must_acquire_as(&f, &request);
    fence = redlock_lock_fencing_token(got.lock);
    ck_assert_uint_eq(fence, AHEAD + 1);
    loop_settle(f.base);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(counter_of(i, "a"), fence);
        ck_assert_uint_eq(counter_of(i, "b"), fence);
    }
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_gone(&f, "a");
    farm_wait_gone(&f, "b");
    ck_assert_uint_gt(one_fence("a"), fence);
    ck_assert_uint_gt(one_fence("b"), fence);
}

/* ---- while it is held ---- */

static void hold_with_fence(size_t n)
{
    struct redlock_request request;

    farm_start(&f, n, FAKE_UNIX);
    f.options.node_timeout_ms = HELD_TIMEOUT_MS;
    farm_open(&f);
    request = held_request(&h, &f, "k");
    request.fencing = 1;
    held_acquire(&h, &request);
}

TEST(a_renewal_raises_the_counters)
{
    size_t i;
    uint64_t fence;

    hold_with_fence(3);
    fence = redlock_lock_fencing_token(h.lock);
    set_counters(0, 2, "k", 5);
    set_counter(2, "k", AHEAD);
    suspend_ms(HELD_THIRD_MS);
    for (i = 0; i < 3; i++) {
        scripts_wait(&f, i, &rlk_script_keep, 1);
    }
    loop_settle(f.base);
    ck_assert_uint_eq(counter_of(0, "k"), fence);
    ck_assert_uint_eq(counter_of(1, "k"), fence);
    ck_assert_uint_eq(counter_of(2, "k"), AHEAD);
    ck_assert_uint_eq(redlock_lock_fencing_token(h.lock), fence);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
}

/* A master that lost all its data gets the counter again with the key. */
TEST(a_heal_raises_the_counter)
{
    uint64_t fence;

    hold_with_fence(3);
    fence = redlock_lock_fencing_token(h.lock);
    rlk_model_flush(model(0));
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 0, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_str_eq(rlk_model_get(model(0), "k"), h.token);
    ck_assert_uint_eq(counter_of(0, "k"), fence);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
}

/* Without a fence there is no counter. */
TEST(a_lock_without_a_fence_has_no_counter)
{
    size_t i;

    start(3);
    got = farm_must_acquire(&f, "k");
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), 0);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(counter_of(i, "k"), 0);
    }
    ck_assert_uint_eq(redlock_lock_fencing_token(NULL), 0);
    must_release(&got);
}

static int released;
static uint64_t fence_at_release;

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)arg;
    (void)status;
    fence_at_release = redlock_lock_fencing_token(lock);
    released++;
}

TEST(a_released_lock_has_no_fence)
{
    start(3);
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_fencing_token(got.lock), 0);
    ck_assert_int_eq(redlock_release(got.lock, on_released, NULL), REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), 0);
    fence_at_release = 1;
    loop_must(f.base, &released);
    ck_assert_uint_eq(fence_at_release, 0);
}

/* Unless it asks for one: test_adopt.c. */
TEST(an_adopted_lock_has_no_fence)
{
    struct redlock_request request;
    uint64_t fence;
    size_t i;

    start(3);
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    fence = redlock_lock_fencing_token(got.lock);
    loop_settle(f.base);
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_OK);
    request = held_request(&h, &f, "k");
    held_adopt(&h, f.rl, &request, got.token);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(h.lock), 0);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(counter_of(i, "k"), fence);
    }
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
}

/* ---- what a server may answer ---- */

TEST(scripts_that_were_forgotten_are_sent_again)
{
    uint64_t fence;
    size_t i;

    start(3);
    fence = one_fence("k");
    for (i = 0; i < 3; i++) {
        rlk_model_forget_scripts(model(i));
    }
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_fencing_token(got.lock), fence);
    loop_settle(f.base);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_vote), 3);
        ck_assert_uint_eq(counter_of(i, "k"), redlock_lock_fencing_token(got.lock));
    }
    must_release(&got);
}

/* The second time it is sent by its SHA-1, which the server has forgotten. */
TEST(a_confirmation_that_was_forgotten_is_sent_again)
{
    int times;

    start(3);
    fake_pause(f.nodes[2]);
    for (times = 1; times <= 2; times++) {
        set_counter(0, "k", AHEAD);
        set_counter(1, "k", AHEAD + 7);
        got = acquire("k");
        ck_assert_int_eq(got.status, REDLOCK_OK);
        ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), AHEAD + 8);
        ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
        rlk_model_forget_scripts(model(0));
    }
    ck_assert_uint_eq(confirms(0), 3); /* text; SHA-1, text */
    fake_go_on(f.nodes[2]);
    farm_wait_gone(&f, "k");
}

TEST(a_counter_without_numbers_left_says_so)
{
    size_t i;

    start(3);
    set_counters(0, 3, "k", LAST_NUMBER);
    got = acquire("k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_UNKNOWN);
        ck_assert_msg(strstr(got.votes[i].error, "no numbers left") != NULL, "%s",
                      got.votes[i].error);
        ck_assert_uint_eq(counter_of(i, "k"), LAST_NUMBER);
    }
    farm_wait_gone(&f, "k");
    for (i = 0; i < 3; i++) {
        rlk_model_del(model(i), "k" COUNTER);
    }
    ck_assert_uint_gt(one_fence("k"), 0);
}

static const char *const nonsense[] = {
    "*2\r\n:0\r\n:1\r\n",
    "*2\r\n:-1\r\n:1\r\n",
    "*2\r\n:9007199254740992\r\n:1\r\n",
    "*2\r\n:9223372036854775807\r\n:1\r\n",
    "*2\r\n$1\r\n5\r\n:1\r\n",
    "*2\r\n*0\r\n*0\r\n",
    "*3\r\n:5\r\n:1\r\n:1\r\n",
    "*1\r\n:5\r\n",
    "*0\r\n",
    ":1\r\n",
    "+OK\r\n",
    "$-1\r\n",
    "-FENCE \x1b[31m\r\n",
    "-NOSCRIPT no\r\n",
};
#define N_NONSENSE ((int)(sizeof(nonsense) / sizeof(nonsense[0])))

/* Two of three votes are enough; but this one is no yes, and the fence is that of the others. */
TEST_LOOP(nonsense_is_no_vote, 0, N_NONSENSE)
{
    size_t i;

    start(3);
    fake_on(f.nodes[0], "EVAL", FAKE_REPLY, nonsense[_i]);
    set_counters(0, 3, "k", AHEAD);
    rlk_model_set(model(1), "k", "somebody", 0);
    got = acquire("k");
    ck_assert_int_lt(got.status, 0);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNKNOWN);
    for (i = 0; got.votes[0].error[i]; i++) {
        ck_assert((unsigned char)got.votes[0].error[i] >= ' ');
    }
    rlk_model_del(model(1), "k");
    farm_wait_gone(&f, "k");
    ck_assert_uint_ge(one_fence("k"), AHEAD + 1);
}

/* Only 1 means yes. */
static const char *const no_confirmation[] = {
    ":2\r\n", ":-1\r\n", "+OK\r\n", "$1\r\n1\r\n", "*1\r\n:1\r\n", "$-1\r\n", "-ERR no\r\n"};
#define N_NO_CONFIRMATION ((int)(sizeof(no_confirmation) / sizeof(no_confirmation[0])))

TEST_LOOP(nonsense_is_no_confirmation, 0, N_NO_CONFIRMATION)
{
    start(3);
    fake_on(f.nodes[2], "EVAL", FAKE_REPLY, "-ERR no\r\n");
    begin_with_confirm(FAKE_REPLY, no_confirmation[_i]);
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    farm_wait_gone(&f, "k");
}

/* ---- names that are not for locks ---- */

static const struct {
    const char *key;
    int status;
} names[] = {
    {"k" COUNTER, REDLOCK_EINVAL},
    {COUNTER, REDLOCK_EINVAL},
    {"k" COUNTER COUNTER, REDLOCK_EINVAL},
    {"redlock:incarnation", REDLOCK_EINVAL},
    {"redlock-fence", REDLOCK_OK},
    {"k" COUNTER "s", REDLOCK_OK},
    {"redlock:incarnations", REDLOCK_OK},
    {"a:redlock:incarnation", REDLOCK_OK},
    {"redlock:incarnatio", REDLOCK_OK},
    {"k" WAITING, REDLOCK_EINVAL},
    {WAITING, REDLOCK_EINVAL},
    {"k" WAITING "s", REDLOCK_OK},
    {"redlock-waiting", REDLOCK_OK},
};
#define N_NAMES ((int)(sizeof(names) / sizeof(names[0])))

static void count(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    ++*(int *)arg;
}

/* A lock of that name would be another lock's counter or waiting list, or the mark of all data. */
TEST_LOOP(a_reserved_name_is_refused_as_a_key, 0, N_NAMES)
{
    const char *keys[] = {"a", names[_i].key};
    struct redlock_request request = outcome_request(names[_i].key), both = outcome_request(NULL);
    struct outcome with = {.n = 3};
    int adopted = 0, let_go = 0, status = names[_i].status;

    start(3);
    both.keys = keys;
    both.n_keys = 2;
    if (status == REDLOCK_OK) {
        with = farm_must_acquire_as(&f, &both);
        ck_assert_int_eq(farm_release(&f, with.lock), REDLOCK_OK);
    } else {
        ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &with, NULL), status);
        ck_assert_int_eq(redlock_acquire(f.rl, &both, outcome_on_acquired, &with, NULL), status);
        ck_assert_int_eq(with.calls, 0);
    }
    ck_assert_int_eq(redlock_adopt(f.rl, &both, "t", count, &adopted, NULL), status);
    ck_assert_int_eq(redlock_release_token(f.rl, keys, NULL, 2, "t", count, &let_go), status);
    if (status == REDLOCK_OK) {
        loop_must(f.base, &adopted);
        loop_must(f.base, &let_go);
    }
    ck_assert_int_eq(adopted + let_go, status == REDLOCK_OK ? 2 : 0);
}
