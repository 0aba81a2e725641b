/* lib/torture_run.c - one run of one scenario, in a process of its own.
 *
 *   first thread           starts the other -> waits ............. -> closes, checks, ends the
 * process scenario's thread      set up, test, tear down -> stops or an assertion fails   -> stops
 *
 * The scenario's thread only pauses and never ends, so what the library and the loops point to on
 * its stack stays there. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/runner.h"
#include "lib/torture.h"

/* How long a wait may take after an allocation has failed: before the failure is reported, and
 * after that. The library recovers from a single failure in less time. When it does not, the run is
 * repeated with patience before anything is printed. */
#define UNREPORTED_MS 3000u
#define REPORTED_MS 1000u
#define REPORTED_AND_LATER_MS 300u

/* The linker's names for what check.h calls. */
__attribute__((noreturn, format(printf, 4, 5))) void
__wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);
__typeof__(_mark_point) __wrap__mark_point;

/* This function is there only with a sanitizer. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

struct torture_run *torture_run;
jmp_buf *torture_way_out;

static pid_t here;
static pthread_t first, scenario;
static sem_t stopped;
static bool over;

bool torture_is_here(void)
{
    return getpid() == here;
}

bool torture_is_over(void)
{
    return __atomic_load_n(&over, __ATOMIC_SEQ_CST);
}

bool torture_is_thread(void)
{
    pthread_t self = pthread_self();

    if (pthread_equal(self, first) || pthread_equal(self, scenario)) {
        return true;
    }
    if (torture_is_here()) {
        torture_run->threads = true;
    }
    return false;
}

/* Keep the first text. */
__attribute__((format(printf, 3, 0))) static void keep(char *text, size_t size, const char *format,
                                                       va_list args)
{
    if (torture_is_here() && text[0] == '\0') {
        vsnprintf(text, size, format, args);
    }
}

void torture_found(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(torture_run->finding, sizeof(torture_run->finding), format, args);
    va_end(args);
}

void torture_reported(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(torture_run->reported, sizeof(torture_run->reported), format, args);
    va_end(args);
}

/* ---- assertions ---- */

void torture_stop(void)
{
    sem_post(&stopped);
    for (;;) {
        pause();
    }
}

__attribute__((format(printf, 3, 0))) static void note(const char *where, const char *expr,
                                                       const char *msg, va_list args)
{
    struct torture_run *r = torture_run;
    size_t len;

    if (r->asserted) {
        return;
    }
    r->asserted = true;
    len = (size_t)snprintf(r->said, sizeof(r->said), "%s: %.200s", where, expr);
    if (msg) {
        snprintf(r->said + len, sizeof(r->said) - len, ": ");
        vsnprintf(r->said + len + 2, sizeof(r->said) - len - 2, msg, args);
    }
}

void __wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
    const char *slash = strrchr(file, '/');
    char where[100];
    va_list args;

    if (!torture_is_here()) {
        _exit(1); /* a child of the scenario */
    }
    torture_api_read_texts();
    snprintf(where, sizeof(where), "%s:%d", slash ? slash + 1 : file, line);
    va_start(args, msg);
    note(where, expr, msg, args);
    va_end(args);
    if (torture_is_over()) {
        torture_found("a helper failed at the end: %s", where);
        _exit(1);
    }
    if (torture_way_out) {
        longjmp(*torture_way_out, 1);
    }
    torture_stop();
}

void __wrap__mark_point(const char *file, int line)
{
    (void)file;
    (void)line;
}

/* ---- the run ---- */

static bool waited_enough(unsigned waited_ms)
{
    const struct torture_run *r = torture_run;

    if (r->failed == 0 || r->patient) {
        return false;
    }
    torture_api_read_texts();
    if (r->reported[0] == '\0') {
        return waited_ms > UNREPORTED_MS;
    }
    return waited_ms > (r->and_later ? REPORTED_AND_LATER_MS : REPORTED_MS);
}

static void call(SFun fixture)
{
    if (fixture) {
        fixture();
    }
}

static void *run_scenario(void *arg)
{
    const struct test_one *test = ((const struct torture_scenario *)arg)->test;

    scenario = pthread_self(); /* set by whichever thread is first */
    call(test->before);
    test->test.fn(test->i);
    call(test->after);
    torture_run->passed = true;
    torture_stop();
}

/* After an assertion the test's own memory is not freed, which is no leak. Then only the library's
 * objects are counted, and only if closing the managers could free all of them. */
static void check_leaks(bool passed)
{
    const struct torture_run *r = torture_run;
    const char *live = torture_beneath_live();

    if ((passed || r->managers) && !r->wedged && r->live > r->may_live) {
        torture_found("not freed: %s", live);
    }
    if (passed && __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) {
        torture_found("the sanitizer found a leak");
    }
}

static void check_unreported(void)
{
    struct torture_run *r = torture_run;

    if (r->asserted && r->managers && r->failed > 0 && !r->reported[0] && !r->finding[0]) {
        r->unreported = true;
        torture_found("the failure of the allocation was not reported; %s", r->said);
    }
}

void torture_run_one(const struct torture_scenario *s)
{
    struct torture_scenario mine = *s;

    here = getpid();
    first = scenario = pthread_self();
    sem_init(&stopped, 0, 0);
    loop_be_impatient(waited_enough);
    if (pthread_create(&scenario, NULL, run_scenario, &mine)) {
        torture_found("no thread: %s", strerror(errno));
        _exit(1);
    }
    while (sem_wait(&stopped) && errno == EINTR) {
    }
    __atomic_store_n(&over, true, __ATOMIC_SEQ_CST);
    if (!torture_run->threads) {
        torture_api_close();
        if (!torture_run->wedged) {
            torture_api_check();
        }
        check_leaks(torture_run->passed);
        check_unreported();
    }
    torture_run->ended = true;
    _exit(0);
}
