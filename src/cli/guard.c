/* cli/guard.c - the life of a command under a lock.
 *
 *             ends by itself                 its group has ended
 *   RUNNING -----------------> done    ENDING ------------------> done (76)
 *      |                                 ^ |
 *      | deadline - grace: SIGTERM       | | deadline: SIGKILL
 *      +---------------------------------+ v
 *                                       KILLED ------------------> done (76)
 *
 * The deadline is the library's validity, turned into a point on CLOCK_BOOTTIME, which counts
 * on while the machine is suspended; a timerfd on that clock wakes us, before anything else
 * in the loop, also right after a suspend or when redlock itself had been stopped. Whatever
 * wakes us, the clock is looked at first.
 */
#include "cli/guard.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/child.h"
#include "cli/duration.h"
#include "cli/exit.h"
#include "cli/say.h"

/* SIGKILL is sent this long before the deadline (a hundredth of what is left, within these
 * bounds), for the time that waking up and dying take. */
#define MARGIN_MIN_MS 2
#define MARGIN_MAX_MS 20

/* How often to look whether the rest of the group has ended. */
#define LOOK_US 10000

enum stage {
    RUNNING,
    ENDING,
    KILLED
};

struct run {
    const struct cli_guard *guard;
    const struct redlock_lock *lock;
    struct cli_child child;
    enum stage stage;
    uint64_t term_us;
    uint64_t kill_us;
    int timer_fd;
    struct event *timer;
    int done;
};

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Lay down when to send which signal. The clock is read before the validity, so that the
 * deadline comes out early rather than late. */
static void plan(struct run *run)
{
    uint64_t now = now_us();
    uint64_t left_ms = redlock_lock_validity_ms(run->lock);
    uint64_t margin_ms = left_ms / 100;

    margin_ms = margin_ms < MARGIN_MIN_MS ? MARGIN_MIN_MS : margin_ms;
    margin_ms = margin_ms > MARGIN_MAX_MS ? MARGIN_MAX_MS : margin_ms;
    left_ms = left_ms > margin_ms ? left_ms - margin_ms : 0;
    run->kill_us = now + left_ms * 1000;
    run->term_us = now;
    if (left_ms > run->guard->grace_ms) {
        run->term_us = run->kill_us - (uint64_t)run->guard->grace_ms * 1000;
    }
}

static void set_timer(const struct run *run, uint64_t at_us)
{
    struct itimerspec timer = {.it_value = {.tv_sec = (time_t)(at_us / 1000000),
                                            .tv_nsec = (long)(at_us % 1000000) * 1000}};

    timerfd_settime(run->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* A stopped process gets SIGTERM only when it goes on. */
static void ask_to_end(struct run *run)
{
    char left[CLI_DURATION_TEXT];
    char ttl[CLI_DURATION_TEXT];

    run->stage = ENDING;
    cli_child_signal(&run->child, SIGTERM);
    cli_child_signal(&run->child, SIGCONT);
    cli_say("the lock '%s' ends in %s and its command still runs: sent it SIGTERM", run->guard->key,
            cli_duration_print(redlock_lock_validity_ms(run->lock), left));
    cli_say_more("A lock is not renewed yet: give the command more time with a larger --ttl (it "
                 "was %s).",
                 cli_duration_print(run->guard->ttl_ms, ttl));
}

static void put_to_end(struct run *run)
{
    enum stage before = run->stage;
    uint64_t left_ms = redlock_lock_validity_ms(run->lock);

    run->stage = KILLED;
    cli_child_signal(&run->child, SIGKILL);
    if (left_ms == 0) {
        cli_say("redlock was stopped or suspended beyond the end of the lock '%s': killed its "
                "command (SIGKILL); somebody else may have got the lock before that",
                run->guard->key);
    } else {
        cli_say("killed the command (SIGKILL): the lock '%s' ends now", run->guard->key);
    }
    if (before == RUNNING) {
        cli_say_more("Give the command more time with a larger --ttl.");
    }
    run->done |= run->child.state == CLI_CHILD_ENDED;
}

/* What the clock asks for. To be called before anything else, whenever we wake up. */
static void mind(struct run *run)
{
    uint64_t now = now_us();

    if (run->done || run->stage == KILLED) {
        return;
    }
    if (now >= run->kill_us) {
        put_to_end(run);
        return;
    }
    if (run->stage == RUNNING && now >= run->term_us) {
        ask_to_end(run);
    }
    set_timer(run, run->stage == RUNNING ? run->term_us : run->kill_us);
}

/* The command had been asked to end and has ended. The others of its group keep the rest of
 * the grace. */
static void mind_group(struct run *run)
{
    uint64_t look = now_us() + LOOK_US;

    if (run->done || run->stage != ENDING || run->child.state != CLI_CHILD_ENDED) {
        return;
    }
    if (!cli_child_has_group(&run->child)) {
        run->done = 1;
        return;
    }
    set_timer(run, look < run->kill_us ? look : run->kill_us);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct run *run = arg;
    uint64_t times;

    (void)what;
    if (read(fd, &times, sizeof(times)) < 0) {
        return;
    }
    mind(run);
    mind_group(run);
}

static void look_at_child(struct run *run)
{
    switch (cli_child_look(&run->child)) {
    case CLI_CHILD_RUNNING:
        return;
    case CLI_CHILD_STOPPED:
        cli_child_pause(&run->child);
        return;
    case CLI_CHILD_ENDED:
        run->done |= run->stage != ENDING;
        mind_group(run);
        return;
    }
}

static void on_signal(void *arg, int signo)
{
    struct run *run = arg;

    mind(run);
    if (signo == SIGCHLD) {
        look_at_child(run);
    } else if (signo == SIGCONT) {
        cli_child_resume(&run->child);
    } else if (cli_signals_pass(signo)) {
        cli_say_detail("passed %s on to the command", cli_signals_name(signo));
        cli_child_signal(&run->child, signo);
    }
}

static int start_timer(struct run *run, struct event_base *base)
{
    run->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (run->timer_fd >= 0) {
        run->timer = event_new(base, run->timer_fd, EV_READ | EV_PERSIST, on_timer, run);
    }
    if (!run->timer || event_priority_set(run->timer, CLI_SESSION_URGENT) != 0 ||
        event_add(run->timer, NULL) != 0) {
        cli_say("cannot make a timer: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

static void stop_timer(struct run *run)
{
    if (run->timer) {
        event_free(run->timer);
    }
    if (run->timer_fd >= 0) {
        close(run->timer_fd);
    }
}

/* If the loop broke down, the command does not go on unguarded. */
static int result(struct run *run, int code)
{
    if (code != CLI_GO_ON) {
        cli_child_signal(&run->child, SIGKILL);
        cli_child_await(&run->child);
        return code;
    }
    if (run->stage != RUNNING) {
        return CLI_LOST;
    }
    cli_say_detail("the command ended with exit code %d", run->child.code);
    return run->child.code;
}

int cli_guard_run(const struct cli_guard *guard, struct cli_session *session,
                  struct cli_signals *signals, const struct redlock_lock *lock)
{
    struct run run = {.guard = guard, .lock = lock, .timer_fd = -1};
    int code = start_timer(&run, session->base);

    plan(&run);
    if (code == CLI_OK) {
        code = cli_child_start(&run.child, guard->argv);
    }
    if (code == CLI_OK) {
        signals->on = on_signal;
        signals->arg = &run;
        mind(&run);
        code = result(&run, cli_session_run(session, &run.done));
        signals->on = NULL;
    }
    stop_timer(&run);
    return code;
}
