/* io/test_break.c - a lock is broken: its holder loses it, and nobody gets it before that. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("break");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

/* What the callback saw, copied. */
static struct seen {
    int calls, status;
    bool has_result;
    uint64_t left_ms;
    size_t replaced;
    char token[256];
} seen;

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    (void)arg;
    seen.calls++;
    seen.status = status;
    seen.has_result = result != NULL;
    if (result) {
        ck_assert_uint_eq(result->size, sizeof(*result));
        seen.left_ms = result->left_ms;
        seen.replaced = result->replaced;
        snprintf(seen.token, sizeof(seen.token), "%s", result->token);
    }
}

static void begin_break(const char *token)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_break(f.rl, "k", 0, token, "ops: it hangs", on_broken, NULL), 0);
}

static void break_lock(const char *token)
{
    begin_break(token);
    loop_must(f.base, &seen.calls);
}

TEST(a_broken_lock_is_lost_with_its_next_renewal)
{
    held_start_with_lock(&h, &f);
    break_lock(h.token);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.replaced, 5);
    ck_assert_str_eq(seen.token + 40, ":broken by ops: it hangs");
    ck_assert_uint_eq(farm_count(&f, "k", seen.token), 5);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_str_eq(held_holder(&h, 0), seen.token);
    ck_assert_int_eq(held_end(&h), REDLOCK_TAKEN);
    ck_assert_uint_eq(farm_count(&f, "k", seen.token), 5);
}

/* A break that ended the keys sooner would let somebody in while a stopped holder believes in its
 * lock; and one that said so too early would, too. */
TEST(the_keys_live_on_as_long_as_before)
{
    uint64_t validity_ms, ttl_ms;
    size_t i;

    held_start_with_lock(&h, &f);
    suspend_freeze();
    validity_ms = redlock_lock_validity_ms(h.lock);
    ttl_ms = rlk_model_ttl(fake_model(f.nodes[0]), "k");
    break_lock(h.token);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_ge(rlk_model_ttl(fake_model(f.nodes[i]), "k") + 1000, ttl_ms);
        ck_assert_uint_le(rlk_model_ttl(fake_model(f.nodes[i]), "k"), OUTCOME_TTL_MS);
    }
    ck_assert_uint_ge(seen.left_ms, validity_ms);
    ck_assert_uint_le(seen.left_ms, OUTCOME_TTL_MS + OUTCOME_TTL_MS / 50 + 2);
    suspend_unfreeze();
}

static struct outcome try_to_acquire(void)
{
    return farm_acquire(&f, "k");
}

/* The former holder may still believe in it, for as long as the last of these keys lives. */
TEST(a_broken_lock_is_broken_again)
{
    char token[sizeof(seen.token)];

    held_start_with_lock(&h, &f);
    break_lock(h.token);
    strcpy(token, seen.token);
    held_del(&f, 3, 5);
    farm_set(&f, 0, 1, "k", token, OUTCOME_TTL_MS / 10);
    break_lock(token);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.replaced, 3);
    ck_assert_uint_ge(seen.left_ms, redlock_lock_validity_ms(h.lock));
}

TEST(nobody_adopts_a_broken_lock)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start_with_lock(&h, &f);
    break_lock(h.token);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, seen.token, outcome_never, NULL, NULL),
                     REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(f.rl),
                     "the token is that of a broken lock, which nobody can extend");
}

TEST(no_request_looks_like_a_break)
{
    struct redlock_request request = held_request(&h, &f, "k");

    held_start(&f);
    request.owner = REDLOCK_BROKEN_BY "nobody";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_never, NULL, NULL), REDLOCK_EINVAL);
}

TEST(nobody_gets_a_broken_lock_before_its_time)
{
    held_start_with_lock(&h, &f);
    break_lock(h.token);
    ck_assert_int_eq(try_to_acquire().status, REDLOCK_EHELD);
}

TEST(a_minority_breaks_nothing)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 3);
    begin_break(h.token);
    loop_settle(f.base);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    loop_must(f.base, &seen.calls);
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(seen.replaced, 2);
    ck_assert_uint_eq(seen.left_ms, 0);
}

/* They say nothing about the holder: it may set its key there again. */
TEST(masters_without_the_key_break_nothing)
{
    held_start_with_lock(&h, &f);
    held_del(&f, 0, 3);
    break_lock(h.token);
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 3);
}

TEST(another_lock_is_not_touched)
{
    held_start_with_lock(&h, &f);
    break_lock("0123456789abcdef0123456789abcdef01234567");
    ck_assert_int_eq(seen.status, REDLOCK_TAKEN);
    ck_assert_uint_eq(seen.replaced, 0);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 5);
}

TEST(a_lock_that_has_ended_is_gone)
{
    held_start(&f);
    break_lock("0123456789abcdef0123456789abcdef01234567");
    ck_assert_int_eq(seen.status, REDLOCK_GONE);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 5);
}

static void count_won(const struct redlock_break_result *result, int status, void *arg)
{
    (void)result;
    seen.calls++;
    ck_assert(status == REDLOCK_OK || status == REDLOCK_TAKEN);
    *(int *)arg += status == REDLOCK_OK;
}

TEST(of_two_breaks_at_once_one_wins)
{
    int won = 0;

    held_start_with_lock(&h, &f);
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_break(f.rl, "k", 0, h.token, "me", count_won, &won), 0);
    ck_assert_int_eq(redlock_break(f.rl, "k", 0, h.token, "me, too", count_won, &won), 0);
    while (seen.calls < 2) {
        loop_settle(f.base);
    }
    ck_assert_int_eq(won, 1);
    ck_assert_uint_eq(farm_count(&f, "k", h.token), 0);
}

/* Such a key is not that of a lock of ours: it would never end. */
TEST(a_key_that_never_ends_is_left_alone)
{
    static const char token[] = "0123456789abcdef0123456789abcdef01234567";

    held_start(&f);
    farm_set(&f, 0, 5, "k", token, 0);
    break_lock(token);
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(farm_count(&f, "k", token), 5);
}

TEST(a_server_without_the_script_gets_its_text)
{
    size_t i;

    held_start_with_lock(&h, &f);
    break_lock("0123456789abcdef0123456789abcdef01234567");
    for (i = 0; i < 5; i++) {
        rlk_model_forget_scripts(fake_model(f.nodes[i]));
    }
    break_lock(h.token);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert(scripts_is_text(scripts_last(&f, 0, &rlk_script_swap)));
}

TEST(a_close_cancels_a_break)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 5);
    begin_break(h.token);
    ck_assert_int_eq(held_close(&h), 0);
    suspend_ms(HELD_TIMEOUT_MS + 1);
    loop_must(f.base, &seen.calls);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
    ck_assert(!seen.has_result);
    farm_go_on(&f, 0, 5);
    held_wait(&h, &h.closed, 1);
    f.rl = NULL;
}

static int refused(const char *key, const char *token, const char *by)
{
    return redlock_break(f.rl, key, 0, token, by, on_broken, NULL);
}

TEST(what_cannot_be_is_refused)
{
    char by[REDLOCK_MAX_OWNER + 1];

    held_start(&f);
    memset(by, 'x', sizeof(by));
    by[REDLOCK_MAX_OWNER - 9] = '\0';
    ck_assert_int_eq(refused(NULL, "t", "me"), REDLOCK_EINVAL);
    ck_assert_int_eq(refused("", "t", "me"), REDLOCK_EINVAL);
    ck_assert_int_eq(refused("k", NULL, "me"), REDLOCK_EINVAL);
    ck_assert_int_eq(refused("k", "", "me"), REDLOCK_EINVAL);
    ck_assert_int_eq(refused("k", "t", NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(refused("k", "t", "a\nb"), REDLOCK_EINVAL);
    ck_assert_int_eq(refused("k", "t", by), REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(f.rl), "by is 199 bytes long; at most 198 are allowed");
    ck_assert_int_eq(redlock_break(f.rl, "k", 0, "t", "me", NULL, NULL), REDLOCK_EINVAL);
}
