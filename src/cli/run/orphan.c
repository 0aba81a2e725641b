/* orphan.c - a session of its own, and the same release twice. */
#include "cli/run/orphan.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"
#include "cli/say/exit.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"

/* A service manager waits for this process before it starts redlock again. */
#define PATIENCE_MS 10000

/* How often to release, and the pause between: longer than TCP takes to send a lost packet again.
 */
#define TIMES 2
static const struct timeval pause_between = {0, 250000};

struct release {
    bool done;
    int status;
};

/* A call that hangs must not keep the process. The signal was blocked, and may be ignored. */
static void limit_time(uint32_t ttl_ms)
{
    uint32_t ms = ttl_ms < PATIENCE_MS ? ttl_ms : PATIENCE_MS;
    struct itimerval timer = {
        .it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_orphan_released(struct redlock_lock *lock, int status, void *arg)
{
    struct release *release = arg;

    (void)lock;
    release->status = status;
    release->done = true;
}

/* Returns whether a majority has replied. */
static bool release_once(const struct cli_orphan *orphan, struct cli_session *session)
{
    struct release release = {.done = false};

    release.status = redlock_release_token(session->rl, orphan->keys->keys, NULL, orphan->keys->n,
                                           orphan->token, on_orphan_released, &release);
    return release.status == 0 && cli_loop_run(&session->loop, &release.done) == CLI_GO_ON &&
           release.status != REDLOCK_ENOQUORUM;
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
    bool *done = arg;

    (void)fd;
    (void)what;
    *done = true;
}

/* Masters that are still being connected get the release meanwhile. */
static bool wait_a_moment(struct cli_session *session)
{
    bool done = false;

    return event_base_once(session->loop.base, -1, EV_TIMEOUT, on_pause_over, &done,
                           &pause_between) == 0 &&
           cli_loop_run(&session->loop, &done) == CLI_GO_ON;
}

void cli_orphan_release(const struct cli_orphan *orphan, uint32_t ttl_ms, int memory_fd)
{
    struct cli_session session;
    int times = 0;

    if (cli_clock_us() < orphan->keep_until_us) {
        return;
    }
    limit_time(ttl_ms);
    if (cli_session_open_again(orphan->session, memory_fd, &session) != CLI_OK) {
        return;
    }
    do {
        times += release_once(orphan, &session);
    } while (times < TIMES && wait_a_moment(&session));
    cli_session_close(&session);
}
