/* live/test_fence.c - fences on real masters: how many commands they take, and that they grow
 * whatever happens to the masters. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/board.h"
#include "live/site.h"

SUITE("fence");
FIXTURE(NULL, site_end_all);

/* $RLK_FENCE_GRANTS: how many locks the contending processes acquire in all. */
#define GRANTS 200u

#define CLIENTS 4
#define CLIENT "fence_client"

/* The longest ttl, which is the length of a quarantine; the wall clocks of two clients differ by
 * less than half of it. */
#define TTL_MS 2000u
#define SKEW_MS 250

/* So many grants while a master is down, and so many while all are up before the next one goes
 * down. */
#define FEW 5u

/* Far longer than any machine needs for one step: it only ends a test that would hang. */
#define BOUND_MS 120000u

static struct site s;

/* ---- what it costs ---- */

static bool is_free(void *arg)
{
    return strcmp(master_ask(arg, "EXISTS k"), "0") == 0;
}

static void wait_until_free(void)
{
    size_t i;

    for (i = 0; i < s.n; i++) {
        loop_must_true(s.base, is_free, s.masters[i]);
    }
}

static bool have_all_granted(void *arg)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    size_t i;

    for (i = 0; i < s.n; i++) {
        ck_assert_int_eq(redlock_lock_node(arg, i, &detail), REDLOCK_OK);
        if (detail.vote != REDLOCK_VOTE_YES) {
            return false;
        }
    }
    return true;
}

/* On every master, not only on those of the majority. */
static uint64_t acquire_and_release(void)
{
    struct redlock_request request = outcome_fenced_request("k");
    struct outcome got = site_acquire_with(&s, 0, &request);
    uint64_t fence;

    ck_assert_int_eq(got.status, REDLOCK_OK);
    fence = redlock_lock_fencing_token(got.lock);
    loop_must_true(s.base, have_all_granted, got.lock);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    wait_until_free();
    return fence;
}

static bool has_voted(void *arg)
{
    return strstr(master_ask(arg, "INFO commandstats"), "cmdstat_evalsha:calls=1,") != NULL;
}

TIME_LIMIT(3600);

/* The server also counts what scripts call, so GET, SET and TIME appear; but no other command that
 * only we send. */
TEST(a_fence_costs_one_command_a_master)
{
    static const char *const others[] = {"cmdstat_eval:", "cmdstat_script",
                                         "cmdstat_hello:", "cmdstat_ping:"};
    struct redlock_request request = outcome_fenced_request("k");
    struct outcome got;
    uint64_t fence;
    size_t i, j;

    site_start(&s, 5, NULL);
    s.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    site_open(&s);
    fence = acquire_and_release(); /* sends the text */
    for (i = 0; i < s.n; i++) {
        master_ask(s.masters[i], "CONFIG RESETSTAT");
    }
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_fencing_token(got.lock), fence);
    for (i = 0; i < s.n; i++) {
        const char *stats;

        loop_must_true(s.base, has_voted, s.masters[i]);
        stats = master_ask(s.masters[i], "INFO commandstats");
        for (j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
            ck_assert_msg(strstr(stats, others[j]) == NULL, "%s", stats);
        }
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* A number above 2^31 and below 2^53 is passed unchanged, digit by digit. */
TEST(a_counter_that_is_ahead_is_raised_by_one)
{
    size_t i;

    site_start_open(&s, 3);
    for (i = 0; i < s.n; i++) {
        master_ask(s.masters[i], "SET k:redlock-fence 4000000000000001");
    }
    ck_assert_uint_eq(acquire_and_release(), UINT64_C(4000000000000002));
    for (i = 0; i < s.n; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "GET k:redlock-fence"), "4000000000000002");
    }
}

TEST(the_last_number_is_not_given)
{
    struct redlock_request request = outcome_fenced_request("k");
    struct outcome got;
    size_t i;

    site_start_open(&s, 3);
    for (i = 0; i < s.n; i++) {
        master_ask(s.masters[i], "SET k:redlock-fence 9007199254740991");
    }
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert(strstr(got.votes[0].error, "no numbers left") ||
              strstr(got.votes[1].error, "no numbers left"));
}

/* ---- contending processes ---- */

static struct board *board;

/* The program is next to this one. */
static void become_client(int file, int number)
{
    char path[1024], board_text[16], ahead[16], ttl[16];
    char *argv[4 + OUTCOME_MOST + 1] = {path, board_text, ahead, ttl};
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof(CLIENT));
    size_t i;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    path[len < 0 ? 0 : len] = '\0';
    strcpy(strrchr(path, '/') + 1, CLIENT);
    snprintf(board_text, sizeof(board_text), "%d", file);
    snprintf(ahead, sizeof(ahead), "%d", (number - CLIENTS / 2) * SKEW_MS);
    snprintf(ttl, sizeof(ttl), "%u", TTL_MS);
    for (i = 0; i < s.n; i++) {
        argv[4 + i] = (char *)(uintptr_t)s.uris[i];
    }
    execv(path, argv);
    _exit(127);
}

static void start_clients(pid_t pids[CLIENTS])
{
    int i, file = memfd_create("board", 0);

    ck_assert_int_eq(ftruncate(file, sizeof(*board)), 0);
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(board, MAP_FAILED);
    for (i = 0; i < CLIENTS; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0) {
            become_client(file, i);
        }
    }
    close(file);
}

static void end_clients(const pid_t pids[CLIENTS])
{
    int i, status;

    atomic_store(&board->stop, 1);
    for (i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "client %d: %x", i, status);
    }
}

static unsigned wanted_grants;

static bool have_granted(void *arg)
{
    (void)arg;
    return atomic_load(&board->grants) >= wanted_grants;
}

static void wait_for_grants(unsigned more)
{
    wanted_grants = atomic_load(&board->grants) + more;
    if (!loop_until_true(s.base, have_granted, NULL, BOUND_MS)) {
        ck_abort_msg("%u grants instead of %u", atomic_load(&board->grants), wanted_grants);
    }
}

/* Up, and out of quarantine. */
static bool do_all_vote(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < s.n; i++) {
        struct redlock_node_info info = {.size = sizeof(info)};

        redlock_get_node_info(s.rl[0], i, &info);
        if (info.state != REDLOCK_NODE_UP || info.quarantine_ms > 0) {
            return false;
        }
    }
    return true;
}

static void wait_until_all_vote(void)
{
    if (!loop_until_true(s.base, do_all_vote, NULL, BOUND_MS)) {
        ck_abort_msg("a master does not vote again");
    }
}

static bool is_cut_off(void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    redlock_get_node_info(s.rl[0], *(const size_t *)arg, &info);
    return info.state != REDLOCK_NODE_UP;
}

/* One master is down at a time, and the next one only when that votes again. */
static void lose_one(size_t node)
{
    wait_until_all_vote();
    wait_for_grants(FEW);
    master_kill(s.masters[node]);
    loop_must_true(s.base, is_cut_off, &node);
    wait_for_grants(FEW);
    master_restart(s.masters[node]);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void must_all_differ(unsigned n)
{
    unsigned i;

    qsort(board->fences, n, sizeof(board->fences[0]), by_value);
    for (i = 1; i < n; i++) {
        ck_assert_uint_ne(board->fences[i - 1], board->fences[i]);
    }
}

static unsigned grants_wanted(void)
{
    const char *text = getenv("RLK_FENCE_GRANTS");
    unsigned n = text ? (unsigned)strtoul(text, NULL, 10) : GRANTS;

    return n < 1 || n > BOARD_MOST ? GRANTS : n;
}

/* One master after the other is killed, and comes back empty. */
TEST(fences_grow_while_masters_forget)
{
    pid_t pids[CLIENTS];
    unsigned lost, n;

    site_start(&s, 3, NULL);
    s.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    s.options.max_ttl_ms = TTL_MS;
    s.options.inspection_ms = 100;
    start_clients(pids);
    site_open(&s);
    for (lost = 0; lost < 3 || atomic_load(&board->grants) < grants_wanted(); lost++) {
        lose_one(lost % s.n);
    }
    wait_until_all_vote();
    wait_for_grants(FEW);
    end_clients(pids);
    n = atomic_load(&board->grants);
    fprintf(stderr, "# %u grants to %d processes, %u masters lost\n", n, CLIENTS, lost);
    ck_assert_uint_eq(atomic_load(&board->wrong), 0);
    must_all_differ(n < BOARD_MOST ? n : BOARD_MOST);
}
