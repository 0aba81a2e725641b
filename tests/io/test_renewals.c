/* io/test_renewals.c - rule S7 for many locks: those that are due together are renewed by one
 * command to each master, and each of them has its own answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("renewals");

/* A full batch, a second one of six, and one lock. */
#define FULL 64
#define SECOND 6

static struct farm f;
static struct held locks[FULL + SECOND];

static struct redlock_request request_of(size_t i, const char *name)
{
    return held_request(&locks[i], &f, name);
}

static const char *name_of(size_t i)
{
    static char name[8];

    snprintf(name, sizeof(name), "k%zu", i);
    return name;
}

/* Locks first to last - 1, with a key and a token of their own. */
static void acquire(size_t first, size_t last)
{
    for (; first < last; first++) {
        struct redlock_request request = request_of(first, name_of(first));

        held_acquire(&locks[first], &request);
    }
}

static void start(size_t n)
{
    held_start(&f);
    acquire(0, n);
}

/* All of them are due: as far as the library knows, a third of their ttl has passed. */
static void be_due(void)
{
    suspend_ms(HELD_THIRD_MS);
    loop_settle(f.base);
}

static bool is_renewed(size_t i)
{
    return redlock_lock_validity_ms(locks[i].lock) > OUTCOME_TTL_MS - HELD_THIRD_MS;
}

static bool is_lock_renewed(void *lock)
{
    return is_renewed((size_t)((struct held *)lock - locks));
}

static void must_be_renewed(size_t first, size_t last)
{
    for (; first < last; first++) {
        if (!loop_until_true(f.base, is_lock_renewed, &locks[first], LOOP_BOUND_MS)) {
            ck_abort_msg("lock %zu was not renewed; %s", first, locks[first].order);
        }
        ck_assert_str_eq(locks[first].order, "");
    }
}

/* How often each node got the script for many, and that for one. */
static void must_have_run(size_t first, size_t last, size_t many, size_t one)
{
    for (; first < last; first++) {
        ck_assert_uint_eq(scripts_count(&f, first, &rlk_script_keep_all), many);
        ck_assert_uint_eq(scripts_count(&f, first, &rlk_script_keep), one);
    }
}

static void end(size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (locks[i].lock && !locks[i].lost) {
            ck_assert_int_eq(held_end(&locks[i]), REDLOCK_OK);
        }
    }
    farm_end(&f);
}

/* [S13] At most 64 in one command. The text of the script is sent once. */
TEST(locks_that_are_due_together_are_renewed_by_one_command)
{
    size_t node;

    start(FULL + SECOND);
    be_due();
    must_be_renewed(0, FULL + SECOND);
    must_have_run(0, 5, 2, 0);
    be_due();
    must_be_renewed(0, FULL + SECOND);
    must_have_run(0, 5, 4, 0);
    for (node = 0; node < 5; node++) {
        ck_assert(!scripts_is_text(scripts_last(&f, node, &rlk_script_keep_all)));
        ck_assert_uint_eq(strtoul(scripts_last(&f, node, &rlk_script_keep_all)->argv[2], NULL, 10),
                          SECOND);
    }
    end(FULL + SECOND);
}

TEST(the_last_of_many_is_renewed_alone_when_its_batch_has_no_other)
{
    start(FULL + 1);
    be_due();
    must_be_renewed(0, FULL + 1);
    must_have_run(0, 5, 1, 1);
    end(FULL + 1);
}

/* Three masters have lost the key of lock 1, or somebody else has it there. */
TEST_LOOP(each_lock_has_its_own_answer, 0, 2)
{
    size_t node;

    start(3);
    for (node = 0; node < 3; node++) {
        rlk_model_del(fake_model(f.nodes[node]), "k1");
        if (_i) {
            rlk_model_set(fake_model(f.nodes[node]), "k1", "somebody", OUTCOME_TTL_MS);
        }
    }
    be_due();
    held_wait(&locks[1], &locks[1].lost, 1);
    ck_assert_int_eq(locks[1].reason, REDLOCK_ELOST);
    ck_assert_str_eq(held_holder(&locks[1], 0), _i ? "somebody" : "");
    ck_assert(is_renewed(0) && is_renewed(2));
    ck_assert_str_eq(locks[0].order, "");
    ck_assert_str_eq(locks[2].order, "");
    must_have_run(0, 3, 1, 1);
    must_have_run(3, 5, 1, 0);
    ck_assert_str_eq(scripts_token(scripts_last(&f, 0, &rlk_script_keep)), locks[1].token);
    end(3);
}

static bool is_last_a_text(size_t node)
{
    return scripts_is_text(scripts_last(&f, node, &rlk_script_keep_all));
}

/* It gets the text at once, for all of them; and the SHA-1 from the next time on. The other masters
 * are not asked again. _i: how many have forgotten it. */
TEST_LOOP(a_server_that_has_forgotten_the_script_gets_its_text_once, 1, 6)
{
    size_t node, forgot = (size_t)_i;

    start(4);
    be_due();
    for (node = 0; node < forgot; node++) {
        rlk_model_forget_scripts(fake_model(f.nodes[node]));
    }
    be_due();
    must_be_renewed(0, 4);
    must_have_run(0, forgot, 3, 0);
    must_have_run(forgot, 5, 2, 0);
    ck_assert(is_last_a_text(0));
    be_due();
    must_be_renewed(0, 4);
    must_have_run(0, forgot, 4, 0);
    must_have_run(forgot, 5, 3, 0);
    ck_assert(!is_last_a_text(0));
    end(4);
}

/* No Redis replies so to a text. Each lock is asked for alone. */
TEST(a_server_that_forgets_even_the_text_is_not_asked_for_ever)
{
    static const char forgotten[] = "-NOSCRIPT No matching script.\r\n";
    size_t node;

    start(2);
    be_due();
    for (node = 0; node < 5; node++) {
        fake_on_next(f.nodes[node], 1, "EVALSHA", FAKE_REPLY, forgotten, strlen(forgotten));
        fake_on_next(f.nodes[node], 1, "EVAL", FAKE_REPLY, forgotten, strlen(forgotten));
    }
    be_due();
    must_be_renewed(0, 2);
    must_have_run(0, 5, 3, 2);
    end(2);
}

/* The user may not touch a key of the batch, or the server has a fault in this script. */
TEST_LOOP(locks_are_renewed_one_by_one_where_many_are_refused, 0, 7)
{
    static const char *const replies[] = {
        "-NOPERM this user has no permissions to access a key\r\n",
        "-ERR Error running script\r\n",
        "$3\r\n111\r\n",
        "$-1\r\n",
        ":1\r\n",
        "*2\r\n:1\r\n:1\r\n",
        "$2\r\nxy\r\n"};
    size_t node;

    start(2);
    for (node = 0; node < 5; node++) {
        fake_on_next(f.nodes[node], 1, "EVAL", FAKE_REPLY, replies[_i], strlen(replies[_i]));
    }
    be_due();
    must_be_renewed(0, 2);
    must_have_run(0, 5, 1, 2);
    end(2);
}

static void extend_both(uint32_t ttl_ms)
{
    size_t i;

    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(held_extend(&locks[i], ttl_ms), REDLOCK_OK);
    }
    for (i = 0; i < 2; i++) {
        held_wait(&locks[i], &locks[i].extended, 1);
        locks[i].extended = 0;
        ck_assert_int_eq(locks[i].extend_status, REDLOCK_OK);
    }
    loop_settle(f.base);
}

/* The second extension is for less than the first one. */
TEST(whoever_is_asked_alone_is_asked_for_the_ttl_of_the_batch)
{
    size_t node;

    start(2);
    extend_both(2 * OUTCOME_TTL_MS);
    for (node = 0; node < 5; node++) {
        fake_on_next(f.nodes[node], 1, "EVALSHA", FAKE_REPLY, "-ERR no\r\n", 9);
    }
    extend_both(OUTCOME_TTL_MS);
    must_have_run(0, 5, 2, 2);
    ck_assert_uint_eq(strtoul(scripts_last(&f, 0, &rlk_script_keep)->argv[5], NULL, 10),
                      OUTCOME_TTL_MS);
    end(2);
}

/* An error is no answer: nobody has lost anything, and the next try succeeds. */
TEST(an_error_for_all_is_unknown_for_each)
{
    size_t node, i;

    start(3);
    for (node = 0; node < 5; node++) {
        fake_on(f.nodes[node], "EVAL", FAKE_REPLY, "-OOM command not allowed\r\n");
    }
    be_due();
    for (i = 0; i < 3; i++) {
        ck_assert(!is_renewed(i));
        ck_assert_str_eq(locks[i].order, "t");
        locks[i].order[0] = '\0';
    }
    for (node = 0; node < 5; node++) {
        fake_behave(f.nodes[node]);
    }
    suspend_ms(OUTCOME_TTL_MS / 10);
    loop_settle(f.base);
    must_be_renewed(0, 3);
    end(3);
}

/* [S5] Two of five masters carry it out and do not say so. */
TEST(a_connection_that_breaks_is_unknown_for_each)
{
    size_t i;

    start(3);
    fake_on_next(f.nodes[0], 1, "EVAL", FAKE_DO_CLOSE, NULL, 0);
    fake_on_next(f.nodes[1], 1, "EVAL", FAKE_REPLY_CLOSE, NULL, 0);
    be_due();
    must_be_renewed(0, 3);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    be_due();
    must_be_renewed(0, 3);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(farm_count(&f, name_of(i), locks[i].token), 5);
    }
    ck_assert_uint_eq(scripts_kept(&f, 0), 6);
    ck_assert_uint_eq(scripts_kept(&f, 1), 6);
    end(3);
}

static void forget(struct held *h)
{
    ck_assert_int_eq(redlock_lock_detach(h->lock), 0);
    h->lock = NULL;
}

static void release(struct held *h)
{
    ck_assert_int_eq(held_release(h), 0);
}

/* All in one turn. A lock that is not held any more is asked for no more. _i: released, forgotten.
 */
TEST_LOOP(a_lock_that_ends_before_its_batch_is_sent_is_left_out, 0, 2)
{
    static void (*const ends[])(struct held *) = {release, forget};
    size_t node;

    held_start(&f);
    acquire(0, 1);
    acquire(1, 2);
    suspend_ms(HELD_THIRD_MS);
    ck_assert_int_eq(held_extend(&locks[1], 0), 0);
    if (_i == 0) {
        ck_assert_int_eq(held_extend(&locks[0], 0), 0);
    }
    ends[_i](&locks[0]);
    loop_settle(f.base);
    for (node = 0; node < 5; node++) {
        ck_assert_str_eq(scripts_token(scripts_last(&f, node, &rlk_script_keep)), locks[1].token);
    }
    must_have_run(0, 5, 0, 1);
    ck_assert_uint_eq(farm_count(&f, "k0", locks[0].token), _i == 0 ? 0 : 5);
    ck_assert(is_renewed(1));
    end(2);
}

/* [S5] Its release is behind the renewal, so nothing stays. _i: the batch is refused, or the server
 * has forgotten the script; then only those that are still held are asked for again. */
TEST_LOOP(a_lock_is_released_behind_the_batch_that_renews_it, 0, 3)
{
    size_t node;

    start(2);
    be_due();
    for (node = 0; node < 5; node++) {
        if (_i == 1) {
            fake_on_next(f.nodes[node], 1, "EVALSHA", FAKE_REPLY, "-ERR x\r\n", 8);
        } else if (_i == 2) {
            rlk_model_forget_scripts(fake_model(f.nodes[node]));
        }
    }
    farm_pause(&f, 0, 5);
    be_due();
    must_have_run(0, 5, 2, 0);
    ck_assert_int_eq(held_release(&locks[0]), 0);
    loop_settle(f.base);
    farm_go_on(&f, 0, 5);
    held_wait(&locks[0], &locks[0].released, 1);
    ck_assert_int_eq(locks[0].release_status, REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k0", locks[0].token), 0);
    must_be_renewed(1, 2);
    must_have_run(0, 5, 2, _i > 0);
    end(2);
}

/* Of five kinds, two each: only four batches are open, so one makes room. */
TEST(locks_that_differ_are_not_in_one_batch)
{
    static const char *const two[][2] = {{"a", "b"}, {"c", "d"}};
    size_t i;

    held_start(&f);
    for (i = 0; i < 10; i++) {
        struct redlock_request request = request_of(i, name_of(i));

        request.ttl_ms = i / 2 == 1 ? OUTCOME_TTL_MS + 1000 : OUTCOME_TTL_MS;
        request.fencing = i / 2 >= 2 && i / 2 < 4;
        if (i / 2 >= 3) {
            request.key = NULL;
            request.keys = two[i % 2];
            request.n_keys = 2;
        }
        if (i / 2 == 4) {
            continue;
        }
        held_acquire(&locks[i], &request);
    }
    rlk_model_set(fake_model(f.nodes[0]), "k4:redlock-fence", "5", 0);
    suspend_ms(HELD_THIRD_MS + 1000);
    loop_settle(f.base);
    must_be_renewed(0, 8);
    must_have_run(0, 5, 4, 0);
    ck_assert_str_ne(rlk_model_get(fake_model(f.nodes[0]), "k4:redlock-fence"), "5");
    end(8);
}

/* [S13] No more bytes than a command may have: of forty locks with the longest keys that is three
 * or four batches. */
TEST(long_keys_make_smaller_batches)
{
    static char name[REDLOCK_MAX_KEY + 1];
    size_t i, n = 40;

    held_start(&f);
    memset(name, 'x', sizeof(name) - 1);
    for (i = 0; i < n; i++) {
        struct redlock_request request;

        name[0] = (char)('A' + i);
        request = request_of(i, name);
        held_acquire(&locks[i], &request);
    }
    be_due();
    must_be_renewed(0, n);
    ck_assert_uint_ge(scripts_count(&f, 0, &rlk_script_keep_all), 3);
    ck_assert_uint_le(scripts_count(&f, 0, &rlk_script_keep_all), 4);
    end(n);
}
