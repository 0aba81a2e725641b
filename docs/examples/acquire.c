/* acquire.c - acquire a lock, work, release it, on a libevent loop.
 *
 *     acquire
 */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>

static void on_released(struct redlock_lock *lock, int status, void *rl)
{
    printf("released %s: %s\n", redlock_lock_key(lock, NULL), redlock_strerror(status));
    redlock_close(rl, NULL, NULL);
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

static void on_acquired(struct redlock_lock *lock, int status, void *rl)
{
    printf("acquired: %s, valid for %llu ms\n", redlock_strerror(status),
           (unsigned long long)redlock_lock_validity_ms(lock));
    if (status) {
        explain(rl, lock);
    }
    /* ... the work; ask redlock_lock_validity_ms() again before each step that matters ... */
    if (status || redlock_release(lock, on_released, rl)) {
        redlock_close(rl, NULL, NULL);
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
    if (status) {
        fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct redlock_request request;
    struct redlock *rl;
    int status;

    redlock_request_init(&request);
    request.key = "nightly-report";
    request.wait_ms = 5000;
    if (connect_masters(base, &rl) != 0) {
        return 1;
    }
    if ((status = redlock_acquire(rl, &request, on_acquired, rl, NULL)) != 0) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(base);
    event_base_free(base);
    return 0;
}
