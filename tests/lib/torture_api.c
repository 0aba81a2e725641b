/* lib/torture_api.c - stands between the scenarios and the public API, and records what the API has
 * promised.
 *
 * Each accepted call has a record, and its result comes here first. Managers and servers are known,
 * so what a scenario left open can be closed. */
#include "lib/torture_api.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/torture.h"

struct torture_manager *torture_managers;
struct torture_call *torture_calls;
bool torture_is_leaving;

/* How deep the scenario is in calls of the library. */
static _Thread_local int in_library;

/* The linker's names: the first are the functions of the library, the others ours. */
__typeof__(redlock_new) __real_redlock_new, __wrap_redlock_new;
__typeof__(redlock_close) __real_redlock_close, __wrap_redlock_close;
__typeof__(redlock_acquire) __real_redlock_acquire, __wrap_redlock_acquire;
__typeof__(redlock_adopt) __real_redlock_adopt, __wrap_redlock_adopt;
__typeof__(redlock_extend) __real_redlock_extend, __wrap_redlock_extend;
__typeof__(redlock_release) __real_redlock_release, __wrap_redlock_release;
__typeof__(redlock_release_token) __real_redlock_release_token, __wrap_redlock_release_token;
__typeof__(redlock_query) __real_redlock_query, __wrap_redlock_query;
__typeof__(redlock_examine) __real_redlock_examine, __wrap_redlock_examine;
__typeof__(redlock_list) __real_redlock_list, __wrap_redlock_list;
__typeof__(redlock_history) __real_redlock_history, __wrap_redlock_history;
__typeof__(redlock_lock_node) __real_redlock_lock_node, __wrap_redlock_lock_node;
__typeof__(redlock_trace_line) __real_redlock_trace_line, __wrap_redlock_trace_line;

/* ---- texts about memory ---- */

/* Before an allocation has failed, a text about memory belongs to the scenario, and is not read. */
static void read_texts_of(struct torture_manager *m)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < redlock_node_count(m->rl); i++) {
        if (redlock_get_node_info(m->rl, i, &info) == 0 && strstr(info.error, "memory")) {
            torture_reported("node %zu: %s", i, info.error);
        }
    }
}

bool torture_api_is_inside(void)
{
    return in_library > 0;
}

void torture_api_read_texts(void)
{
    struct torture_manager *m;

    if (torture_run->failed == 0 || torture_run->reported[0] || !torture_is_here()) {
        return;
    }
    for (m = torture_managers; m; m = m->next) {
        if (m->open) {
            read_texts_of(m);
        }
    }
    torture_election_read_failures();
}

/* ---- the records ---- */

struct torture_manager *torture_api_manager(const struct redlock *rl)
{
    struct torture_manager *m;

    for (m = torture_managers; m && !(m->open && m->rl == rl); m = m->next) {
    }
    return m;
}

/* Handles are used again. The newest call counts, and is the first in the list. */
static struct torture_manager *manager_of_lock(const struct redlock_lock *lock)
{
    const struct torture_call *c;

    for (c = torture_calls; c && c->lock != lock; c = c->next) {
    }
    return c ? c->manager : NULL;
}

static struct torture_call *new_call(const char *what, struct torture_manager *m, void *arg)
{
    struct torture_call *c = calloc(1, sizeof(*c));

    c->what = what;
    c->manager = m;
    c->base = m ? m->base : NULL;
    c->arg = arg;
    c->next = torture_calls;
    torture_calls = c;
    return c;
}

void torture_api_begin(void)
{
    torture_is_thread();
    in_library++;
}

/* The call returned this status. */
int torture_api_end(struct torture_call *c, int status)
{
    in_library--;
    if (c) {
        c->refused = status != 0;
    }
    if (status == REDLOCK_ENOMEM) {
        torture_reported("%s returned REDLOCK_ENOMEM", c ? c->what : "a call");
    }
    if (status == REDLOCK_ENOMEM && torture_run->failed == 0) {
        torture_found("%s returned REDLOCK_ENOMEM, and there is memory", c ? c->what : "a call");
    }
    return status;
}

/* A callback was called. */
static void on_result(struct torture_call *c, int status)
{
    c->reported++;
    if (c->reported > 1) {
        torture_found("%s got %d results", c->what, c->reported);
    }
    if (c->refused) {
        torture_found("%s was refused, and got a result", c->what);
    }
    if (in_library > 0) {
        torture_found("%s got its result inside a call", c->what);
    }
    if (status == REDLOCK_ENOMEM) {
        torture_reported("the callback of %s got REDLOCK_ENOMEM", c->what);
    }
    torture_api_read_texts();
}

/* ---- the callbacks ---- */

/* When an assertion fails in the scenario's own callback, that jumps back to here. */
void torture_api_call_back(struct event_base *base, void (*call)(void *arg), void *arg)
{
    jmp_buf *outer = torture_way_out;
    jmp_buf here;

    if (torture_is_over()) {
        return;
    }
    torture_way_out = torture_is_here() ? &here : NULL;
    if (setjmp(here) == 0) {
        call(arg);
    } else {
        torture_is_leaving = true;
        if (base) {
            event_base_loopbreak(base);
        }
    }
    torture_way_out = outer;
}

struct passed {
    struct torture_call *call;
    struct redlock_lock *lock;
    int status;
    const void *result;
};

static void deliver(void *arg)
{
    const struct passed *p = arg;
    struct torture_call *c = p->call;

    if (c->query_cb) {
        c->query_cb(p->result, p->status, c->arg);
    } else if (c->examine_cb) {
        c->examine_cb(p->result, p->status, c->arg);
    } else if (c->list_cb) {
        c->list_cb(p->result, p->status, c->arg);
    } else if (c->history_cb) {
        c->history_cb(p->result, p->status, c->arg);
    } else if (c->notice_cb) {
        c->notice_cb(p->lock, p->result, c->arg);
    } else if (c->close_cb) {
        c->close_cb(c->arg);
    } else if (c->lock_cb) {
        c->lock_cb(p->lock, p->status, c->arg);
    }
}

/* Call the scenario's own callback. */
static void pass_on(struct torture_call *c, struct redlock_lock *lock, int status,
                    const void *result)
{
    struct passed p = {c, lock, status, result};

    torture_api_call_back(c->base, deliver, &p);
}

static void on_lock(struct redlock_lock *lock, int status, void *arg)
{
    struct torture_call *c = arg;

    c->lock = lock;
    on_result(c, status);
    pass_on(c, lock, status, NULL);
}

/* Notices may come several times, but not inside a call; the last one says that the lock is
 * lost. */
static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct torture_call *c = arg;

    if (in_library > 0) {
        torture_found("a notice came inside a call");
    }
    if (c->is_lost) {
        torture_found("a notice came after the loss");
    }
    c->is_lost = notice->kind == REDLOCK_NOTICE_LOST;
    torture_api_read_texts();
    pass_on(c, lock, 0, notice);
}

static void read_result(const struct redlock_query_result *result)
{
    size_t i;

    for (i = 0; result && i < result->n_nodes; i++) {
        if (strstr(result->nodes[i]->error, "memory")) {
            torture_reported("a query: %s", result->nodes[i]->error);
        }
    }
}

static void on_query(const struct redlock_query_result *result, int status, void *arg)
{
    struct torture_call *c = arg;

    on_result(c, status);
    read_result(result);
    pass_on(c, NULL, status, result);
}

struct passed_key {
    struct torture_call *call;
    const struct redlock_listed *key;
};

static void deliver_key(void *arg)
{
    const struct passed_key *p = arg;

    p->call->listed_cb(p->key, p->call->arg);
}

static void on_listed(const struct redlock_listed *key, void *arg)
{
    struct torture_call *c = arg;
    struct passed_key p = {c, key};

    if (in_library > 0) {
        torture_found("a key was listed inside a call");
    }
    if (c->reported) {
        torture_found("a key was listed after the end of the list");
    }
    read_result(key->result);
    torture_api_call_back(c->base, deliver_key, &p);
}

static void on_list_end(const struct redlock_list_summary *sum, int status, void *arg)
{
    struct torture_call *c = arg;
    size_t i;

    on_result(c, status);
    for (i = 0; sum && i < sum->n_nodes; i++) {
        if (strstr(sum->nodes[i]->error, "memory")) {
            torture_reported("a list: %s", sum->nodes[i]->error);
        }
    }
    pass_on(c, NULL, status, sum);
}

static void on_history_end(const struct redlock_history_result *history, int status, void *arg)
{
    struct torture_call *c = arg;
    size_t i;

    on_result(c, status);
    for (i = 0; history && i < history->n_nodes; i++) {
        if (strstr(history->nodes[i]->error, "memory")) {
            torture_reported("a history: %s", history->nodes[i]->error);
        }
    }
    pass_on(c, NULL, status, history);
}

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    struct torture_call *c = arg;
    size_t i;

    on_result(c, status);
    for (i = 0; report && i < report->n_findings; i++) {
        if (strstr(report->findings[i]->text, "could not be asked")) {
            torture_reported("an examination: %s", report->findings[i]->text);
        }
    }
    pass_on(c, NULL, status, report);
}

static void on_close(void *arg)
{
    struct torture_call *c = arg;

    if (c->manager) {
        c->manager->open = false;
    }
    on_result(c, 0);
    pass_on(c, NULL, 0, NULL);
}

/* ---- the calls ---- */

/* When redlock_new() fails for lack of memory, its text must say so, too; nothing else may be
 * written. */
static void check_refusal(const struct redlock_options *options, int status, bool written)
{
    if (status != 0 && written) {
        torture_found("redlock_new failed, and wrote a manager");
    }
    if (status == REDLOCK_ENOMEM && options && options->size >= sizeof(*options) &&
        options->error_text && options->error_text_size > 20 &&
        !strstr(options->error_text, "memory")) {
        torture_found("redlock_new says without memory: %s", options->error_text);
    }
}

/* The trace_cb of the scenario. */
struct tracer {
    redlock_trace_cb *cb;
    void *arg;
    struct tracer *next;
};

static struct tracer *tracers; /* kept to the end of the run, so that none is a leak */

/* Why a connection broke is said until the next one is greeted, perhaps in the same turn. */
static void on_traced(const struct redlock_trace *event, void *arg)
{
    const struct tracer *t = arg;

    if (event->kind == REDLOCK_TRACE_NODE_TROUBLE && torture_run->failed > 0 &&
        strstr(event->text, "memory")) {
        torture_reported("node %d: %s", event->node, event->text);
    }
    t->cb(event, t->arg);
}

static void listen_too(struct redlock_options *options)
{
    struct tracer *t = calloc(1, sizeof(*t));

    *t = (struct tracer){options->trace_cb, options->trace_arg, tracers};
    tracers = t;
    options->trace_cb = on_traced;
    options->trace_arg = t;
}

int __wrap_redlock_new(struct event_base *base, const struct redlock_options *options,
                       struct redlock **ret_rl)
{
    static char nothing;
    struct redlock_options mine;
    struct redlock *rl = (struct redlock *)(void *)&nothing;
    struct torture_manager *m;
    int status;

    torture_api_begin();
    torture_run->managers = true;
    if (options && options->size == sizeof(mine) && options->trace_cb) {
        mine = *options;
        listen_too(&mine);
        options = &mine;
    }
    status = __real_redlock_new(base, options, ret_rl ? &rl : NULL);
    torture_api_end(NULL, status);
    check_refusal(options, status, rl != (struct redlock *)(void *)&nothing);
    if (status == 0) {
        m = calloc(1, sizeof(*m));
        *m = (struct torture_manager){torture_managers, rl, base, true, false};
        torture_managers = m;
        *ret_rl = rl;
    }
    return status;
}

int __wrap_redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg)
{
    struct torture_manager *m = torture_api_manager(rl);
    struct torture_call *c = new_call("redlock_close", m, arg);
    int status;

    c->close_cb = cb;
    torture_api_begin();
    status = torture_api_end(c, __real_redlock_close(rl, on_close, c));
    if (status == 0 && m) {
        m->closing = true;
    }
    return status;
}

/* If the scenario wants notices, they come here first. An adoption has a token, an acquire has
 * none. */
static int ask(const char *what, struct redlock *rl, const struct redlock_request *request,
               const char *const *token, redlock_acquire_cb *cb, void *arg,
               struct redlock_lock **ret_lock)
{
    struct torture_call *c = new_call(what, torture_api_manager(rl), arg), *notices = NULL;
    struct redlock_lock *before = ret_lock ? *ret_lock : NULL;
    struct redlock_request own;
    int status;

    if (request && request->size == sizeof(own) && request->notice_cb) {
        own = *request;
        notices = new_call("notices", c->manager, own.notice_arg);
        notices->reported = 1; /* a notice need not come */
        notices->notice_cb = own.notice_cb;
        own.notice_cb = on_notice;
        own.notice_arg = notices;
        request = &own;
    }
    c->lock_cb = cb;
    cb = cb ? on_lock : NULL;
    torture_api_begin();
    status = torture_api_end(c, token ? __real_redlock_adopt(rl, request, *token, cb, c, ret_lock)
                                      : __real_redlock_acquire(rl, request, cb, c, ret_lock));
    if (status != 0 && ret_lock && *ret_lock != before) {
        torture_found("%s failed, and wrote a handle", what);
    }
    return status;
}

int __wrap_redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                           redlock_acquire_cb *cb, void *arg, struct redlock_lock **ret_lock)
{
    return ask("redlock_acquire", rl, request, NULL, cb, arg, ret_lock);
}

int __wrap_redlock_adopt(struct redlock *rl, const struct redlock_request *request,
                         const char *token, redlock_acquire_cb *cb, void *arg,
                         struct redlock_lock **ret_lock)
{
    return ask("redlock_adopt", rl, request, &token, cb, arg, ret_lock);
}

int __wrap_redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb,
                          void *arg)
{
    struct torture_call *c = new_call("redlock_extend", manager_of_lock(lock), arg);

    c->lock_cb = cb;
    torture_api_begin();
    return torture_api_end(c, __real_redlock_extend(lock, ttl_ms, cb ? on_lock : NULL, c));
}

int __wrap_redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg)
{
    struct torture_call *c = new_call("redlock_release", manager_of_lock(lock), arg);

    c->lock_cb = cb;
    c->reported = cb == NULL;
    torture_api_begin();
    return torture_api_end(c, __real_redlock_release(lock, cb ? on_lock : NULL, c));
}

int __wrap_redlock_release_token(struct redlock *rl, const char *const *keys,
                                 const size_t *key_lens, size_t n_keys, const char *token,
                                 redlock_release_cb *cb, void *arg)
{
    struct torture_call *c = new_call("redlock_release_token", torture_api_manager(rl), arg);

    c->lock_cb = cb;
    c->reported = cb == NULL;
    torture_api_begin();
    return torture_api_end(
        c, __real_redlock_release_token(rl, keys, key_lens, n_keys, token, cb ? on_lock : NULL, c));
}

int __wrap_redlock_query(struct redlock *rl, const char *key, size_t key_len, redlock_query_cb *cb,
                         void *arg)
{
    struct torture_call *c = new_call("redlock_query", torture_api_manager(rl), arg);

    c->query_cb = cb;
    torture_api_begin();
    return torture_api_end(c, __real_redlock_query(rl, key, key_len, cb ? on_query : NULL, c));
}

int __wrap_redlock_examine(struct redlock *rl, redlock_examine_cb *cb, void *arg)
{
    struct torture_call *c = new_call("redlock_examine", torture_api_manager(rl), arg);

    c->examine_cb = cb;
    torture_api_begin();
    return torture_api_end(c, __real_redlock_examine(rl, cb ? on_examined : NULL, c));
}

int __wrap_redlock_list(struct redlock *rl, const struct redlock_list_options *options)
{
    struct redlock_list_options mine;
    struct torture_call *c;

    torture_api_begin();
    if (options == NULL || options->size != sizeof(mine) || options->list_cb == NULL ||
        options->listed_cb == NULL) {
        return torture_api_end(NULL, __real_redlock_list(rl, options));
    }
    c = new_call("redlock_list", torture_api_manager(rl), options->arg);
    c->listed_cb = options->listed_cb;
    c->list_cb = options->list_cb;
    mine = *options;
    mine.listed_cb = on_listed;
    mine.list_cb = on_list_end;
    mine.arg = c;
    return torture_api_end(c, __real_redlock_list(rl, &mine));
}

int __wrap_redlock_history(struct redlock *rl, const struct redlock_history_options *options)
{
    struct redlock_history_options mine;
    struct torture_call *c;

    torture_api_begin();
    if (options == NULL || options->size != sizeof(mine) || options->history_cb == NULL) {
        return torture_api_end(NULL, __real_redlock_history(rl, options));
    }
    c = new_call("redlock_history", torture_api_manager(rl), options->arg);
    c->history_cb = options->history_cb;
    mine = *options;
    mine.history_cb = on_history_end;
    mine.arg = c;
    return torture_api_end(c, __real_redlock_history(rl, &mine));
}

/* The scenario may read about the failure in the details of a vote, and nowhere else. */
int __wrap_redlock_lock_node(const struct redlock_lock *lock, size_t index,
                             struct redlock_node_detail *ret_detail)
{
    int status = __real_redlock_lock_node(lock, index, ret_detail);

    if (status == 0 && torture_run->failed > 0 &&
        (strstr(ret_detail->holder, "memory") || strstr(ret_detail->error, "memory"))) {
        torture_reported("the vote of node %zu: %s%s", index, ret_detail->holder,
                         ret_detail->error);
    }
    return status;
}

/* A scenario that reads a trace may find the failure only there. */
size_t __wrap_redlock_trace_line(const struct redlock_trace *event, char *out, size_t size)
{
    size_t len = __real_redlock_trace_line(event, out, size);

    if (torture_run->failed > 0 && strstr(event->text, "memory")) {
        torture_reported("a trace: %s", event->text);
    }
    return len;
}

void torture_api_close_one(struct torture_manager *m)
{
    __wrap_redlock_close(m->rl, NULL, NULL);
}
