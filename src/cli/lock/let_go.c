/* let_go.c - releasing a lock, or leaving it to its ttl. */
#include "cli/lock/let_go.h"

#include <unistd.h>

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
    struct cli_let_go *let_go = arg;

    (void)lock;
    let_go->status = status;
    let_go->done = true;
}

/* Wait for the answer, or for the end of the wait. Returns 0, or -1 when the loop broke down. */
static int settle(struct cli_let_go *let_go)
{
    return cli_loop_run(&let_go->session->loop, &let_go->done) == CLI_GO_ON ? 0 : -1;
}

/* ---- released ---- */

static void say_gone(const char *key, bool taken)
{
    cli_say("the lock '%s' was gone before it was released%s", key,
            taken ? ", and somebody else has it now" : "");
    cli_say_more(
        "A majority of the masters lost the key (did they restart?), or somebody deleted it: "
        "another holder may have run at the same time.");
}

/* `lost`: the lock had ended anyway. Otherwise it should have been there. */
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

static void release(struct cli_let_go *let_go, bool lost)
{
    let_go->status = redlock_release(let_go->lock, on_answered, let_go);
    let_go->done = let_go->status != 0;
    if (settle(let_go) == 0) {
        say_released(let_go->key, let_go->status, lost);
    }
}

/* ---- left as it is ---- */

static void extend(struct cli_let_go *let_go, uint64_t ttl_ms)
{
    let_go->status = redlock_extend(let_go->lock, (uint32_t)ttl_ms, on_answered, let_go);
    let_go->done = let_go->status != 0;
}

static uint64_t left_ms(const struct cli_let_go *let_go)
{
    uint64_t now = cli_clock_us();

    return let_go->until_us > now ? (let_go->until_us - now + 999) / 1000 : 0;
}

static void say_left(const struct cli_let_go *let_go, bool confirmed)
{
    char left[CLI_DURATION_TEXT];

    cli_duration_print(left_ms(let_go), left);
    if (confirmed) {
        cli_say_detail("kept '%s': nobody gets it for another %s (--at-least)", let_go->key, left);
    } else {
        cli_say("no majority of the masters confirmed that '%s' stays locked for another %s "
                "(--at-least)",
                let_go->key, left);
    }
}

/* Its keys end by themselves when it is time. They were set when the masters were asked, a little
 * earlier than the lock was acquired: the extension makes up for that. Masters that have joined
 * late get the key as well. */
static void leave_keys(struct cli_let_go *let_go)
{
    uint64_t left = left_ms(let_go);

    extend(let_go, left);
    if (settle(let_go) != 0) {
        return;
    }
    if (let_go->status == 0) {
        cli_spread(let_go->session, let_go->lock, (uint32_t)left, let_go->signals);
    }
    if (let_go->status == REDLOCK_ELOST || redlock_lock_forget(let_go->lock) != 0) {
        release(let_go, false);
    } else {
        say_left(let_go, let_go->status == 0);
    }
}

/* ---- the wait ---- */

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct cli_let_go *let_go = arg;

    (void)fd;
    (void)what;
    let_go->done = true;
}

static void on_signal(void *arg, int signo)
{
    struct cli_let_go *let_go = arg;

    let_go->done |= cli_signals_ends(signo);
}

/* An alarm on the clock that until_us is read from: a timer of the loop may come a moment earlier
 * by that clock, and the lock would stay for the rest of its ttl. */
static void wait_for_end(struct cli_let_go *let_go)
{
    int fd = cli_clock_alarm();
    struct event *alarm =
        fd < 0 ? NULL : event_new(let_go->session->loop.base, fd, EV_READ, on_time, let_go);

    cli_say_detail("waiting to release '%s' (--at-least)", let_go->key);
    cli_clock_set(fd, let_go->until_us);
    let_go->signals->on = on_signal;
    let_go->signals->arg = let_go;
    let_go->done = alarm == NULL || event_add(alarm, NULL) != 0;
    settle(let_go);
    let_go->signals->on = NULL;
    if (alarm) {
        event_free(alarm);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* ---- the whole ---- */

void cli_let_go_begin(struct cli_let_go *let_go, uint32_t ttl_ms, uint32_t at_least_ms)
{
    let_go->done = true;
    if (at_least_ms > 0) {
        let_go->until_us = cli_clock_us() + (uint64_t)at_least_ms * 1000;
    }
    if (at_least_ms > ttl_ms) {
        extend(let_go, ttl_ms);
    }
}

void cli_let_go_end(struct cli_let_go *let_go, bool hurry)
{
    uint64_t left, valid;

    if (settle(let_go) != 0) {
        return; /* the close releases it */
    }
    left = left_ms(let_go);
    valid = redlock_lock_validity_ms(let_go->lock);
    if (valid > 0 && valid <= left && left >= REDLOCK_MIN_TTL_MS) {
        leave_keys(let_go);
        return;
    }
    if (valid > 0 && left > 0 && !hurry) {
        wait_for_end(let_go);
        left = left_ms(let_go);
    }
    if (valid > 0 && left > 0 && redlock_lock_forget(let_go->lock) == 0) {
        say_left(let_go, true);
    } else {
        release(let_go, redlock_lock_validity_ms(let_go->lock) == 0);
    }
}

void cli_let_go_now(struct cli_let_go *let_go)
{
    let_go->until_us = 0;
    cli_let_go_end(let_go, true);
}
