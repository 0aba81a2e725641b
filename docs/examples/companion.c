/* companion.c - a program whose lock is free at once when somebody kills it.
 *
 *     companion
 *
 * Start it twice, and kill -9 the first one: the second one begins some milliseconds later, and not
 * after the ttl. All work is done by this process, so the lock protects nothing that goes on when
 * the process is dead.
 */
#include <redlock/redlock.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_STEP_MS 1000

/* On the library's thread. Without a companion the locks are left to their ttls. */
static void on_companion(struct redlock *rl, enum redlock_companion_state state, const char *why,
                         void *arg)
{
    (void)rl;
    (void)arg;
    if (state == REDLOCK_COMPANION_GONE) {
        fprintf(stderr, "the companion has ended %s\n", why);
    }
}

/* Before the first lock. A program that can do without one goes on after an error. */
static void start_companion(struct redlock_sync *rl)
{
    struct redlock_companion_options options;

    redlock_companion_options_init(&options);
    options.cb = on_companion;
    if (redlock_sync_companion_open(rl, &options) != 0) {
        fprintf(stderr, "no companion: %s\n", redlock_sync_error_text());
    }
}

static int work(struct redlock_sync *rl)
{
    struct redlock_request request;
    struct redlock_sync_lock *lock;
    int status, step;

    redlock_request_init(&request);
    request.key = "ledger";
    request.ttl_ms = 60000;
    request.wait_ms = REDLOCK_FOREVER;
    status = redlock_sync_acquire(rl, &request, NULL, &lock);
    if (status == 0) {
        printf("process %d works\n", (int)getpid());
        fflush(stdout);
        for (step = 0; step < 30 && redlock_sync_lock_validity_ms(lock) > LONGEST_STEP_MS; step++) {
            nanosleep(&(struct timespec){0, 300000000}, NULL);
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
        start_companion(rl);
        status = work(rl);
        redlock_sync_close(rl);
    }
    printf("%s\n", redlock_strerror(status));
    return status ? 1 : 0;
}
