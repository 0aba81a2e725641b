/* testing/worker.h - a thread with an event loop, which calls functions for other threads.
 *
 *     IDLE ----------------> RUNNING ------------> ENDED
 *          rlk_testing_worker_start()             worker_end()
 *
 * Any thread may call rlk_testing_worker_run(); calls are made one after the other. */
#ifndef RLK_TESTING_WORKER_H
#define RLK_TESTING_WORKER_H

#include <pthread.h>
#include <stdbool.h>

struct event;
struct event_base;

struct worker {
    struct event_base *base;
    struct event *wake; /* readable when there is a call */
    int fd;
    pthread_t thread;
    pthread_mutex_t callers; /* held by the thread whose call it is */
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t done;
    int (*run)(void *arg); /* NULL: no call */
    void *arg;
    int status;
    bool ends;
};

/* Make the loop, but do not start its thread. Returns 0; or REDLOCK_ENOMEM or REDLOCK_ESYSTEM, with
 * errno, and nothing is left behind. */
int rlk_testing_worker_init(struct worker *w);

/* Start the thread. Returns 0 or REDLOCK_ESYSTEM with errno. */
int rlk_testing_worker_start(struct worker *w);

/* Call the function on the thread; returns what it returns. */
int rlk_testing_worker_run(struct worker *w, int (*run)(void *arg), void *arg);

/* End the running thread. The loop stays. */
void rlk_testing_worker_stop(struct worker *w);

/* Free the loop. Everything on it must be freed before. */
void rlk_testing_worker_free(struct worker *w);

#endif
