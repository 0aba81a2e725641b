/* io/test_keys.c - several keys are one lock: a script takes all or none of them on each master. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("keys");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

static const char *const two[] = {"a", "b"};
static const char *const two_turned[] = {"b", "a"};

static struct redlock_request request_of(const char *const *keys, size_t n)
{
    struct redlock_request request = held_request(&h, &f, NULL);

    request.keys = keys;
    request.n_keys = n;
    return request;
}

static void start_with_lock(void)
{
    struct redlock_request request = request_of(two, 2);

    held_start(&f);
    held_acquire(&h, &request);
}

TEST(all_keys_are_set_kept_and_released_by_one_script)
{
    start_with_lock();
    ck_assert_uint_eq(farm_count(&f, "a", h.token), 5);
    ck_assert_uint_eq(farm_count(&f, "b", h.token), 5);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 0);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_set_all), 1);
    ck_assert_uint_eq(scripts_ttl(scripts_last(&f, 0, &rlk_script_set_all)), OUTCOME_TTL_MS);
    ck_assert_str_eq(redlock_lock_key(h.lock, NULL), "a");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    scripts_wait_all(&f, 0, 5, &rlk_script_release, 1);
    farm_wait_clean(&f);
}

TEST(a_foreign_second_key_leaves_nothing_behind)
{
    struct redlock_request request = request_of(two, 2);
    struct outcome got;
    size_t i;

    held_start(&f);
    farm_set(&f, 0, 3, "b", "somebody", 0);
    got = farm_acquire_as(&f, &request);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    for (i = 0; i < 5; i++) {
        ck_assert(i >= 3 || got.votes[i].vote != REDLOCK_VOTE_NO ||
                  strcmp(got.votes[i].holder, "somebody") == 0);
    }
    farm_wait_gone(&f, "a");
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "a", NULL), 5);
    ck_assert_uint_eq(farm_count(&f, "b", "somebody"), 3);
    ck_assert_uint_eq(farm_count(&f, "b", NULL), 2);
}

/* On each master one of two clients has both keys, in whatever order they are listed. */
TEST(order_does_not_matter)
{
    struct redlock_request turned;

    start_with_lock();
    turned = outcome_request(NULL);
    turned.keys = two_turned;
    turned.n_keys = 2;
    ck_assert_int_eq(farm_acquire_as(&f, &turned).status, REDLOCK_EHELD);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(one_key_of_a_held_lock_cannot_be_acquired)
{
    struct outcome got;
    size_t i;
    int named = 0;

    start_with_lock();
    got = farm_acquire(&f, "b");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    for (i = 0; i < 5; i++) {
        named += strcmp(got.votes[i].holder, h.token) == 0;
    }
    ck_assert_int_ge(named, 3);
}

TEST(one_missing_key_counts_as_all)
{
    start_with_lock();
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    rlk_model_del(fake_model(f.nodes[4]), "b");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 4, &rlk_script_set_all, 2);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "b", h.token), 5);
    ck_assert_str_eq(h.order, "");
    farm_set(&f, 0, 3, "b", "somebody", 0);
    suspend_ms(HELD_THIRD_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_str_eq(held_holder(&h, 0), "somebody");
    ck_assert_int_eq(held_end(&h), REDLOCK_TAKEN);
    farm_wait_gone(&f, "a");
    ck_assert_uint_eq(farm_count(&f, "b", "somebody"), 3);
}

/* A heal that is refused for one key may have found another key of ours. */
TEST(a_heal_that_was_refused_is_released_too)
{
    struct redlock_request request = request_of(two, 2);

    held_start(&f);
    rlk_model_set(fake_model(f.nodes[4]), "b", "somebody", 0);
    held_acquire(&h, &request);
    scripts_wait(&f, 4, &rlk_script_set_all, 2);
    loop_settle(f.base);
    rlk_model_set(fake_model(f.nodes[4]), "a", h.token, 0);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_gone(&f, "a");
    ck_assert_uint_eq(farm_count(&f, "b", "somebody"), 1);
}

TEST(the_prefix_is_put_before_each_key)
{
    struct redlock_request request = request_of(two, 2);

    farm_start(&f, 3, FAKE_UNIX);
    f.options.key_prefix = "locks:";
    farm_open(&f);
    held_acquire(&h, &request);
    ck_assert_uint_eq(farm_count(&f, "locks:a", h.token), 3);
    ck_assert_uint_eq(farm_count(&f, "locks:b", h.token), 3);
    ck_assert_str_eq(redlock_lock_key(h.lock, NULL), "locks:a");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(a_later_round_asks_for_all_of_them_again)
{
    struct redlock_request request = request_of(two, 2);
    size_t i;

    held_start(&f);
    for (i = 0; i < 5; i++) {
        fake_on_next(f.nodes[i], 1, "EVAL", FAKE_REPLY, "$8\r\nsomebody\r\n", 14);
    }
    request.wait_ms = REDLOCK_FOREVER;
    held_acquire(&h, &request);
    ck_assert_uint_eq(farm_count(&f, "a", h.token), 5);
    ck_assert_uint_eq(farm_count(&f, "b", h.token), 5);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(a_token_releases_all)
{
    struct outcome_released released = {0, 0};

    start_with_lock();
    ck_assert_int_eq(redlock_lock_detach(h.lock), REDLOCK_OK);
    ck_assert_int_eq(
        redlock_release_token(f.rl, two_turned, NULL, 2, h.token, outcome_on_released, &released),
        0);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    farm_wait_clean(&f);
}

/* The longest keys, as many as possible, and the longest owner. */
TEST(sixteen_long_keys_go_through)
{
    static char keys[REDLOCK_MAX_KEYS][REDLOCK_MAX_KEY + 1];
    static char owner[REDLOCK_MAX_OWNER + 1];
    const char *list[REDLOCK_MAX_KEYS] = {NULL};
    struct redlock_request request = request_of(list, REDLOCK_MAX_KEYS);
    size_t i;

    memset(owner, 'o', REDLOCK_MAX_OWNER);
    for (i = 0; i < REDLOCK_MAX_KEYS; i++) {
        memset(keys[i], 'a' + (int)i, REDLOCK_MAX_KEY);
        list[i] = keys[i];
    }
    request.owner = owner;
    held_start(&f);
    held_acquire(&h, &request);
    ck_assert_uint_eq(farm_count(&f, keys[15], h.token), 5);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

static void refuse(struct redlock_request request)
{
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, NULL, NULL),
                     REDLOCK_EINVAL);
}

static void refuse_to_release(const char *const *keys, size_t n)
{
    ck_assert_int_eq(redlock_release_token(f.rl, keys, NULL, n, "t", outcome_on_released, NULL),
                     REDLOCK_EINVAL);
}

TEST(lists_of_keys_are_checked)
{
    static char names[REDLOCK_MAX_KEYS + 1][4];
    const char *many[REDLOCK_MAX_KEYS + 1];
    const char *const same[] = {"a", "b", "a"};
    const char *const hole[] = {"a", NULL};
    const char *const empty[] = {"a", ""};
    struct redlock_request both = request_of(two, 2);
    size_t i;

    held_start(&f);
    for (i = 0; i <= REDLOCK_MAX_KEYS; i++) {
        snprintf(names[i], sizeof(names[i]), "k%zu", i);
        many[i] = names[i];
    }
    both.key = "k";
    refuse(both);
    refuse(request_of(NULL, 2));
    refuse(request_of(two, 0));
    refuse(request_of(many, REDLOCK_MAX_KEYS + 1));
    refuse(request_of(same, 3));
    refuse(request_of(hole, 2));
    refuse(request_of(empty, 2));
    refuse_to_release(NULL, 3);
    ck_assert_str_eq(redlock_error_text(f.rl),
                     "keys is NULL, and n_keys is 3; give that many keys");
    refuse_to_release(two, 0);
    refuse_to_release(many, REDLOCK_MAX_KEYS + 1);
    refuse_to_release(same, 3);
    refuse_to_release(hole, 2);
    refuse_to_release(empty, 2);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVAL"), 0);
}

TEST(a_list_of_one_is_one_key)
{
    struct redlock_request request = request_of(two, 1);

    held_start(&f);
    held_acquire(&h, &request);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 1);
    ck_assert_uint_eq(farm_count(&f, "a", h.token), 5);
}

/* Their scripts return the holder, too. */
TEST(old_servers_name_the_holder_too)
{
    struct redlock_request request = request_of(two, 2);
    struct outcome got;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_model(f.nodes[i])->major = 5;
        rlk_model_set(fake_model(f.nodes[i]), "b", "somebody", 0);
    }
    farm_open(&f);
    got = farm_acquire_as(&f, &request);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_str_eq(got.votes[0].holder, "somebody");
    for (i = 0; i < 3; i++) {
        rlk_model_del(fake_model(f.nodes[i]), "b");
    }
    held_acquire(&h, &request);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* ---- the text of a script ---- */

static bool is_text(size_t node, const struct rlk_script *script)
{
    return scripts_is_text(scripts_last(&f, node, script));
}

static void acquire_and_renew(size_t times)
{
    struct redlock_request request = request_of(two, 2);

    held_acquire(&h, &request);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, times);
    loop_settle(f.base);
}

TEST(the_text_is_sent_first_and_its_sha_afterwards)
{
    held_start(&f);
    acquire_and_renew(1);
    ck_assert(is_text(0, &rlk_script_set_all));
    ck_assert(is_text(0, &rlk_script_keep));
    held_end(&h);
    farm_wait_clean(&f);
    acquire_and_renew(2);
    ck_assert(!is_text(0, &rlk_script_set_all));
    ck_assert(!is_text(0, &rlk_script_keep));
    held_end(&h);
    farm_wait_clean(&f);
    fake_hang_up(f.nodes[0]);
    farm_wait_error(&f, 0, "");
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    acquire_and_renew(3);
    ck_assert(is_text(0, &rlk_script_set_all));
    ck_assert(!is_text(1, &rlk_script_set_all));
}

/* No server knows the script any more: the text is sent at once, and no trouble is reported. */
TEST(the_text_is_sent_again_when_servers_have_forgotten_it)
{
    size_t i;

    held_start(&f);
    acquire_and_renew(1);
    for (i = 0; i < 5; i++) {
        rlk_model_forget_scripts(fake_model(f.nodes[i]));
    }
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 3);
    loop_settle(f.base);
    ck_assert(is_text(0, &rlk_script_keep));
    ck_assert(is_text(4, &rlk_script_keep));
    ck_assert_str_eq(h.order, "");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 4);
    ck_assert(!is_text(0, &rlk_script_keep));
    held_end(&h);
    farm_wait_clean(&f);
}

TEST(keys_are_acquired_when_the_servers_have_forgotten_the_script)
{
    struct redlock_request request = request_of(two, 2);
    size_t i;

    held_start(&f);
    acquire_and_renew(1);
    held_end(&h);
    farm_wait_clean(&f);
    for (i = 0; i < 5; i++) {
        rlk_model_forget_scripts(fake_model(f.nodes[i]));
    }
    held_acquire(&h, &request); /* one round */
}

/* One master after the other loses one key of two: each is healed, and counts again. */
TEST(a_master_that_lost_one_key_counts_again)
{
    size_t i, j;

    held_start(&f);
    acquire_and_renew(1);
    for (i = 4; i >= 2; i--) {
        rlk_model_del(fake_model(f.nodes[i]), "b");
        for (j = 0; j < 10; j++) {
            suspend_ms(HELD_THIRD_MS / 5);
            loop_settle(f.base);
        }
    }
    ck_assert_int_eq(h.lost, 0);
    ck_assert_uint_eq(farm_count(&f, "b", h.token), 5);
    held_end(&h);
}

/* The lock was released before the server answered that it did not know the script. */
TEST(the_text_is_never_sent_after_the_release)
{
    struct redlock_request request = request_of(two, 2);

    held_start(&f);
    acquire_and_renew(1);
    held_end(&h);
    farm_wait_clean(&f);
    rlk_model_forget_scripts(fake_model(f.nodes[4]));
    fake_pause(f.nodes[4]);
    held_acquire(&h, &request);
    held_end(&h);
    fake_go_on(f.nodes[4]);
    farm_wait_count(&f, 4, "EVAL", 3); /* at first take and keep, and now the release */
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, 4, &rlk_script_set_all), 2);
    ck_assert_uint_eq(rlk_model_count(fake_model(f.nodes[4])), 0);
}
