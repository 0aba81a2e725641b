/* rig.c - see rig.h. */
#include "sync/rig.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/loop.h"

void rig_prepare(struct rig *r)
{
    size_t i;

    memset(r, 0, sizeof(*r));
    for (i = 0; i < RIG_MASTERS; i++) {
        r->masters[i] = master_start(NULL);
        r->uris[i] = master_uri(r->masters[i]);
    }
    redlock_options_init(&r->options);
    r->options.quarantine = REDLOCK_QUARANTINE_OFF;
    r->options.nodes = r->uris;
    r->options.n_nodes = RIG_MASTERS;
    r->options.node_timeout_ms = 60000; /* a master that runs answers in time */
}

static void look(struct redlock *rl, void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    bool *all_up = arg;
    size_t i;

    *all_up = true;
    for (i = 0; i < redlock_node_count(rl); i++) {
        *all_up &=
            redlock_get_node_info(rl, i, &info) == REDLOCK_OK && info.state == REDLOCK_NODE_UP;
    }
}

static bool are_all_up(void *arg)
{
    bool all_up = false;

    ck_assert_int_eq(redlock_sync_run(arg, look, &all_up), REDLOCK_OK);
    return all_up;
}

void rig_open(struct rig *r)
{
    ck_assert_int_eq(redlock_sync_new(&r->options, &r->s), REDLOCK_OK);
    rig_wait(are_all_up, r->s);
}

void rig_start(struct rig *r)
{
    rig_prepare(r);
    rig_open(r);
}

void rig_end(struct rig *r)
{
    size_t i;

    if (r->s) {
        ck_assert_int_eq(redlock_sync_close(r->s), REDLOCK_OK);
    }
    for (i = 0; i < RIG_MASTERS; i++) {
        master_free(r->masters[i]);
    }
}

struct redlock_request rig_request(const char *key)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = key;
    request.ttl_ms = RIG_TTL_MS;
    request.renew = 0;
    return request;
}

struct redlock_sync_lock *rig_acquire(struct rig *r, const char *key)
{
    struct redlock_request request = rig_request(key);
    struct redlock_sync_lock *lock;
    int status = redlock_sync_acquire(r->s, &request, NULL, &lock);

    ck_assert_msg(status == REDLOCK_OK, "%d: %s", status, redlock_sync_error_text());
    return lock;
}

/* A key on one master. */
struct where {
    struct master *master;
    const char *key;
};

/* A key on some master. */
struct somewhere {
    struct rig *r;
    const char *key;
};

static bool is_there(void *arg)
{
    const struct where *w = arg;

    return strcmp(master_ask(w->master, "EXISTS %s", w->key), "1") == 0;
}

struct redlock_sync_lock *rig_acquire_everywhere(struct rig *r, const char *key)
{
    struct redlock_sync_lock *lock = rig_acquire(r, key);
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        struct where w = {r->masters[i], key};

        rig_wait(is_there, &w);
    }
    return lock;
}

static bool is_listed(void *arg)
{
    const struct somewhere *w = arg;
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        if (strcmp(master_ask(w->r->masters[i], "EXISTS %s:redlock-waiting", w->key), "1") == 0) {
            return true;
        }
    }
    return false;
}

void rig_wait_listed(struct rig *r, const char *key)
{
    struct somewhere w = {r, key};

    rig_wait(is_listed, &w);
}

void rig_stop_masters(struct rig *r)
{
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        master_stop(r->masters[i]);
    }
}

void rig_continue_masters(struct rig *r)
{
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        master_continue(r->masters[i]);
    }
}

/* ---- waiting ---- */

void rig_wait(bool (*holds)(void *arg), void *arg)
{
    static const struct timespec pause = {0, 1000000};
    unsigned i;

    for (i = 0; !holds(arg); i++) {
        ck_assert_msg(i < LOOP_BOUND_MS, "it did not happen");
        nanosleep(&pause, NULL);
    }
}

static bool is_set(void *arg)
{
    return atomic_load((const atomic_int *)arg) != 0;
}

void rig_wait_for(const atomic_int *flag)
{
    rig_wait(is_set, (void *)(uintptr_t)flag);
}

static bool is_clean(void *arg)
{
    return strcmp(master_ask(arg, "DBSIZE"), "0") == 0;
}

void rig_expect_clean(struct rig *r)
{
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        rig_wait(is_clean, r->masters[i]);
    }
}

bool rig_is_readable(int fd, int within_ms)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};

    return poll(&poller, 1, within_ms) == 1 && (poller.revents & POLLIN) != 0;
}

pthread_t rig_thread(void *(*run)(void *arg), void *arg)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, run, arg), 0);
    return thread;
}

void rig_join(pthread_t thread)
{
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
