/* leave.c - releasing a lock, or leaving it to its ttl. */
#include "cli/lock/leave.h"

#include <sys/time.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"
#include "cli/system/signals.h"
#include "cli/take/spread.h"

/* What the library answers to an extension, and to a release. */
static void on_answered(struct redlock_lock *lock, int status, void *arg)
{
    struct cli_leave *leave = arg;

    (void)lock;
    leave->status = status;
    leave->done = 1;
}

/* Wait for the answer, or for the end of the wait. Returns 0, or -1 when the loop broke down. */
static int settle(struct cli_leave *leave)
{
    return cli_session_run(leave->session, &leave->done) == CLI_GO_ON ? 0 : -1;
}

/* ---- released ---- */

static void say_gone(const char *key, int taken)
{
    cli_say("the lock '%s' was gone before its time%s", key,
            taken ? ", and somebody else has it now" : "");
    cli_say_more("A majority of the masters lost it (restarted? emptied?), or somebody deleted "
                 "it: the command may not have been alone.");
}

/* `lost`: the lock had ended anyway. Otherwise it should have been there. */
static void say_released(const char *key, int status, int lost)
{
    if (status == REDLOCK_OK) {
        cli_say_detail("released '%s'", key);
    } else if (status == REDLOCK_ENOQUORUM) {
        cli_say("no majority of the masters confirmed the release of '%s': it may stay taken "
                "until its ttl ends",
                key);
    } else if (lost) {
        cli_say_detail("'%s' had ended before it could be released", key);
    } else if (status == REDLOCK_GONE || status == REDLOCK_TAKEN) {
        say_gone(key, status == REDLOCK_TAKEN);
    } else {
        cli_say("cannot release '%s': %s", key, redlock_strerror(status));
    }
}

static void release(struct cli_leave *leave, int lost)
{
    leave->status = redlock_release(leave->lock, on_answered, leave);
    leave->done = leave->status != 0;
    if (settle(leave) == 0) {
        say_released(leave->key, leave->status, lost);
    }
}

/* ---- left as it is ---- */

static void extend(struct cli_leave *leave, uint64_t ttl_ms)
{
    leave->status = redlock_extend(leave->lock, (uint32_t)ttl_ms, on_answered, leave);
    leave->done = leave->status != 0;
}

static uint64_t left_ms(const struct cli_leave *leave)
{
    uint64_t now = cli_clock_us();

    return leave->until_us > now ? (leave->until_us - now + 999) / 1000 : 0;
}

static void say_left(const struct cli_leave *leave, int confirmed)
{
    char left[CLI_DURATION_TEXT];

    cli_duration_print(left_ms(leave), left);
    if (confirmed) {
        cli_say_detail("left '%s' as it is: nobody gets it for another %s (--at-least)", leave->key,
                       left);
    } else {
        cli_say("no majority of the masters confirmed that '%s' stays for another %s (--at-least)",
                leave->key, left);
    }
}

/* Its keys end by themselves when it is time. They were set when the masters were asked, a little
 * earlier than the lock was acquired: the extension makes up for that. Masters that have joined
 * late get the key as well. */
static void leave_keys(struct cli_leave *leave)
{
    uint64_t left = left_ms(leave);

    extend(leave, left);
    if (settle(leave) != 0) {
        return;
    }
    if (leave->status == 0) {
        cli_spread(leave->session, leave->lock, (uint32_t)left, leave->signals);
    }
    if (leave->status == REDLOCK_ELOST || redlock_lock_forget(leave->lock) != 0) {
        release(leave, 0);
    } else {
        say_left(leave, leave->status == 0);
    }
}

/* ---- the wait ---- */

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct cli_leave *leave = arg;

    (void)fd;
    (void)what;
    leave->done = 1;
}

static void on_signal(void *arg, int signo)
{
    struct cli_leave *leave = arg;

    leave->done |= cli_signals_ends(signo);
}

static void wait_for_end(struct cli_leave *leave)
{
    uint64_t ms = left_ms(leave);
    struct timeval time = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
    struct event *timer = evtimer_new(leave->session->base, on_time, leave);

    cli_say_detail("waiting to release '%s' (--at-least)", leave->key);
    leave->signals->on = on_signal;
    leave->signals->arg = leave;
    leave->done = !timer || evtimer_add(timer, &time) != 0;
    settle(leave);
    leave->signals->on = NULL;
    if (timer) {
        event_free(timer);
    }
}

/* ---- the whole ---- */

void cli_leave_begin(struct cli_leave *leave, uint32_t ttl_ms, uint32_t at_least_ms)
{
    leave->done = 1;
    if (at_least_ms > 0) {
        leave->until_us = cli_clock_us() + (uint64_t)at_least_ms * 1000;
    }
    if (at_least_ms > ttl_ms) {
        extend(leave, ttl_ms);
    }
}

void cli_leave_end(struct cli_leave *leave, int hurry)
{
    uint64_t left, valid;

    if (settle(leave) != 0) {
        return; /* the close releases it */
    }
    left = left_ms(leave);
    valid = redlock_lock_validity_ms(leave->lock);
    if (valid > 0 && valid <= left && left >= REDLOCK_MIN_TTL_MS) {
        leave_keys(leave);
        return;
    }
    if (valid > 0 && left > 0 && !hurry) {
        wait_for_end(leave);
        left = left_ms(leave);
    }
    if (valid > 0 && left > 0 && redlock_lock_forget(leave->lock) == 0) {
        say_left(leave, 1);
    } else {
        release(leave, redlock_lock_validity_ms(leave->lock) == 0);
    }
}

void cli_leave_now(struct cli_leave *leave)
{
    leave->until_us = 0;
    cli_leave_end(leave, 1);
}
