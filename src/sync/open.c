/* open.c - begins and ends the manager of an I/O thread, and calls functions there. */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "base/sized.h"
#include "lock/kept.h"
#include "sync/election.h"
#include "sync/lock.h"
#include "sync/thread.h"

/* ---- redlock_sync_new() ---- */

struct open {
    struct rlk_sync_call call;
    const struct redlock_options *options;
    struct redlock_options own; /* a copy, with the text of the thread that calls */
};

/* There is no manager yet, so this is no ordinary begin. */
static void run_open(struct rlk_sync_task *task)
{
    struct open *open = RLK_CONTAINER(task, struct open, call.task);
    struct redlock_sync *s = open->call.s;
    struct rlk_sync_failure *f = open->call.failure;
    int status;

    open->own.error_text = f->text;
    open->own.error_text_size = sizeof(f->text);
    status = redlock_new(s->base, open->options, &s->rl);
    f->len = strlen(f->text);

    s->ends = status != 0;
    if (status == 0) {
        rlk_kept_manager(s->rl, true);
    }
    rlk_sync_finish(&open->call, status);
}

/* Options that cannot be read go to the manager as they are, which refuses them. */
static void read_options(struct open *open)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_options, error_text_size);

    redlock_options_init(&open->own);
    if (open->options &&
        rlk_sized_read(open->options, least, &open->own, sizeof(open->own)) == RLK_SIZED_READ) {
        open->options = &open->own;
    }
}

/* The text is the thread's, and the caller's, too. */
static void explain_open(const struct open *open, char *text, size_t size)
{
    if (open->options == &open->own && text && size > 0) {
        snprintf(text, size, "%s", open->call.failure->text);
    }
}

REDLOCK_EXPORT int redlock_sync_new(const struct redlock_options *options,
                                    struct redlock_sync **ret_s)
{
    struct open open = {.options = options, .call.task.run = run_open};
    struct redlock_sync *s;
    size_t size;
    char *text;
    int status;

    if (ret_s == NULL) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_s is NULL");
    }
    status = rlk_sync_thread_start(&s);
    if (status) {
        return rlk_sync_refuse(status, "");
    }
    read_options(&open);
    text = open.own.error_text;
    size = open.own.error_text_size;
    status = rlk_sync_submit(s, &open.call);
    if (status) {
        explain_open(&open, text, size);
        rlk_sync_thread_join(s);
        rlk_sync_unref(s);
        return status;
    }
    *ret_s = s;
    return 0;
}

/* ---- redlock_sync_close() ---- */

static void on_closed(void *arg)
{
    struct redlock_sync *s = arg;

    rlk_sync_elections_end(s);
    s->rl = NULL;
    s->ends = true;
}

static void run_close(struct rlk_sync_task *task)
{
    struct redlock_sync *s = RLK_CONTAINER(task, struct redlock_sync, close);

    rlk_sync_locks_close(s);
    rlk_sync_elections_close(s);
    rlk_kept_manager(s->rl, false);
    redlock_close(s->rl, on_closed, s);
}

REDLOCK_EXPORT int redlock_sync_close(struct redlock_sync *s)
{
    int status = rlk_sync_admit(s);

    if (status) {
        return status;
    }
    if (atomic_exchange(&s->closing, true)) {
        return REDLOCK_ESTATE;
    }
    s->close.run = run_close;
    rlk_sync_inbox_push(&s->inbox, &s->close);
    rlk_sync_thread_join(s);
    rlk_sync_unref(s);
    return 0;
}

/* ---- redlock_sync_run() ---- */

struct run {
    struct rlk_sync_call call;
    void (*function)(struct redlock *rl, void *arg);
    void *arg;
};

static void begin_run(struct rlk_sync_call *call)
{
    struct run *run = RLK_CONTAINER(call, struct run, call);

    run->function(call->s->rl, run->arg);
    rlk_sync_finish(call, 0);
}

REDLOCK_EXPORT int redlock_sync_run(struct redlock_sync *s,
                                    void (*function)(struct redlock *rl, void *arg), void *arg)
{
    struct run run = {.call = {.begin = begin_run, .when_closed = REDLOCK_ESTATE},
                      .function = function,
                      .arg = arg};

    return function ? rlk_sync_call(s, &run.call)
                    : rlk_sync_refuse(REDLOCK_EINVAL, "function is NULL");
}
