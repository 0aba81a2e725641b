/* live/test_election.c - candidates in processes of their own, on real masters: whatever happens to
 * the leader, another one is elected, with a larger term, and no two lead at a time.
 *
 * All processes share a board. A second thread of each asks without a pause whether its candidate
 * leads. The processes have one clock, so what they write is in one order. */
#include <pthread.h>
#include <redlock/error.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("election");

#define MASTERS 5
#define CANDIDATES 3
#define TTL_MS 1500

/* What a candidate is asked to do. */
enum order {
    ORDER_NONE = 0,
    ORDER_RESIGN,
    ORDER_CAMPAIGN
};

struct entry {
    atomic_int order;
    atomic_uint elected, demoted;
    atomic_uint_fast64_t term;
    atomic_uint_fast64_t elected_us, demoted_us; /* of the last time */
    atomic_uint_fast64_t led_us; /* when the second thread last asked, and the answer was yes */
    atomic_uint wrong;           /* what must not be, was */
};

static struct site s;
static struct entry *board;
static pid_t pids[CANDIDATES];

/* ---- a candidate, in its process ---- */

static struct entry *mine;
static struct redlock_election *election;

static void on_elected(struct redlock_election *e, uint64_t term, void *arg)
{
    (void)arg;
    atomic_fetch_add(&mine->wrong, term <= atomic_load(&mine->term));
    atomic_fetch_add(&mine->wrong, !redlock_election_is_leader(e));
    atomic_store(&mine->term, term);
    atomic_store(&mine->elected_us, redlock_clock_us());
    atomic_fetch_add(&mine->elected, 1);
}

static void on_demoted(struct redlock_election *e, const struct redlock_demotion *demotion,
                       void *arg)
{
    (void)arg;
    atomic_fetch_add(&mine->wrong, demotion->term != atomic_load(&mine->term));
    atomic_fetch_add(&mine->wrong, redlock_election_is_leader(e));
    atomic_store(&mine->demoted_us, redlock_clock_us());
    atomic_fetch_add(&mine->demoted, 1);
}

/* The time is read before the question: whoever is stopped in between writes an old one. */
static void *ask(void *arg)
{
    (void)arg;
    for (;;) {
        uint64_t now_us = redlock_clock_us();

        if (redlock_election_is_leader(election)) {
            atomic_store(&mine->led_us, now_us);
        }
        usleep(200);
    }
    return NULL;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    int order = atomic_exchange(&mine->order, ORDER_NONE);

    (void)fd;
    (void)what;
    (void)arg;
    if (order == ORDER_RESIGN) {
        redlock_election_resign(election);
    } else if (order == ORDER_CAMPAIGN) {
        redlock_election_campaign(election);
    }
}

static void begin_to_campaign(struct event_base *base, const char *id)
{
    struct redlock_election_options o;
    struct redlock *rl;

    redlock_election_options_init(&o);
    o.name = "k";
    o.id = id;
    o.ttl_ms = TTL_MS;
    o.elected_cb = on_elected;
    o.demoted_cb = on_demoted;
    if (redlock_new(base, &s.options, &rl) || redlock_election_new(rl, &o, &election) ||
        redlock_election_campaign(election)) {
        _exit(1);
    }
}

static void run_candidate(int number)
{
    const struct timeval every = {0, 2000};
    struct event_base *base = event_base_new();
    pthread_t thread;
    char id[8];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mine = &board[number];
    snprintf(id, sizeof(id), "%d", number);
    begin_to_campaign(base, id);
    event_add(event_new(base, -1, EV_PERSIST, on_tick, NULL), &every);
    if (pthread_create(&thread, NULL, ask, NULL)) {
        _exit(1);
    }
    event_base_dispatch(base);
    _exit(1);
}

/* ---- the test ---- */

static void start(void)
{
    int i;

    site_start(&s, MASTERS, NULL);
    s.options.node_timeout_ms = TTL_MS;
    board = mmap(NULL, CANDIDATES * sizeof(*board), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(board, MAP_FAILED);
    for (i = 0; i < CANDIDATES; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0) {
            run_candidate(i);
        }
    }
}

static void end(void)
{
    int i;

    for (i = 0; i < CANDIDATES; i++) {
        ck_assert_uint_eq(atomic_load(&board[i].wrong), 0);
        kill(pids[i], SIGKILL);
        ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
    }
    munmap(board, CANDIDATES * sizeof(*board));
    site_end(&s);
}

/* Whoever has the largest term. */
static int leader(void)
{
    int i, found = -1;

    for (i = 0; i < CANDIDATES; i++) {
        if (atomic_load(&board[i].term) > (found < 0 ? 0 : atomic_load(&board[found].term))) {
            found = i;
        }
    }
    return found;
}

static bool is_another(void *arg)
{
    return leader() >= 0 && leader() != *(const int *)arg;
}

/* Wait until somebody leads who is not `before`. */
static int wait_for_another(int before)
{
    loop_must_true(s.base, is_another, &before);
    return leader();
}

static bool has_been_demoted(void *arg)
{
    const struct entry *e = arg;

    return atomic_load(&e->demoted) == atomic_load(&e->elected);
}

/* The one did not lead any more when the other was elected, not even for itself. */
static void must_have_led_before(int one, int other)
{
    ck_assert_uint_lt(atomic_load(&board[one].term), atomic_load(&board[other].term));
    ck_assert_uint_le(atomic_load(&board[one].led_us), atomic_load(&board[other].elected_us));
}

FIXTURE(start, end);

TEST(the_leader_is_killed)
{
    int first, second;

    first = wait_for_another(-1);
    kill(pids[first], SIGKILL);
    second = wait_for_another(first);
    must_have_led_before(first, second);
}

TEST(the_leader_is_stopped)
{
    int first, second;

    first = wait_for_another(-1);
    kill(pids[first], SIGSTOP);
    second = wait_for_another(first);
    kill(pids[first], SIGCONT);
    loop_must_true(s.base, has_been_demoted, &board[first]);
    must_have_led_before(first, second);
}

/* The next one is elected after demoted_cb, and not when the ttl is over. */
TEST(leaders_resign)
{
    int i, first, second;

    first = wait_for_another(-1);
    for (i = 0; i < 10; i++) {
        atomic_store(&board[first].order, ORDER_RESIGN);
        second = wait_for_another(first);
        must_have_led_before(first, second);
        ck_assert_uint_le(atomic_load(&board[first].demoted_us),
                          atomic_load(&board[second].elected_us));
        atomic_store(&board[first].order, ORDER_CAMPAIGN);
        first = second;
    }
}

TEST(two_of_five_masters_are_stopped)
{
    int first, second;

    first = wait_for_another(-1);
    master_stop(s.masters[0]);
    master_stop(s.masters[1]);
    kill(pids[first], SIGKILL);
    second = wait_for_another(first);
    must_have_led_before(first, second);
    atomic_store(&board[second].order, ORDER_RESIGN);
    must_have_led_before(second, wait_for_another(second));
    master_continue(s.masters[0]);
    master_continue(s.masters[1]);
}

/* A leader that can keep no majority is demoted; when the masters are back somebody leads. */
TEST(three_of_five_masters_are_stopped)
{
    unsigned i;
    int first;

    first = wait_for_another(-1);
    for (i = 0; i < 3; i++) {
        master_stop(s.masters[i]);
    }
    loop_must_true(s.base, has_been_demoted, &board[first]);
    for (i = 0; i < 3; i++) {
        master_continue(s.masters[i]);
    }
    atomic_store(&board[first].order, ORDER_RESIGN);
    must_have_led_before(first, wait_for_another(first));
}
