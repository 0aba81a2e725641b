/* io/test_trace.c - the lines that a manager traces: those of a whole cycle, what they never
 * contain, and what may not be called while one is reported. */
#include <stdio.h>
#include <string.h>

#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("trace");

#define LINES 400

static struct farm f;
static struct held h;

/* ---- the lines that were traced ---- */

static char lines[LINES][REDLOCK_TRACE_LINE];
static size_t n_lines, at;
static uint64_t last_us;
static bool is_inside;

/* These tests ignore the time at the beginning of a line. */
static void on_event(const struct redlock_trace *ev, void *arg)
{
    char line[REDLOCK_TRACE_LINE];

    ck_assert_ptr_eq(arg, lines);
    ck_assert_uint_eq(ev->size, sizeof(*ev));
    ck_assert(!is_inside);
    ck_assert_uint_ge(ev->time_us, last_us);
    last_us = ev->time_us;
    redlock_trace_line(ev, line, sizeof(line));
    ck_assert_uint_lt(n_lines, LINES);
    snprintf(lines[n_lines++], sizeof(lines[0]), "%s", strchr(line, 'c'));
}

static void start(void)
{
    n_lines = at = 0;
    last_us = 0;
    memset(&h, 0, sizeof(h));
    farm_start(&f, 5, FAKE_UNIX);
    f.options.node_timeout_ms = HELD_TIMEOUT_MS;
    f.options.max_ttl_ms = OUTCOME_TTL_MS;
    f.options.trace_cb = on_event;
    f.options.trace_arg = lines;
}

static void die(const char *what)
{
    size_t i;

    for (i = 0; i < n_lines; i++) {
        fprintf(stderr, "%s\n", lines[i]);
    }
    ck_abort_msg("no line \"%s\" from line %zu on", what, at);
}

/* A $ stands for the part of the token that is shown. */
static void fill_in(const char *text, char out[256])
{
    const char *mark = strchr(text, '$');

    snprintf(out, 256, "%.*s%.*s%s", (int)strcspn(text, "$"), text, mark ? 8 : 0, h.token,
             mark ? mark + 1 : "");
}

/* Find a line that begins with `text`, from `from` on. Returns the index after it. */
static size_t find(const char *text, size_t from)
{
    char begin[256];

    fill_in(text, begin);
    while (from < n_lines && strncmp(lines[from], begin, strlen(begin)) != 0) {
        from++;
    }
    if (from == n_lines) {
        die(begin);
    }
    return from + 1;
}

/* After the line that was found last. */
static void must_follow(const char *text)
{
    at = find(text, at);
}

/* A line for each of these nodes, in any order; a # stands for its number. */
static void must_follow_of_each(size_t first, size_t last, const char *pattern)
{
    size_t node, after, from = at;
    char text[256];

    snprintf(text, sizeof(text), "%s", pattern);
    for (node = first; node < last; node++) {
        text[strcspn(pattern, "#")] = (char)('0' + node);
        after = find(text, from);
        at = after > at ? after : at;
    }
}

/* ---- the lines ---- */

FIXTURE(start, farm_end_all);

TEST(a_lock_is_traced_from_the_request_to_the_release)
{
    farm_open(&f);
    must_follow_of_each(0, 5, "c0-n#  connected: redis");
    held_acquire_key(&h, &f, "k");
    must_follow("c0.0  asks for k, ttl 120000 ms, renewed");
    must_follow("c0.0  round 1: t$");
    must_follow("c0.0  sends SET k t$ for 120000 ms to n0 n1 n2 n3 n4");
    must_follow("c0.0  has a majority with t$");
    must_follow("c0.0  HOLDS k with t$, 1");
    at = 0;
    must_follow_of_each(0, 5, "c0.0  n# says yes to t$");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    must_follow("c0.0  extends t$ to 120000 ms on n0 n1 n2 n3 n4");
    must_follow("c0.0  t$ is renewed, 1");
    at = find("c0.0  extends t$ to", 0);
    must_follow_of_each(0, 5, "c0.0  n# says yes to extending t$");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    must_follow("c0.0  begins to release k with t$");
    must_follow("c0.0  releases t$ on n0 n1 n2 n3 n4");
    must_follow("c0.0  the release of t$ ended with OK");
    farm_end(&f);
    must_follow("c0    closes");
    must_follow_of_each(0, 5, "c0-n#  disconnected");
    must_follow("c0    is closed");
}

TEST(a_loss_is_traced_with_its_cause)
{
    farm_open(&f);
    held_acquire_key(&h, &f, "k");
    farm_pause(&f, 1, 5);
    while (h.lost == 0) {
        suspend_ms(5000);
        loop_settle(f.base);
    }
    must_follow("c0.0  extends t$ to");
    must_follow("c0.0  t$ is in trouble: ENOQUORUM, ");
    must_follow("c0.0  t$ is LOST: ENOQUORUM");
    ck_assert_int_eq(redlock_lock_detach(h.lock), REDLOCK_OK);
    must_follow("c0.0  detaches t$");
    farm_go_on(&f, 1, 5);
    loop_settle(f.base);
    must_follow_of_each(1, 5, "c0-n#  says yes to extending t$");
}

TEST(a_round_that_failed_is_traced_with_its_reason)
{
    struct outcome got;

    farm_open(&f);
    farm_set(&f, 0, 3, "k", "another", OUTCOME_TTL_MS);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    snprintf(h.token, sizeof(h.token), "%s", got.token);
    must_follow_of_each(0, 3, "c0.0  n# says no to t$");
    must_follow("c0.0  round 1 failed: EHELD");
    must_follow("c0.0  fails with EHELD after round 1");
}

TEST(a_pending_release_is_traced_and_when_it_is_sent)
{
    farm_open(&f);
    held_acquire_key(&h, &f, "k");
    fake_down(f.nodes[4]);
    farm_wait(&f, 4, REDLOCK_NODE_DOWN);
    must_follow("c0-n4  trouble: the connection broke");
    must_follow("c0-n4  disconnected");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    must_follow("c0.0  releases t$ on n0 n1 n2 n3");
    must_follow("c0-n4  the release of t$ is pending");
    fake_up(f.nodes[4]);
    suspend_ms(5000);
    farm_wait_clean(&f);
    must_follow("c0-n4  connected");
    must_follow("c0-n4  releases t$ on n4");
}

TEST(a_master_whose_vote_does_not_count_is_traced)
{
    size_t i;

    f.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    for (i = 0; i < 5; i++) {
        fake_model(f.nodes[i])->uptime_s = 0;
    }
    farm_open(&f);
    must_follow_of_each(0, 5, "c0-n#  quarantined: does not vote for another ");
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_ENOQUORUM);
    must_follow_of_each(0, 2, "c0.0  n# says quarantined to t");
}

/* ---- what no line contains ---- */

#define PASSWORD "a-very-secret-word"
#define OWNER "another-secret"

static void must_be_nowhere(const char *secret)
{
    size_t i;

    for (i = 0; i < n_lines; i++) {
        ck_assert_msg(strstr(lines[i], secret) == NULL, "%s", lines[i]);
    }
}

/* The first server repeats everything that it was sent, the second refuses our login and quotes
 * the password, the third has a key that would control a terminal. */
TEST(neither_a_password_nor_a_whole_token_is_traced)
{
    struct redlock_request request;
    char says[320], some[10];

    f.options.password = PASSWORD;
    fake_on(f.nodes[0], "AUTH", FAKE_REPLY, "+OK\r\n");
    fake_on(f.nodes[1], "AUTH", FAKE_REPLY, "-WRONGPASS " PASSWORD " is wrong\r\n");
    farm_open_at_once(&f);
    farm_wait_error(&f, 1, "rejected our user");
    request = held_request(&h, &f, "\x1b[31mk\n");
    request.owner = OWNER;
    held_acquire(&h, &request);
    ck_assert_ptr_nonnull(strstr(h.token, OWNER));
    snprintf(says, sizeof(says), "-ERR unknown command 'EVAL', with args: '%s'\r\n", h.token);
    fake_on(f.nodes[0], "EVAL", FAKE_REPLY, says);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 2, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    ck_assert_int_eq(
        redlock_release_token(f.rl, (const char *const[]){"k"}, NULL, 1, PASSWORD, NULL, NULL),
        REDLOCK_OK);
    farm_end(&f);
    must_follow("c0.0  asks for \\x1b[31mk\\x0a, ttl");
    must_follow(
        "c0-n0  trouble: refused to extend the lock: ERR unknown command 'EVAL', with args: "
        "'$");
    must_follow("c0.1  releases t? on n0");
    snprintf(some, sizeof(some), "%.9s", h.token);
    must_be_nowhere(PASSWORD);
    must_be_nowhere(OWNER);
    must_be_nowhere(some);
}

static void must_not_quote(size_t node, const char *secret)
{
    ck_assert_msg(strstr(farm_error(&f, node), secret) == NULL, "%s", farm_error(&f, node));
    must_be_nowhere(secret);
}

/* In answers of which nobody expects it; nor in what redlock_get_node_info() says. A part of a
 * token is what is left when the server, or we, cut its text. */
TEST(what_a_server_repeats_is_in_no_text)
{
    char says[512], some[10];
    size_t i;

    f.options.password = PASSWORD;
    farm_on(&f, 0, 5, "AUTH", FAKE_REPLY, "+OK\r\n");
    fake_on(f.nodes[0], "HELLO", FAKE_REPLY, "-ERR is not " PASSWORD ", is it\r\n");
    fake_on(f.nodes[1], "AUTH", FAKE_REPLY, "-" PASSWORD " is wrong\r\n");
    fake_on(f.nodes[2], "HELLO", FAKE_REPLY,
            "*8\r\n$6\r\nserver\r\n$18\r\n" PASSWORD "\r\n$7\r\nversion\r\n$18\r\n" PASSWORD
            "\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n");
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "refused the handshake: ERR is not");
    farm_wait_error(&f, 1, "rejected our user");
    held_acquire_key(&h, &f, "k");
    snprintf(says, sizeof(says), "-ERR cut '%.39s'\r\n", h.token);
    fake_on(f.nodes[3], "EVAL", FAKE_REPLY, says);
    snprintf(says, sizeof(says), "-ERR %0215d%.40s\r\n", 0, h.token);
    memset(says + 5, 'z', 215);
    fake_on(f.nodes[4], "EVAL", FAKE_REPLY, says);
    suspend_ms(HELD_THIRD_MS);
    farm_wait_error(&f, 3, "ERR cut '");
    farm_wait_error(&f, 4, "ERR zzz");
    snprintf(some, sizeof(some), "%.9s", h.token);
    for (i = 0; i < 5; i++) {
        must_not_quote(i, PASSWORD);
        must_not_quote(i, some);
    }
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
}

/* ---- calls in the middle of a trace callback ---- */

static unsigned refused;

static void never_called(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    ck_abort_msg("a refused call has called back with %d", status);
}

static void never_reported(const struct redlock_query_result *result, int status, void *arg)
{
    (void)result;
    never_called(NULL, status, arg);
}

static void never_examined(const struct redlock_report *report, int status, void *arg)
{
    (void)report;
    never_called(NULL, status, arg);
}

static void try_all(struct redlock *rl)
{
    const char *const keys[] = {"other"};
    struct redlock_request request = outcome_request("other");

    ck_assert_int_eq(redlock_acquire(rl, &request, never_called, NULL, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_adopt(rl, &request, "token", never_called, NULL, NULL),
                     REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_release_token(rl, keys, NULL, 1, "token", never_called, NULL),
                     REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_query(rl, "other", 0, never_reported, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_examine(rl, never_examined, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_close(rl, NULL, NULL), REDLOCK_ESTATE);
}

static void try_lock(struct redlock_lock *lock)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_release(lock, never_called, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_extend(lock, 0, never_called, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_heartbeat(lock), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_detach(lock), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_node(lock, 0, &detail), REDLOCK_OK);
    redlock_lock_validity_ms(lock);
    ck_assert_str_eq(redlock_lock_key(lock, NULL), "k");
}

static void on_event_try(const struct redlock_trace *ev, void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    on_event(ev, arg);
    is_inside = true;
    if (f.rl) {
        try_all(f.rl);
        ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), REDLOCK_OK);
        refused++;
    }
    if (h.lock) {
        try_lock(h.lock);
    }
    is_inside = false;
}

TEST(no_call_is_accepted_in_a_trace_callback)
{
    f.options.trace_cb = on_event_try;
    farm_open(&f);
    held_acquire_key(&h, &f, "k");
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    must_follow("c0.0  t$ is renewed");
    ck_assert_uint_gt(refused, 20);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 5);
    f.options.trace_cb = NULL;
}

static bool is_lost_wait_traced(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < n_lines; i++) {
        if (strstr(lines[i], " says nothing to waiting for k")) {
            return true;
        }
        ck_assert_msg(!strstr(lines[i], " to waiting for k"), "%s", lines[i]);
    }
    return false;
}

/* And not as a full queue. */
TEST(a_lost_reply_about_a_queue_is_traced_as_none)
{
    static struct outcome got;
    struct redlock_request request = outcome_request("k");
    size_t i;

    memset(&got, 0, sizeof(got));
    f.options.subscribe = 1;
    farm_set(&f, 0, 5, "k", "another", OUTCOME_TTL_MS);
    farm_open(&f);
    for (i = 0; i < 5; i++) {
        fake_on(f.nodes[i], "EVAL", FAKE_DO_CLOSE, NULL);
    }
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), REDLOCK_OK);
    loop_must_true(f.base, is_lost_wait_traced, NULL);
}
