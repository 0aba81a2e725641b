/* lib/torture_end.c - the servers and event loops of a scenario, and how everything is closed at
 * its end. */
#include <event2/event.h>
#include <stdlib.h>
#include <time.h>

#include "lib/fake.h"
#include "lib/torture.h"
#include "lib/torture_api.h"

/* How long a close may take, and when it gets help: then the servers hang up, and, in programs that
 * can set the clock, more time passes than any timeout lasts. */
#define CLOSE_MS 30000
#define HANG_UP_MS 400
#define TIME_OUT_MS 60001
#define WAKE_US 2000

struct server {
    struct server *next;
    struct fake *fake;
};

static struct server *servers;
static bool in_loop;

/* The linker's names. */
__typeof__(fake_new) __real_fake_new, __wrap_fake_new;
__typeof__(fake_free) __real_fake_free, __wrap_fake_free;
__typeof__(event_base_loop) __real_event_base_loop, __wrap_event_base_loop;
__typeof__(event_base_free) __real_event_base_free, __wrap_event_base_free;
__typeof__(event_base_dispatch) __wrap_event_base_dispatch;

struct fake *__wrap_fake_new(struct event_base *base, enum fake_where where)
{
    struct server *s = calloc(1, sizeof(*s));

    s->fake = __real_fake_new(base, where);
    s->next = servers;
    servers = s;
    return s->fake;
}

void __wrap_fake_free(struct fake *f)
{
    struct server *s;

    for (s = servers; s; s = s->next) {
        if (s->fake == f) {
            s->fake = NULL;
        }
    }
    __real_fake_free(f);
}

int __wrap_event_base_loop(struct event_base *base, int flags)
{
    bool outer = in_loop;
    int status;

    in_loop = true;
    status = __real_event_base_loop(base, flags);
    in_loop = outer;
    torture_api_read_texts();
    if (torture_is_leaving && torture_is_here()) {
        torture_stop();
    }
    return status;
}

int __wrap_event_base_dispatch(struct event_base *base)
{
    return __wrap_event_base_loop(base, 0);
}

/* ---- the end ---- */

static unsigned long long now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (unsigned long long)ts.tv_sec * 1000 + (unsigned long long)ts.tv_nsec / 1000000;
}

static void wake(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static void each_server(void (*act)(struct fake *f))
{
    struct server *s;

    for (s = servers; s; s = s->next) {
        if (s->fake) {
            act(s->fake);
        }
    }
}

/* io/suspend.h, in the programs that have it. */
__attribute__((weak)) void suspend_ms(unsigned ms);

static void help_along(void)
{
    each_server(fake_hang_up);
    if (suspend_ms) {
        suspend_ms(TIME_OUT_MS);
    }
}

/* Run the event loop of a manager until it is closed. */
static void wait_for(struct torture_manager *m)
{
    const struct timeval every = {0, WAKE_US};
    struct event *timer = event_new(m->base, -1, EV_PERSIST, wake, NULL);
    unsigned long long start = now_ms();
    bool hung_up = false;

    event_add(timer, &every);
    while (m->open && now_ms() - start < CLOSE_MS) {
        __real_event_base_loop(m->base, EVLOOP_ONCE);
        if (!hung_up && now_ms() - start > HANG_UP_MS) {
            hung_up = true;
            help_along();
        }
    }
    event_free(timer);
    if (m->open) {
        torture_found("a manager was not closed after %d ms", CLOSE_MS);
    }
}

/* A scenario may give a close only a few turns of the loop, which is enough when nothing fails.
 * After a failure the loop must run for longer. */
void __wrap_event_base_free(struct event_base *base)
{
    struct torture_manager *m;

    for (m = torture_managers; m && torture_is_here(); m = m->next) {
        if (m->base == base && m->open && m->closing && torture_run->failed > 0) {
            wait_for(m);
        }
        if (m->base == base) {
            m->base = NULL;
        }
    }
    __real_event_base_free(base);
}

void torture_api_close(void)
{
    struct torture_manager *m;

    if (in_loop) {
        torture_run->wedged = true;
        return;
    }
    each_server(fake_behave);
    each_server(fake_go_on);
    for (m = torture_managers; m; m = m->next) {
        if (m->open && m->base && !m->closing) {
            torture_api_close_one(m);
        }
    }
    for (m = torture_managers; m; m = m->next) {
        if (m->open && m->base) {
            wait_for(m);
        }
    }
}

static void check_server(struct fake *f)
{
    if (fake_n_bad(f) > 0) {
        torture_found("a server was sent something that is not the protocol");
    }
}

void torture_api_check(void)
{
    struct torture_call *c;

    each_server(check_server);
    for (c = torture_calls; c; c = c->next) {
        if (!c->refused && c->reported == 0) {
            torture_found("%s never got a result", c->what);
        }
    }
    torture_election_check();
}
