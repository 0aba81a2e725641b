/* worker.c - a thread that works under a lock, and checks the deadline itself.
 *
 *     worker
 *
 * The loop's thread acquires and renews the lock, and keeps a copy of its deadline for the worker.
 * The worker never calls the library about the lock: before each step it compares the deadline with
 * the clock. Stop a majority of the masters meanwhile, or the whole process: the worker does no
 * step after the deadline.
 */
#include <event2/event.h>
#include <pthread.h>
#include <redlock/redlock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define STEPS 90
#define STEP_US 100000 /* the longest that a step takes */

struct work {
    struct redlock *rl;
    struct redlock_lock *lock;
    pthread_t worker;
    int done[2]; /* a pipe: the worker has ended */
    struct event *ended;
    int steps; /* read when the worker has ended */
    /* Written by the loop's thread, read by the worker before each step. 0: no more steps. */
    _Atomic uint64_t deadline_us;
};

/* ---- the worker's thread ---- */

static void do_step(struct work *work)
{
    static const struct timespec some_time = {0, STEP_US * 1000 / 2};

    nanosleep(&some_time, NULL); /* here is the work */
    work->steps++;
}

/* Each step reads the deadline again: it can also become earlier. */
static void *run(void *arg)
{
    struct work *work = arg;

    while (work->steps < STEPS && redlock_clock_us() + STEP_US < atomic_load(&work->deadline_us)) {
        do_step(work);
    }
    return write(work->done[1], "", 1) == 1 ? work : NULL;
}

/* ---- the loop's thread ---- */

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct work *work = arg;

    (void)lock;
    printf("%d steps; released: %s\n", work->steps, redlock_strerror(status));
    redlock_close(work->rl, NULL, NULL);
}

/* Release the lock only when the worker has ended. */
static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    struct work *work = arg;

    (void)fd;
    (void)what;
    pthread_join(work->worker, NULL);
    atomic_store(&work->deadline_us, 0);
    redlock_release(work->lock, on_released, work);
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct work *work = arg;

    (void)lock;
    atomic_store(&work->deadline_us, notice->deadline_us);
    if (notice->kind != REDLOCK_NOTICE_MOVED) {
        printf("%s, %llu ms left: %s\n",
               notice->kind == REDLOCK_NOTICE_LOST ? "lost" : "not renewed yet",
               (unsigned long long)notice->left_ms, redlock_strerror(notice->reason));
    }
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct work *work = arg;

    printf("acquired: %s\n", redlock_strerror(status));
    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(redlock_lock_reason(lock)));
    } else {
        work->lock = lock;
        atomic_store(&work->deadline_us, redlock_lock_deadline_us(lock));
        status = pthread_create(&work->worker, NULL, run, work);
    }
    if (status) {
        redlock_close(work->rl, NULL, NULL);
        event_del(work->ended);
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

static int start(struct work *work, struct event_base *base)
{
    struct redlock_request request;
    int status;

    redlock_request_init(&request);
    request.key = "worker";
    request.ttl_ms = 4000;
    request.wait_ms = REDLOCK_FOREVER;
    request.notice_cb = on_notice;
    request.notice_arg = work;
    request.flags = REDLOCK_NOTIFY_MOVES;
    status = connect_masters(base, &work->rl);
    return status ? status : redlock_acquire(work->rl, &request, on_acquired, work, NULL);
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct work work = {.rl = NULL};
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pipe(work.done) != 0) {
        return 1;
    }
    work.ended = event_new(base, work.done[0], EV_READ, on_ended, &work);
    event_add(work.ended, NULL);
    status = start(&work, base);
    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(base);
    event_free(work.ended);
    event_base_free(base);
    return work.steps == STEPS ? 0 : 76;
}
