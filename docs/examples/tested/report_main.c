/* report_main.c - make a report, if no other machine makes it.
 *
 *     report redis://a redis://b redis://c
 */
#include <stdio.h>
#include <time.h>

#include "report.h"

static void step(struct redlock_sync_lock *lock, int number, void *arg)
{
    (void)lock;
    (void)arg;
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    printf("step %d\n", number);
}

int main(int argc, char **argv)
{
    const struct report report = {10000, 3, step, NULL};
    struct redlock_options options;
    struct redlock_sync *rl;
    int status, made = 0;

    redlock_options_init(&options);
    options.nodes = (const char *const *)argv + 1;
    options.n_nodes = (size_t)argc - 1;
    if ((status = redlock_sync_new(&options, &rl)) == 0) {
        made = report_make(rl, &report, &status);
        redlock_sync_close(rl);
    }
    printf("%d steps: %s\n", made, redlock_strerror(status));
    return made == report.n_steps ? 0 : 1;
}
