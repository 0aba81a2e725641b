/* test_lease.c - how long the command under a lock that was broken may run. The library is
 * replaced. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/lock/lease.h"
#include "cli/run/guard.h"
#include "cli/say/say.h"
#include "cli/take/holder.h"
#include "cli/take/trouble.h"
#include "lib/test.h"

SUITE("cli-lease");

static uint64_t now_us, deadline_us, suspended_us, lock_ms;
static const char *broken;
static char said[256];
static struct cli_lock_lease lease;

/* ---- in place of the library, and of the rest of the command ---- */

uint64_t redlock_clock_us(void)
{
    return now_us;
}

uint64_t redlock_lock_deadline_us(const struct redlock_lock *lock)
{
    (void)lock;
    return deadline_us;
}

uint64_t redlock_lock_validity_ms(const struct redlock_lock *lock)
{
    (void)lock;
    return lock_ms;
}

int redlock_get_stats(const struct redlock *rl, struct redlock_stats *ret_stats)
{
    (void)rl;
    ret_stats->suspended_us = suspended_us;
    return 0;
}

const char *cli_holder_broken(const struct redlock *rl, const struct redlock_lock *lock)
{
    (void)rl;
    (void)lock;
    return broken;
}

bool cli_guard_check(const struct cli_guard *guard)
{
    (void)guard;
    return true;
}

void cli_guard_stop(const struct cli_guard *guard, uint32_t grace_ms)
{
    (void)guard;
    (void)grace_ms;
}

void cli_trouble_notice(const struct redlock *rl, const struct redlock_lock *lock, const char *key,
                        const struct redlock_notice *notice)
{
    (void)rl;
    (void)lock;
    (void)key;
    (void)notice;
}

void cli_trouble_lost(const struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    (void)rl;
    (void)lock;
    snprintf(said, sizeof(said), "lost '%s'", key);
}

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(said, sizeof(said), format, args);
    va_end(args);
}

void cli_say_more(const char *format, ...)
{
    (void)format;
}

void cli_say_relief(const char *format, ...)
{
    (void)format;
}

void cli_say_routine(const char *format, ...)
{
    (void)format;
}

/* ---- a lock that ends in 10 s ---- */

#define SECOND UINT64_C(1000000)

static void notice(enum redlock_notice_kind kind, int reason)
{
    struct redlock_notice n = {
        .size = sizeof(n), .kind = kind, .reason = reason, .deadline_us = deadline_us};

    cli_lock_lease_notice(NULL, &n, &lease);
}

static void begin(void)
{
    memset(&lease, 0, sizeof(lease));
    lease.lease.terms.key = "k";
    lease.lease.terms.renew = true;
    lease.lease.terms.ttl_ms = 10000;
    now_us = 100 * SECOND;
    deadline_us = now_us + 10 * SECOND;
    suspended_us = 3 * SECOND; /* long ago */
    lock_ms = 10000;
    broken = NULL;
    said[0] = '\0';
    cli_lock_lease_begin(&lease, NULL, NULL);
}

static void lose(int reason, const char *by)
{
    broken = by;
    lock_ms = deadline_us = 0;
    notice(REDLOCK_NOTICE_LOST, reason);
}

static uint64_t left_ms(void)
{
    return lease.lease.kind->validity_ms(&lease);
}

static void kill_now(void)
{
    struct cli_deadline deadline = {.terms = &lease.lease.terms, .end_us = now_us};

    lease.lease.kind->say_killed(&lease, &deadline, false, true);
}

TEST(a_broken_lock_ends_when_it_would_have_ended)
{
    begin();
    lose(REDLOCK_ELOST, "broken by ops: it hangs");
    ck_assert_str_eq(said, "the lock 'k' was broken by ops: it hangs");
    ck_assert_uint_eq(left_ms(), 10000);
    now_us += 10 * SECOND;
    ck_assert_uint_eq(left_ms(), 0);
    kill_now();
    ck_assert_str_eq(said, "killed the command (SIGKILL): the lock 'k' ends now");
    ck_assert_int_eq(lease.loss, CLI_LOSS_KEYS_GONE);
}

TEST(a_lock_that_is_lost_otherwise_ends_at_once)
{
    begin();
    lose(REDLOCK_ELOST, NULL);
    ck_assert_uint_eq(left_ms(), 0);
    kill_now();
    ck_assert_str_eq(said, "lost 'k'");
}

/* Only the clocks of the masters tell, and the library no longer moves the deadline. */
TEST(a_suspension_brings_the_end_of_a_broken_lock_nearer)
{
    begin();
    lose(REDLOCK_ELOST, "broken by ops: it hangs");
    suspended_us += 4 * SECOND;
    ck_assert_uint_eq(left_ms(), 6000);
    suspended_us += 60 * SECOND;
    ck_assert_uint_eq(left_ms(), 0);
    kill_now();
    ck_assert_ptr_nonnull(strstr(said, "ended while this machine was suspended"));
    ck_assert_int_eq(lease.loss, CLI_LOSS_SUSPENDED);
}

/* The library has moved this deadline itself. */
TEST(a_suspension_before_the_break_counts_once)
{
    begin();
    suspended_us += 4 * SECOND;
    deadline_us -= 4 * SECOND;
    notice(REDLOCK_NOTICE_MOVED, 0);
    lose(REDLOCK_ELOST, "broken by ops: it hangs");
    ck_assert_uint_eq(left_ms(), 6000);
}
