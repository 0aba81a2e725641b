/* blocking.c - work under a lock, in a program with threads and no event loop: the example of the
 * README.
 *
 *     blocking
 *
 * The calls of redlock/sync.h wait for their end, and may be made by any thread. The lock is
 * renewed meanwhile. It can be lost, so the loop asks before each step whether there is time for
 * one.
 */
#include <redlock/redlock.h>
#include <stdio.h>
#include <time.h>

#define LONGEST_STEP_MS 1000

static int steps;

/* Here is the work. */
static void do_step(void)
{
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    printf("step %d\n", ++steps);
    fflush(stdout);
}

static int work(struct redlock_sync *rl)
{
    struct redlock_request request;
    struct redlock_sync_lock *lock;
    int status;

    redlock_request_init(&request);
    request.key = "nightly-report";
    request.wait_ms = 5000;
    status = redlock_sync_acquire(rl, &request, NULL, &lock);
    if (status == 0) {
        while (steps < 5 && redlock_sync_lock_validity_ms(lock) > LONGEST_STEP_MS) {
            do_step();
        }
        status = redlock_sync_release(lock);
    } else {
        fprintf(stderr, "%s\n", redlock_sync_error_text());
    }
    return status;
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct redlock_sync **ret_s)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_sync_new(&options, ret_s);
        redlock_settings_free(settings);
    }
    if (why[0]) {
        fprintf(stderr, "%s\n", why);
    }
    return status;
}

int main(void)
{
    struct redlock_sync *rl;
    int status;

    if ((status = connect_masters(&rl)) == 0) {
        status = work(rl);
        redlock_sync_close(rl);
    }
    printf("%s\n", redlock_strerror(status));
    return status ? 1 : 0;
}
