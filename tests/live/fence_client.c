/* live/fence_client.c - acquires a lock with a fence and writes with it, again and again.
 *
 *     fence_client BOARD AHEAD TTL URI...
 *
 * BOARD is an open file with a struct board. AHEAD is how many ms the wall clock of this process
 * is ahead of the machine's; a negative number means behind. TTL is the ttl of the lock, and the
 * longest. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "live/board.h"

#define NS_PER_S 1000000000L

/* Exported, so that shared objects find it. */
#define EXPORTED __attribute__((visibility("default")))

static struct board *board;
static struct event_base *base;
static struct redlock *rl;
static uint32_t ttl_ms;
static uint64_t last;
static long ahead_ms;

static void begin(void);

/* The library is a shared object, and uses this function. */
EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret)
{
    long status = syscall(SYS_clock_gettime, clock, ret);
    long long ns;

    if (status == 0 && clock == CLOCK_REALTIME) {
        ns = ret->tv_nsec + ahead_ms * (NS_PER_S / 1000LL);
        ret->tv_sec += (time_t)(ns / NS_PER_S - (ns % NS_PER_S < 0));
        ret->tv_nsec = (long)((ns % NS_PER_S + NS_PER_S) % NS_PER_S);
    }
    return (int)status;
}

/* Remember the greatest fence, as a resource does. Returns the greatest before this one. */
static uint64_t write_with(uint64_t fence)
{
    uint_fast64_t before = atomic_load(&board->greatest);

    while (before < fence &&
           !atomic_compare_exchange_weak(&board->greatest, &before, (uint_fast64_t)fence)) {
    }
    return before;
}

/* A lock that is still held after the write was held during the write: so everything written
 * before it came from earlier holders. */
static void use(const struct redlock_lock *lock)
{
    uint64_t fence = redlock_lock_fencing_token(lock);
    int above = write_with(fence)<fence, held = redlock_lock_validity_ms(lock)> 0;
    unsigned n = atomic_fetch_add(&board->grants, 1);

    if (fence <= last || (held && !above)) {
        atomic_fetch_add(&board->wrong, 1);
    }
    if (n < BOARD_MOST) {
        board->fences[n] = fence;
    }
    last = fence;
}

static void on_closed(void *arg)
{
    (void)arg;
    event_base_loopbreak(base);
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    begin();
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)arg;
    if (status != REDLOCK_OK) {
        begin();
        return;
    }
    use(lock);
    if (redlock_release(lock, on_released, NULL) != REDLOCK_OK) {
        _exit(2);
    }
}

/* Begin the next acquire, or end. */
static void begin(void)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = "k";
    request.ttl_ms = ttl_ms;
    request.wait_ms = 10 * ttl_ms;
    request.renew = 0;
    request.fencing = 1;
    if (atomic_load(&board->stop)) {
        redlock_close(rl, on_closed, NULL);
    } else if (redlock_acquire(rl, &request, on_acquired, NULL, NULL) != REDLOCK_OK) {
        _exit(3);
    }
}

int main(int argc, char **argv)
{
    struct redlock_options options;

    if (argc < 5) {
        fprintf(stderr, "usage: %s BOARD AHEAD TTL URI...\n", argv[0]);
        return 64;
    }
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
    ahead_ms = strtol(argv[2], NULL, 10);
    ttl_ms = (uint32_t)strtoul(argv[3], NULL, 10);
    base = event_base_new();
    redlock_options_init(&options);
    options.nodes = (const char *const *)(argv + 4);
    options.n_nodes = (size_t)(argc - 4);
    options.max_ttl_ms = ttl_ms;
    options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    options.inspection_ms = 100;
    if (board == MAP_FAILED || redlock_new(base, &options, &rl) != REDLOCK_OK) {
        return 4;
    }
    begin();
    event_base_dispatch(base);
    event_base_free(base);
    return 0;
}
