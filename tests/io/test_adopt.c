/* io/test_adopt.c - a lock is adopted by its token, or left as it is. */
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/rig.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("adopt");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

static void forget(char *ret_token, size_t size)
{
    memcpy(ret_token, h.token, size);
    ck_assert_int_eq(redlock_lock_detach(h.lock), REDLOCK_OK);
}

static struct redlock *another_manager(void)
{
    struct redlock *rl = NULL;
    size_t i;

    ck_assert_int_eq(redlock_new(f.base, &f.options, &rl), REDLOCK_OK);
    for (i = 0; i < f.n; i++) {
        watch_for_state(f.base, rl, i, REDLOCK_NODE_UP);
    }
    return rl;
}

/* Nobody competes for the token, so no vote is split: the others will not change their answers. */
TEST(an_adoption_that_is_refused_asks_nobody_again)
{
    struct redlock_request request;

    farm_start(&f, 3, FAKE_UNIX);
    rlk_model_set(fake_model(f.nodes[0]), "k", "ours", OUTCOME_TTL_MS);
    rlk_model_set(fake_model(f.nodes[1]), "k", "B", OUTCOME_TTL_MS);
    rlk_model_set(fake_model(f.nodes[2]), "k", "C", OUTCOME_TTL_MS);
    farm_open(&f);
    request = held_request(&h, &f, "k");
    held_adopt(&h, f.rl, &request, "ours");
    ck_assert_int_eq(h.status, REDLOCK_ELOST);
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, 1, &rlk_script_keep), 1);
}

TEST(a_lock_is_adopted_by_another_manager)
{
    struct redlock_request request;
    struct redlock *rl;
    char token[sizeof(h.token)];

    held_start_with_lock(&h, &f);
    rl = another_manager();
    forget(token, sizeof(token));
    request = held_request(&h, &f, "k");
    request.owner = "is ignored";
    rlk_model_del(fake_model(f.nodes[4]), "k");
    held_adopt(&h, rl, &request, token);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    ck_assert_str_eq(h.token, token);
    scripts_wait(&f, 4, &rlk_script_set_all, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 2);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    ck_assert_str_eq(h.order, "er");
    farm_wait_clean(&f);
    watch_close(f.base, rl);
}

/* Master 4 is away when the lock is acquired. Another process sets the key there, for longer. */
static void share_while_one_is_away(void)
{
    struct redlock_request request;

    farm_start(&f, 5, FAKE_UNIX);
    farm_down(&f, 4, 5);
    farm_open_at_once(&f);
    farm_wait(&f, 3, REDLOCK_NODE_UP);
    farm_wait(&f, 4, REDLOCK_NODE_DOWN);
    request = held_request(&h, &f, "k");
    request.flags = REDLOCK_SHARE_TOKEN;
    request.renew = 0;
    held_acquire(&h, &request);
    farm_set(&f, 4, 5, "k", h.token, 5 * OUTCOME_TTL_MS);
}

/* [S5] It is up again before the release, or only when our own ttl is over. */
TEST_LOOP(a_shared_lock_is_released_where_nobody_was_asked, 0, 2)
{
    share_while_one_is_away();
    if (_i == 0) {
        farm_up(&f, 4, 5);
        farm_wait(&f, 4, REDLOCK_NODE_UP);
    }
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    if (_i == 1) {
        suspend_ms(2 * OUTCOME_TTL_MS);
        farm_up(&f, 4, 5);
    }
    farm_wait_clean(&f);
}

/* [S5] Only the first connection to a master is not waited for: this one is being made again. */
TEST(a_shared_lock_is_released_where_the_connection_is_made_again)
{
    share_while_one_is_away();
    farm_up(&f, 4, 5);
    farm_wait(&f, 4, REDLOCK_NODE_UP);
    suspend_ms(1000); /* so that the next connection is made at once */
    fake_hang_up(f.nodes[4]);
    farm_wait(&f, 4, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* Each leaves the keys as they are. */
static void adopt_and_expect(const char *token, int status)
{
    struct redlock_request request = held_request(&h, &f, "k");
    size_t i;

    held_adopt(&h, f.rl, &request, token);
    ck_assert_int_eq(h.status, status);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_release), 0);
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_set_all), 0);
    }
}

TEST(a_wrong_token_adopts_nothing)
{
    char token[sizeof(h.token)];
    size_t i;

    held_start_with_lock(&h, &f);
    forget(token, sizeof(token));
    farm_set(&f, 0, 5, "k", token, OUTCOME_TTL_MS / 2);
    adopt_and_expect("0123", REDLOCK_ELOST);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_le(rlk_model_ttl(fake_model(f.nodes[i]), "k"), OUTCOME_TTL_MS / 2);
    }
}

TEST(a_majority_without_the_key_adopts_nothing)
{
    char token[sizeof(h.token)];
    size_t i;

    held_start_with_lock(&h, &f);
    forget(token, sizeof(token));
    for (i = 0; i < 3; i++) {
        rlk_model_del(fake_model(f.nodes[i]), "k");
    }
    adopt_and_expect(token, REDLOCK_ELOST);
    ck_assert_uint_eq(farm_count(&f, "k", token), 2);
}

static void on_silence(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, REDLOCK_ENOQUORUM);
    ++*(int *)arg;
}

TEST(a_silent_majority_adopts_nothing)
{
    struct redlock_request request;
    char token[sizeof(h.token)];
    int reported = 0;

    held_start_with_lock(&h, &f);
    forget(token, sizeof(token));
    request = held_request(&h, &f, "k");
    farm_pause(&f, 0, 3);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, token, on_silence, &reported, NULL), 0);
    loop_settle(f.base);
    ck_assert_int_eq(reported, 0);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    loop_must(f.base, &reported);
    adopt_and_expect(token, REDLOCK_ENOQUORUM); /* at once: these masters are stuck */
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
}

static void on_canceled(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, REDLOCK_ECANCELED);
    ++*(int *)arg;
}

TEST(an_adoption_is_cancelled_and_nothing_released)
{
    struct redlock_request request;
    struct redlock_lock *lock = NULL;
    char token[sizeof(h.token)];
    int canceled = 0;
    size_t i;

    held_start_with_lock(&h, &f);
    forget(token, sizeof(token));
    request = held_request(&h, &f, "k");
    farm_pause(&f, 0, 5);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, token, on_canceled, &canceled, &lock), 0);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_OK);
    loop_must(f.base, &canceled);
    farm_go_on(&f, 0, 5);
    loop_settle(f.base);
    ck_assert_int_eq(canceled, 1);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_release), 0);
    }
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
}

TEST(adoption_is_checked_as_an_acquire_is)
{
    struct redlock_request request = held_request(&h, &f, "k");
    char long_token[257];

    memset(long_token, 't', sizeof(long_token) - 1);
    long_token[sizeof(long_token) - 1] = '\0';
    held_start(&f);
    ck_assert_int_eq(redlock_adopt(NULL, &request, "t", outcome_never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, NULL, "t", outcome_never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, NULL, outcome_never, NULL, NULL),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "", outcome_never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, long_token, outcome_never, NULL, NULL),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "t", NULL, NULL, NULL), REDLOCK_EINVAL);
    request.ttl_ms = 9;
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "t", outcome_never, NULL, NULL), REDLOCK_ETTL);
}

/* ---- masters that did not answer the adoption ---- */

static char taken_over[sizeof(h.token)];

/* All five masters have the key. Another manager adopts the lock, and is connected to the last
 * two only later. */
static struct redlock *adopt_with_three_masters(void)
{
    struct redlock_request request = held_request(&h, &f, "k");
    struct redlock *rl = NULL;
    size_t i;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    forget(taken_over, sizeof(taken_over));
    farm_pause(&f, 3, 5);
    ck_assert_int_eq(redlock_new(f.base, &f.options, &rl), REDLOCK_OK);
    for (i = 0; i < 3; i++) {
        watch_for_state(f.base, rl, i, REDLOCK_NODE_UP);
    }
    request = held_request(&h, &f, "k");
    held_adopt(&h, rl, &request, taken_over);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    return rl;
}

static void the_others_connect(struct redlock *rl)
{
    farm_go_on(&f, 3, 5);
    watch_for_state(f.base, rl, 3, REDLOCK_NODE_UP);
    watch_for_state(f.base, rl, 4, REDLOCK_NODE_UP);
}

static void end(struct redlock *rl)
{
    watch_close(f.base, rl);
    farm_end(&f);
}

/* They may have the key, so the release is pending for them. */
TEST(an_adopted_lock_is_also_released_on_masters_connected_later)
{
    struct redlock *rl = adopt_with_three_masters();

    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    the_others_connect(rl);
    farm_wait_gone(&f, "k");
    end(rl);
}

/* They have the key although this manager has never set it there: that does not mean a
 * duplicate. */
TEST(masters_connected_after_the_adoption_count)
{
    struct redlock *rl = adopt_with_three_masters();
    int i;

    the_others_connect(rl);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 3, &rlk_script_keep, 2);
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 3, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    fake_down(f.nodes[0]);
    fake_down(f.nodes[1]);
    for (i = 0; i < 6; i++) {
        suspend_ms(HELD_THIRD_MS / 2);
        loop_settle(f.base);
    }
    ck_assert_int_eq(h.lost, 0);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    end(rl);
}

/* The former holder may have given the keys a longer ttl. */
TEST(a_pending_release_of_an_adopted_lock_outlives_its_former_ttl)
{
    struct redlock_request request;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    forget(taken_over, sizeof(taken_over));
    request = held_request(&h, &f, "k");
    request.ttl_ms = OUTCOME_TTL_MS / 4;
    request.renew = 0;
    held_adopt(&h, f.rl, &request, taken_over);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    fake_down(f.nodes[4]);
    farm_wait(&f, 4, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    suspend_ms(OUTCOME_TTL_MS / 2);
    fake_up(f.nodes[4]);
    farm_wait_gone(&f, "k");
}

/* Of three masters one has no key, one does not answer, and one has the key. */
TEST(an_adoption_without_a_majority_does_not_say_gone)
{
    struct redlock_request request;
    int reported = 0;

    farm_start_open(&f, 3);
    held_acquire_key(&h, &f, "k");
    forget(taken_over, sizeof(taken_over));
    held_del(&f, 0, 1);
    farm_pause(&f, 1, 2);
    request = held_request(&h, &f, "k");
    ck_assert_int_eq(redlock_adopt(f.rl, &request, taken_over, on_silence, &reported, NULL), 0);
    farm_time_out(&f);
    loop_must(f.base, &reported);
}

TEST(adopted_after_the_scripts_were_forgotten)
{
    struct redlock_request request;
    size_t i;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    forget(taken_over, sizeof(taken_over));
    for (i = 0; i < 5; i++) {
        rlk_model_forget_scripts(fake_model(f.nodes[i]));
    }
    request = held_request(&h, &f, "k");
    held_adopt(&h, f.rl, &request, taken_over);
    ck_assert_int_eq(h.status, REDLOCK_OK);
}

static void on_lost(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, REDLOCK_ELOST);
    ++*(int *)arg;
}

/* Three of five masters have no key, which decides it. The answer of the last master comes before
 * the user is told: it has forgotten the script. */
TEST(an_adoption_that_is_refused_sends_no_script_again)
{
    struct redlock_request request;
    int reported = 0;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    forget(taken_over, sizeof(taken_over));
    held_del(&f, 0, 3);
    farm_pause(&f, 0, 5);
    request = held_request(&h, &f, "k");
    ck_assert_int_eq(redlock_adopt(f.rl, &request, taken_over, on_lost, &reported, NULL), 0);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 2);
    ck_assert(!scripts_is_text(scripts_last(&f, 4, &rlk_script_keep)));
    rlk_model_forget_scripts(fake_model(f.nodes[4]));
    farm_go_on(&f, 0, 5);
    loop_must(f.base, &reported);
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, 4, &rlk_script_keep), 2);
}

/* ---- quarantine ---- */

/* All three masters have the key, and no handle is left. */
static void leave_a_lock(uint32_t inspection_ms)
{
    struct redlock_request request;

    rig_start(REDLOCK_QUARANTINE_STRICT, inspection_ms);
    request = held_request(&h, &rig, "k");
    request.renew = 0;
    held_acquire(&h, &request);
    loop_settle(rig.base);
    forget(taken_over, sizeof(taken_over));
}

/* A master that has the key has not forgotten it, whatever else it forgot. */
TEST(a_quarantined_master_counts_for_a_key_that_it_has)
{
    struct redlock_request request;

    leave_a_lock(RIG_NO_HEALTH_MS);
    rlk_model_restart_durably(rig_model(0));
    rig_reconnect(0);
    rig_must_be_quarantined(0, "it restarted");
    rlk_model_del(rig_model(1), "k");
    request = held_request(&h, &rig, "k");
    held_adopt(&h, rig.rl, &request, taken_over);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    rig_must_be_quarantined(0, "it restarted");
}

static void on_adopted(struct redlock_lock *lock, int status, void *arg)
{
    ck_assert_ptr_nonnull(lock);
    ck_assert_int_eq(status, REDLOCK_OK);
    ++*(int *)arg;
}

/* The master had confirmed the key before it lost it. As after any renewal, the next one will
 * find that out. */
TEST(a_master_that_forgets_after_its_answer_does_not_stop_the_adoption)
{
    struct redlock_request request;
    int reported = 0;

    leave_a_lock(RIG_HEALTH_MS);
    rlk_model_del(rig_model(1), "k");
    fake_pause(rig.nodes[2]);
    request = held_request(&h, &rig, "k");
    request.renew = 0;
    ck_assert_int_eq(redlock_adopt(rig.rl, &request, taken_over, on_adopted, &reported, NULL), 0);
    loop_settle(rig.base);
    rlk_model_flush(rig_model(0));
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    loop_settle(rig.base);
    ck_assert_int_eq(reported, 0);
    fake_go_on(rig.nodes[2]);
    loop_must(rig.base, &reported);
}

/* ---- with a new fencing token ---- */

static struct redlock_request fenced_request(void)
{
    struct redlock_request request = held_request(&h, &f, "k");

    request.fencing = 1;
    return request;
}

static uint64_t counter_of(size_t node)
{
    return strtoull(rlk_model_get(fake_model(f.nodes[node]), "k:redlock-fence"), NULL, 10);
}

/* Only the client that acquired the lock knows its number, and no majority of the counters has to
 * show it. So the new holder gets one of its own. */
TEST(an_adopted_lock_gets_a_larger_fencing_token)
{
    struct redlock_request request;
    char token[sizeof(h.token)];
    uint64_t former;
    size_t i;

    held_start(&f);
    request = fenced_request();
    held_acquire(&h, &request);
    former = redlock_lock_fencing_token(h.lock);
    forget(token, sizeof(token));
    request = fenced_request();
    held_adopt(&h, f.rl, &request, token);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    ck_assert_str_eq(h.token, token);
    ck_assert_uint_gt(redlock_lock_fencing_token(h.lock), former);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(counter_of(i), redlock_lock_fencing_token(h.lock));
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_adopt), 1);
    }
}

/* The counters differ: the masters with less have to confirm the largest. */
TEST(an_adoption_with_a_fence_is_confirmed)
{
    static const char ahead[] = "9000000000000000";
    struct redlock_request request;
    char token[sizeof(h.token)];

    held_start_with_lock(&h, &f);
    forget(token, sizeof(token));
    farm_set(&f, 0, 1, "k:redlock-fence", ahead, 0);
    farm_pause(&f, 3, 5);
    request = fenced_request();
    held_adopt(&h, f.rl, &request, token);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fencing_token(h.lock), 9000000000000001);
    ck_assert_uint_eq(counter_of(1), 9000000000000001);
    ck_assert_uint_eq(counter_of(2), 9000000000000001);
}

/* The renewals of an adopted lock keep its counters, which end after a week otherwise. */
TEST(an_adopted_fence_is_renewed)
{
    struct redlock_request request;
    char token[sizeof(h.token)];

    held_start_with_lock(&h, &f);
    forget(token, sizeof(token));
    request = fenced_request();
    held_adopt(&h, f.rl, &request, token);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    rlk_model_del(fake_model(f.nodes[0]), "k:redlock-fence");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(counter_of(0), redlock_lock_fencing_token(h.lock));
}

TEST(a_wrong_token_gets_no_fence)
{
    struct redlock_request request;

    held_start_with_lock(&h, &f);
    request = fenced_request();
    held_adopt(&h, f.rl, &request, "0123");
    ck_assert_int_eq(h.status, REDLOCK_ELOST);
    ck_assert_uint_eq(farm_count(&f, "k:redlock-fence", NULL), 5);
}
