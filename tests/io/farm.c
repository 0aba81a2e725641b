/* io/farm.c - see farm.h. */
#include "io/farm.h"

#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "io/suspend.h"
#include "io/watch.h"

/* A run of hex digits so long that it would be a token. */
static bool has_token(const char *text)
{
    static const char hex[] = "0123456789abcdefABCDEF";

    while (*text && strspn(text, hex) < 40) {
        text += strspn(text, hex);
        text += *text != '\0';
    }
    return *text != '\0';
}

/* Every test is traced, too, and no line may control a terminal. Events about running out of memory
 * are skipped: the library must report these without a trace, and torture checks that. */
static void on_traced(const struct redlock_trace *ev, void *arg)
{
    char line[REDLOCK_TRACE_LINE];
    size_t len, i;

    (void)arg;
    if (strstr(ev->text, "memory")) {
        return;
    }
    len = redlock_trace_line(ev, line, sizeof(line));
    ck_assert_uint_lt(len + 1, sizeof(line));
    for (i = 0; i < len; i++) {
        ck_assert_msg(line[i] >= ' ' && line[i] <= '~', "%s", line);
    }
    ck_assert_msg(strlen(ev->token) <= 8 && !has_token(ev->text), "%s", line);
    ck_assert_msg(strstr(line, "too old") == NULL, "%s", line);
}

static struct farm *started;

void farm_start(struct farm *f, size_t n, enum fake_where where)
{
    size_t i;

    memset(f, 0, sizeof(*f));
    f->base = event_base_new();
    f->n = n;
    for (i = 0; i < n; i++) {
        f->nodes[i] = fake_new(f->base, where);
        f->uris[i] = fake_uri(f->nodes[i]);
    }
    redlock_options_init(&f->options);
    f->options.quarantine = REDLOCK_QUARANTINE_OFF;
    f->options.inspection_ms = 0;
    f->options.nodes = f->uris;
    f->options.n_nodes = n;
    f->options.subscribe = 0; /* waiters poll: test_watch.c has the other way */
    f->options.node_timeout_ms = FARM_NEVER_MS;
    f->options.connect_timeout_ms = FARM_NEVER_MS;
    f->options.error_text = f->error_text;
    f->options.error_text_size = sizeof(f->error_text);
    f->options.trace_cb = on_traced;
    f->next = started;
    started = f;
}

void farm_open_at_once(struct farm *f)
{
    int status = redlock_new(f->base, &f->options, &f->rl);

    if (status != REDLOCK_OK) {
        ck_abort_msg("redlock_new: %d, %s", status, f->error_text);
    }
}

void farm_open(struct farm *f)
{
    size_t i;

    farm_open_at_once(f);
    for (i = 0; i < f->n; i++) {
        farm_wait(f, i, REDLOCK_NODE_UP);
    }
}

void farm_start_frozen(struct farm *f, size_t n)
{
    size_t i;

    suspend_freeze();
    farm_start(f, n, FAKE_UNIX);
    for (i = 0; i < n; i++) {
        rlk_model_stop_clock(fake_model(f->nodes[i]));
    }
}

void farm_start_open(struct farm *f, size_t n)
{
    farm_start(f, n, FAKE_UNIX);
    farm_open(f);
}

enum redlock_node_state farm_state(struct farm *f, size_t node)
{
    return watch_state(f->rl, node);
}

const char *farm_error(struct farm *f, size_t node)
{
    return watch_error(f->rl, node);
}

void farm_wait(struct farm *f, size_t node, enum redlock_node_state state)
{
    watch_for_state(f->base, f->rl, node, state);
}

void farm_wait_error(struct farm *f, size_t node, const char *word)
{
    watch_for_error(f->base, f->rl, node, word);
}

void farm_close(struct farm *f)
{
    watch_close(f->base, f->rl);
    f->rl = NULL;
}

/* A close waits for a server that never answers until its timeout. */
static void close_in_any_case(struct farm *f)
{
    int closed = 0;

    ck_assert_int_eq(redlock_close(f->rl, watch_on_closed, &closed), REDLOCK_OK);
    f->rl = NULL;
    loop_settle(f->base);
    if (!closed) {
        suspend_ms(FARM_NEVER_MS + 1);
    }
    loop_must(f->base, &closed);
}

static void forget_farm(const struct farm *f)
{
    struct farm **at = &started;

    while (*at != f) {
        at = &(*at)->next;
    }
    *at = f->next;
}

/* Whatever a test did, no client of ours may have sent invalid protocol. */
void farm_end(struct farm *f)
{
    size_t i;

    forget_farm(f);
    if (f->rl) {
        for (i = 0; i < f->n; i++) {
            fake_behave(f->nodes[i]);
            fake_go_on(f->nodes[i]);
        }
        close_in_any_case(f);
    }
    for (i = 0; i < f->n; i++) {
        ck_assert_uint_eq(fake_n_bad(f->nodes[i]), 0);
        fake_free(f->nodes[i]);
    }
    event_base_free(f->base);
}

void farm_end_all(void)
{
    suspend_unfreeze();
    while (started) {
        farm_end(started);
    }
}

struct outcome farm_acquire_as(struct farm *f, const struct redlock_request *request)
{
    return outcome_of_acquire(f->base, f->rl, f->n, request);
}

struct outcome farm_acquire(struct farm *f, const char *key)
{
    struct redlock_request request = outcome_request(key);

    return farm_acquire_as(f, &request);
}

struct outcome farm_must_acquire_as(struct farm *f, const struct redlock_request *request)
{
    struct outcome got = farm_acquire_as(f, request);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    return got;
}

struct outcome farm_must_acquire(struct farm *f, const char *key)
{
    struct redlock_request request = outcome_request(key);

    return farm_must_acquire_as(f, &request);
}

int farm_release(struct farm *f, struct redlock_lock *lock)
{
    return outcome_of_release(f->base, lock);
}

void farm_time_out(struct farm *f)
{
    loop_settle(f->base);
    suspend_ms(FARM_NEVER_MS + 1);
}

struct outcome farm_acquire_to_timeout(struct farm *f, const char *key)
{
    struct redlock_request request = outcome_request(key);
    struct outcome got = {.n = f->n};

    ck_assert_int_eq(redlock_acquire(f->rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_time_out(f);
    loop_must(f->base, &got.calls);
    return got;
}

int farm_release_to_timeout(struct farm *f, struct redlock_lock *lock)
{
    struct outcome_released released = {0, 0};

    ck_assert_int_eq(redlock_release(lock, outcome_on_released, &released), REDLOCK_OK);
    farm_time_out(f);
    loop_must(f->base, &released.calls);
    return released.status;
}

size_t farm_count(struct farm *f, const char *key, const char *value)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < f->n; i++) {
        const char *there = rlk_model_get(fake_model(f->nodes[i]), key);

        n += value ? there && strcmp(there, value) == 0 : there == NULL;
    }
    return n;
}

/* A condition on one node or one key. */
struct about {
    struct farm *f;
    size_t node;
    const char *word;
    size_t count;
};

static bool has_count(void *arg)
{
    const struct about *about = arg;

    return fake_count(about->f->nodes[about->node], about->word) >= about->count;
}

void farm_on(struct farm *f, size_t first, size_t last, const char *command, enum fake_how how,
             const char *bytes)
{
    for (; first < last; first++) {
        fake_on(f->nodes[first], command, how, bytes);
    }
}

static void each(struct farm *f, size_t first, size_t last, void act(struct fake *node))
{
    for (; first < last; first++) {
        act(f->nodes[first]);
    }
}

void farm_pause(struct farm *f, size_t first, size_t last)
{
    each(f, first, last, fake_pause);
}

void farm_go_on(struct farm *f, size_t first, size_t last)
{
    each(f, first, last, fake_go_on);
}

void farm_down(struct farm *f, size_t first, size_t last)
{
    each(f, first, last, fake_down);
}

void farm_up(struct farm *f, size_t first, size_t last)
{
    each(f, first, last, fake_up);
}

void farm_set(struct farm *f, size_t first, size_t last, const char *key, const char *value,
              uint64_t ttl_ms)
{
    for (; first < last; first++) {
        rlk_model_set(fake_model(f->nodes[first]), key, value, ttl_ms);
    }
}

void farm_give_away(struct farm *f, size_t first, size_t last)
{
    farm_set(f, first, last, "k", FARM_OTHER, 0);
}

void farm_end_other(struct farm *f)
{
    size_t i;

    for (i = 0; i < f->n; i++) {
        rlk_model_del(fake_model(f->nodes[i]), "k");
    }
}

void farm_wait_count(struct farm *f, size_t node, const char *command, size_t count)
{
    struct about about = {.f = f, .node = node, .word = command, .count = count};

    if (!loop_until_true(f->base, has_count, &about, LOOP_BOUND_MS)) {
        ck_abort_msg("node %zu got %zu times %s instead of %zu times", node,
                     fake_count(f->nodes[node], command), command, count);
    }
}

static bool is_gone(void *arg)
{
    const struct about *about = arg;

    return farm_count(about->f, about->word, NULL) == about->f->n;
}

void farm_wait_gone(struct farm *f, const char *key)
{
    struct about about = {.f = f, .word = key};

    if (!loop_until_true(f->base, is_gone, &about, LOOP_BOUND_MS)) {
        ck_abort_msg("the key %s was left behind", key);
    }
}

static bool is_clean(void *arg)
{
    struct farm *f = arg;
    size_t n = 0;
    size_t i;

    for (i = 0; i < f->n; i++) {
        n += rlk_model_count(fake_model(f->nodes[i]));
    }
    return n == 0;
}

void farm_wait_clean(struct farm *f)
{
    if (!loop_until_true(f->base, is_clean, f, LOOP_BOUND_MS)) {
        ck_abort_msg("a key was left behind");
    }
}

const char *farm_token_at(struct farm *f, size_t node, size_t conn, size_t at)
{
    const struct resp_request *request = fake_request(f->nodes[node], conn, at);

    ck_assert(rlk_resp_is(request, 0, "SET"));
    return request->argv[2];
}

/* A script whose last argument is the token. A release may have one more: '-', which wakes nobody,
 * or the channel of the manager. */
static bool is_release(const struct resp_request *request, const char *token)
{
    const char *last = request->argv[request->argc - 1];

    if (!rlk_resp_is(request, 0, "EVALSHA") && !rlk_resp_is(request, 0, "EVAL")) {
        return false;
    }
    if (strcmp(last, "-") == 0 || strstr(last, "redlock:wake:")) {
        last = request->argv[request->argc - 2];
    }
    return strcmp(last, token) == 0;
}

long farm_find_release(struct farm *f, size_t node, size_t conn, size_t from, const char *token)
{
    size_t at;

    for (at = from; at < fake_n_commands(f->nodes[node], conn); at++) {
        if (is_release(fake_request(f->nodes[node], conn, at), token)) {
            return (long)at;
        }
    }
    return -1;
}

void farm_must_release_after(struct farm *f, size_t node, size_t conn, size_t at)
{
    const char *token = farm_token_at(f, node, conn, at);

    if (farm_find_release(f, node, conn, at, token) < 0) {
        ck_abort_msg("node %zu got no release after its SET of %s", node, token);
    }
}
