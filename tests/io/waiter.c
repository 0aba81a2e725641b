/* io/waiter.c - see waiter.h. */
#include "io/waiter.h"

#include <check.h>
#include <string.h>

const size_t waiter_hosts[WAITER_HOSTS] = {1, 2, 3};

struct redlock_request waiter_request(const char *key)
{
    struct redlock_request request = outcome_request(key);

    request.retry_min_ms = request.retry_max_ms;
    return request;
}

/* Without a watch waiters poll, so only a trace says that there was no memory for it. The line
 * counts as that report. */
static void on_traced(const struct redlock_trace *ev, void *arg)
{
    char line[REDLOCK_TRACE_LINE];

    (void)arg;
    redlock_trace_line(ev, line, sizeof(line));
}

void waiter_start(struct farm *f, struct outcome *got, size_t n, int watch)
{
    memset(got, 0, sizeof(*got));
    got->n = n;
    farm_start_frozen(f, n);
    f->options.subscribe = watch;
    f->options.trace_cb = on_traced;
    farm_open(f);
}

const char *waiter_channel(const struct farm *f)
{
    const struct fake *host = f->nodes[waiter_hosts[0]];
    long at = fake_find(host, WAITER_WATCH, 0, "SUBSCRIBE");

    ck_assert_int_ge(at, 0);
    return fake_request(host, WAITER_WATCH, (size_t)at)->argv[1];
}

void waiter_tell(const struct farm *f, size_t node, const char *text, size_t len)
{
    struct model *m = fake_model(f->nodes[node]);

    ck_assert_uint_eq(rlk_model_publish(m, waiter_channel(f), text, len), 1);
}

void waiter_go_on(const struct farm *f)
{
    size_t i;

    for (i = 0; i < f->n; i++) {
        fake_behave(f->nodes[i]);
        fake_go_on(f->nodes[i]);
    }
}

size_t waiter_count(const struct farm *f, const char *command)
{
    size_t i, n = 0;

    for (i = 0; i < f->n; i++) {
        n += fake_count(f->nodes[i], command);
    }
    return n;
}
