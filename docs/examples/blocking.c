/* blocking.c - work under a lock, in a program with threads and no event loop: the example of the
 * README.
 *
 *     blocking redis://a redis://b redis://c
 *
 * The calls of redlock/sync.h wait for their end, and may be made by any thread. The lock is
 * renewed meanwhile. It can be lost, so the loop asks before each step whether there is time for
 * one.
 */
#include <redlock/sync.h>
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
    }
    return status;
}

int main(int argc, char **argv)
{
    struct redlock_options options;
    struct redlock_sync *rl;
    int status;

    redlock_options_init(&options);
    options.nodes = (const char *const *)argv + 1;
    options.n_nodes = (size_t)argc - 1;
    if ((status = redlock_sync_new(&options, &rl)) == 0) {
        status = work(rl);
        redlock_sync_close(rl);
    }
    printf("%s\n", redlock_strerror(status));
    return status ? 1 : 0;
}
