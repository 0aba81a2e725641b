/* live/test_audit.c - what becomes of locks is in the audit streams of real masters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("audit");
FIXTURE(NULL, site_end_all);

#define STREAM "p:redlock:audit"

static struct site s;

static void start(size_t n, uint32_t entries)
{
    site_start(&s, n, NULL);
    s.options.key_prefix = "p:";
    s.options.audit_entries = entries;
}

/* All entries of a master, each as "event owner key|", from its `first` field on. */
static const char *entries(size_t node)
{
    return master_ask(
        s.masters[node], "EVAL %s 1 " STREAM,
        "local all = {} for _, e in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do "
        "local f = {} for i = 1, #e[2], 2 do f[e[2][i]] = (f[e[2][i]] or '') .. e[2][i+1] end "
        "all[#all+1] = f.event .. ' ' .. f.owner .. ' ' .. f.key .. (f.by and ' ' .. f.by or '') "
        "end return table.concat(all, '|')");
}

struct wanted {
    size_t node;
    const char *entries;
};

static bool says(void *arg)
{
    const struct wanted *wanted = arg;

    return strcmp(entries(wanted->node), wanted->entries) == 0;
}

/* The callback does not wait for the last master. */
static void must_say(size_t node, const char *expected)
{
    struct wanted wanted = {node, expected};

    ck_assert_msg(loop_until_true(s.base, says, &wanted, LOOP_BOUND_MS),
                  "master %zu: '%s' and not '%s'", node, entries(node), expected);
}

static void must_all_say(const char *expected)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        must_say(i, expected);
    }
}

/* _i: with a fencing token. */
TEST_LOOP(acquires_and_releases_are_entered, 0, 2)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    start(3, 1000);
    site_open(&s);
    request.owner = "ann";
    request.fencing = _i;
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_all_say("acquired ann p:k");
    ck_assert_int_eq(site_acquire_with(&s, 1, &request).status, REDLOCK_EHELD);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    must_all_say("acquired ann p:k|released ann p:k");
    site_end(&s);
}

TEST(a_lock_of_several_keys_is_one_entry)
{
    static const char *const keys[] = {"a", "b"};
    struct redlock_request request = outcome_request(NULL);
    struct outcome got;

    start(3, 1000);
    site_open(&s);
    request.keys = keys;
    request.n_keys = 2;
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_all_say("acquired  p:ap:b");
    site_end(&s);
}

/* Who reads the stream must not be able to release the lock. */
TEST(no_entry_has_the_token)
{
    static const char script[] = "return redis.call('XRANGE', KEYS[1], '-', '+')[1][2][4]";
    struct outcome got;
    char id[9];

    start(3, 1000);
    site_open(&s);
    got = site_must_acquire(&s, "k");
    must_all_say("acquired  p:k");
    snprintf(id, sizeof(id), "%.8s", redlock_lock_token(got.lock));
    ck_assert_str_eq(master_ask(s.masters[0], "EVAL %s 1 " STREAM, script), id);
    site_end(&s);
}

/* With audit off nothing is written, and the name of the stream is reserved all the same. */
TEST(without_the_option_there_is_no_stream)
{
    struct redlock_request request = outcome_request("redlock:audit");
    struct outcome got;

    start(3, 0);
    site_open(&s);
    got = site_must_acquire(&s, "k");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS " STREAM), "0");
    ck_assert_int_eq(redlock_acquire(s.rl[0], &request, outcome_never, NULL, NULL), REDLOCK_EINVAL);
    site_end(&s);
}

/* ---- how a lock ends otherwise ---- */

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    (void)result;
    *(int *)arg = status == REDLOCK_OK ? 1 : -1;
}

TEST(a_break_says_by_whom_and_why)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;
    int broken = 0;

    start(3, 1000);
    site_open(&s);
    request.owner = "ann";
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_all_say("acquired ann p:k");
    ck_assert_int_eq(redlock_break(s.rl[1], "k", 0, redlock_lock_token(got.lock), "bob: it hangs",
                                   on_broken, &broken),
                     0);
    loop_must(s.base, &broken);
    ck_assert_int_eq(broken, 1);
    must_all_say("acquired ann p:k|broken ann p:k bob: it hangs");
    site_end(&s);
}

/* _i: with a new fencing token. */
TEST_LOOP(an_adoption_is_entered, 0, 2)
{
    struct redlock_request request = outcome_request("k");
    struct outcome first, got = {.n = 3};
    char token[256];

    start(3, 1000);
    site_open(&s);
    request.owner = "ann";
    first = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(first.status, REDLOCK_OK);
    snprintf(token, sizeof(token), "%s", redlock_lock_token(first.lock));
    ck_assert_int_eq(redlock_lock_detach(first.lock), 0);
    request.fencing = _i;
    request.owner = NULL;
    ck_assert_int_eq(redlock_adopt(s.rl[1], &request, token, outcome_on_acquired, &got, NULL), 0);
    loop_must(s.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_all_say("acquired ann p:k|adopted ann p:k");
    site_end(&s);
}

/* The holder says so with its release, also where the key is gone. */
TEST(a_loss_is_entered_with_the_release)
{
    struct outcome got;

    start(3, 1000);
    site_open(&s);
    got = site_must_acquire(&s, "k");
    must_all_say("acquired  p:k");
    ck_assert_str_eq(master_ask(s.masters[0], "DEL p:k"), "1");
    suspend_ms(OUTCOME_TTL_MS + 1);
    ck_assert_uint_eq(redlock_lock_validity_ms(got.lock), 0);
    site_release(&s, got.lock);
    must_all_say("acquired  p:k|lost  p:k");
    site_end(&s);
}

/* A round that was not won is withdrawn where it was granted. */
TEST(a_lost_round_is_withdrawn)
{
    start(3, 1000);
    site_open(&s);
    ck_assert_str_eq(master_ask(s.masters[0], "SET p:k x"), "OK");
    ck_assert_str_eq(master_ask(s.masters[1], "SET p:k x"), "OK");
    ck_assert_int_eq(site_acquire(&s, "k").status, REDLOCK_EHELD);
    must_say(2, "acquired  p:k|withdrawn  p:k");
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS " STREAM), "0");
    site_end(&s);
}

/* ---- what a master cannot do ---- */

static bool complains(void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(s.rl[0], 0, &info), 0);
    return strstr(info.error, arg) != NULL;
}

static void must_complain(const char *words)
{
    loop_must_true(s.base, complains, (void *)(uintptr_t)words);
}

static void lock_and_release(struct redlock_request *request)
{
    struct outcome got = site_acquire_with(&s, 0, request);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* On all masters: so no vote, confirmation or release may depend on it. _i: with a fencing token;
 * of one key and of two. */
TEST_LOOP(a_stream_that_cannot_be_written_costs_no_vote, 0, 4)
{
    static const char *const keys[] = {"a", "b"};
    struct redlock_request request = outcome_request(_i & 2 ? NULL : "a");
    size_t i;

    start(3, 1000);
    site_open(&s);
    for (i = 0; i < 3; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "SET " STREAM " x"), "OK");
    }
    request.fencing = _i & 1;
    request.keys = _i & 2 ? keys : NULL;
    request.n_keys = _i & 2 ? 2 : 0;
    lock_and_release(&request);
    must_complain("adds nothing to the audit stream: WRONGTYPE");
    ck_assert_str_eq(master_ask(s.masters[0], "GET " STREAM), "x");
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS p:a p:b"), "0");
    site_end(&s);
}

TEST_LOOP(a_user_without_xadd_locks_all_the_same, 0, 2)
{
    struct redlock_request request = outcome_request("k");

    start(3, 1000);
    if (!site_user(&s, "~* allchannels +@all -xadd")) {
        site_end(&s);
        return;
    }
    site_open(&s);
    request.fencing = _i;
    lock_and_release(&request);
    must_complain("adds nothing to the audit stream: ");
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS " STREAM), "0");
    site_end(&s);
}

/* Redis cuts whole nodes of its tree, of a hundred entries each. */
TEST(a_stream_keeps_about_so_many_entries)
{
    struct redlock_request request = outcome_request("k");
    int i;

    start(1, 10);
    ck_assert_str_eq(master_ask(s.masters[0], "CONFIG SET stream-node-max-entries 10"), "OK");
    site_open(&s);
    for (i = 0; i < 60; i++) {
        lock_and_release(&request);
    }
    ck_assert_int_le(atoi(master_ask(s.masters[0], "XLEN " STREAM)), 20);
    ck_assert_int_ge(atoi(master_ask(s.masters[0], "XLEN " STREAM)), 10);
    site_end(&s);
}
