/* live/site.c - see site.h. */
#include "live/site.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

static struct site *started;

void site_start(struct site *s, size_t n, const struct master_options *options)
{
    size_t i;

    memset(s, 0, sizeof(*s));
    s->base = event_base_new();
    s->n = n;
    for (i = 0; i < n; i++) {
        s->masters[i] = master_start(options);
        s->uris[i] = master_uri(s->masters[i]);
    }
    redlock_options_init(&s->options);
    s->options.quarantine = REDLOCK_QUARANTINE_OFF;
    s->options.inspection_ms = 0;
    s->options.nodes = s->uris;
    s->options.n_nodes = n;
    s->options.node_timeout_ms = SITE_NEVER_MS;
    s->options.connect_timeout_ms = SITE_NEVER_MS;
    s->options.password = options ? options->password : NULL;
    started = s;
}

bool site_user(struct site *s, const char *rights)
{
    char words[256];
    size_t i;

    snprintf(words, sizeof(words), "ann on >secret %s", rights);
    for (i = 0; i < s->n; i++) {
        if (!master_user(s->masters[i], words)) {
            return false;
        }
    }
    s->options.username = "ann";
    s->options.password = "secret";
    return true;
}

void site_open_at_once(struct site *s)
{
    size_t i;

    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(redlock_new(s->base, &s->options, &s->rl[i]), REDLOCK_OK);
    }
}

void site_open(struct site *s)
{
    size_t i;

    site_open_at_once(s);
    for (i = 0; i < 2 * s->n; i++) {
        watch_for_state(s->base, s->rl[i % 2], i / 2, REDLOCK_NODE_UP);
    }
}

void site_start_open(struct site *s, size_t n)
{
    site_start(s, n, NULL);
    site_open(s);
}

void site_end(struct site *s)
{
    size_t i;

    started = NULL;
    for (i = 0; i < 2; i++) {
        if (s->rl[i]) {
            watch_close(s->base, s->rl[i]);
        }
    }
    for (i = 0; i < s->n; i++) {
        master_free(s->masters[i]);
    }
    event_base_free(s->base);
}

void site_end_all(void)
{
    if (started) {
        site_end(started);
    }
}

struct outcome site_acquire_with(struct site *s, size_t manager,
                                 const struct redlock_request *request)
{
    return outcome_of_acquire(s->base, s->rl[manager], s->n, request);
}

struct outcome site_acquire(struct site *s, const char *key)
{
    struct redlock_request request = outcome_request(key);

    return site_acquire_with(s, 0, &request);
}

struct outcome site_must_acquire(struct site *s, const char *key)
{
    struct outcome got = site_acquire(s, key);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    return got;
}

int site_release(struct site *s, struct redlock_lock *lock)
{
    return outcome_of_release(s->base, lock);
}

void site_time_out(struct site *s)
{
    loop_settle(s->base);
    suspend_ms(SITE_NEVER_MS + 1);
}

void site_close_to_timeout(struct site *s, size_t manager)
{
    int closed = 0;

    ck_assert_int_eq(redlock_close(s->rl[manager], watch_on_closed, &closed), REDLOCK_OK);
    s->rl[manager] = NULL;
    site_time_out(s);
    loop_must(s->base, &closed);
}

/* A condition on the answer of one master. */
struct wanted {
    struct site *s;
    size_t node;
    const char *command;
    const char *answer;
};

static bool answers(void *arg)
{
    const struct wanted *w = arg;

    return strcmp(master_ask(w->s->masters[w->node], w->command), w->answer) == 0;
}

void site_wait_answer(struct site *s, size_t node, const char *answer, const char *command)
{
    struct wanted wanted = {s, node, command, answer};

    if (!loop_until_true(s->base, answers, &wanted, LOOP_BOUND_MS)) {
        ck_abort_msg("master %zu answers %s with %s instead of %s", node, command,
                     master_ask(s->masters[node], command), answer);
    }
}

#define DAY_S 86400

const char *site_make_old(struct site *s, size_t node)
{
    const char *run = strstr(master_ask(s->masters[node], "INFO server"), "run_id:");
    char key[128];

    ck_assert_ptr_nonnull(run);
    snprintf(key, sizeof(key), "%.40s %016zx %lld000000", run + strlen("run_id:"), node + 1,
             (long long)time(NULL) - DAY_S);
    ck_assert_str_eq(master_ask(s->masters[node], "SET redlock:incarnation %s", key), "OK");
    return master_ask(s->masters[node], "GET redlock:incarnation");
}

void site_wait_clean(struct site *s)
{
    size_t i;

    for (i = 0; i < s->n; i++) {
        if (master_runs(s->masters[i])) {
            site_wait_answer(s, i, "0", "DBSIZE");
        }
    }
}
