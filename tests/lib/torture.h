/* lib/torture.h - runs each scenario many times, each time with another allocation failing.
 *
 * A torture program is made of the same test files as an ordinary one. Only the linking differs:
 * the calls at three seams go to torture_*.c (the linker's --wrap), so neither the tests nor the
 * library know about it.
 *
 *     the scenarios                lib/test.h, rlk_test_main()   torture.c, torture_run.c
 *         |
 *     the public API               redlock_acquire() ...         torture_api.c, torture_end.c
 *         |
 *     the library
 *         |
 *     what it allocates            calloc, event_new ...         torture_beneath.c
 *
 * Each scenario is run in a process of its own: once to count its allocations, K; then with the
 * k-th failing, and with the k-th and all later ones failing, for k from 1 to K, or for some of
 * them. The assertions of the scenario expect success, so they may fail then. What must hold:
 *
 *   - the run ends, by itself or by an assertion: no crash, no report of a sanitizer, no hang;
 *   - a call that was accepted gets exactly one result, never inside a call; one that was refused
 *     gets none, and wrote nothing;
 *   - everything that the library allocated is freed when its managers are closed;
 *   - no server was sent anything that is not the protocol;
 *   - when an assertion failed, the failure was reported before: as REDLOCK_ENOMEM by a call or to
 *     a callback, or in the text about a node, which mentions memory.
 *
 * An assertion does not unwind the stack: the thread of the scenario stops where it is, and the
 * first thread of the process closes what is open, and runs the loops until it is closed. An
 * assertion inside a callback of the library leaves only the callback, and then the loop.
 *
 * Each scenario is one line of TAP. The words of the command line are suites and tests, as in any
 * other test program (runner.h). From the environment:
 *
 *     RLK_TORTURE=all|N      every k, in both ways (only the first 2000, if there are more); or N
 *                            of each scenario, at even distances, in the two ways by turns
 *                            (default: what meson.build says, or 4; if that is 1, only in every
 *                            fourth run of a loop, and in no scenario of 20,000 allocations)
 *     RLK_TORTURE_OFFSET=N   shifts which N these are
 *     RLK_TORTURE_AT=K|K+    only this run; K+: all allocations from the k-th on fail
 *     RLK_TORTURE_JOBS=N     how many runs at a time (default 4)
 *     CK_DEFAULT_TIMEOUT=S   a run that takes longer, in seconds, hangs (default 120)
 */
#ifndef RLK_TESTS_LIB_TORTURE_H
#define RLK_TESTS_LIB_TORTURE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/test.h"

struct event_base;

#define TORTURE_STACK 12

/* One run, in memory that its process shares with the program. */
struct torture_run {
    /* In: what to do. k 0: nothing fails, the allocations are only counted. */
    unsigned k;
    bool and_later; /* all allocations after the k-th fail, too */
    bool patient;   /* waits last until their bound, also after an allocation has failed */
    long may_live;  /* so many objects are left at the end when nothing fails */
    /* Out: what happened. */
    unsigned allocations, failed;
    long live;     /* allocated and not freed */
    bool passed;   /* the scenario came to its end */
    bool asserted; /* an assertion ended it */
    bool wedged; /* an assertion failed inside a loop that cannot go on, so nothing could be closed
                  */
    bool managers;              /* it made a manager, or tried to */
    bool threads;               /* it called the library from several threads */
    bool unreported;            /* the finding is that the failure was not reported */
    bool ended;                 /* the process ended normally, after all checks */
    void *stack[TORTURE_STACK]; /* of the first allocation that failed */
    int deep;
    char said[500];     /* the text of the assertion */
    char reported[200]; /* how the failure of the allocation was reported */
    char finding[500];
};

struct torture_scenario {
    const struct test_one *test;
    /* The results of its runs. */
    unsigned allocations;  /* K */
    unsigned hit;          /* how many of them failed in some run */
    unsigned char *failed; /* which of them, by k */
    unsigned bad, to_come;
    bool threads;
    long may_live;
    char first[600]; /* the finding of the first bad run */
};

extern struct torture_run *torture_run;

/* Run one scenario in this process, and end the process. */
__attribute__((noreturn)) void torture_run_one(const struct torture_scenario *s);

/* A finding; a report of the failure. Only the first of each is kept. */
__attribute__((format(printf, 1, 2))) void torture_found(const char *format, ...);
__attribute__((format(printf, 1, 2))) void torture_reported(const char *format, ...);

/* Whether this is the process of the run, and not a process that the scenario forked. */
bool torture_is_here(void);

/* Whether this is the thread of the scenario, or the first thread of the process. */
bool torture_is_thread(void);

/* The scenario is over: its callbacks are no longer called. */
bool torture_is_over(void);

/* Stop the scenario here: an assertion has failed. */
__attribute__((noreturn)) void torture_stop(void);

/* Where to jump when an assertion fails inside a callback of the library; NULL outside of
 * callbacks. */
extern jmp_buf *torture_way_out;

/* Read the texts about all nodes. One that mentions memory is a report. */
void torture_api_read_texts(void);

/* Close all managers; check that every call got a result. */
void torture_api_close(void);
void torture_api_check(void);

/* torture_beneath.c: must be called before anything is allocated. And a text about what was not
 * freed. */
void torture_beneath_init(void);
const char *torture_beneath_live(void);

/* The lowest seam, for the made-up library of test_torture.c. */
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *memory);

#endif
