/* testing/worker.c - see worker.h. */
#include "testing/worker.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/error.h>

static void on_call(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    uint64_t times;

    (void)what;
    if (read(fd, &times, sizeof(times)) < 0) {
        return;
    }
    pthread_mutex_lock(&w->lock);
    if (w->run) {
        w->status = w->run(w->arg);
        w->run = NULL;
        pthread_cond_signal(&w->done);
    }
    if (w->ends) {
        event_base_loopbreak(w->base);
    }
    pthread_mutex_unlock(&w->lock);
}

int rlk_testing_worker_init(struct worker *w)
{
    int why;

    *w = (struct worker){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (w->fd < 0) {
        return REDLOCK_ESYSTEM;
    }
    errno = 0;
    w->base = event_base_new();
    why = errno;
    w->wake = w->base ? event_new(w->base, w->fd, EV_READ | EV_PERSIST, on_call, w) : NULL;
    if (!w->wake || event_add(w->wake, NULL) < 0) {
        int status = !w->base && why && why != ENOMEM ? REDLOCK_ESYSTEM : REDLOCK_ENOMEM;

        rlk_testing_worker_free(w);
        errno = why;
        return status;
    }
    pthread_mutex_init(&w->callers, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->done, NULL);
    return 0;
}

static void *run_loop(void *arg)
{
    struct worker *w = arg;

    pthread_setname_np(pthread_self(), "redlock-testing");
    event_base_dispatch(w->base);
    return NULL;
}

static void all_but_faults(sigset_t *ret)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    size_t i;

    sigfillset(ret);
    for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        sigdelset(ret, faults[i]);
    }
}

int rlk_testing_worker_start(struct worker *w)
{
    sigset_t blocked, before;
    int why;

    all_but_faults(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    why = pthread_create(&w->thread, NULL, run_loop, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return why ? REDLOCK_ESYSTEM : 0;
}

static void wake(struct worker *w)
{
    const uint64_t once = 1;
    ssize_t written = write(w->fd, &once, sizeof(once));

    (void)written; /* it fails only if 2^64 - 2 wakes are pending */
}

int rlk_testing_worker_run(struct worker *w, int (*run)(void *arg), void *arg)
{
    int status, cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    pthread_mutex_lock(&w->callers);
    pthread_mutex_lock(&w->lock);
    w->run = run;
    w->arg = arg;
    wake(w);
    while (w->run) {
        pthread_cond_wait(&w->done, &w->lock);
    }
    status = w->status;
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_unlock(&w->callers);
    pthread_setcancelstate(cancelable, NULL);
    return status;
}

void rlk_testing_worker_stop(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    wake(w);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
}

void rlk_testing_worker_free(struct worker *w)
{
    if (w->wake) {
        event_free(w->wake);
    }
    if (w->base) {
        event_base_free(w->base);
    }
    close(w->fd);
}
