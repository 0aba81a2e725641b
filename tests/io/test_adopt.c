/* io/test_adopt.c - a lock is taken over by its token, or left as it is. */
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suites.h"
#include "io/suspend.h"
#include "io/watch.h"

static struct farm f;
static struct held h;

static void start_with_lock(void)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
}

static void never(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    ck_abort_msg("a call that was refused was told");
}

static void forget(char *ret_token, size_t size)
{
    memcpy(ret_token, h.token, size);
    ck_assert_int_eq(redlock_lock_forget(h.lock), REDLOCK_OK);
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

START_TEST(a_lock_is_adopted_by_another_manager)
{
    struct redlock_request request;
    struct redlock *rl;
    char token[sizeof(h.token)];

    start_with_lock();
    rl = another_manager();
    forget(token, sizeof(token));
    request = held_request(&h, &f, "k");
    request.owner = "is ignored";
    model_del(fake_model(f.nodes[4]), "k");
    held_adopt(&h, rl, &request, token);
    ck_assert_int_eq(h.status, REDLOCK_OK);
    ck_assert_str_eq(h.token, token);
    scripts_wait(&f, 4, SCRIPT_TAKE, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, SCRIPT_KEEP, 2);
    ck_assert_int_eq(held_extend(&h, 2 * OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    ck_assert_str_eq(h.order, "er");
    farm_wait_clean(&f);
    watch_close(f.base, rl);
    farm_end(&f);
}
END_TEST

/* Each leaves the keys as they are. */
static void adopt_and_expect(const char *token, int status)
{
    struct redlock_request request = held_request(&h, &f, "k");
    size_t i;

    held_adopt(&h, f.rl, &request, token);
    ck_assert_int_eq(h.status, status);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(scripts_count(&f, i, SCRIPT_RELEASE), 0);
        ck_assert_uint_eq(scripts_count(&f, i, SCRIPT_TAKE), 0);
    }
}

START_TEST(a_wrong_token_adopts_nothing)
{
    char token[sizeof(h.token)];
    size_t i;

    start_with_lock();
    forget(token, sizeof(token));
    for (i = 0; i < 5; i++) {
        model_set(fake_model(f.nodes[i]), "k", token, 1000);
    }
    adopt_and_expect("0123", REDLOCK_ELOST);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_le(model_ttl(fake_model(f.nodes[i]), "k"), 1000);
    }
    farm_end(&f);
}
END_TEST

START_TEST(a_majority_without_the_key_adopts_nothing)
{
    char token[sizeof(h.token)];
    size_t i;

    start_with_lock();
    forget(token, sizeof(token));
    for (i = 0; i < 3; i++) {
        model_del(fake_model(f.nodes[i]), "k");
    }
    adopt_and_expect(token, REDLOCK_ELOST);
    ck_assert_uint_eq(farm_count(&f, "k", token), 2);
    farm_end(&f);
}
END_TEST

static void on_silence(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, REDLOCK_ENOQUORUM);
    ++*(int *)arg;
}

START_TEST(a_silent_majority_adopts_nothing)
{
    struct redlock_request request;
    char token[sizeof(h.token)];
    int told = 0;

    start_with_lock();
    forget(token, sizeof(token));
    request = held_request(&h, &f, "k");
    held_stand_still(&f, 0, 3);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, token, on_silence, &told, NULL), 0);
    loop_settle(f.base);
    ck_assert_int_eq(told, 0);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    loop_must(f.base, &told);
    adopt_and_expect(token, REDLOCK_ENOQUORUM); /* at once: they are stuck */
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
    farm_end(&f);
}
END_TEST

static void on_canceled(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, REDLOCK_ECANCELED);
    ++*(int *)arg;
}

START_TEST(an_adoption_is_cancelled_and_nothing_released)
{
    struct redlock_request request;
    struct redlock_lock *lock = NULL;
    char token[sizeof(h.token)];
    int canceled = 0;
    size_t i;

    start_with_lock();
    forget(token, sizeof(token));
    request = held_request(&h, &f, "k");
    held_stand_still(&f, 0, 5);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, token, on_canceled, &canceled, &lock), 0);
    scripts_wait_all(&f, 0, 5, SCRIPT_KEEP, 1);
    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_OK);
    loop_must(f.base, &canceled);
    held_go_on(&f, 0, 5);
    loop_settle(f.base);
    ck_assert_int_eq(canceled, 1);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(scripts_count(&f, i, SCRIPT_RELEASE), 0);
    }
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
    farm_end(&f);
}
END_TEST

START_TEST(adoption_is_checked_as_an_acquire_is)
{
    struct redlock_request request = held_request(&h, &f, "k");
    char long_token[129];

    memset(long_token, 't', sizeof(long_token) - 1);
    long_token[sizeof(long_token) - 1] = '\0';
    held_start(&f);
    ck_assert_int_eq(redlock_adopt(NULL, &request, "t", never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, NULL, "t", never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, NULL, never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "", never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, long_token, never, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "t", NULL, NULL, NULL), REDLOCK_EINVAL);
    request.ttl_ms = 9;
    ck_assert_int_eq(redlock_adopt(f.rl, &request, "t", never, NULL, NULL), REDLOCK_ETTL);
    farm_end(&f);
}
END_TEST

Suite *adopt_suite(void)
{
    Suite *suite = suite_create("adopt");
    TCase *tcase = tcase_create("adopt");

    tcase_add_test(tcase, a_lock_is_adopted_by_another_manager);
    tcase_add_test(tcase, a_wrong_token_adopts_nothing);
    tcase_add_test(tcase, a_majority_without_the_key_adopts_nothing);
    tcase_add_test(tcase, a_silent_majority_adopts_nothing);
    tcase_add_test(tcase, an_adoption_is_cancelled_and_nothing_released);
    tcase_add_test(tcase, adoption_is_checked_as_an_acquire_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
