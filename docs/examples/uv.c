/* uv.c - a program on libuv, and a lock in its loop.
 *
 *     uv
 *
 * The first part is what any program on libuv can copy: libevent's loop inside that of libuv.
 * Before libuv sleeps, a prepare handle asks how long it may; a poll handle and a timer run
 * libevent's loop afterwards. The second part is a program that does a step of work at each tick of
 * a uv_timer_t, as long as it has the lock.
 */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <uv.h>

/* ---- libevent's loop inside libuv's ---- */

struct inner {
    struct event_base *base;
    uv_prepare_t prepare;
    uv_poll_t poll;
    uv_timer_t timer;
};

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct inner *inner = poll->data;

    (void)status;
    (void)events;
    event_base_loop(inner->base, EVLOOP_NONBLOCK);
}

static void on_due(uv_timer_t *timer)
{
    struct inner *inner = timer->data;

    event_base_loop(inner->base, EVLOOP_NONBLOCK);
}

/* A timer of 0 ms lets libuv do all other work first, and not sleep. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct inner *inner = prepare->data;
    int timeout = redlock_loop_timeout_ms(inner->base);

    if (timeout < 0) {
        uv_timer_stop(&inner->timer);
    } else {
        uv_update_time(prepare->loop);
        uv_timer_start(&inner->timer, on_due, (uint64_t)timeout, 0);
    }
}

static int inner_start(struct inner *inner, uv_loop_t *loop)
{
    int fd;

    inner->base = event_base_new();
    fd = redlock_loop_fd(inner->base);
    if (fd < 0) {
        return fd;
    }
    if (uv_poll_init(loop, &inner->poll, fd) != 0) {
        return REDLOCK_ESYSTEM;
    }
    uv_prepare_init(loop, &inner->prepare);
    uv_timer_init(loop, &inner->timer);
    inner->prepare.data = inner->poll.data = inner->timer.data = inner;
    uv_poll_start(&inner->poll, UV_READABLE, on_readable);
    uv_prepare_start(&inner->prepare, on_prepare);
    return 0;
}

/* Free inner->base when uv_run() has ended. */
static void inner_stop(struct inner *inner)
{
    uv_close((uv_handle_t *)&inner->prepare, NULL);
    uv_close((uv_handle_t *)&inner->poll, NULL);
    uv_close((uv_handle_t *)&inner->timer, NULL);
}

/* ---- the program ---- */

#define STEPS 20
#define TICK_MS 50

struct app {
    uv_timer_t ticks;
    struct inner inner;
    struct redlock *rl;
    struct redlock_lock *lock;
    int steps;
};

static void on_closed(void *arg)
{
    struct app *app = arg;

    inner_stop(&app->inner);
    uv_close((uv_handle_t *)&app->ticks, NULL);
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

static void on_tick(uv_timer_t *ticks)
{
    struct app *app = ticks->data;

    if (redlock_lock_validity_ms(app->lock) > TICK_MS && ++app->steps == STEPS) {
        end(app);
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

static int start_lock(struct app *app)
{
    struct redlock_request request;
    int status;

    redlock_request_init(&request);
    request.key = "uv";
    request.ttl_ms = 2000;
    request.wait_ms = 10000;
    request.notice_cb = on_notice;
    request.notice_arg = app;
    status = connect_masters(app->inner.base, &app->rl);
    return status ? status : redlock_acquire(app->rl, &request, on_acquired, app, NULL);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    struct app app = {.steps = 0};
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if ((status = inner_start(&app.inner, loop)) != 0 || (status = start_lock(&app)) != 0) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    uv_timer_init(loop, &app.ticks);
    app.ticks.data = &app;
    uv_timer_start(&app.ticks, on_tick, TICK_MS, TICK_MS);
    uv_run(loop, UV_RUN_DEFAULT);
    event_base_free(app.inner.base);
    uv_loop_close(loop);
    return app.steps == STEPS ? 0 : 1;
}
