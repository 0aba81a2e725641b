/* live/test_renew.c - renewals on real masters: what our scripts do there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("renew");
FIXTURE(NULL, site_end_all);

/* When a lock is renewed, and how long its answer is waited for at most. */
#define THIRD_MS (OUTCOME_TTL_MS / 3)

static struct site s;
static struct outcome got;

/* What was reported to the holder. */
static struct {
    int troubles, lost, extended;
    int reason, extend_status;
    uint64_t validity_ms; /* at the last notice */
} notices;

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    (void)arg;
    notices.lost += notice->kind == REDLOCK_NOTICE_LOST;
    notices.troubles += notice->kind == REDLOCK_NOTICE_TROUBLE;
    notices.reason = notice->reason;
    notices.validity_ms = redlock_lock_validity_ms(lock);
}

static void on_extended(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    notices.extended++;
    notices.extend_status = status;
}

static struct redlock_request request_of(const char *key)
{
    struct redlock_request request = outcome_request(key);

    request.notice_cb = on_notice;
    return request;
}

static void acquire(const struct redlock_request *request)
{
    got = site_acquire_with(&s, 0, request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

static int extend(uint32_t ttl_ms)
{
    notices.extended = 0;
    ck_assert_int_eq(redlock_extend(got.lock, ttl_ms, on_extended, NULL), REDLOCK_OK);
    loop_must(s.base, &notices.extended);
    return notices.extend_status;
}

static void wait_everywhere(const char *key)
{
    char command[64];
    size_t i;

    snprintf(command, sizeof(command), "GET %s", key);
    for (i = 0; i < s.n; i++) {
        site_wait_answer(&s, i, got.token, command);
    }
}

static bool has_granted(size_t node)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    ck_assert_int_eq(redlock_lock_node(got.lock, node, &detail), REDLOCK_OK);
    return detail.vote == REDLOCK_VOTE_YES;
}

static bool have_all_granted(void *arg)
{
    size_t i, n = 0;

    (void)arg;
    for (i = 0; i < s.n; i++) {
        n += has_granted(i);
    }
    return n == s.n;
}

/* Also those that the win did not wait for. */
static void wait_for_all_votes(void)
{
    loop_must_true(s.base, have_all_granted, NULL);
}

static void ask_all(size_t first, size_t last, const char *command, const char *answer)
{
    for (; first < last; first++) {
        ck_assert_str_eq(master_ask(s.masters[first], command), answer);
    }
}

/* The greetings ran scripts, too: count from here. */
static void open_and_count_from_here(void)
{
    site_open(&s);
    ask_all(0, s.n, "CONFIG RESETSTAT", "OK");
}

/* ---- the scripts ---- */

static const char *const two[] = {"a", "b"};

static struct redlock_request request_of_two(void)
{
    struct redlock_request request = request_of(NULL);

    request.keys = two;
    request.n_keys = 2;
    return request;
}

static bool has_run(void *arg)
{
    return strstr(master_ask(arg, "INFO commandstats"), "cmdstat_evalsha:calls=4,") != NULL;
}

/* The texts of two scripts were sent once; the release was loaded. With a wrong SHA-1 a script
 * would have been sent as text again, or not been granted. */
TEST(sha_1_of_each_script_is_what_the_server_has)
{
    struct redlock_request request = request_of_two();
    int times;
    size_t i;

    site_start(&s, 3, NULL);
    open_and_count_from_here();
    for (times = 0; times < 2; times++) {
        acquire(&request);
        wait_for_all_votes();
        ck_assert_int_eq(extend(2 * OUTCOME_TTL_MS), REDLOCK_OK);
        ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
        site_wait_clean(&s);
    }
    for (i = 0; i < 3; i++) {
        const char *stats;

        loop_must_true(s.base, has_run, s.masters[i]);
        stats = master_ask(s.masters[i], "INFO commandstats");
        ck_assert_msg(strstr(stats, "cmdstat_eval:calls=2,") != NULL, "%s", stats);
    }
}

static void set_counters(size_t node, const char *fence)
{
    master_ask(s.masters[node], "MSET a:redlock-fence %s b:redlock-fence %s", fence, fence);
}

/* Both of two masters have to vote, and the one with the lower counter has to confirm: the first
 * time by text, the second time by SHA-1; and two releases follow, by script on every server, as
 * there are two keys. The servers knew every SHA-1. */
TEST(sha_1_of_each_fencing_script_is_what_the_server_has)
{
    struct redlock_request request = request_of_two();
    const char *stats;
    int times;

    site_start(&s, 2, NULL);
    open_and_count_from_here();
    request.fencing = 1;
    for (times = 0; times < 2; times++) {
        set_counters(0, "3000000000000000");
        set_counters(1, "3000000000000005");
        acquire(&request);
        ck_assert_uint_eq(redlock_lock_fencing_token(got.lock), UINT64_C(3000000000000006));
        ck_assert_str_eq(master_ask(s.masters[0], "GET a:redlock-fence"), "3000000000000006");
        ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
        site_wait_answer(&s, 0, "0", "EXISTS a b");
        site_wait_answer(&s, 1, "0", "EXISTS a b");
    }
    loop_must_true(s.base, has_run, s.masters[0]);
    stats = master_ask(s.masters[0], "INFO commandstats");
    ck_assert_msg(strstr(stats, "cmdstat_eval:calls=2,") != NULL, "%s", stats);
    stats = master_ask(s.masters[0], "INFO errorstats");
    ck_assert_msg(strstr(stats, "NOSCRIPT") == NULL, "%s", stats);
}

static long ttl_at(size_t node)
{
    return atol(master_ask(s.masters[node], "PTTL k"));
}

TEST(extension_lengthens_and_never_shortens)
{
    struct redlock_request request = request_of("k");

    site_start_open(&s, 1);
    acquire(&request);
    ck_assert_int_eq(extend(1000), REDLOCK_OK);
    ck_assert_int_gt(ttl_at(0), (long)OUTCOME_TTL_MS / 2);
    ck_assert_int_eq(extend(2 * OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_gt(ttl_at(0), (long)OUTCOME_TTL_MS);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(several_keys_are_one_lock)
{
    struct redlock_request request = request_of_two();
    struct redlock_request part = outcome_request("b");
    struct outcome refused;

    site_start_open(&s, 5);
    acquire(&request);
    wait_everywhere("a");
    wait_everywhere("b");
    ck_assert_int_eq(site_acquire_with(&s, 1, &part).status, REDLOCK_EHELD);
    ck_assert_int_eq(extend(2 * OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
    ask_all(0, 3, "SET b somebody", "OK");
    refused = site_acquire_with(&s, 1, &request);
    ck_assert_int_eq(refused.status, REDLOCK_EHELD);
    site_wait_answer(&s, 3, "0", "DBSIZE");
    site_wait_answer(&s, 4, "0", "DBSIZE");
    ask_all(0, 3, "DBSIZE", "1");
}

static bool are_all_extended(void *arg)
{
    size_t i, n = 0;

    (void)arg;
    for (i = 0; i < s.n; i++) {
        n += ttl_at(i) > (long)OUTCOME_TTL_MS;
    }
    return n == s.n;
}

/* On all masters, so that all of them count. */
static void extend_on_all(void)
{
    ck_assert_int_eq(extend(OUTCOME_TTL_MS + THIRD_MS), REDLOCK_OK);
    loop_must_true(s.base, are_all_extended, NULL);
}

static bool says_not_a_string(size_t node)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    ck_assert_int_eq(redlock_lock_node(got.lock, node, &detail), REDLOCK_OK);
    return detail.vote == REDLOCK_VOTE_NO && strcmp(detail.holder, "(not a string)") == 0;
}

TEST(key_that_became_a_list_is_somebody_else_s)
{
    struct redlock_request request = request_of("k");
    int named = 0;
    size_t i;

    site_start_open(&s, 5);
    acquire(&request);
    wait_for_all_votes();
    extend_on_all();
    ask_all(0, 3, "DEL k", "1");
    ask_all(0, 3, "LPUSH k x", "1");
    ck_assert_int_eq(extend(OUTCOME_TTL_MS), REDLOCK_ELOST);
    loop_must(s.base, &notices.lost);
    ck_assert_int_eq(notices.reason, REDLOCK_ELOST);
    for (i = 0; i < 3; i++) {
        named += says_not_a_string(i);
    }
    ck_assert_int_eq(named, 3);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_TAKEN);
    site_wait_answer(&s, 3, "0", "DBSIZE");
    site_wait_answer(&s, 4, "0", "DBSIZE");
    ask_all(0, 3, "LLEN k", "1");
}

/* A server that is out of memory extends a key, and sets none. */
TEST(full_masters_extend_and_do_not_heal)
{
    struct redlock_request request = request_of("k");
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    site_start_open(&s, 3);
    acquire(&request);
    wait_for_all_votes();
    extend_on_all();
    ask_all(2, 3, "DEL k", "1");
    ask_all(0, 3, "CONFIG SET maxmemory 1", "OK");
    ck_assert_int_eq(extend(2 * OUTCOME_TTL_MS), REDLOCK_OK);
    watch_for_error(s.base, s.rl[0], 2, "OOM");
    ask_all(2, 3, "DBSIZE", "0");
    ck_assert_int_eq(redlock_lock_node(got.lock, 2, &detail), REDLOCK_OK);
    ck_assert_int_eq(detail.vote, REDLOCK_VOTE_NO);
    ck_assert_int_gt(ttl_at(0), (long)(OUTCOME_TTL_MS + THIRD_MS));
    ask_all(0, 3, "CONFIG SET maxmemory 0", "OK");
    ck_assert_int_eq(extend(0), REDLOCK_OK);
    wait_everywhere("k");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

/* Without the right from the start, a master does not vote [S11]: test_acl.c. */
TEST(user_who_loses_the_right_to_extend_is_reported)
{
    static const char rights[] = "~* -@all +eval +evalsha +script|load +get +set +del +pttl "
                                 "+pexpire +ping +info +client|setname";
    struct redlock_request request = request_of("k");

    site_start(&s, 3, NULL);
    ck_assert(site_user(&s, rights));
    site_open(&s);
    acquire(&request);
    wait_everywhere("k");
    ask_all(0, 3, "ACL SETUSER ann -pexpire", "OK");
    ck_assert_int_eq(extend(2 * OUTCOME_TTL_MS), REDLOCK_ENOQUORUM);
    watch_for_error(s.base, s.rl[0], 0, "denies PEXPIRE to scripts");
    ck_assert_int_gt(ttl_at(0), 0);
    ck_assert_uint_gt(redlock_lock_validity_ms(got.lock), 0);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

/* ---- renewing ---- */

/* The validity falls, and then it grows. */
static bool is_renewed(void *arg)
{
    uint64_t *last = arg, now = redlock_lock_validity_ms(got.lock);
    bool rises = now > *last;

    *last = now;
    return rises;
}

/* So much time passes for the library, not for the masters, that the lock is renewed. */
static void make_it_renew(void)
{
    uint64_t last;

    suspend_ms(THIRD_MS);
    last = redlock_lock_validity_ms(got.lock);
    loop_must_true(s.base, is_renewed, &last);
}

/* The master comes back empty. */
static void restart(size_t node)
{
    master_kill(s.masters[node]);
    watch_for_state(s.base, s.rl[0], node, REDLOCK_NODE_DOWN);
    master_restart(s.masters[node]);
    watch_for_state(s.base, s.rl[0], node, REDLOCK_NODE_UP);
}

/* The next master is restarted when the last one counts again, which takes one more renewal
 * [S7]. */
TEST(masters_that_restart_empty_in_turn_are_healed)
{
    struct redlock_request request = request_of("k");
    size_t i;

    site_start_open(&s, 5);
    request.renew = 1;
    acquire(&request);
    wait_for_all_votes();
    for (i = 0; i < 5; i++) {
        make_it_renew();
        restart(i);
        ck_assert_str_eq(master_ask(s.masters[i], "DBSIZE"), "0");
        make_it_renew();
        wait_everywhere("k");
        wait_for_all_votes();
    }
    ck_assert_int_eq(notices.lost, 0);
    ck_assert_uint_gt(redlock_lock_validity_ms(got.lock), 0);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

static bool is_asked_to_keep(void *arg)
{
    return strstr(master_ask(arg, "INFO commandstats"), "cmdstat_eval:") != NULL;
}

/* The other masters extend the key, so the lock is lost before their keys end: even if they had
 * been stopped since they were asked. */
TEST(without_a_majority_it_is_lost_before_the_keys_end)
{
    struct redlock_request request = request_of("k");
    size_t i;

    site_start(&s, 5, NULL);
    open_and_count_from_here();
    request.renew = 1;
    acquire(&request);
    wait_everywhere("k");
    for (i = 0; i < 3; i++) {
        master_stop(s.masters[i]);
    }
    suspend_ms(THIRD_MS);
    loop_must_true(s.base, is_asked_to_keep, s.masters[4]);
    suspend_ms(THIRD_MS + 1);
    loop_must(s.base, &notices.troubles);
    ck_assert_int_eq(notices.lost, 0);
    while (
        notices.lost ==
        0) { /* in steps that leave time for each renewal: the client runs, and is not suspended */
        suspend_ms(OUTCOME_TTL_MS / 30);
        loop_settle(s.base);
    }
    ck_assert_int_eq(notices.reason, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(notices.validity_ms, 0);
    ck_assert_str_eq(master_ask(s.masters[4], "GET k"), got.token);
    ck_assert_int_gt(ttl_at(4), (long)(2 * THIRD_MS + 1));
    for (i = 0; i < 3; i++) {
        master_continue(s.masters[i]);
    }
    ck_assert_int_eq(redlock_release(got.lock, NULL, NULL), REDLOCK_OK);
    site_wait_clean(&s);
    ck_assert_int_eq(notices.troubles, 1);
    ck_assert_int_eq(notices.lost, 1);
}

/* ---- adopting ---- */

/* Acquire in a process of its own, which dies without releasing. */
static void acquire_and_die(int out)
{
    struct event_base *base = event_base_new();
    struct redlock_request request = outcome_request("k");
    struct outcome mine;
    struct redlock *rl = NULL;
    ssize_t n;

    if (redlock_new(base, &s.options, &rl) != REDLOCK_OK) {
        _exit(1);
    }
    mine = outcome_of_acquire(base, rl, s.n, &request);
    n = write(out, mine.token, strlen(mine.token));
    _exit(mine.status != REDLOCK_OK || n != (ssize_t)strlen(mine.token));
}

static void get_from_child(char *ret_token, size_t size)
{
    int ends[2], status = -1;
    pid_t child;
    ssize_t n;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        acquire_and_die(ends[1]);
    }
    close(ends[1]);
    n = read(ends[0], ret_token, size - 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(n, 0);
    ret_token[n] = '\0';
    close(ends[0]);
}

TEST(lock_of_a_process_that_has_died_is_adopted)
{
    struct redlock_request request = request_of("k");
    char token[256];

    site_start(&s, 5, NULL);
    get_from_child(token, sizeof(token));
    site_open(&s);
    got = (struct outcome){.n = 5};
    ck_assert_int_eq(redlock_adopt(s.rl[0], &request, "another", outcome_on_acquired, &got, NULL),
                     0);
    loop_must(s.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ELOST);
    got = (struct outcome){.n = 5};
    ck_assert_int_eq(redlock_adopt(s.rl[0], &request, token, outcome_on_acquired, &got, NULL), 0);
    loop_must(s.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_str_eq(got.token, token);
    wait_everywhere("k");
    ck_assert_int_eq(extend(2 * OUTCOME_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}
