/* live/test_roles.c - real masters that become replicas and masters again, and masters that are
 * out of memory when they are greeted [S11]. */
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("roles");
FIXTURE(NULL, site_end_all);

#define LONG_TTL_MS 120000u
#define HEALTH_MS 50u

static struct site s;

static struct redlock_node_info info_of(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(s.rl[0], node, &info), REDLOCK_OK);
    return info;
}

static void open_with(enum redlock_quarantine policy)
{
    s.options.quarantine = policy;
    s.options.max_ttl_ms = LONG_TTL_MS;
    s.options.inspection_ms = HEALTH_MS;
    site_open(&s);
}

static void must_say_ok(size_t node, const char *command)
{
    ck_assert_str_eq(master_ask(s.masters[node], command), "OK");
}

static struct outcome acquire_at_once(void)
{
    struct redlock_request request = outcome_request("k");

    request.wait_ms = 0;
    return site_acquire_with(&s, 0, &request);
}

static void copy_another(void)
{
    char command[64];

    must_say_ok(0, "CONFIG SET replica-read-only no");
    snprintf(command, sizeof(command), "REPLICAOF 127.0.0.1 %d", master_port(s.masters[1]));
    must_say_ok(0, command);
}

/* The replica goes on granting locks, over the connection that we have. Its role is read even
 * without a quarantine. */
TEST_LOOP(a_connected_master_that_becomes_a_writable_replica_has_no_vote, 0, 2)
{
    const struct master_options options = {.where = MASTER_TCP4};
    struct outcome got;

    site_start(&s, 3, &options);
    open_with(_i ? REDLOCK_QUARANTINE_OFF : REDLOCK_QUARANTINE_LENIENT);
    got = acquire_at_once();
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_answer(&s, 0, "0", "EXISTS k");

    copy_another();
    watch_for_error(s.base, s.rl[0], 0, "is a replica");
    must_say_ok(0, "SET anything goes");
    master_ask(s.masters[2], "SET k another");
    got = acquire_at_once();
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_ne(got.votes[0].vote, REDLOCK_VOTE_YES);
    site_wait_answer(&s, 1, "0", "EXISTS k");

    must_say_ok(0, "REPLICAOF NO ONE");
    watch_for_state(s.base, s.rl[0], 0, REDLOCK_NODE_UP);
    if (_i == 0) {
        ck_assert_ptr_nonnull(strstr(info_of(0).error, "data were deleted or replaced"));
        ck_assert_uint_gt(info_of(0).quarantine_ms, 0);
        got = acquire_at_once();
        ck_assert_int_ne(got.status, REDLOCK_OK);
        ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
    }
}

static bool is_quarantined(void *arg)
{
    (void)arg;
    return info_of(0).state == REDLOCK_NODE_UP && info_of(0).quarantine_ms > 0;
}

static bool is_quarantined_for_a_while(void *arg)
{
    return is_quarantined(arg) && info_of(0).quarantine_ms != UINT64_MAX;
}

/* For a user without the right to INFO, HELLO shows the role. */
TEST(the_role_is_known_without_info)
{
    const struct master_options options = {.where = MASTER_TCP4,
                                           .config = "user default on nopass ~* +@all -info"};

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_LENIENT);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "allow us INFO"));
    copy_another();
    watch_for_error(s.base, s.rl[0], 0, "is a replica");
    must_say_ok(0, "REPLICAOF NO ONE");
    loop_must_true(s.base, is_quarantined, NULL);
}

/* [S11] The connection stays until an inspection finds the run. */
TEST(a_master_that_tells_its_run_later_is_greeted_again)
{
    const struct master_options options = {.config = "user default on nopass ~* +@all -info"};

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_STRICT);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "does not tell us its run_id; allow us INFO"));
    ck_assert_uint_eq(info_of(0).quarantine_ms, UINT64_MAX);
    must_say_ok(0, "ACL SETUSER default +info");
    loop_must_true(s.base, is_quarantined_for_a_while, NULL);
    ck_assert_uint_eq(info_of(1).quarantine_ms, UINT64_MAX);
    site_end(&s);
}

/* What it cannot do decides, and not its version. */
TEST_LOOP(a_server_that_cannot_renew_or_release_does_not_vote, 0, 5)
{
    static const struct {
        const char *config, *says;
    } rows[] = {
        {"rename-command EVAL \"\"\nrename-command EVALSHA \"\"\nrename-command SCRIPT \"\"",
         "does not know EVALSHA"},
        {"rename-command EVALSHA \"\"", "does not know EVALSHA"},
        {"rename-command EVAL \"\"", "does not know EVAL"},
        {"rename-command PEXPIRE \"\"", "denies PEXPIRE to scripts"},
        {"rename-command DEL delete", "denies DEL to scripts"}};
    struct master_options options = {.config = rows[_i].config};

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_OFF);
    ck_assert_ptr_nonnull(strstr(info_of(0).error, rows[_i].says));
    ck_assert_uint_eq(info_of(0).quarantine_ms, UINT64_MAX);
    ck_assert_int_ne(acquire_at_once().status, REDLOCK_OK);
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS k"), "0");
}

/* It is a replica and then a master again, perhaps between two inspections: the number of its
 * promotions shows it. */
TEST(a_former_replica_is_quarantined_each_time)
{
    const struct master_options options = {.where = MASTER_TCP4};
    uint64_t before;
    int i;

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_LENIENT);
    for (i = 0; i < 2; i++) {
        before = info_of(0).quarantine_ms;
        copy_another();
        site_wait_answer(&s, 1, "1", "EXISTS redlock:incarnation");
        must_say_ok(0, "REPLICAOF NO ONE");
        loop_must_true(s.base, is_quarantined, NULL);
        ck_assert_uint_ge(info_of(0).quarantine_ms + 1000, before);
    }
}

/* The master is out of memory when it is greeted, and has no mark: it cannot write one. Then
 * there is memory, and what it had granted meanwhile is deleted. */
TEST(the_first_mark_after_oom_quarantines)
{
    struct outcome got;

    site_start(&s, 3, NULL);
    must_say_ok(0, "CONFIG SET maxmemory 1");
    open_with(REDLOCK_QUARANTINE_LENIENT);
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS redlock:incarnation"), "0");
    ck_assert_ptr_nonnull(strstr(info_of(0).error, "does not vote: its memory is full (OOM)"));
    ck_assert_uint_eq(info_of(0).quarantine_ms, UINT64_MAX);
    must_say_ok(0, "CONFIG SET maxmemory 0");
    must_say_ok(0, "FLUSHALL");
    site_wait_answer(&s, 0, "1", "EXISTS redlock:incarnation");
    loop_must_true(s.base, is_quarantined_for_a_while, NULL);
    master_ask(s.masters[2], "SET k another");
    got = acquire_at_once();
    ck_assert_int_ne(got.status, REDLOCK_OK);
}

/* [S11] It has its master's key, and not everything that its master granted; and it is durable. */
TEST(a_durable_replica_that_was_promoted_is_quarantined_for_new_clients)
{
    struct master_options options = {.where = MASTER_TCP4,
                                     .config = "appendonly yes\nappendfsync always\n"
                                               "repl-diskless-sync-delay 0"};
    struct master *old;
    char key[128];
    size_t i;

    site_start(&s, 3, &options);
    for (i = 0; i < 3; i++) {
        snprintf(key, sizeof(key), "%s", site_make_old(&s, i));
    }
    options.replica_of = old = s.masters[2];
    s.masters[2] = master_start(&options);
    s.uris[2] = master_uri(s.masters[2]);
    site_wait_answer(&s, 2, key, "GET redlock:incarnation");
    must_say_ok(2, "REPLICAOF NO ONE");
    master_free(old);
    open_with(REDLOCK_QUARANTINE_STRICT);
    ck_assert_ptr_nonnull(strstr(info_of(2).error, "lost its data"));
    ck_assert_uint_gt(info_of(2).quarantine_ms, 0);
    ck_assert_uint_eq(info_of(0).quarantine_ms, 0);
    ck_assert_uint_eq(info_of(1).quarantine_ms, 0);
}
