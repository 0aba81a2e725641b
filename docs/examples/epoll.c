/* epoll.c - a program with an epoll loop of its own, and a lock in it.
 *
 *     epoll
 *
 * The loop is the program's. Libredlock is one more file descriptor in it, and says how long the
 * loop may sleep. Here the program has a timer of its own, and does a step of work at each tick as
 * long as it has the lock.
 */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define STEPS 20
#define TICK_MS 50

struct app {
    int set;                 /* the program's epoll set */
    int ticks;               /* the program's timer */
    struct event_base *base; /* libredlock's loop, inside the program's */
    struct redlock *rl;
    struct redlock_lock *lock;
    int steps, running;
};

/* ---- the lock ---- */

static void on_closed(void *arg)
{
    struct app *app = arg;

    app->running = 0;
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct app *app = arg;

    (void)lock;
    printf("%d steps; released: %s\n", app->steps, redlock_strerror(status));
    redlock_close(app->rl, on_closed, app);
}

static void end(struct app *app)
{
    redlock_release(app->lock, on_released, app);
    app->lock = NULL;
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        printf("lost: %s\n", redlock_strerror(notice->reason));
        end(arg);
    }
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct app *app = arg;

    printf("acquired: %s\n", redlock_strerror(status));
    if (status == 0) {
        app->lock = lock;
    } else {
        fprintf(stderr, "%s\n", redlock_strerror(redlock_lock_reason(lock)));
        redlock_close(app->rl, on_closed, app);
    }
}

/* ---- the program ---- */

static void on_tick(struct app *app)
{
    uint64_t count;

    if (read(app->ticks, &count, sizeof(count)) == sizeof(count) &&
        redlock_lock_validity_ms(app->lock) > TICK_MS && ++app->steps == STEPS) {
        end(app);
    }
}

static void run(struct app *app)
{
    struct epoll_event ready[8];
    int i, n;

    while (app->running) {
        n = epoll_wait(app->set, ready, 8, redlock_loop_timeout_ms(app->base));
        for (i = 0; i < n; i++) {
            if (ready[i].data.fd == app->ticks) {
                on_tick(app);
            }
        }
        event_base_loop(app->base, EVLOOP_NONBLOCK);
    }
}

static int watch(struct app *app, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    event.data.fd = fd;
    return fd < 0 ? fd : epoll_ctl(app->set, EPOLL_CTL_ADD, fd, &event);
}

static int start_ticks(struct app *app)
{
    static const struct itimerspec every = {{0, TICK_MS * 1000000}, {0, TICK_MS * 1000000}};

    app->ticks = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    timerfd_settime(app->ticks, 0, &every, NULL);
    return watch(app, app->ticks);
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

static int start_lock(struct app *app)
{
    struct redlock_request request;
    int status;

    redlock_request_init(&request);
    request.key = "epoll";
    request.ttl_ms = 2000;
    request.wait_ms = 10000;
    request.notice_cb = on_notice;
    request.notice_arg = app;
    status = connect_masters(app->base, &app->rl);
    return status ? status : redlock_acquire(app->rl, &request, on_acquired, app, NULL);
}

static int start(struct app *app)
{
    int fd;

    app->set = epoll_create1(EPOLL_CLOEXEC);
    app->base = event_base_new();
    fd = redlock_loop_fd(app->base);
    if (fd < 0) {
        return fd;
    }
    if (watch(app, fd) != 0 || start_ticks(app) != 0) {
        return REDLOCK_ESYSTEM;
    }
    return start_lock(app);
}

int main(void)
{
    struct app app = {.running = 1};
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    status = start(&app);
    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    run(&app);
    event_base_free(app.base);
    close(app.ticks);
    close(app.set);
    return app.steps == STEPS ? 0 : 1;
}
