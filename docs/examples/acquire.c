/* acquire.c - acquire a lock, work, release it, on a libevent loop.
 *
 *     acquire redis://a redis://b redis://c
 */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>

static void on_released(struct redlock_lock *lock, int status, void *rl)
{
    printf("released %s: %s\n", redlock_lock_key(lock, NULL), redlock_strerror(status));
    redlock_close(rl, NULL, NULL);
}

static void on_acquired(struct redlock_lock *lock, int status, void *rl)
{
    printf("acquired: %s, valid for %llu ms\n", redlock_strerror(status),
           (unsigned long long)redlock_lock_validity_ms(lock));
    /* ... the work; ask redlock_lock_validity_ms() again before each step that matters ... */
    if (status || redlock_release(lock, on_released, rl)) {
        redlock_close(rl, NULL, NULL);
    }
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct redlock_options options;
    struct redlock_request request;
    struct redlock *rl;
    int status;

    redlock_options_init(&options);
    options.nodes = (const char *const *)argv + 1;
    options.n_nodes = (size_t)argc - 1;
    redlock_request_init(&request);
    request.key = "nightly-report";
    request.wait_ms = 5000;
    if ((status = redlock_new(base, &options, &rl)) != 0 ||
        (status = redlock_acquire(rl, &request, on_acquired, rl, NULL)) != 0) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(base);
    event_base_free(base);
    return 0;
}
