/* lib/torture.c - see torture.h. Finds the scenarios, starts their runs, and prints the results. */
#include "lib/torture.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/choice.h"
#include "lib/place.h"
#include "lib/runner.h"
#include "lib/torture_jobs.h"

#define SCENARIOS_MOST 2048
#define DEFAULT_KS 4
#define ALL_MOST 2000
#define LOOP 4u
#define MANY 20000u

/* How many bytes of the output of a bad run are shown, and how many bad runs of a scenario. */
#define SHOWN 6000
#define BAD_MOST 5

/* How many allocations whose failure is not reported are remembered. */
#define UNREPORTED_MOST 64

static struct torture_scenario scenarios[SCENARIOS_MOST];
static unsigned n_scenarios;

/* Of how many scenarios the runs were started, and how many lines of TAP were printed. */
static unsigned n_started, n_printed;

static unsigned long n_runs, n_bad, n_wedged, n_reported, n_passed;

static void print_in_order(void);

/* The linker's name for what main() calls. */
__typeof__(rlk_test_main) __wrap_rlk_test_main;

static void name_of(const struct torture_scenario *s, char *ret, size_t size)
{
    int len = snprintf(ret, size, "%s: ", s->test->suite);

    rlk_test_name(s->test, ret + len, size - (size_t)len);
}

/* ---- what a run came to ---- */

/* The last bytes of what the run printed. */
static void show(int output)
{
    static char text[SHOWN + 1];
    char *rest = NULL, *line;
    off_t size = lseek(output, 0, SEEK_END);
    ssize_t len = pread(output, text, SHOWN, size > SHOWN ? size - SHOWN : 0);

    text[len > 0 ? len : 0] = '\0';
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        printf("#   | %s\n", line);
    }
}

/* The stack of the first allocation that failed, as addresses for addr2line. */
static void show_stack(const struct torture_run *r)
{
    extern const char __executable_start;
    int i;

    if (r->deep > 0) {
        printf("#   it failed at: addr2line -fpe %s", program_invocation_name);
        for (i = 2; i < r->deep; i++) {
            printf(" %#tx", (const char *)r->stack[i] - &__executable_start - 1);
        }
        printf("\n");
    }
}

static void note_bad(struct torture_scenario *s, const char *which, const struct torture_run *r,
                     int output)
{
    n_bad++;
    if (s->bad++ == 0) {
        snprintf(s->first, sizeof(s->first), "%s: %s", which, r->finding);
    }
    if (s->bad > BAD_MOST) {
        return;
    }
    printf("# bad at %s: %s\n", which, r->finding);
    if (r->said[0]) {
        printf("#   the assertion: %s\n", r->said);
    }
    if (r->reported[0]) {
        printf("#   reported: %s\n", r->reported);
    }
    show_stack(r);
    show(output);
}

/* Whether the allocation that failed was made at the same place as in an earlier, patient run whose
 * failure was not reported: one finding per place is enough. */
static bool known_unreported(const struct torture_run *r, bool add)
{
    static unsigned long seen[UNREPORTED_MOST];
    static unsigned n;
    unsigned long sum = 0;
    unsigned i;

    for (i = 2; i < (unsigned)r->deep && i < 8; i++) {
        sum = sum * 31 + (unsigned long)r->stack[i];
    }
    for (i = 0; i < n; i++) {
        if (seen[i] == sum) {
            return true;
        }
    }
    if (add && n < UNREPORTED_MOST) {
        seen[n++] = sum;
    }
    return false;
}

/* The run in which nothing fails: it must pass, and counts the allocations that can fail. */
static void done_counting(struct torture_scenario *s, const struct torture_run *r, int output)
{
    struct torture_run run = *r;

    s->allocations = r->allocations;
    free(s->failed); /* of the same run before: RLK_TORTURE_AT=0 repeats it */
    s->failed = calloc(r->allocations + 1, 1);
    s->may_live = r->live;
    s->threads = r->threads;
    if (!run.passed && !run.finding[0]) {
        snprintf(run.finding, sizeof(run.finding), "it fails by itself");
    }
    if (run.finding[0]) {
        note_bad(s, "0", &run, output);
    }
}

static void done_failing(struct torture_scenario *s, const struct torture_job *job,
                         const struct torture_run *r, int output)
{
    char which[24];

    snprintf(which, sizeof(which), "%u%s", job->k, job->and_later ? "+" : "");
    if (r->failed > 0 && job->k <= s->allocations && !s->failed[job->k]) {
        s->failed[job->k] = 1;
        s->hit++;
    }
    n_wedged += r->wedged;
    n_reported += r->reported[0] != '\0';
    n_passed += r->failed > 0 && r->passed;
    if (r->finding[0]) {
        note_bad(s, which, r, output);
    } else if (getenv("RLK_TORTURE_AT")) {
        printf("# %s: %s; %s\n", which, r->passed ? "passed" : r->said,
               r->reported[0] ? r->reported : "not reported");
    }
}

static void done(const struct torture_job *job, const struct torture_run *r, int output)
{
    struct torture_scenario *s = &scenarios[job->scenario - scenarios];

    n_runs++;
    if (r->unreported && !job->patient && !known_unreported(r, false)) {
        struct torture_job again = *job;

        again.patient = true;
        torture_jobs_start(&again);
        return;
    }
    if (r->unreported && job->patient) {
        known_unreported(r, true);
    }
    if (job->k == 0) {
        done_counting(s, r, output);
    } else {
        done_failing(s, job, r, output);
    }
    s->to_come--;
    print_in_order();
}

/* ---- the runs of a scenario ---- */

static void start(struct torture_scenario *s, unsigned k, bool and_later)
{
    struct torture_job job = {s, k, and_later, false, k ? s->may_live : LONG_MAX};

    torture_jobs_start(&job);
}

/* A number made from the name, so that two scenarios do not begin with the same allocation. */
static unsigned own_offset(const struct torture_scenario *s)
{
    unsigned hash = 2166136261u + (unsigned)s->test->i;
    const char *c;

    for (c = s->test->test.name; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    return hash % 10007;
}

/* Allocations at even distances; with every second one all later ones fail, too. */
static void start_some(struct torture_scenario *s, unsigned n)
{
    unsigned offset = own_offset(s) + (unsigned)torture_number("RLK_TORTURE_OFFSET", 0);
    unsigned i;

    n = n < s->allocations ? n : s->allocations;
    s->to_come = n;
    for (i = 0; i < n; i++) {
        unsigned at = (unsigned)((unsigned long)i * s->allocations / n);

        start(s, (at + offset) % s->allocations + 1, i % 2 == 1);
    }
}

static void start_all(struct torture_scenario *s)
{
    unsigned k, most;

    most = s->allocations < ALL_MOST ? s->allocations : ALL_MOST;
    s->to_come = 2 * most;
    for (k = 1; k <= most; k++) {
        start(s, k, false);
        start(s, k, true);
    }
}

/* If one failure of each scenario is enough, it is so in one of LOOP runs of a loop, which differ
 * little, and in no scenario that repeats a call until it has made MANY allocations. */
static bool is_left_out(const struct torture_scenario *s)
{
    return (s->test->loops && (unsigned)s->test->i % LOOP) || s->allocations > MANY;
}

static const char *how_many(const struct torture_scenario *s)
{
    const char *how = getenv("RLK_TORTURE");

    if (how && *how) {
        return how;
    }
    how = getenv("RLK_TORTURE_DEFAULT");
    return how && strcmp(how, "1") == 0 && is_left_out(s) ? "0" : how;
}

static void start_runs(struct torture_scenario *s)
{
    const char *how = how_many(s), *at = getenv("RLK_TORTURE_AT");

    if (s->bad || s->threads || (s->test->needs_memory && at == NULL)) {
        print_in_order();
    } else if (at) {
        s->to_come = 1;
        start(s, (unsigned)strtoul(at, NULL, 10), strchr(at, '+') != NULL);
    } else if (how && strcmp(how, "all") == 0) {
        start_all(s);
    } else {
        start_some(s, how ? (unsigned)strtoul(how, NULL, 10) : DEFAULT_KS);
    }
}

/* ---- the program ---- */

static void print_result(unsigned number, const struct torture_scenario *s)
{
    char name[200], program[300];

    name_of(s, name, sizeof(name));
    place_of_program(program, sizeof(program));
    if (s->bad > 0) {
        printf("not ok %u - %s (%u of %u allocations): %u bad runs, the first at %s\n", number,
               name, s->hit, s->allocations, s->bad, s->first);
        printf("# repeat: RLK_TORTURE_AT=%.*s %s %s '%s'\n", (int)strcspn(s->first, ":"), s->first,
               program, s->test->suite, strchr(name, ' ') + 1);
    } else if (s->threads) {
        printf("ok %u - %s # SKIP it has several threads\n", number, name);
    } else {
        printf("ok %u - %s (%u of %u allocations)\n", number, name, s->hit, s->allocations);
    }
    fflush(stdout);
}

/* Prints the scenarios that are done, up to the first that is not. Nothing is printed while the
 * allocations are counted. */
static void print_in_order(void)
{
    while (n_printed < n_started && scenarios[n_printed].to_come == 0) {
        print_result(n_printed + 1, &scenarios[n_printed]);
        n_printed++;
    }
}

static void add_scenario(const struct test_one *test)
{
    if (n_scenarios == SCENARIOS_MOST) {
        printf("Bail out! more than %d scenarios\n", SCENARIOS_MOST);
        exit(1);
    }
    scenarios[n_scenarios++].test = test;
}

/* The tests that the words of the command line choose. A test that must end by a signal is left
 * out. */
static void choose(struct choice *choice)
{
    size_t i, n;
    const struct test_one *all = rlk_test_all(&n);

    for (i = 0; i < n; i++) {
        choice_learn(choice, all[i].suite);
    }
    for (i = 0; i < n; i++) {
        if (all[i].signal == 0 && choice_has(choice, all[i].suite, all[i].test.name, all[i].i)) {
            add_scenario(&all[i]);
        }
    }
}

static void torture_each(void)
{
    unsigned i;

    printf("1..%u\n# offset %lu\n", n_scenarios, torture_number("RLK_TORTURE_OFFSET", 0));
    for (i = 0; i < n_scenarios; i++) {
        scenarios[i].to_come = 1;
        start(&scenarios[i], 0, false);
    }
    torture_jobs_wait();
    for (i = 0; i < n_scenarios; i++) {
        start_runs(&scenarios[i]);
        n_started = i + 1;
        print_in_order();
    }
    torture_jobs_wait();
}

int __wrap_rlk_test_main(int argc, char **argv)
{
    time_t begun = time(NULL);
    struct choice choice;
    unsigned i;

    torture_beneath_init();
    rlk_test_begin("torture");
    choice_init(&choice, (const char *const *)argv + 1, (size_t)argc - 1);
    choose(&choice);
    torture_jobs_init(done);
    torture_each();
    printf("# %u scenarios, %lu runs, %lu bad; %lu reported it, %lu passed all the same, %lu "
           "could not be closed; %ld s\n",
           n_scenarios, n_runs, n_bad, n_reported, n_passed, n_wedged, (long)(time(NULL) - begun));
    rlk_test_end();
    for (i = 0; i < n_scenarios; i++) {
        free(scenarios[i].failed);
    }
    return n_scenarios > 0 && n_bad == 0 ? 0 : 1;
}
