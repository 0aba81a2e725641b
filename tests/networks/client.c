/* networks/client.c - a manager on the masters of the command line, which does what stdin says:
 *
 *     acquire N    acquire and release N locks; prints how many it got, and the median in us
 *     nodes        prints a line for each master: its number, up, stuck, connecting or down, and
 *                  what is wrong with it; then "."
 *
 * At the end of stdin it closes the manager, and ends.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#define MOST 1000

/* So long that the masters whose network is whole answer in time on a busy machine. */
#define TIMEOUT_MS 5000

static struct event_base *base;
static struct redlock *rl;
static char line[64];
static bool is_over, has_line;
static int got;

static void on_line(evutil_socket_t fd, short what, void *arg)
{
    ssize_t n = read(fd, line, sizeof(line) - 1);

    (void)what;
    (void)arg;
    is_over = n <= 0;
    has_line = true;
    line[n > 0 ? n : 0] = '\0';
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    got = status;
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    got = status;
}

static int wait_for_it(void)
{
    while (got == 1) {
        event_base_loop(base, EVLOOP_ONCE);
    }
    return got;
}

/* Returns the time that the acquire took; 0: it failed. */
static uint64_t acquire(void)
{
    struct redlock_request request;
    struct redlock_lock *lock;
    uint64_t began_us = redlock_clock_us(), took_us;

    redlock_request_init(&request);
    request.key = "k";
    got = 1;
    if (redlock_acquire(rl, &request, on_acquired, NULL, &lock) || wait_for_it() != REDLOCK_OK) {
        return 0;
    }
    took_us = redlock_clock_us() - began_us;
    got = 1;
    if (redlock_release(lock, on_released, NULL) == 0) {
        wait_for_it();
    }
    return took_us;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void acquire_many(int n)
{
    static uint64_t took_us[MOST];
    int i, held = 0;

    for (i = 0; i < n && i < MOST; i++) {
        took_us[held] = acquire();
        held += took_us[held] > 0;
    }
    qsort(took_us, (size_t)held, sizeof(took_us[0]), compare);
    printf("%d %llu\n", held, held ? (unsigned long long)took_us[held / 2] : 0);
}

static void print_nodes(void)
{
    static const char *const states[] = {"down", "connecting", "up", "unresponsive"};
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < redlock_node_count(rl); i++) {
        redlock_get_node_info(rl, i, &info);
        printf("%zu %s %s\n", i, states[info.state], info.error);
    }
    puts(".");
}

static void on_closed(void *arg)
{
    (void)arg;
    event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    struct redlock_options options;
    struct event *event;

    base = event_base_new();
    redlock_options_init(&options);
    options.nodes = (const char *const *)argv + 1;
    options.n_nodes = (size_t)argc - 1;
    options.quarantine = REDLOCK_QUARANTINE_OFF;
    options.node_timeout_ms = TIMEOUT_MS;
    if (redlock_new(base, &options, &rl)) {
        return 1;
    }
    event = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_line, NULL);
    event_add(event, NULL);
    while (!is_over) {
        event_base_loop(base, EVLOOP_ONCE);
        if (has_line && strncmp(line, "acquire ", 8) == 0) {
            acquire_many(atoi(line + 8));
        } else if (has_line && !is_over) {
            print_nodes();
        }
        has_line = false;
        fflush(stdout);
    }
    /* Without this, a key may stay on a slow master, in the way of the next client. */
    if (redlock_close(rl, on_closed, NULL) == 0) {
        event_base_dispatch(base);
    }
    return 0;
}
