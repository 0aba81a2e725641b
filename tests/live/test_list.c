/* live/test_list.c - all locks of real masters, while others come and go and the tables of the
 * servers grow and shrink. */
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("list");
FIXTURE(NULL, site_end_all);

#define LOCKS 3000
#define CHURN 100
#define HEX "0123456789012345678901234567890123456789"

static struct site s;

static struct seen {
    int ended, status;
    unsigned times[LOCKS];
    size_t others, unknown;
    uint64_t commands;
    void (*on_first)(void);
} seen;

static void on_listed(const struct redlock_listed *listed, void *arg)
{
    unsigned number;

    (void)arg;
    if (seen.on_first) {
        seen.on_first();
        seen.on_first = NULL;
    }
    if (sscanf(listed->key, "lock:%u", &number) == 1) {
        ck_assert(listed->result->held || listed->result->unknown);
        ck_assert_int_eq(listed->ours, 1);
        seen.unknown += listed->result->unknown != 0;
        seen.times[number]++;
    } else {
        seen.others++;
    }
}

static void on_list_end(const struct redlock_list_summary *sum, int status, void *arg)
{
    (void)arg;
    seen.ended++;
    seen.status = status;
    seen.commands = sum ? sum->commands : 0;
}

static void run_script(size_t node, const char *script)
{
    const char *reply = master_ask(s.masters[node], "EVAL %s 0", script);

    ck_assert_msg(strcmp(reply, "1") == 0, "%s", reply);
}

/* The servers' hash tables double several times, and are much too large afterwards. Their values
 * are not strings, so nobody asks who holds them. */
static void grow_and_shrink(void)
{
    size_t node;

    for (node = 0; node < s.n; node++) {
        run_script(node, "for i=1,60000 do redis.call('SADD','other:'..i,'x')end return(1)");
        if (node % 2) {
            run_script(node, "for i=1,60000 do redis.call('DEL','other:'..i)end return(1)");
        }
    }
}

/* ---- locks that come and go ---- */

static struct churn {
    bool stop;
    unsigned pending, taken;
    struct redlock_lock *locks[CHURN];
} churn;

static void take(unsigned i);

static void on_churn_released(struct redlock_lock *lock, int status, void *arg)
{
    struct redlock_lock **slot = arg;

    (void)lock;
    (void)status;
    churn.pending--;
    *slot = NULL;
    take((unsigned)(slot - churn.locks));
}

static void on_churn_acquired(struct redlock_lock *lock, int status, void *arg)
{
    churn.pending--;
    if (status == REDLOCK_OK) {
        churn.taken++;
        churn.pending++;
        ck_assert_int_eq(redlock_release(lock, on_churn_released, arg), REDLOCK_OK);
    }
}

static void take(unsigned i)
{
    char key[32];
    struct redlock_request request;

    if (!churn.stop) {
        snprintf(key, sizeof(key), "churn:%u", i);
        request = outcome_request(key);
        churn.pending++;
        ck_assert_int_eq(
            redlock_acquire(s.rl[1], &request, on_churn_acquired, &churn.locks[i], &churn.locks[i]),
            REDLOCK_OK);
    }
}

static bool is_churn_over(void *arg)
{
    (void)arg;
    return churn.pending == 0;
}

/* ---- the tests ---- */

static void start(void)
{
    size_t node;
    char script[200];

    memset(&seen, 0, sizeof(seen));
    memset(&churn, 0, sizeof(churn));
    site_start_open(&s, 5);
    for (node = 0; node < s.n; node++) {
        snprintf(script, sizeof(script),
                 "for i=0,%d do if i%%5~=%d then redis.call('SET','lock:'..i,'" HEX
                 ":'..i)end end return(1)",
                 LOCKS - 1, (int)node);
        run_script(node, script);
    }
}

static void begin_list(uint32_t rate)
{
    struct redlock_list_options o;

    redlock_list_options_init(&o);
    o.rate = rate;
    o.listed_cb = on_listed;
    o.list_cb = on_list_end;
    ck_assert_int_eq(redlock_list(s.rl[0], &o), REDLOCK_OK);
}

static void each_lock_was_listed_once(void)
{
    unsigned i;

    for (i = 0; i < LOCKS; i++) {
        ck_assert_msg(seen.times[i] == 1, "lock:%u was listed %u times", i, seen.times[i]);
    }
}

/* Each is on four of five masters. */
TEST(each_lock_is_listed_while_others_come_and_go)
{
    unsigned i;

    start();
    for (i = 0; i < CHURN; i++) {
        take(i);
    }
    begin_list(1000000);
    loop_must(s.base, &seen.ended);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    each_lock_was_listed_once();
    ck_assert_uint_eq(seen.unknown, 0);
    ck_assert_uint_gt(churn.taken, 0);
    churn.stop = true;
    loop_must_true(s.base, is_churn_over, NULL);
    ck_assert_uint_ge(seen.commands, 4 * 5 * LOCKS);
}

/* Their cursors go on through tables of other sizes. */
TEST(each_lock_is_listed_while_the_tables_grow_and_shrink)
{
    start();
    seen.on_first = grow_and_shrink;
    begin_list(1000000);
    loop_must(s.base, &seen.ended);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    each_lock_was_listed_once();
    ck_assert_uint_eq(seen.unknown, 0);
}

/* The others have named all their keys, and each lock is on two of them at least; whether it is
 * held, those two alone cannot say. */
TEST(masters_that_are_killed_meanwhile_hide_no_lock)
{
    start();
    begin_list(1000000);
    master_kill(s.masters[1]);
    master_kill(s.masters[3]);
    loop_must(s.base, &seen.ended);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_ge(seen.commands, 4 * 3 * LOCKS);
}
