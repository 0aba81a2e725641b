/* hold.c - hold a lock for as long as the work takes, with notices when a renewal fails.
 *
 *     hold redis://a redis://b redis://c
 *
 * Half a minute of work under a lock with a ttl of two seconds: the library renews the lock. Stop a
 * majority of the masters meanwhile to see the two notices.
 */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>

struct work {
    struct redlock *rl;
    struct redlock_lock *lock;
    struct event *step;
    int steps;
};

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct work *work = arg;

    (void)lock;
    printf("released: %s\n", redlock_strerror(status));
    redlock_close(work->rl, NULL, NULL);
}

static void end(struct work *work)
{
    event_del(work->step);
    redlock_release(work->lock, on_released, work);
}

/* Each step checks the validity first: the notice of a loss comes only when the loop runs. */
static void on_step(evutil_socket_t fd, short what, void *arg)
{
    struct work *work = arg;

    (void)fd;
    (void)what;
    if (redlock_lock_validity_ms(work->lock) < 200) {
        printf("not enough time left for a step: waiting for a renewal, or the loss\n");
    } else if (++work->steps == 60) {
        end(work);
    }
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    (void)lock;
    printf("%s, %llu ms left: %s\n",
           notice->kind == REDLOCK_NOTICE_LOST ? "lost" : "not renewed yet",
           (unsigned long long)notice->left_ms, redlock_strerror(notice->reason));
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        end(arg);
    }
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    static const struct timeval half_a_second = {0, 500000};
    struct work *work = arg;

    printf("acquired: %s\n", redlock_strerror(status));
    if (status) {
        redlock_close(work->rl, NULL, NULL);
        return;
    }
    work->lock = lock;
    event_add(work->step, &half_a_second);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct work work = {NULL, NULL, NULL, 0};
    struct redlock_options options;
    struct redlock_request request;
    int status;

    work.step = event_new(base, -1, EV_PERSIST, on_step, &work);
    redlock_options_init(&options);
    options.nodes = (const char *const *)argv + 1;
    options.n_nodes = (size_t)argc - 1;
    redlock_request_init(&request);
    request.key = "half-a-minute";
    request.ttl_ms = 2000;
    request.notice_cb = on_notice;
    request.notice_arg = &work;
    if ((status = redlock_new(base, &options, &work.rl)) != 0 ||
        (status = redlock_acquire(work.rl, &request, on_acquired, &work, NULL)) != 0) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(base);
    event_free(work.step);
    event_base_free(base);
    return 0;
}
