/* hold.c - releases a lock, or keeps it for the rest of --at-least. */
#include "cli/lock/hold.h"

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"
#include "cli/system/signals.h"
#include "cli/take/set_all.h"
#include "cli/take/take.h"

/* The result of an extension or of a release. */
static void on_extension_over(struct redlock_lock *lock, int status, void *arg)
{
    struct cli_hold *hold = arg;

    (void)lock;
    hold->status = status;
    hold->done = true;
}

/* Run the loop until hold->done. Returns 0; -1 when the loop failed. */
static int settle(struct cli_hold *hold)
{
    return cli_loop_run(&hold->session->loop, &hold->done) == CLI_GO_ON ? 0 : -1;
}

/* ---- released ---- */

static void say_gone(const char *key, bool taken)
{
    cli_say("the lock '%s' was gone before it was released%s", key,
            taken ? ", and somebody else has it now" : "");
    cli_say_more(
        "A majority of the masters lost the key (did they restart?), or somebody deleted it, as "
        "redlock break --now does: another holder may have run at the same time. With --audit, "
        "redlock history says who it was.");
}

/* `lost`: the lock had ended before, so that it is no surprise that it is gone. */
static void say_released(const char *key, int status, bool lost)
{
    if (status == REDLOCK_OK) {
        cli_say_detail("released '%s'", key);
    } else if (status == REDLOCK_ENOQUORUM) {
        cli_say("no majority of the masters confirmed the release of '%s': it may stay locked "
                "until its ttl ends",
                key);
    } else if (lost) {
        cli_say_detail("the lock '%s' had ended before it could be released", key);
    } else if (status == REDLOCK_GONE || status == REDLOCK_TAKEN) {
        say_gone(key, status == REDLOCK_TAKEN);
    } else {
        cli_say("cannot release '%s': %s", key, redlock_strerror(status));
    }
}

static void release(struct cli_hold *hold, bool lost)
{
    hold->status = redlock_release(hold->lock, on_extension_over, hold);
    hold->done = hold->status != 0;
    if (settle(hold) == 0) {
        hold->gone = !lost && (hold->status == REDLOCK_GONE || hold->status == REDLOCK_TAKEN);
        say_released(hold->key, hold->status, lost);
    }
}

/* ---- left as it is ---- */

static void extend(struct cli_hold *hold, uint64_t ttl_ms)
{
    hold->status = redlock_extend(hold->lock, (uint32_t)ttl_ms, on_extension_over, hold);
    hold->done = hold->status != 0;
}

static uint64_t left_ms(const struct cli_hold *hold)
{
    uint64_t now = cli_clock_us();

    return hold->until_us > now ? (hold->until_us - now + 999) / 1000 : 0;
}

static const char *why(const struct cli_hold *hold)
{
    return hold->promised ? "promised at /leader" : "--at-least";
}

static void say_left(const struct cli_hold *hold, bool confirmed)
{
    const char *left = rlk_duration(left_ms(hold));

    if (confirmed) {
        cli_say_detail("kept '%s': nobody gets it for another %s (%s)", hold->key, left, why(hold));
    } else {
        cli_say("no majority of the masters confirmed that '%s' stays locked for another %s (%s)",
                hold->key, left, why(hold));
    }
}

/* The keys expire by themselves. They were set a little before the lock was acquired, and a
 * master's clock may be fast, so they are extended beyond the end of --at-least by the drift.
 * Masters that were connected late get the key too. */
static void leave_keys(struct cli_hold *hold)
{
    uint64_t left = left_ms(hold);
    uint32_t ttl =
        cli_take_ttl_for(hold->session, left > REDLOCK_MIN_TTL_MS ? left : REDLOCK_MIN_TTL_MS);

    extend(hold, ttl);
    if (settle(hold) != 0) {
        return;
    }
    if (hold->status == 0) {
        cli_set_all(hold->session, hold->lock, ttl, hold->signals);
    }
    if (hold->status == REDLOCK_ELOST || redlock_lock_detach(hold->lock) != 0) {
        release(hold, false);
    } else {
        say_left(hold, hold->status == 0);
    }
}

/* ---- the wait ---- */

/* If the alarm fired too early, the lock would be kept for the rest of its ttl. */
static void wait_until(struct cli_hold *hold, uint64_t until_us)
{
    struct cli_alarm alarm;

    cli_say_detail("waiting to release '%s' (%s)", hold->key, why(hold));
    cli_alarm_open(&alarm, &hold->session->loop, until_us, &hold->done);
    cli_signals_run(hold->signals, &hold->session->loop, &hold->done);
    cli_alarm_close(&alarm);
}

/* ---- the whole ---- */

void cli_hold_begin(struct cli_hold *hold, uint32_t ttl_ms, uint32_t at_least_ms)
{
    hold->done = true;
    if (at_least_ms > 0) {
        hold->until_us = cli_clock_us() + (uint64_t)at_least_ms * 1000;
    }
    if (at_least_ms > ttl_ms) {
        extend(hold, ttl_ms);
    }
}

void cli_hold_promise(struct cli_hold *hold, uint64_t until_us)
{
    if (until_us > hold->until_us) {
        hold->until_us = until_us;
        hold->promised = true;
    }
}

void cli_hold_end(struct cli_hold *hold, bool hurry)
{
    uint64_t left, valid;

    if (settle(hold) != 0) {
        return; /* redlock_close() releases it */
    }
    if (!hurry && left_ms(hold) > cli_take_lease_of(hold->session->max_ttl_ms)) {
        wait_until(hold,
                   hold->until_us - (uint64_t)cli_take_lease_of(hold->session->max_ttl_ms) * 1000);
    }
    left = left_ms(hold);
    valid = redlock_lock_validity_ms(hold->lock);
    if (valid > cli_take_ttl_for(hold->session, left) && left > 0 && !hurry) {
        wait_until(hold, hold->until_us);
        left = left_ms(hold);
    }
    if (valid > 0 && left > 0) {
        leave_keys(hold);
    } else {
        release(hold, redlock_lock_validity_ms(hold->lock) == 0);
    }
}

void cli_hold_cancel(struct cli_hold *hold)
{
    hold->until_us = 0;
    cli_hold_end(hold, true);
}
