/* live/test_faults.c - masters that are killed, stopped, restarted, late or protected by a
 * password, and servers that are no masters. */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("faults");
FIXTURE(NULL, site_end_all);

static struct site s;

CASE("gone");

TEST(two_of_five_killed_is_fine)
{
    struct outcome got;

    site_start_open(&s, 5);
    master_kill(s.masters[1]);
    master_kill(s.masters[3]);
    got = site_must_acquire(&s, "k");
    ck_assert_int_ne(got.votes[1].vote, REDLOCK_VOTE_YES);
    ck_assert_int_ne(got.votes[3].vote, REDLOCK_VOTE_YES);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(two_killed_while_held_do_not_prevent_the_release)
{
    struct outcome got;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    master_kill(s.masters[0]);
    master_kill(s.masters[4]);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_must_acquire(&s, "k");
}

TEST(three_of_five_killed_is_no_quorum_and_says_why)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    for (i = 0; i < 3; i++) {
        master_kill(s.masters[i]);
        watch_for_state(s.base, s.rl[0], i, REDLOCK_NODE_DOWN);
    }
    got = site_acquire(&s, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_NONE);
        ck_assert_str_ne(got.votes[i].error, "");
    }
    site_wait_clean(&s);
}

TEST(two_of_five_stopped_is_fine_and_nothing_stays_on_them)
{
    struct outcome got;
    int i;

    site_start_open(&s, 5);
    master_stop(s.masters[0]);
    master_stop(s.masters[2]);
    for (i = 0; i < 10; i++) {
        got = site_must_acquire(&s, "k");
        ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    }
    master_continue(s.masters[0]);
    master_continue(s.masters[2]);
    site_wait_clean(&s);
    watch_for_state(s.base, s.rl[0], 0, REDLOCK_NODE_UP);
    watch_for_state(s.base, s.rl[0], 2, REDLOCK_NODE_UP);
}

TEST(three_of_five_stopped_is_no_quorum_and_nothing_stays)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 5};
    size_t i;

    site_start_open(&s, 5);
    for (i = 0; i < 3; i++) {
        master_stop(s.masters[i]);
    }
    ck_assert_int_eq(redlock_acquire(s.rl[0], &request, outcome_on_acquired, &got, NULL), 0);
    site_time_out(&s);
    loop_must(s.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_UNKNOWN);
        ck_assert_str_ne(got.votes[i].error, "");
        master_continue(s.masters[i]);
    }
    site_wait_clean(&s);
}

TEST(waiting_acquire_goes_on_when_a_majority_is_back)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 5};
    int never = 0;
    size_t i;

    site_start_open(&s, 5);
    master_kill(s.masters[0]);
    master_kill(s.masters[1]);
    master_stop(s.masters[2]);
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 20;
    ck_assert_int_eq(redlock_acquire(s.rl[0], &request, outcome_on_acquired, &got, NULL), 0);
    site_time_out(&s); /* of the first round; others follow */
    ck_assert(!loop_until(s.base, &never, 300));
    ck_assert_int_eq(got.calls, 0);
    master_continue(s.masters[2]);
    loop_must(s.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    for (i = 2; i < 5; i++) {
        site_wait_answer(&s, i, "0", "DBSIZE");
    }
}

TEST(restarted_master_is_connected_again)
{
    struct outcome got;

    site_start_open(&s, 5);
    master_kill(s.masters[0]);
    watch_for_state(s.base, s.rl[0], 0, REDLOCK_NODE_DOWN);
    master_restart(s.masters[0]);
    watch_for_state(s.base, s.rl[0], 0, REDLOCK_NODE_UP);
    got = site_must_acquire(&s, "k");
    site_wait_answer(&s, 0, got.token, "GET k");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(master_that_starts_late_is_connected)
{
    struct outcome got;
    size_t i;

    site_start(&s, 5, NULL);
    master_kill(s.masters[4]);
    site_open_at_once(&s);
    for (i = 0; i < 4; i++) {
        watch_for_state(s.base, s.rl[0], i, REDLOCK_NODE_UP);
    }
    watch_for_error(s.base, s.rl[0], 4, "");
    ck_assert_int_ne(watch_state(s.rl[0], 4), REDLOCK_NODE_UP);
    master_restart(s.masters[4]);
    watch_for_state(s.base, s.rl[0], 4, REDLOCK_NODE_UP);
    ck_assert_str_eq(watch_error(s.rl[0], 4), "");
    got = site_must_acquire(&s, "k");
    site_wait_answer(&s, 4, got.token, "GET k");
}

/* [S5] A lock that was released while a master was away does not stay there. */
TEST(keys_left_by_a_broken_connection_are_released_afterwards)
{
    struct outcome got;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    site_wait_answer(&s, 0, got.token, "GET k");
    master_ask(s.masters[0], "CLIENT KILL TYPE normal SKIPME yes");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

/* Nor on a master that was stopped while we asked, released, and closed. */
TEST_LOOP(stopped_master_keeps_no_key_of_a_closed_manager, 0, 2)
{
    struct master_options options = {.where = _i ? MASTER_TCP4 : MASTER_UNIX};
    int i;

    site_start(&s, 3, &options);
    site_open(&s);
    master_stop(s.masters[0]);
    site_must_acquire(&s, "k");
    site_close_to_timeout(&s, 0);
    master_continue(s.masters[0]);
    for (i = 0; i < 3; i++) {
        ck_assert_str_eq(master_ask(s.masters[0], "PING"),
                         "PONG"); /* all earlier commands are done */
    }
    ck_assert_str_eq(master_ask(s.masters[0], "DBSIZE"), "0");
    site_wait_clean(&s);
}

CASE("odd");

/* A script cache can be emptied at any time. */
TEST(flushed_scripts_do_not_prevent_the_release)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 3);
    got = site_acquire(&s, "k");
    for (i = 0; i < 3; i++) {
        site_wait_answer(&s, i, got.token, "GET k");
        ck_assert_str_eq(master_ask(s.masters[i], "SCRIPT FLUSH"), "OK");
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

/* Masters that are out of memory refuse a lock, and carry out its release. The third one may not
 * have answered. */
TEST(full_masters_refuse_and_release)
{
    struct outcome got;
    int with_oom = 0;
    size_t i;

    site_start_open(&s, 3);
    got = site_acquire(&s, "held");
    for (i = 0; i < 3; i++) {
        site_wait_answer(&s, i, got.token, "GET held");
        ck_assert_str_eq(master_ask(s.masters[i], "CONFIG SET maxmemory 1"), "OK");
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
    got = site_acquire(&s, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        with_oom += strstr(got.votes[i].error, "OOM") != NULL;
    }
    ck_assert_int_ge(with_oom, 2);
}

/* Five masters, of which the first needs other options. */
static void start_with_one_special(const struct master_options *special)
{
    static struct master *first;

    site_start(&s, 5, NULL);
    first = s.masters[0];
    s.masters[0] = master_start(special);
    s.uris[0] = master_uri(s.masters[0]);
    master_free(first);
}

TEST(wrong_password_on_one_is_reported)
{
    struct master_options special = {.where = MASTER_TCP4, .password = "right"};
    static char uri[64];
    struct outcome got;

    start_with_one_special(&special);
    snprintf(uri, sizeof(uri), "redis://:wrong@127.0.0.1:%d", master_port(s.masters[0]));
    s.uris[0] = uri;
    site_open_at_once(&s);
    watch_for_error(s.base, s.rl[0], 0, "WRONGPASS");
    got = site_must_acquire(&s, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
    ck_assert_ptr_nonnull(strstr(got.votes[0].error, "WRONGPASS"));
    ck_assert_ptr_null(strstr(got.votes[0].error, "wrong"));
}

TEST(missing_password_on_one_is_reported)
{
    struct master_options special = {.password = "right"};

    start_with_one_special(&special);
    site_open_at_once(&s);
    watch_for_error(s.base, s.rl[0], 0, "password");
    site_must_acquire(&s, "k");
}

TEST(passwords_of_all_are_used)
{
    struct master_options options = {.password = "s3cret word"};
    struct outcome got;

    site_start(&s, 3, &options);
    site_open(&s);
    got = site_must_acquire(&s, "k");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(user_of_an_acl_with_few_rights_is_enough)
{
    static const char rights[] = "~lock:* -@all +eval +evalsha +script|load +get +set +del +pttl "
                                 "+pexpire +ping +info +client|setname";
    struct outcome got;

    site_start(&s, 3, NULL);
    ck_assert(site_user(&s, rights));
    s.options.key_prefix = "lock:";
    site_open(&s);
    got = site_must_acquire(&s, "k");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

/* [S11] SET NX works on a writable replica: only INFO shows its role. */
TEST(replica_does_not_vote)
{
    struct master_options plain = {.where = MASTER_TCP4};
    struct master_options special = {.where = MASTER_TCP4};
    struct master *its_master = master_start(&plain);
    struct outcome got;

    special.replica_of = its_master;
    special.config = "replica-read-only no";
    start_with_one_special(&special);
    site_open_at_once(&s);
    watch_for_error(s.base, s.rl[0], 0, "replica");
    got = site_must_acquire(&s, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
    ck_assert_ptr_nonnull(strstr(got.votes[0].error, "replica"));
    ck_assert_str_eq(master_ask(s.masters[0], "GET k"), "(nil)");
    site_end(&s);
    master_free(its_master);
}

/* A majority of replicas is no majority. */
TEST(replicas_alone_are_no_quorum)
{
    struct master_options plain = {.where = MASTER_TCP4};
    struct master_options replica = {.where = MASTER_TCP4};
    struct master *its_master = master_start(&plain);

    replica.replica_of = its_master;
    site_start(&s, 3, &replica);
    site_open_at_once(&s);
    watch_for_error(s.base, s.rl[0], 0, "replica");
    watch_for_error(s.base, s.rl[0], 1, "replica");
    ck_assert_int_eq(site_acquire(&s, "k").status, REDLOCK_ENOQUORUM);
    site_end(&s);
    master_free(its_master);
}

TEST(cluster_node_does_not_vote)
{
    struct master_options special = {.where = MASTER_TCP4, .config = "cluster-enabled yes"};

    start_with_one_special(&special);
    site_open_at_once(&s);
    watch_for_error(s.base, s.rl[0], 0, "cluster");
    site_must_acquire(&s, "k");
}

/* Something else listens there, for example a server that never answers. */
TEST(server_that_is_full_is_reported)
{
    struct master_options special = {.config = "maxclients 1"};

    start_with_one_special(&special);
    master_ask(s.masters[0], "PING"); /* our own connection is the one client */
    site_open_at_once(&s);
    watch_for_error(s.base, s.rl[0], 0, "(maxclients)");
    site_must_acquire(&s, "k");
}
