/* io/test_extend.c - what the holder asks for and gets: extensions and notices; each is reported
 * once, whatever happens meanwhile. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("extend");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h, second;

/* ---- extend ---- */

CASE("extend");

TEST(extension_moves_the_ttl_on_the_masters)
{
    size_t i;

    held_start_with_lock(&h, &f);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), OUTCOME_TTL_MS);
    loop_settle(f.base);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_gt(rlk_model_ttl(fake_model(f.nodes[i]), "k"), OUTCOME_TTL_MS);
    }
    ck_assert_str_eq(h.order, "e");
}

/* [S5] The key may live as long as the extension asked for. */
TEST(pending_release_of_an_extended_key_lives_as_long)
{
    held_start_with_lock(&h, &f);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    loop_settle(f.base);
    fake_down(f.nodes[4]);
    farm_wait_error(&f, 4, "");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    suspend_ms(OUTCOME_TTL_MS + HELD_THIRD_MS);
    loop_settle(f.base);
    fake_up(f.nodes[4]);
    scripts_wait(&f, 4, &rlk_script_release, 1);
    farm_wait_clean(&f);
}

TEST(extension_never_shortens)
{
    uint64_t before;
    size_t i;

    held_start_with_lock(&h, &f);
    before = redlock_lock_validity_ms(h.lock);
    ck_assert_int_eq(held_extend(&h, HELD_THIRD_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), before - HELD_THIRD_MS / 2);
    loop_settle(f.base);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_gt(rlk_model_ttl(fake_model(f.nodes[i]), "k"), 2 * HELD_THIRD_MS);
    }
}

TEST(renewals_go_on_with_the_ttl_of_the_extension)
{
    held_start_with_lock(&h, &f);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    loop_settle(f.base);
    suspend_ms(2 * HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 2);
    ck_assert_uint_eq(scripts_ttl(scripts_last(&f, 0, &rlk_script_keep)), 2 * OUTCOME_TTL_MS);
    loop_settle(f.base);
    ck_assert_int_eq(held_extend(&h, 0), REDLOCK_OK);
    held_wait(&h, &h.extended, 2);
    ck_assert_uint_eq(scripts_ttl(scripts_last(&f, 0, &rlk_script_keep)), 2 * OUTCOME_TTL_MS);
    ck_assert_str_eq(h.order, "ee");
}

TEST(extension_works_without_renewing)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    request.renew = 0;
    held_acquire(&h, &request);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    loop_settle(f.base);
    suspend_ms(OUTCOME_TTL_MS + HELD_THIRD_MS);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "e");
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_keep), 1);
    suspend_ms(OUTCOME_TTL_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_EUNRENEWED);
}

TEST(extension_that_no_majority_confirms_changes_nothing)
{
    struct redlock_request request = held_request(&h, &f, "k");
    uint64_t before;

    held_start(&f);
    request.renew = 0;
    held_acquire(&h, &request);
    farm_pause(&f, 0, 3);
    before = redlock_lock_validity_ms(h.lock);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_int_eq(h.extended, 0);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_ENOQUORUM);
    ck_assert_uint_lt(redlock_lock_validity_ms(h.lock), before);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    ck_assert_str_eq(h.order, "e");
    farm_go_on(&f, 0, 3);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* The result is reported from the loop, though it is known at once. */
TEST(extension_without_a_connected_master_fails_from_the_loop)
{
    size_t i;

    held_start_with_lock(&h, &f);
    for (i = 0; i < 5; i++) {
        fake_down(f.nodes[i]);
        farm_wait_error(&f, i, "");
    }
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(h.extended, 0);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_ENOQUORUM);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
}

TEST(extension_of_a_key_that_is_gone_is_a_loss)
{
    held_start_with_lock(&h, &f);
    held_del(&f, 2, 5);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    held_wait(&h, &h.lost, 1);
    loop_settle(f.base);
    ck_assert_int_eq(h.extend_status, REDLOCK_ELOST);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_uint_eq(strlen(h.order), 2);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_ESTATE);
    ck_assert_uint_eq(scripts_count(&f, 2, &rlk_script_set_all), 0);
}

TEST(extension_ends_with_the_lock)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 5);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    suspend_ms(OUTCOME_TTL_MS);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_ELOST);
    held_wait(&h, &h.lost, 1);
    farm_go_on(&f, 0, 5);
    loop_settle(f.base);
    ck_assert_int_eq(h.extended, 1);
    ck_assert_int_eq(h.lost, 1);
    ck_assert_uint_eq(redlock_lock_validity_ms(h.lock), 0);
}

static void sleep_too_long(struct held *held)
{
    held->on_notice = held->on_extended = NULL;
    suspend_ms(3 * OUTCOME_TTL_MS);
}

/* It was confirmed in time; but a callback that is queued before it takes too long. */
TEST(extension_that_is_reported_too_late_fails)
{
    held_start_with_lock(&h, &f);
    held_acquire_key(&second, &f, "l");
    h.on_extended = sleep_too_long;
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(held_extend(&second, OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&second, &second.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_int_eq(second.extend_status, REDLOCK_ELOST);
    held_wait(&second, &second.lost, 1);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "el");
    ck_assert_str_eq(second.order, "el");
}

TEST_LOOP(extension_ends_with_a_release, 0, 2)
{
    held_start_with_lock(&h, &f);
    if (_i == 0) {
        farm_pause(&f, 0, 5);
    }
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_ESTATE);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_ECANCELED);
    farm_go_on(&f, 0, 5);
    held_wait(&h, &h.released, 1);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "er");
    farm_wait_clean(&f);
}

TEST(a_lost_lock_cannot_be_petted)
{
    struct redlock_request request;

    held_start(&f);
    request = held_request(&h, &f, "k");
    request.renew = 0;
    held_acquire(&h, &request);
    ck_assert_int_eq(redlock_lock_heartbeat(h.lock), REDLOCK_OK);
    suspend_ms(OUTCOME_TTL_MS);
    ck_assert_int_eq(redlock_lock_heartbeat(h.lock), REDLOCK_ESTATE);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(redlock_lock_heartbeat(h.lock), REDLOCK_ESTATE);
}

TEST(extension_ends_with_a_close)
{
    held_start_with_lock(&h, &f);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(held_close(&h), REDLOCK_OK);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_ESTATE);
    held_wait(&h, &h.closed, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_ECANCELED);
    ck_assert_str_eq(h.order, "ec");
    farm_wait_clean(&f);
}

/* The renewal sets the ttl that it was sent with; the extension follows, with its own ttl. */
TEST(extension_waits_for_the_renewal_in_progress)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_keep), 1);
    farm_go_on(&f, 0, 5);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), OUTCOME_TTL_MS);
    ck_assert_uint_eq(scripts_ttl(scripts_last(&f, 0, &rlk_script_keep)), 2 * OUTCOME_TTL_MS);
    loop_settle(f.base);
    ck_assert_str_eq(h.order, "e");
}

TEST(calls_in_the_wrong_state_are_refused)
{
    struct redlock_lock *pending = NULL;
    struct redlock_request request;
    struct outcome got = {.n = 5};

    held_start_with_lock(&h, &f);
    request = outcome_request("other");
    farm_pause(&f, 0, 5);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, &pending), 0);
    ck_assert_int_eq(redlock_extend(pending, 1000, outcome_never, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_heartbeat(pending), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_extend(NULL, 1000, outcome_never, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_extend(h.lock, 1000, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_extend(h.lock, 9, outcome_never, NULL), REDLOCK_ETTL);
    ck_assert_int_eq(redlock_extend(h.lock, REDLOCK_MAX_TTL_MS + 1, outcome_never, NULL),
                     REDLOCK_ETTL);
    ck_assert_int_eq(redlock_lock_heartbeat(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(held_extend(&h, 1000), REDLOCK_OK);
    ck_assert_int_eq(redlock_extend(h.lock, 1000, outcome_never, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_detach(h.lock), REDLOCK_ESTATE);
    farm_go_on(&f, 0, 5);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_detach(h.lock), REDLOCK_OK);
    loop_must(f.base, &got.calls);
}

/* ---- calls from inside the callbacks ---- */

static void do_release(struct held *held)
{
    held->on_notice = held->on_extended = NULL;
    ck_assert_int_eq(held_release(held), REDLOCK_OK);
}

static void do_detach(struct held *held)
{
    held->on_notice = held->on_extended = NULL;
    ck_assert_int_eq(redlock_lock_detach(held->lock), REDLOCK_OK);
    held->lock = NULL;
}

static void do_close(struct held *held)
{
    held->on_notice = held->on_extended = NULL;
    ck_assert_int_eq(held_close(held), REDLOCK_OK);
}

static void do_extend(struct held *held)
{
    held->on_notice = held->on_extended = NULL;
    ck_assert_int_eq(held_extend(held, OUTCOME_TTL_MS), REDLOCK_OK);
}

static void do_nothing(struct held *held)
{
    held->on_notice = held->on_extended = NULL;
}

static const struct {
    void (*act)(struct held *held);
    const char *then; /* the callbacks that follow */
} acts[] = {
    {do_nothing, ""}, {do_release, "r"}, {do_detach, ""}, {do_close, "c"}, {do_extend, "e"}};

#define N_ACTS ((int)(sizeof(acts) / sizeof(acts[0])))

static bool are_all_reported(void *arg)
{
    const char *then = arg;

    return strlen(h.order) == 1 + strlen(then);
}

static void expect_after(char first, const char *then)
{
    loop_must_true(f.base, are_all_reported, (void *)(uintptr_t)then);
    loop_settle(f.base);
    ck_assert_int_eq(h.order[0], first);
    ck_assert_str_eq(h.order + 1, then);
    farm_end(&f);
}

CASE("callbacks");

TEST_LOOP(calls_from_inside_the_callback_of_an_extension, 0, N_ACTS)
{
    held_start_with_lock(&h, &f);
    h.on_extended = acts[_i].act;
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    expect_after('e', acts[_i].then);
}

TEST_LOOP(calls_from_inside_a_notice_of_trouble, 0, N_ACTS)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 3);
    h.on_notice = acts[_i].act;
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    held_wait(&h, &h.troubles, 1);
    farm_go_on(&f, 0, 3);
    expect_after('t', acts[_i].then);
}

/* The last of these calls, an extension, is refused then. */
TEST_LOOP(calls_from_inside_a_notice_of_loss, 0, N_ACTS - 1)
{
    held_start_with_lock(&h, &f);
    h.on_notice = acts[_i].act;
    suspend_ms(OUTCOME_TTL_MS);
    expect_after('l', acts[_i].then);
}

/* ---- queued notices ---- */

static void release_the_second(struct held *held)
{
    (void)held;
    ck_assert_int_eq(held_release(&second), REDLOCK_OK);
}

static void forget_the_second(struct held *held)
{
    (void)held;
    ck_assert_int_eq(redlock_lock_detach(second.lock), REDLOCK_OK);
    second.lock = NULL;
}

/* Without renewals, so that the first one ends first. */
static void acquire_to_end(struct held *held, const char *key)
{
    struct redlock_request request = held_request(held, &f, key);

    request.renew = 0;
    held_acquire(held, &request);
}

TEST_LOOP(a_queued_notice_is_dropped_with_its_lock, 0, 3)
{
    static void (*const ends[])(struct held *) = {release_the_second, forget_the_second, do_close};
    static const char *const orders[] = {"r", "", ""};

    held_start(&f);
    acquire_to_end(&h, "k");
    acquire_to_end(&second, "l");
    h.on_notice = ends[_i];
    suspend_ms(OUTCOME_TTL_MS);
    held_wait(&h, &h.lost, 1);
    loop_must_true(f.base, are_all_reported, (void *)(uintptr_t)(_i == 2 ? "c" : ""));
    if (_i == 0) {
        held_wait(&second, &second.released, 1);
    }
    loop_settle(f.base);
    ck_assert_str_eq(second.order, orders[_i]);
}

/* It was trouble when it was queued. Which of the two is reported first is random. */
TEST(a_notice_is_true_when_it_is_reported)
{
    held_start_with_lock(&h, &f);
    held_acquire_key(&second, &f, "l");
    farm_pause(&f, 0, 3);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep_all, 1);
    h.on_notice = second.on_notice = sleep_too_long;
    suspend_ms(HELD_TIMEOUT_MS + 1);
    held_wait(&h, &h.lost, 1);
    held_wait(&second, &second.lost, 1);
    ck_assert_uint_eq(h.validity_ms, 0);
    ck_assert_uint_eq(second.validity_ms, 0);
    loop_settle(f.base);
    ck_assert_str_eq(h.troubles ? h.order : second.order, "tl");
    ck_assert_str_eq(h.troubles ? second.order : h.order, "l");
}

TEST_LOOP(no_notice_comes_after_the_release, 0, 2)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    if (_i == 0) {
        ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    } else {
        ck_assert_int_eq(held_close(&h), REDLOCK_OK);
    }
    suspend_ms(OUTCOME_TTL_MS);
    loop_must_true(f.base, are_all_reported, (void *)(uintptr_t) "");
    loop_settle(f.base);
    ck_assert_str_eq(h.order, _i == 0 ? "r" : "c");
}

/* ---- rule 9 ---- */

static int refusals_in_child(void)
{
    struct redlock_request request = outcome_request("child");
    int n = 0;

    n += redlock_extend(h.lock, 1000, outcome_never, NULL) == REDLOCK_EFORK;
    n += redlock_lock_heartbeat(h.lock) == REDLOCK_EFORK;
    n += redlock_adopt(f.rl, &request, "token", outcome_never, NULL, NULL) == REDLOCK_EFORK;
    n += redlock_lock_validity_ms(h.lock) == 0;
    suspend_ms(OUTCOME_TTL_MS);
    loop_settle(f.base);
    n += h.order[0] == '\0';
    return n;
}

TEST(a_forked_child_is_refused_and_gets_no_callback)
{
    int status = -1;
    pid_t child;

    held_start_with_lock(&h, &f);
    child = fork();
    if (child == 0) {
        _exit(refusals_in_child());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}
