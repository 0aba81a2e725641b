/* ours.c - contenders on libredlock: a manager each, or some that share one, on one event loop.
 *
 * A contender that holds the lock has a timer of its own for that, because those of the loop count
 * milliseconds. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../manager.h"
#include "contend.h"

struct contenders;

struct contender {
    struct contenders *all;
    struct redlock *rl;
    struct redlock_lock *lock; /* asked for or held */
    struct event *holding;     /* NULL until it has held the lock once */
    int timer;
    struct contend_record record;
};

struct contenders {
    struct contend_args args;
    struct event_base *base;
    struct event *input;
    struct contender *list;
    struct redlock **managers;
    bool resting;
    bool ending;
    unsigned busy; /* ask, hold or release */
    unsigned open; /* managers that are not closed yet */
    unsigned left; /* were still waiting when the input ended */
    uint64_t errors;
};

static void on_acquired(struct redlock_lock *lock, int status, void *arg);

static void ask(struct contender *c)
{
    const struct contend_args *args = &c->all->args;
    struct redlock_request request;
    char key[64];
    int status;

    redlock_request_init(&request);
    request.key = args->key;
    request.ttl_ms = args->ttl_ms;
    request.wait_ms = REDLOCK_FOREVER;
    if (args->keys > 1) {
        snprintf(key, sizeof(key), "%s:%u", args->key, c->record.contender % args->keys);
        request.key = key;
    }
    c->record.asked_ns = bench_now_ns();
    c->all->busy++;
    status = redlock_acquire(c->rl, &request, on_acquired, c, &c->lock);
    if (status) {
        errx(1, "redlock_acquire: %s", redlock_strerror(status));
    }
}

/* A contender is through; it asks again unless everybody is to rest. */
static void next(struct contender *c)
{
    struct contenders *all = c->all;

    all->busy--;
    c->record.tries = 0;
    if (!all->resting) {
        ask(c);
    } else if (all->busy == 0 && !all->ending) {
        contend_say("rested");
    }
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct contender *c = arg;

    (void)lock;
    c->all->errors += status != 0;
    contend_record(&c->record);
    next(c);
}

static void on_held_enough(evutil_socket_t fd, short what, void *arg)
{
    struct contender *c = arg;
    uint64_t expirations;
    int status;

    (void)what;
    if (read(fd, &expirations, sizeof(expirations)) != sizeof(expirations)) {
        return;
    }
    c->record.released_ns = bench_now_ns();
    status = redlock_release(c->lock, on_released, c);
    if (status) {
        errx(1, "redlock_release: %s", redlock_strerror(status));
    }
}

static void hold(struct contender *c)
{
    c->record.held_ns = bench_now_ns();
    if (c->holding == NULL) {
        c->timer = contend_timer();
        c->holding = event_new(c->all->base, c->timer, EV_READ | EV_PERSIST, on_held_enough, c);
        if (c->holding == NULL || event_add(c->holding, NULL)) {
            errx(1, "out of memory");
        }
    }
    contend_timer_set(c->timer, c->record.held_ns + c->all->args.hold_ns);
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct contender *c = arg;
    uint32_t tries;

    redlock_lock_effort(lock, &tries, NULL);
    c->record.tries = tries;
    if (status == 0) {
        hold(c);
        return;
    }
    c->all->left += status == REDLOCK_ECANCELED;
    c->all->errors += status != REDLOCK_ECANCELED;
    next(c);
}

static void on_closed(void *arg)
{
    struct contenders *all = arg;

    if (--all->open == 0) {
        event_base_loopbreak(all->base);
    }
}

/* The releases that a close makes by itself are nobody's acquisitions. */
static void end(struct contenders *all)
{
    unsigned i;

    all->resting = all->ending = true;
    event_del(all->input);
    for (i = 0; i < all->args.contenders; i++) {
        if (all->list[i].holding != NULL) {
            event_del(all->list[i].holding);
        }
    }
    for (i = 0; i < all->args.managers; i++) {
        redlock_close(all->managers[i], on_closed, all);
    }
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    struct contenders *all = arg;
    char letter = contend_letter();
    unsigned i;

    (void)fd;
    (void)what;
    if (letter == 'g') {
        for (i = 0; i < all->args.contenders; i++) {
            ask(&all->list[i]);
        }
    } else if (letter == 'r') {
        all->resting = true;
        if (all->busy == 0) {
            contend_say("rested");
        }
    } else {
        end(all);
    }
}

static void open_managers(struct contenders *all)
{
    struct redlock_options options;
    unsigned i;

    for (i = 0; i < all->args.managers; i++) {
        bench_options_init(&options, all->args.nodes, all->args.n_nodes);
        options.subscribe = all->args.watch;
        all->managers[i] = bench_manager_open(all->base, &options);
    }
    for (i = 0; i < all->args.managers; i++) {
        bench_manager_wait(all->base, all->managers[i]);
    }
    all->open = all->args.managers;
}

static void set_up(struct contenders *all, int argc, char **argv)
{
    unsigned i;

    contend_args_parse(&all->args, argc, argv);
    all->base = event_base_new();
    all->list = calloc(all->args.contenders, sizeof(*all->list));
    all->managers = calloc(all->args.managers, sizeof(struct redlock *));
    if (all->base == NULL || all->list == NULL || all->managers == NULL) {
        errx(1, "out of memory");
    }
    open_managers(all);
    for (i = 0; i < all->args.contenders; i++) {
        all->list[i].all = all;
        all->list[i].rl = all->managers[i % all->args.managers];
        all->list[i].record.contender = all->args.first + i;
    }
    all->input = event_new(all->base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, all);
    if (all->input == NULL || event_add(all->input, NULL)) {
        errx(1, "out of memory");
    }
}

static void tear_down(struct contenders *all)
{
    unsigned i;

    for (i = 0; i < all->args.contenders; i++) {
        if (all->list[i].holding != NULL) {
            event_free(all->list[i].holding);
            close(all->list[i].timer);
        }
    }
    event_free(all->input);
    event_base_free(all->base);
    free(all->list);
    free(all->managers);
}

int main(int argc, char **argv)
{
    static struct contenders all;

    set_up(&all, argc, argv);
    contend_say("ready");
    event_base_dispatch(all.base);
    contend_print(all.left, all.errors);
    tear_down(&all);
    return 0;
}
