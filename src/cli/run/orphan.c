/* orphan.c - a session of its own, and the same releases twice; and what masters refuse for now,
 * again and again. */
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

/* How often to look whether a master has carried out what it had refused. */
static const struct timeval pause_to_look = {0, 20000};

/* How many releases are under way at once: more would only wait in the library. */
#define AT_ONCE 1024

/* One release of all locks. */
struct pass {
    const struct cli_session *session;
    const struct cli_orphan_lock *locks;
    size_t n, next, waiting;
    bool done;
    bool answered; /* by a majority, for all locks so far */
};

/* A call that hangs must not keep the process. The signal was blocked, and may be ignored. */
void cli_orphan_limit_time(uint32_t ttl_ms)
{
    uint32_t ms = ttl_ms < PATIENCE_MS ? ttl_ms : PATIENCE_MS;
    struct itimerval timer = {
        .it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    struct sigaction ignored = {.sa_handler = SIG_IGN}, action = {.sa_handler = SIG_DFL};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaction(SIGALRM, &ignored, NULL); /* one that is pending is forgotten */
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void release_some(struct pass *pass);

static void on_orphan_released(struct redlock_lock *lock, int status, void *arg)
{
    struct pass *pass = arg;

    (void)lock;
    pass->answered = pass->answered && status != REDLOCK_ENOQUORUM;
    pass->waiting--;
    release_some(pass);
}

static void release_some(struct pass *pass)
{
    while (pass->waiting < AT_ONCE && pass->next < pass->n) {
        const struct cli_orphan_lock *lock = &pass->locks[pass->next++];
        int status = redlock_release_token(pass->session->rl, lock->keys, lock->key_lens,
                                           lock->n_keys, lock->token, on_orphan_released, pass);

        pass->waiting += status == 0;
        pass->answered = pass->answered && status == 0;
    }
    pass->done = pass->waiting == 0;
}

/* Returns whether a majority has replied for each lock. */
static bool release_once(const struct cli_orphan_lock *locks, size_t n, struct cli_session *session)
{
    struct pass pass = {.session = session, .locks = locks, .n = n, .answered = true};

    release_some(&pass);
    return cli_loop_run(&session->loop, &pass.done) == CLI_GO_ON && pass.answered;
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
    bool *done = arg;

    (void)fd;
    (void)what;
    *done = true;
}

/* Masters that are still being connected get the release meanwhile. */
static bool wait_a_moment(struct cli_session *session, const struct timeval *pause)
{
    bool done = false;

    return event_base_once(session->loop.base, -1, EV_TIMEOUT, on_pause_over, &done, pause) == 0 &&
           cli_loop_run(&session->loop, &done) == CLI_GO_ON;
}

/* A master that replies has refused a release for now, which the library sends again [S5], or may
 * yet refuse one. A close would drop it. */
static bool is_pending(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_node_stats stats = {.size = sizeof(stats)};
    size_t i;

    for (i = 0; i < redlock_node_count(rl); i++) {
        if (redlock_get_node_info(rl, i, &info) == 0 && info.state == REDLOCK_NODE_UP &&
            redlock_get_node_stats(rl, i, &stats) == 0 &&
            (stats.pending_now > 0 || stats.in_flight_now > 0)) {
            return true;
        }
    }
    return false;
}

void cli_orphan_release_all(const struct cli_orphan_lock *locks, size_t n,
                            struct cli_session *session)
{
    int times = 0;

    do {
        times += release_once(locks, n, session);
    } while (times < TIMES && wait_a_moment(session, &pause_between));
    while (is_pending(session->rl) && wait_a_moment(session, &pause_to_look)) {
    }
}

void cli_orphan_release(const struct cli_orphan *orphan, uint32_t ttl_ms, int memory_fd)
{
    const struct cli_orphan_lock lock = {
        .keys = orphan->keys->keys, .n_keys = orphan->keys->n, .token = orphan->token};
    struct cli_session session;

    if (cli_clock_us() < orphan->keep_until_us) {
        return;
    }
    cli_orphan_limit_time(ttl_ms);
    if (cli_session_open_again(orphan->session, memory_fd, &session) == CLI_OK) {
        cli_orphan_release_all(&lock, 1, &session);
        cli_session_close(&session);
    }
}
