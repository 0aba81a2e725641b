/* hold.c - hold a lock for as long as the work takes, with notices when a renewal fails.
 *
 *     hold
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

/* Why there is no lock, and what is wrong with each master. */
static void explain(const struct redlock *rl, const struct redlock_lock *lock)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    fprintf(stderr, "%s\n", redlock_strerror(redlock_lock_reason(lock)));
    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.error[0]) {
            fprintf(stderr, "%s: %s\n", info.name, info.error);
        }
    }
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    static const struct timeval half_a_second = {0, 500000};
    struct work *work = arg;

    printf("acquired: %s\n", redlock_strerror(status));
    if (status) {
        explain(work->rl, lock);
        redlock_close(work->rl, NULL, NULL);
        return;
    }
    work->lock = lock;
    event_add(work->step, &half_a_second);
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
    if (status) {
        fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct work work = {NULL, NULL, NULL, 0};
    struct redlock_request request;
    int status;

    work.step = event_new(base, -1, EV_PERSIST, on_step, &work);
    redlock_request_init(&request);
    request.key = "half-a-minute";
    request.ttl_ms = 2000;
    request.notice_cb = on_notice;
    request.notice_arg = &work;
    if (connect_masters(base, &work.rl) != 0) {
        return 1;
    }
    if ((status = redlock_acquire(work.rl, &request, on_acquired, &work, NULL)) != 0) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(base);
    event_free(work.step);
    event_base_free(base);
    return 0;
}
