/* thread.c - the loop of the I/O thread: tasks, a turn of the event loop, gates. */
#include "sync/thread.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "base/alloc.h"

/* Of an I/O thread: what it belongs to. */
static _Thread_local const struct redlock_sync *own;

struct redlock_sync *rlk_sync_ref(struct redlock_sync *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void rlk_sync_unref(struct redlock_sync *s)
{
    if (atomic_fetch_sub(&s->refs, 1) == 1) {
        rlk_sync_inbox_end(&s->inbox);
        rlk_fork_end(&s->fork);
        rlk_free(s);
    }
}

bool rlk_sync_is_child(const struct redlock_sync *s)
{
    return rlk_fork_is_child(&s->fork);
}

/* A child that was forked on an I/O thread is no I/O thread. */
int rlk_sync_check(const struct redlock_sync *s)
{
    if (s == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_sync_is_child(s)) {
        return REDLOCK_EFORK;
    }
    return own && !rlk_sync_is_child(own) ? REDLOCK_ESTATE : 0;
}

/* ---- calls ---- */

static void run_call(struct rlk_sync_task *task)
{
    struct rlk_sync_call *call = RLK_CONTAINER(task, struct rlk_sync_call, task);

    if (call->s->rl) {
        call->begin(call);
    } else {
        rlk_sync_finish(call, call->when_closed);
    }
}

int rlk_sync_submit(struct redlock_sync *s, struct rlk_sync_call *call)
{
    int status = call->when_closed;

    call->failure = rlk_sync_failure_begin();
    call->s = rlk_sync_ref(s);
    rlk_sync_gate_init(&call->gate);
    if (rlk_sync_inbox_push(&s->inbox, &call->task)) {
        rlk_sync_gate_wait(&call->gate);
        status = call->status;
    }
    rlk_sync_unref(s);
    return status;
}

int rlk_sync_refuse(int status, const char *text)
{
    rlk_sync_failure_add(rlk_sync_failure_begin(), "%s", text);
    return status;
}

int rlk_sync_refuse_null(void)
{
    return redlock_sync_refuse("the handle is NULL, or the object is empty: moved from, ended or "
                               "never made");
}

int rlk_sync_admit(const struct redlock_sync *s)
{
    int status = rlk_sync_check(s);

    if (status == REDLOCK_EINVAL) {
        return rlk_sync_refuse_null();
    }
    return status ? rlk_sync_refuse(status, "") : 0;
}

int rlk_sync_call(struct redlock_sync *s, struct rlk_sync_call *call)
{
    int status = rlk_sync_admit(s);

    call->task.run = run_call;
    return status ? status : rlk_sync_submit(s, call);
}

/* The gate is opened later, so that this turn's bytes are sent before other threads compete for
 * the processor. */
void rlk_sync_finish(struct rlk_sync_call *call, int status)
{
    call->status = status;
    call->task.next = NULL;
    *call->s->finished_end = &call->task;
    call->s->finished_end = &call->task.next;
    rlk_sync_inbox_stay_awake(&call->s->inbox);
}

void rlk_sync_began(struct rlk_sync_call *call, int status)
{
    if (status) {
        rlk_sync_failure_add(call->failure, "%s", redlock_error_text(call->s->rl));
        rlk_sync_finish(call, status);
    }
}

/* ---- the loop ---- */

/* Without the handlers of exit(3), which are the parent's business. */
void rlk_sync_end_child(const struct redlock_sync *s)
{
    if (rlk_sync_is_child(s)) {
        _exit(0);
    }
}

static void open_gates(struct redlock_sync *s)
{
    struct rlk_sync_task *next = s->finished;

    s->finished = NULL;
    s->finished_end = &s->finished;
    while (next) {
        struct rlk_sync_call *call = RLK_CONTAINER(next, struct rlk_sync_call, task);

        next = next->next;
        rlk_sync_gate_open(&call->gate);
    }
}

static void run_tasks(const struct redlock_sync *s, struct rlk_sync_task *next)
{
    while (next) {
        struct rlk_sync_task *task = next;

        next = next->next;
        task->run(task);
        rlk_sync_end_child(s);
    }
}

/* The gates are opened when everything else is done, and before the thread sleeps. */
static void take_turn(struct redlock_sync *s)
{
    int how = EVLOOP_ONCE;

    run_tasks(s, rlk_sync_inbox_take(&s->inbox));
    open_gates(s);
    if (s->ends || !rlk_sync_inbox_sleep(&s->inbox)) {
        how |= EVLOOP_NONBLOCK;
    }
    event_base_loop(s->base, how);
    rlk_sync_end_child(s);
    rlk_sync_inbox_stay_awake(&s->inbox);
}

static void *run_thread(void *arg)
{
    struct redlock_sync *s = arg;

    own = s;
    while (!s->ends) {
        take_turn(s);
    }
    run_tasks(s, rlk_sync_inbox_close(&s->inbox));
    open_gates(s);
    return NULL;
}

/* ---- start and end ---- */

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg; /* the loop takes the tasks after each turn */
}

/* The base is used by one thread at a time, so it needs no locks, also when the program has told
 * libevent to make some. With edge triggering nobody has to read the file descriptor. */
static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config && event_config_require_features(config, EV_FEATURE_ET) == 0 &&
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV) == 0) {
        base = event_base_new_with_config(config);
    }
    if (config) {
        event_config_free(config);
    }
    return base;
}

static int prepare(struct redlock_sync *s)
{
    int status = rlk_sync_inbox_init(&s->inbox);

    rlk_fork_init(&s->fork);
    atomic_init(&s->refs, 1);
    atomic_init(&s->closing, false);
    s->finished_end = &s->finished;
    rlk_list_init(&s->locks);
    rlk_list_init(&s->elections);
    if (status) {
        return status;
    }
    s->base = make_base();
    if (s->base) {
        s->wake = event_new(s->base, s->inbox.fd, EV_READ | EV_PERSIST | EV_ET, on_wake, NULL);
    }
    return s->wake && event_add(s->wake, NULL) == 0 ? 0 : REDLOCK_ENOMEM;
}

/* The signals of the process are for the other threads. Those that a thread causes by a fault are
 * left alone: blocked, they would end the process without the program's handler. */
static int create(struct redlock_sync *s)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    size_t i;
    int failed;

    sigfillset(&blocked);
    for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    failed = pthread_create(&s->thread, NULL, run_thread, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        return REDLOCK_ESYSTEM;
    }
    pthread_setname_np(s->thread, "redlock");
    return 0;
}

static void free_loop(struct redlock_sync *s)
{
    if (s->wake) {
        event_free(s->wake);
    }
    if (s->base) {
        event_base_free(s->base);
    }
}

static int start_thread(struct redlock_sync *s)
{
    int status = prepare(s);

    if (status == 0) {
        status = create(s);
    }
    if (status) {
        free_loop(s);
        rlk_sync_unref(s);
    }
    return status;
}

/* libevent opens and closes file descriptors, which is a cancellation point as pthread_join() is.
 */
int rlk_sync_thread_start(struct redlock_sync **ret_s)
{
    struct redlock_sync *s = rlk_alloc(sizeof(*s));
    int status, before;

    if (s == NULL) {
        return REDLOCK_ENOMEM;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    status = start_thread(s);
    pthread_setcancelstate(before, NULL);
    if (status == 0) {
        *ret_s = s;
    }
    return status;
}

void rlk_sync_thread_join(struct redlock_sync *s)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_join(s->thread, NULL);
    free_loop(s);
    pthread_setcancelstate(before, NULL);
}
