/* guard.c - run long work as a process of its own while a lock is held, and end it with the lock.
 *
 *     guard KEY CMD [ARG...]
 *
 * The library renews the lock. When a renewal fails there is still time: the first notice says how
 * much, and the work goes on. When only GRACE_MS are left it gets SIGTERM, and when the lock is
 * lost SIGKILL. The exit status is that of the work, or 76 when the lock was lost.
 *
 * `redlock lock` does more: it also ends the work in time when it is itself stopped or hangs, which
 * no program can do for itself. Use it where a command will do; this is for a program that has
 * reasons of its own to hold the lock, and a loop.
 */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TTL_MS 4000
#define GRACE_MS 2000
#define LOST 76

struct guard {
    struct event_base *base;
    struct redlock *rl;
    struct event *ended; /* SIGCHLD */
    struct event *terminated, *interrupted;
    struct event *grace; /* when the work gets SIGTERM */
    char **command;
    pid_t work; /* 0: not started, or ended */
    int status;
};

/* ---- the work ---- */

/* In a process group of its own, so that a signal reaches its children. The kernel kills it when we
 * die, however we do: without us nobody would end it with the lock. */
static void become_the_work(const struct guard *guard, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) {
        execvp(guard->command[0], guard->command);
        perror(guard->command[0]);
    }
    _exit(127);
}

static int start_work(struct guard *guard)
{
    pid_t parent = getpid();

    guard->work = fork();
    if (guard->work == 0) {
        become_the_work(guard, parent);
    }
    if (guard->work < 0) {
        guard->work = 0;
        perror("fork");
        return REDLOCK_ESYSTEM;
    }
    setpgid(guard->work, guard->work); /* here, too: the child may be slower */
    return 0;
}

static void signal_work(const struct guard *guard, int number)
{
    if (guard->work > 0) {
        kill(-guard->work, number);
    }
}

/* ---- the end ---- */

static void on_closed(void *arg)
{
    struct guard *guard = arg;

    event_base_loopbreak(guard->base);
}

/* Releases the lock, if we have it, or cancels the wait for it. A second call does nothing. */
static void end(struct guard *guard)
{
    event_del(guard->grace);
    redlock_close(guard->rl, on_closed, guard);
}

/* Only when the work has ended is the lock released: never while it may still do something. What it
 * has left in its process group is ended first. */
static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    struct guard *guard = arg;
    int status;

    (void)fd;
    (void)what;
    if (guard->work == 0 || waitpid(guard->work, &status, WNOHANG) != guard->work) {
        return;
    }
    signal_work(guard, SIGKILL);
    guard->work = 0;
    if (guard->status == 0) {
        guard->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    end(guard);
}

/* ---- notices ---- */

static void on_grace(evutil_socket_t fd, short what, void *arg)
{
    struct guard *guard = arg;

    (void)fd;
    (void)what;
    printf("the lock ends soon: the work gets SIGTERM\n");
    guard->status = LOST;
    signal_work(guard, SIGTERM);
}

/* MOVED also comes when a renewal works: then there is no hurry any more. A deadline can become
 * earlier, too; so the timer is set again each time. */
static void set_grace(struct guard *guard, uint64_t left_ms)
{
    uint64_t ms = left_ms > GRACE_MS ? left_ms - GRACE_MS : 0;
    struct timeval after = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};

    event_add(guard->grace, &after);
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct guard *guard = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        printf("lost: %s\n", redlock_strerror(notice->reason));
        guard->status = LOST;
        signal_work(guard, SIGKILL);
        return;
    }
    if (notice->kind == REDLOCK_NOTICE_TROUBLE) {
        printf("not renewed yet, %llu ms left: %s\n", (unsigned long long)notice->left_ms,
               redlock_strerror(notice->reason));
    }
    set_grace(guard, notice->left_ms);
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct guard *guard = arg;

    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(redlock_lock_reason(lock)));
    } else {
        status = start_work(guard);
    }
    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        guard->status = guard->status ? guard->status : 1;
        end(guard);
    } else {
        set_grace(guard, redlock_lock_validity_ms(lock));
    }
}

/* ---- the program ---- */

/* A signal for us is one for the work; the lock stays until that has ended. Without work we wait
 * for the lock: then the close cancels that. */
static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct guard *guard = arg;

    (void)what;
    if (guard->work > 0) {
        signal_work(guard, SIGTERM);
    } else {
        guard->status = 128 + (int)number;
        end(guard);
    }
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct event_base *base, struct redlock **ret_rl)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_new(base, &options, ret_rl);
        redlock_settings_free(settings);
    }
    if (why[0]) {
        fprintf(stderr, "%s\n", why);
    }
    return status;
}

static int start(struct guard *guard, const char *key)
{
    struct redlock_request request;
    int status;

    redlock_request_init(&request);
    request.key = key;
    request.ttl_ms = TTL_MS;
    request.wait_ms = REDLOCK_FOREVER;
    request.notice_cb = on_notice;
    request.notice_arg = guard;
    request.flags = REDLOCK_NOTIFY_MOVES;
    status = connect_masters(guard->base, &guard->rl);
    return status ? status : redlock_acquire(guard->rl, &request, on_acquired, guard, NULL);
}

static int watch(struct guard *guard)
{
    guard->base = event_base_new();
    if (!guard->base) {
        return REDLOCK_ESYSTEM;
    }
    guard->ended = evsignal_new(guard->base, SIGCHLD, on_ended, guard);
    guard->terminated = evsignal_new(guard->base, SIGTERM, on_signal, guard);
    guard->interrupted = evsignal_new(guard->base, SIGINT, on_signal, guard);
    guard->grace = evtimer_new(guard->base, on_grace, guard);
    return guard->ended && guard->terminated && guard->interrupted && guard->grace &&
                   event_add(guard->ended, NULL) == 0 && event_add(guard->terminated, NULL) == 0 &&
                   event_add(guard->interrupted, NULL) == 0
               ? 0
               : REDLOCK_ESYSTEM;
}

static void unwatch(struct guard *guard)
{
    event_free(guard->ended);
    event_free(guard->terminated);
    event_free(guard->interrupted);
    event_free(guard->grace);
    event_base_free(guard->base);
}

int main(int argc, char **argv)
{
    struct guard guard = {.rl = NULL};
    int status;

    if (argc < 3) {
        fprintf(stderr, "usage: guard KEY CMD [ARG...]\n");
        return 64;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    guard.command = argv + 2;
    status = watch(&guard);
    if (status == 0) {
        status = start(&guard, argv[1]);
    }
    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(guard.base);
    unwatch(&guard);
    return guard.status;
}
