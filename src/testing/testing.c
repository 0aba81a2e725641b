/* testing/testing.c - the calls of redlock/testing.h: each checks its arguments, and lets the
 * masters' thread do the rest. */
#include <redlock/testing.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "testing/failure.h"
#include "testing/folder.h"
#include "testing/master.h"
#include "testing/memory.h"
#include "testing/worker.h"

#define MAX_MASTERS 63
#define MAX_KEY 1024
#define MAX_OWNER 208
#define MAX_TTL_MS 86400000u
#define TOKEN_BYTES 20

struct redlock_testing {
    struct worker worker;
    pid_t pid; /* of the process that made it */
    struct folder folder;
    const char **nodes;
    struct master *masters;
    size_t n_masters;
};

/* ---- making and ending ---- */

static int make_masters(struct redlock_testing *t, size_t n_masters)
{
    int status = 0;

    t->nodes = calloc(n_masters, sizeof(*t->nodes));
    t->masters = calloc(n_masters, sizeof(*t->masters));
    if (!t->nodes || !t->masters) {
        return rlk_testing_failure(REDLOCK_ENOMEM, "not enough memory for %zu masters", n_masters);
    }
    while (status == 0 && t->n_masters < n_masters) {
        struct master *m = &t->masters[t->n_masters];

        status = rlk_testing_master_init(m, t->worker.base, t->folder.path, t->n_masters);
        t->nodes[t->n_masters++] = m->uri;
    }
    return status;
}

static int make_worker(struct redlock_testing *t)
{
    int status = rlk_testing_worker_init(&t->worker);

    return status ? rlk_testing_failure(status, "cannot make an event loop for the masters: %s",
                                        strerror(errno))
                  : 0;
}

static int start_worker(struct redlock_testing *t)
{
    return rlk_testing_worker_start(&t->worker)
               ? rlk_testing_failure(REDLOCK_ESYSTEM, "cannot start a thread for the masters: %s",
                                     strerror(errno))
               : 0;
}

/* Free what make_masters() has made, and the loop. */
static void free_masters(struct redlock_testing *t)
{
    size_t i;

    for (i = 0; i < t->n_masters; i++) {
        rlk_testing_master_free(&t->masters[i]);
    }
    free(t->masters);
    free(t->nodes);
    rlk_testing_worker_free(&t->worker);
}

static int make_in_folder(struct redlock_testing *t, size_t n_masters)
{
    int status = make_worker(t);

    if (status) {
        return status;
    }
    status = make_masters(t, n_masters);
    status = status ? status : start_worker(t);
    if (status) {
        free_masters(t);
    }
    return status;
}

int redlock_testing_new(size_t n_masters, struct redlock_testing **ret_testing)
{
    struct redlock_testing *t;
    int status;

    if (!ret_testing || n_masters < 1 || n_masters > MAX_MASTERS) {
        return rlk_testing_failure(
            REDLOCK_EINVAL, "n_masters must be from 1 to %d, and ret_testing must not be NULL",
            MAX_MASTERS);
    }
    t = calloc(1, sizeof(*t));
    if (!t) {
        return rlk_testing_failure(REDLOCK_ENOMEM, "not enough memory for the masters");
    }
    t->pid = getpid();
    status = rlk_testing_folder_make(&t->folder);
    if (status == 0 && (status = make_in_folder(t, n_masters)) != 0) {
        rlk_testing_folder_remove(&t->folder);
    }
    if (status) {
        free(t);
        return status;
    }
    *ret_testing = t;
    return 0;
}

void redlock_testing_free(struct redlock_testing *testing)
{
    if (!testing || testing->pid != getpid()) {
        return;
    }
    rlk_testing_worker_stop(&testing->worker);
    free_masters(testing);
    rlk_testing_folder_remove(&testing->folder);
    free(testing);
}

const char *const *redlock_testing_nodes(const struct redlock_testing *testing)
{
    return testing ? testing->nodes : NULL;
}

size_t redlock_testing_node_count(const struct redlock_testing *testing)
{
    return testing ? testing->n_masters : 0;
}

/* ---- calls ---- */

/* What a call asks of the masters' thread. */
struct testing_call {
    struct redlock_testing *testing;
    const char *key;
    const char *value;
    uint32_t ttl_ms;
    size_t masters; /* how many, or which */
    int what;       /* a state or an event */
    int64_t result;
    char text[256]; /* why it failed: the text of the masters' thread */
};

static int check_testing(const struct redlock_testing *t)
{
    if (!t) {
        return rlk_testing_failure(REDLOCK_EINVAL, "testing must not be NULL");
    }
    return t->pid == getpid()
               ? 0
               : rlk_testing_failure(REDLOCK_EFORK,
                                     "only the process that made the masters controls them");
}

static int check_key(const struct redlock_testing *t, const char *key)
{
    int status = check_testing(t);

    if (status == 0 && (!key || key[0] == '\0' || strlen(key) > MAX_KEY)) {
        return rlk_testing_failure(REDLOCK_EINVAL, "a key must have 1 to %d bytes", MAX_KEY);
    }
    return status;
}

static int check_master(const struct redlock_testing *t, size_t master)
{
    int status = check_testing(t);

    if (status == 0 && master >= t->n_masters) {
        return rlk_testing_failure(REDLOCK_EINVAL,
                                   "there is no master %zu: there are %zu, counted from 0", master,
                                   t->n_masters);
    }
    return status;
}

static int run_call(int (*run)(void *arg), struct testing_call *call)
{
    int status = rlk_testing_worker_run(&call->testing->worker, run, call);

    return status ? rlk_testing_failure(status, "%s", call->text) : 0;
}

/* On the masters' thread: keep the text of what failed there. */
static int keep_text(struct testing_call *call, int status)
{
    if (status) {
        snprintf(call->text, sizeof(call->text), "%s", redlock_testing_error_text());
    }
    return status;
}

static int no_memory(struct testing_call *call)
{
    return keep_text(call, rlk_testing_failure(REDLOCK_ENOMEM, "a master is out of memory"));
}

static int do_hold(void *arg)
{
    struct testing_call *call = arg;
    bool worked = true;
    size_t i;

    for (i = 0; i < call->testing->n_masters; i++) {
        worked = rlk_model_set(&call->testing->masters[i].server.model, call->key, call->value,
                               call->ttl_ms) &&
                 worked;
    }
    rlk_testing_memory_failed();
    return worked ? 0 : no_memory(call);
}

static bool is_owner(const char *owner)
{
    size_t n = 0;

    while (owner[n] >= ' ' && owner[n] <= '~') {
        n++;
    }
    return owner[n] == '\0' && n <= MAX_OWNER;
}

/* "<40 hex digits>:<owner>" */
static int write_value(char *value, size_t size, const char *owner)
{
    unsigned char random[TOKEN_BYTES];
    size_t i;

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return rlk_testing_failure(REDLOCK_ESYSTEM, "cannot get random bytes: %s", strerror(errno));
    }
    for (i = 0; i < sizeof(random); i++) {
        snprintf(value + 2 * i, size - 2 * i, "%02x", random[i]);
    }
    if (owner && owner[0]) {
        snprintf(value + 2 * i, size - 2 * i, ":%s", owner);
    }
    return 0;
}

int redlock_testing_hold(struct redlock_testing *testing, const char *key, const char *owner,
                         uint32_t ttl_ms)
{
    char value[2 * TOKEN_BYTES + 1 + MAX_OWNER + 1];
    struct testing_call call = {testing, .key = key, .value = value, .ttl_ms = ttl_ms};
    int status = check_key(testing, key);

    if (status == 0 && ((owner && !is_owner(owner)) || ttl_ms > MAX_TTL_MS)) {
        return rlk_testing_failure(
            REDLOCK_EINVAL,
            "the owner must be printable ASCII of at most %d bytes, and the TTL at most "
            "%u ms",
            MAX_OWNER, MAX_TTL_MS);
    }
    status = status ? status : write_value(value, sizeof(value), owner);
    return status ? status : run_call(do_hold, &call);
}

static int do_lose(void *arg)
{
    struct testing_call *call = arg;
    size_t i;

    for (i = 0; i < call->masters; i++) {
        rlk_model_del(&call->testing->masters[i].server.model, call->key);
    }
    return rlk_testing_memory_failed() ? no_memory(call) : 0;
}

int redlock_testing_lose(struct redlock_testing *testing, const char *key, size_t n_masters)
{
    struct testing_call call = {testing, .key = key, .masters = n_masters};
    int status = check_key(testing, key);

    if (status == 0 && (n_masters < 1 || n_masters > testing->n_masters)) {
        return rlk_testing_failure(REDLOCK_EINVAL, "n_masters must be from 1 to %zu",
                                   testing->n_masters);
    }
    return status ? status : run_call(do_lose, &call);
}

static int do_set_state(void *arg)
{
    struct testing_call *call = arg;

    return keep_text(call, rlk_testing_master_set_state(&call->testing->masters[call->masters],
                                                        (enum redlock_testing_state)call->what));
}

int redlock_testing_set_state(struct redlock_testing *testing, size_t master, int state)
{
    struct testing_call call = {testing, .masters = master, .what = state};
    int status = check_master(testing, master);

    if (status == 0 && (state < REDLOCK_TESTING_UP || state > REDLOCK_TESTING_DOWN)) {
        return rlk_testing_failure(REDLOCK_EINVAL, "%d is not a state of a master", state);
    }
    return status ? status : run_call(do_set_state, &call);
}

static int do_restart(void *arg)
{
    struct testing_call *call = arg;

    return keep_text(call, rlk_testing_master_restart(&call->testing->masters[call->masters]));
}

int redlock_testing_restart(struct redlock_testing *testing, size_t master)
{
    struct testing_call call = {testing, .masters = master};
    int status = check_master(testing, master);

    return status ? status : run_call(do_restart, &call);
}

/* ---- counts ---- */

static size_t masters_with(const struct testing_call *call, uint64_t at_least)
{
    size_t i, n = 0;

    for (i = 0; i < call->testing->n_masters; i++) {
        n +=
            rlk_testing_master_count(&call->testing->masters[i],
                                     (enum redlock_testing_event)call->what, call->key) >= at_least;
    }
    return n;
}

/* The largest number that a majority of the masters has reached. */
static int do_count(void *arg)
{
    struct testing_call *call = arg;
    size_t i;

    for (i = 0; i < call->testing->n_masters; i++) {
        uint64_t count = rlk_testing_master_count(
            &call->testing->masters[i], (enum redlock_testing_event)call->what, call->key);

        if (2 * masters_with(call, count) > call->testing->n_masters &&
            count > (uint64_t)call->result) {
            call->result = (int64_t)count;
        }
    }
    return 0;
}

int64_t redlock_testing_count(struct redlock_testing *testing, int event, const char *key)
{
    struct testing_call call = {testing, .key = key, .what = event};
    int status = check_key(testing, key);

    if (status == 0 && (event < REDLOCK_TESTING_GRANTED || event > REDLOCK_TESTING_HELD)) {
        return rlk_testing_failure(REDLOCK_EINVAL, "%d is not an event of a key", event);
    }
    status = status ? status : run_call(do_count, &call);
    return status ? status : call.result;
}

static int do_commands(void *arg)
{
    struct testing_call *call = arg;

    call->result = (int64_t)call->testing->masters[call->masters].server.n_commands;
    return 0;
}

int64_t redlock_testing_commands(struct redlock_testing *testing, size_t master)
{
    struct testing_call call = {testing, .masters = master};
    int status = check_master(testing, master);

    status = status ? status : run_call(do_commands, &call);
    return status ? status : call.result;
}
