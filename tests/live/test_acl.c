/* live/test_acl.c - the rights that redlock doctor names, on real masters: they are enough for
 * every feature, and without each of them the rest goes on as docs/acl.md says. */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/examine.h>

#include "io/watch.h"
#include "lib/test.h"
#include "live/site.h"

SUITE("acl");
FIXTURE(NULL, site_end_all);

#define MASTERS 3

static struct site s;

/* ---- what the doctor says ---- */

struct verdict {
    int done, status;
    unsigned denied, missing;
    int keys_denied;
    char acl[1024];
};

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    struct verdict *v = arg;

    v->done = 1;
    v->status = status;
    ck_assert_ptr_nonnull(report);
    v->denied = report->nodes[0]->denied;
    v->missing = report->nodes[0]->missing;
    v->keys_denied = report->nodes[0]->keys_denied;
    snprintf(v->acl, sizeof(v->acl), "%s", report->nodes[0]->acl);
}

static struct verdict examine(void)
{
    struct verdict v = {0};

    ck_assert_int_eq(redlock_examine(s.rl[0], on_examined, &v), 0);
    loop_must(s.base, &v.done);
    return v;
}

/* ---- a user with these rights ---- */

/* False, and the test is skipped: the server has no ACLs, or cannot take this right away. */
static bool give(const char *command)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        if (strcmp(master_ask(s.masters[i], command), "OK") != 0) {
            rlk_test_skip("the server has no ACLs, or none for subcommands");
            return false;
        }
        master_ask(s.masters[i], "CONFIG RESETSTAT");
    }
    return true;
}

/* The user has all rights already, by a selector, on servers that have selectors: so each test
 * shows that the command takes these away. */
static void give_all_by_selector(void)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        master_ask(s.masters[i], "ACL SETUSER redlock (~* +@all)");
    }
}

/* Ask the doctor for the rights, as the user default, and log in again with those. */
static bool start_with_least_rights(const char *change)
{
    char command[1200];
    struct verdict v;
    size_t i;

    site_start(&s, MASTERS, NULL);
    s.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    s.options.inspection_ms = 100;
    s.options.key_prefix = "app:";
    site_open(&s);
    v = examine();
    ck_assert_uint_eq(v.denied | v.missing, 0);
    for (i = 0; i < 2; i++) {
        watch_close(s.base, s.rl[i]);
        s.rl[i] = NULL;
    }
    snprintf(command, sizeof(command), "%s%s", v.acl, change);
    give_all_by_selector();
    s.options.username = "redlock";
    s.options.password = "PASSWORD";
    return v.acl[0] ? give(command) : (rlk_test_skip("the server has no ACLs"), false);
}

/* From Redis 6.2 on. */
static void must_have_denied_nothing(void)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        ck_assert_ptr_null(strstr(master_ask(s.masters[i], "INFO errorstats"), "errorstat_NOPERM"));
    }
}

static void must_acquire_and_release(const struct redlock_request *request)
{
    struct outcome got = site_acquire_with(&s, 0, request);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(site_acquire_with(&s, 1, request).status, REDLOCK_EHELD);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* is_listed: the rights allow it. */
static void must_hand_over(bool is_listed)
{
    struct redlock_request request = outcome_request("k");
    struct outcome first = site_acquire_with(&s, 0, &request), second = {.n = MASTERS};

    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(first.status, REDLOCK_OK);
    ck_assert_int_eq(redlock_acquire(s.rl[1], &request, outcome_on_acquired, &second, NULL), 0);
    if (is_listed) {
        site_wait_answer(&s, 0, "1", "ZCARD app:k:redlock-waiting");
    }
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    loop_must(s.base, &second.calls);
    ck_assert_int_eq(second.status, REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, second.lock), REDLOCK_OK);
}

TEST(the_rights_that_the_doctor_names_are_enough)
{
    static const char *const keys[] = {"a", "b"};
    struct redlock_request plain = outcome_request("k"), fenced = outcome_fenced_request("f");
    struct redlock_request several = outcome_request(NULL);
    struct verdict v;

    if (start_with_least_rights("")) {
        several.keys = keys;
        several.n_keys = 2;
        site_open(&s);
        must_acquire_and_release(&plain);
        must_acquire_and_release(&fenced);
        must_acquire_and_release(&several);
        must_hand_over(true);
        must_have_denied_nothing();
        v = examine();
        ck_assert_uint_eq(v.denied | v.missing, 0);
        ck_assert_int_eq(v.keys_denied, 0);
        ck_assert_int_eq(v.status, 0);
    }
}

/* ---- without one of them ---- */

static const struct {
    const char *change;
    unsigned bit;
    bool works;         /* a lock can be acquired and released all the same */
    const char *unseen; /* what the library says that it cannot see */
} rights[] = {
    {"-set", REDLOCK_RIGHT_SET, false, NULL},
    {"-get", REDLOCK_RIGHT_GET, false, NULL},
    {"-del", REDLOCK_RIGHT_DEL, false, NULL},
    {"-pexpire", REDLOCK_RIGHT_PEXPIRE, false, NULL},
    {"-pttl", REDLOCK_RIGHT_PTTL, false, NULL},
    {"-mget", REDLOCK_RIGHT_MGET, true, NULL},
    {"-eval", REDLOCK_RIGHT_EVAL, false, NULL},
    {"-evalsha", REDLOCK_RIGHT_EVALSHA, false, NULL},
    {"-script|load", REDLOCK_RIGHT_SCRIPT_LOAD, true, NULL},
    {"-time", REDLOCK_RIGHT_TIME, true, "can lose its data without our seeing it"},
    {"-info", REDLOCK_RIGHT_INFO, true, "has restarts that we cannot see"},
    {"-client|setname", REDLOCK_RIGHT_CLIENT_SETNAME, true, NULL},
    {"-client|kill", REDLOCK_RIGHT_CLIENT_KILL, true, NULL},
    {"-config|get", REDLOCK_RIGHT_CONFIG_GET, true, NULL},
    {"-publish", REDLOCK_RIGHT_PUBLISH, true, NULL},
    {"-subscribe", REDLOCK_RIGHT_SUBSCRIBE, true, NULL},
    {"-client|tracking", REDLOCK_RIGHT_CLIENT_TRACKING, true, NULL},
    {"-client|caching", REDLOCK_RIGHT_CLIENT_TRACKING, true, NULL},
    {"-client|id", REDLOCK_RIGHT_CLIENT_TRACKING, true, NULL},
    {"-exists", REDLOCK_RIGHT_CLIENT_TRACKING, true, NULL},
    {"-zadd", REDLOCK_RIGHT_ZADD, true, NULL},
    {"-zcard", REDLOCK_RIGHT_ZADD, true, NULL},
    {"-zrange", REDLOCK_RIGHT_ZADD, true, NULL},
    {"-zrank", REDLOCK_RIGHT_ZADD, true, NULL},
    {"-zrem", REDLOCK_RIGHT_ZADD, true, NULL},
    {"-zscore", REDLOCK_RIGHT_ZADD, true, NULL},
    {"resetchannels &__redis__:invalidate", REDLOCK_RIGHT_WAKES, true, NULL},
    {"resetchannels &app:redlock:wake:*", REDLOCK_RIGHT_INVALIDATIONS, true, NULL},
};

/* No key is left that only its ttl would end. */
static void must_refuse(const struct redlock_request *request)
{
    struct outcome got = site_acquire_with(&s, 0, request);
    size_t i;

    ck_assert_int_ne(got.status, REDLOCK_OK);
    for (i = 0; i < s.n; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "EXISTS app:k"), "0");
    }
}

/* Never two holders, whatever is missing. */
static void must_exclude(const struct redlock_request *request)
{
    struct outcome first = site_acquire_with(&s, 0, request);
    struct outcome second = site_acquire_with(&s, 1, request);

    ck_assert(first.status != REDLOCK_OK || second.status != REDLOCK_OK);
}

static void must_say_what_is_unseen(const char *unseen)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(s.rl[0], 0, &info), 0);
    ck_assert_msg(unseen ? strstr(info.error, unseen) != NULL
                         : strstr(info.error, "votes without quarantine") == NULL,
                  "%s", info.error);
}

TEST_LOOP(without_a_right_the_rest_goes_on, 0, N_ROWS(rights))
{
    struct redlock_request request = outcome_request("k");
    char change[60];

    snprintf(change, sizeof(change), " %s", rights[_i].change);
    if (start_with_least_rights(change)) {
        site_open(&s);
        if (rights[_i].works) {
            must_acquire_and_release(&request);
            must_hand_over(false);
        } else {
            must_refuse(&request);
        }
        must_say_what_is_unseen(rights[_i].unseen);
        ck_assert_uint_eq(examine().denied, rights[_i].bit);
    }
}

/* ---- a permission that is taken away for a while ---- */

static struct redlock_node_info info_of(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(s.rl[0], node, &info), 0);
    return info;
}

/* Each master is inspected by itself. */
static bool all_say(void *words)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        if (strstr(info_of(i).error, words) == NULL) {
            return false;
        }
    }
    return true;
}

static bool all_vote(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < s.n; i++) {
        if (info_of(i).quarantine_ms != 0) {
            return false;
        }
    }
    return true;
}

/* By _i: our user loses EVAL, without which a master never votes; or only the key with the mark. */
static const struct {
    const char *take, *grant, *says;
} moments[] = {
    {"ACL SETUSER redlock -eval -evalsha", "ACL SETUSER redlock +eval +evalsha",
     "it denies our user EVAL"},
    {"ACL SETUSER redlock resetkeys ~app:k", "ACL SETUSER redlock ~app:*",
     "it no longer lets us see whether it lost its data"},
};

/* The data are deleted after the grant. Only that shows that we read the mark again. */
TEST_LOOP(after_a_denial_a_loss_is_noticed, 0, N_ROWS(moments))
{
    size_t i;

    if (!start_with_least_rights("")) {
        return;
    }
    site_open(&s);
    if (give(moments[_i].take)) {
        loop_must_true(s.base, all_say, (void *)(uintptr_t)moments[_i].says);
        ck_assert_int_ne(site_acquire(&s, "k").status, REDLOCK_OK);
        give(moments[_i].grant);
        loop_must_true(s.base, all_vote, NULL);
        for (i = 0; i < s.n; i++) {
            master_ask(s.masters[i], "FLUSHALL");
        }
        loop_must_true(s.base, all_say, (void *)(uintptr_t) "its data were deleted");
        ck_assert_int_ne(site_acquire(&s, "k").status, REDLOCK_OK);
    }
}

/* Keys outside of the prefix, and no keys at all. */
TEST_LOOP(denied_keys_are_named, 0, 2)
{
    static const char *const changes[] = {" resetkeys ~other:*", " resetkeys"};
    struct redlock_request request = outcome_request("k");

    if (start_with_least_rights(changes[_i])) {
        site_open(&s);
        must_exclude(&request);
        ck_assert_int_eq(examine().keys_denied, 1);
    }
}
