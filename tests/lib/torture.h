/* lib/torture.h - every scenario again and again, each time with another allocation failing.
 *
 * A torture program is made of the same test files as an ordinary one. What differs is how it
 * is linked: the calls of three seams end in torture_*.c (the linker's --wrap), so that neither
 * the tests nor the library know of it.
 *
 *     the scenarios                check.h, rlk_test_main()      torture.c, torture_run.c
 *         |
 *     the public API               redlock_acquire() ...         torture_api.c, torture_end.c
 *         |
 *     the library
 *         |
 *     what it takes memory from    calloc, event_new ...         torture_beneath.c
 *
 * Each scenario is run in a process of its own: once to count its allocations, K, then with the
 * k-th failing, and with the k-th and all after it failing, for k from 1 to K or some of them.
 * The scenario's own assertions may fail then: it expects success. What must hold instead:
 *
 *   - it ends, by itself or by an assertion: no crash, no report of a sanitizer, no hang;
 *   - a call that was accepted is told exactly once, never inside a call, and one that was
 *     refused is not told and wrote nothing;
 *   - everything that the library took is given back when its managers are closed;
 *   - no server was sent what is not the protocol;
 *   - when an assertion failed, somebody had been told: by REDLOCK_ENOMEM, from a call or to a
 *     callback, or by the text about a node, which speaks of memory.
 *
 * An assertion does not unwind: the thread of the scenario stops where it is, and the process's
 * first thread closes what is open and runs the loops until it is closed. Inside a callback of
 * the library an assertion leaves the callback only, and the loop is left in an orderly way.
 *
 * Each scenario is one line of TAP. The words of the command line are suites and tests, as for any
 * other test program (runner.h). From the environment:
 *
 *     RLK_TORTURE=all|N      every k, in both ways (the 2000 first, if there are more); or N of
 *                            each scenario's, evenly spread, one way and the other in turn
 *                            (default: what meson.build says, or 4)
 *     RLK_TORTURE_OFFSET=N   moves the spread
 *     RLK_TORTURE_AT=K|K+    this one run; with the +, all from the k-th on
 *     RLK_TORTURE_JOBS=N     so many runs at a time (default 4)
 *     CK_DEFAULT_TIMEOUT=S   after so many seconds a run hangs (default 120)
 */
#ifndef RLK_TESTS_LIB_TORTURE_H
#define RLK_TESTS_LIB_TORTURE_H

#include <check.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

struct event_base;

#define TORTURE_STACK 12

/* One run, in memory that its process shares with the program. */
struct torture_run {
    /* What is to be done. k 0: nothing fails, it is only counted. */
    unsigned k;
    bool for_good; /* and all after the k-th */
    bool patient;  /* waits have their full bound, also when something has failed */
    long may_live; /* so much is left at the end when nothing fails */
    /* What came of it. */
    unsigned allocations, failed;
    long live;                  /* taken and not given back */
    bool passed;                /* the scenario came to its end */
    bool asserted;              /* an assertion ended it */
    bool wedged;                /* one from which the loop cannot go on: nothing could be closed */
    bool managers;              /* it made a manager, or tried to */
    bool threads;               /* it called the library from several threads */
    bool silent;                /* the finding is that nobody was told */
    bool ended;                 /* the process has come to its end, all looked at */
    void *stack[TORTURE_STACK]; /* who asked for the first that failed */
    int deep;
    char said[500]; /* by the assertion */
    char told[200]; /* who was told that there is no memory */
    char finding[500];
};

struct torture_scenario {
    const char *suite;
    const TTest *test;
    const TCase *tcase;
    int i;
    bool loops; /* i counts */
    /* What its runs came to. */
    unsigned allocations;  /* K */
    unsigned hit;          /* how many of them were made to fail */
    unsigned char *failed; /* which of them, by k */
    unsigned bad, to_come;
    bool threads;
    long may_live;
    char first[600]; /* what the first bad run showed */
};

extern struct torture_run *torture_run;

/* Run one in this process, which ends. */
__attribute__((noreturn)) void torture_run_one(const struct torture_scenario *s);

/* The fixtures of a case: the functions before, or those after. */
void torture_fixtures(const TCase *tcase, bool before);

/* The first of each is kept. */
__attribute__((format(printf, 1, 2))) void torture_finds(const char *format, ...);
__attribute__((format(printf, 1, 2))) void torture_was_told(const char *format, ...);

/* Whether this is the process of the run, and not one that the scenario forked. */
bool torture_is_here(void);

/* Whether this is the thread of the scenario, or the one that ends it. */
bool torture_is_thread(void);

/* The scenario is over: its callbacks are no longer called. */
bool torture_is_over(void);

/* Stop the scenario here: an assertion has failed. */
__attribute__((noreturn)) void torture_stop(void);

/* Where an assertion inside a callback of the library goes to; NULL outside. */
extern jmp_buf *torture_way_out;

/* Look at the texts about all nodes for one that speaks of memory. */
void torture_api_look(void);

/* Close all managers; then see that every call was told. */
void torture_api_close(void);
void torture_api_check(void);

/* torture_beneath.c: before anything is allocated. What is not given back, as text. */
void torture_beneath_init(void);
const char *torture_beneath_live(void);

/* The seam beneath, for a library that a test of ours makes up. */
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *memory);

#endif
