/* lib/torture_toy.c - see torture_toy.h. */
#include "lib/torture_toy.h"

#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/torture.h"

struct redlock {
    struct event *event;
    redlock_close_cb *cb;
    void *arg;
};

struct redlock_lock {
    struct event *event;
    void *room;
    redlock_acquire_cb *cb;
    void *arg;
    int status;
};

const char *torture_toy_fault = "none";

static const char *trouble = "";

static int is(const char *name)
{
    return strcmp(torture_toy_fault, name) == 0;
}

static void on_close(evutil_socket_t fd, short what, void *arg)
{
    struct redlock *rl = arg;
    redlock_close_cb *cb = rl->cb;
    void *cb_arg = rl->arg;

    (void)fd;
    (void)what;
    event_free(rl->event);
    __wrap_free(rl);
    cb(cb_arg);
}

int redlock_new(struct event_base *base, const struct redlock_options *options,
                struct redlock **ret_rl)
{
    struct redlock *rl = __wrap_calloc(1, sizeof(*rl));

    (void)options;
    if (!rl && is("written")) {
        *ret_rl = NULL;
    }
    if (!rl) {
        return REDLOCK_ENOMEM;
    }
    rl->event = event_new(base, -1, 0, on_close, rl);
    *ret_rl = rl;
    return 0;
}

int redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg)
{
    rl->cb = cb;
    rl->arg = arg;
    event_active(rl->event, 0, 0);
    return 0;
}

size_t redlock_node_count(const struct redlock *rl)
{
    (void)rl;
    return 1;
}

int redlock_get_node_info(const struct redlock *rl, size_t index,
                          struct redlock_node_info *ret_info)
{
    (void)rl;
    (void)index;
    ret_info->error = trouble;
    return 0;
}

static void on_acquire(evutil_socket_t fd, short what, void *arg)
{
    struct redlock_lock *lock = arg;
    redlock_acquire_cb *cb = lock->cb;
    void *cb_arg = lock->arg;
    int status = lock->status;

    (void)fd;
    (void)what;
    event_free(lock->event);
    __wrap_free(lock->room);
    __wrap_free(lock);
    cb(NULL, status, cb_arg);
    if (status && is("twice")) {
        cb(NULL, status, cb_arg);
    }
}

/* What happens when the second of two allocations fails. */
static int without_room(struct redlock_lock *lock)
{
    if (is("crash")) {
        abort();
    } else if (is("hang")) {
        for (;;) {
            pause();
        }
    } else if (is("lose")) {
        __wrap_free(lock);
        return 0;
    } else if (is("silent")) {
        lock->status = REDLOCK_ENOQUORUM;
        return 1;
    } else if (is("text")) {
        lock->status = REDLOCK_ENOQUORUM;
        trouble = "out of memory";
        return 1;
    } else if (is("twice")) {
        lock->status = REDLOCK_ENOMEM;
        return 1;
    } else if (is("inside")) {
        lock->cb(NULL, REDLOCK_ENOMEM, lock->arg);
    }
    if (!is("leak")) {
        __wrap_free(lock);
    }
    return REDLOCK_ENOMEM;
}

int redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                    redlock_acquire_cb *cb, void *arg, struct redlock_lock **ret_lock)
{
    struct redlock_lock *lock = __wrap_calloc(1, sizeof(*lock));
    int status;

    (void)request;
    (void)ret_lock;
    if (!lock) {
        return REDLOCK_ENOMEM;
    }
    lock->cb = cb;
    lock->arg = arg;
    lock->room = __wrap_calloc(1, 1);
    if (!lock->room && (status = without_room(lock)) <= 0) {
        return status;
    }
    lock->event = event_new(event_get_base(rl->event), -1, 0, on_acquire, lock);
    event_active(lock->event, 0, 0);
    return 0;
}

int redlock_adopt(struct redlock *rl, const struct redlock_request *request, const char *token,
                  redlock_acquire_cb *cb, void *arg, struct redlock_lock **ret_lock)
{
    (void)rl;
    (void)request;
    (void)token;
    (void)cb;
    (void)arg;
    (void)ret_lock;
    return REDLOCK_EINVAL;
}

int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb, void *arg)
{
    (void)lock;
    (void)ttl_ms;
    (void)cb;
    (void)arg;
    return REDLOCK_EINVAL;
}

int redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg)
{
    (void)lock;
    (void)cb;
    (void)arg;
    return REDLOCK_EINVAL;
}

int redlock_release_token(struct redlock *rl, const char *const *keys, const size_t *key_lens,
                          size_t n_keys, const char *token, redlock_release_cb *cb, void *arg)
{
    (void)rl;
    (void)keys;
    (void)key_lens;
    (void)n_keys;
    (void)token;
    (void)cb;
    (void)arg;
    return REDLOCK_EINVAL;
}

int redlock_query(struct redlock *rl, const char *key, size_t key_len, redlock_query_cb *cb,
                  void *arg)
{
    (void)rl;
    (void)key;
    (void)key_len;
    (void)cb;
    (void)arg;
    return REDLOCK_EINVAL;
}

int redlock_list(struct redlock *rl, const struct redlock_list_options *options)
{
    (void)rl;
    (void)options;
    return REDLOCK_EINVAL;
}

int redlock_history(struct redlock *rl, const struct redlock_history_options *options)
{
    (void)rl;
    (void)options;
    return REDLOCK_EINVAL;
}

int redlock_examine(struct redlock *rl, redlock_examine_cb *cb, void *arg)
{
    (void)rl;
    (void)cb;
    (void)arg;
    return REDLOCK_EINVAL;
}

int redlock_election_new(struct redlock *rl, const struct redlock_election_options *options,
                         struct redlock_election **ret_election)
{
    (void)rl;
    (void)options;
    (void)ret_election;
    return REDLOCK_EINVAL;
}

int redlock_election_free(struct redlock_election *election, redlock_election_free_cb *cb,
                          void *arg)
{
    (void)election;
    (void)cb;
    (void)arg;
    return REDLOCK_EINVAL;
}

int redlock_election_failure(const struct redlock_election *election)
{
    (void)election;
    return 0;
}

int redlock_lock_node(const struct redlock_lock *lock, size_t index,
                      struct redlock_node_detail *ret_detail)
{
    (void)lock;
    (void)index;
    (void)ret_detail;
    return REDLOCK_EINVAL;
}

size_t redlock_trace_line(const struct redlock_trace *event, char *out, size_t size)
{
    (void)event;
    (void)size;
    out[0] = '\0';
    return 0;
}
