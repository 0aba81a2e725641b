/* lib/runner.c - see runner.h.
 *
 * Check runs a case at a time, and its report names the file of the last assertion, which is
 * often that of a helper. So each test is run by a runner of Check of its own, and the report is
 * written here. The linker's --wrap lets us see what the assertions of check.h call. */
#include "lib/runner.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/choice.h"
#include "lib/place.h"

/* The test that runs. */
static const struct test_one *chosen;

/* The linker's names for what check.h calls. */
__typeof__(_mark_point) __real__mark_point, __wrap__mark_point;
__attribute__((noreturn, format(printf, 4, 5))) void
__real__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);
__attribute__((noreturn, format(printf, 4, 5))) void
__wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);

/* ---- where it failed ---- */

/* Only the test's own file, so that what Check knows about a crash or a hang is a line of the
 * test. */
void __wrap__mark_point(const char *file, int line)
{
    if (strcmp(file, chosen->test.file) == 0) {
        __real__mark_point(file, line);
    }
}

/* Whichever function failed, the place that is reported is in the test's file. */
__attribute__((noreturn)) static void fail_at(const char *file, int line, const char *text)
{
    const TTest *test = &chosen->test;
    char path[200], callers[3000];
    int own;

    place_of_file(test->file, path, sizeof(path));
    own = place_of_callers(path, callers, sizeof(callers));
    if (strcmp(file, test->file) == 0) {
        __real__ck_assert_failed(file, line, "failed", "%s%s", text, callers);
    }
    if (own == 0) {
        place_of_file(file, path, sizeof(path));
        snprintf(callers, sizeof(callers), "\n  in %s:%d", path, line);
    }
    __real__ck_assert_failed(test->file, own, "failed", "%s%s", text, callers);
}

void __wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
    char text[3000];
    va_list args;

    va_start(args, msg);
    if (msg) {
        vsnprintf(text, sizeof(text), msg, args);
    } else {
        snprintf(text, sizeof(text), "%s", expr);
    }
    va_end(args);
    fail_at(file, line, text);
}

/* ---- the report ---- */

/* The line of a crash is not known, but the line of the last assertion before it is. */
static void explain(TestResult *result)
{
    const char *how = tr_rtype(result) == CK_ERROR ? "after this line: " : "";
    char file[200], *text = strdup(tr_msg(result)), *rest = NULL, *line;
    int at = tr_lno(result) > 0 ? tr_lno(result) : chosen->test.line;

    place_of_file(chosen->test.file, file, sizeof(file));
    line = text ? strtok_r(text, "\n", &rest) : NULL;
    printf("# %s:%d: %s%s\n", file, at, how, line ? line : "");
    while (line && (line = strtok_r(NULL, "\n", &rest))) {
        printf("# %s\n", line);
    }
    free(text);
}

static void report(size_t number, TestResult *result)
{
    const char *quote = chosen->loops ? "'" : "";
    const char *why = rlk_test_skipped();
    bool good = tr_rtype(result) == CK_PASS;
    char name[300], program[300];

    rlk_test_name(chosen, name, sizeof(name));
    printf("%s %zu - %s: %s%s%s\n", good ? "ok" : "not ok", number, chosen->suite, name,
           good && why[0] ? " # SKIP " : "", good ? why : "");
    if (!good) {
        explain(result);
        place_of_program(program, sizeof(program));
        printf("# repeat: %s %s %s%s%s\n", program, chosen->suite, quote, name, quote);
    }
    fflush(stdout);
}

/* ---- running ---- */

static SRunner *runner_of(const struct test_one *one)
{
    Suite *suite = suite_create(one->suite);
    TCase *tcase = tcase_create(one->part);

    if (one->before || one->after) {
        tcase_add_checked_fixture(tcase, one->before, one->after);
    }
    if (one->seconds) {
        tcase_set_timeout(tcase, one->seconds);
    }
    _tcase_add_test(tcase, &one->test, one->signal, 0, one->i, one->i + 1);
    suite_add_tcase(suite, tcase);
    return srunner_create(suite);
}

/* Returns how many tests ran: 0 when Check's own variables exclude this one. */
static int run_one(const struct test_one *one, size_t number, int *failed)
{
    TestResult **results;
    SRunner *sr;
    int n;

    chosen = one;
    sr = runner_of(one);
    rlk_test_expect_skip();
    srunner_run_all(sr, CK_SILENT);
    n = srunner_ntests_run(sr);
    if (n > 0) {
        results = srunner_results(sr);
        report(number, results[0]);
        free(results);
        *failed += srunner_ntests_failed(sr);
    }
    srunner_free(sr);
    return n;
}

/* After so many failures the other tests are not run; 0: no limit. */
static int most_failures(void)
{
    const char *text = getenv("RLK_MOST_FAILURES");

    return text ? atoi(text) : 0;
}

static bool run_all(struct choice *choice)
{
    size_t i, n_all, ran = 0, left_out = 0;
    const struct test_one *all = rlk_test_all(&n_all);
    int failed = 0, most = most_failures();

    for (i = 0; i < n_all; i++) {
        if (!choice_has(choice, all[i].suite, all[i].test.name, all[i].i)) {
            continue;
        }
        if (most > 0 && failed >= most) {
            left_out++;
        } else {
            ran += (size_t)run_one(&all[i], ran + 1, &failed);
        }
    }
    if (left_out > 0) {
        printf("# %zu tests were left out after %d failures (RLK_MOST_FAILURES)\n", left_out,
               failed);
    }
    printf("1..%zu\n", ran);
    return ran > 0 && failed == 0;
}

static void list(void)
{
    size_t i, n_all;
    const struct test_one *all = rlk_test_all(&n_all);
    char name[300];

    for (i = 0; i < n_all; i++) {
        rlk_test_name(&all[i], name, sizeof(name));
        printf("%s %s\n", all[i].suite, name);
    }
}

static bool run_chosen(const char *program, struct choice *choice)
{
    const char *slash = strrchr(program, '/'), *unmet;
    bool good;

    rlk_test_begin(slash ? slash + 1 : program);
    good = run_all(choice);
    rlk_test_end();
    if ((unmet = choice_unmet(choice)) != NULL) {
        fprintf(stderr, "%s: no test and no suite is called '%s'; --list shows all\n", program,
                unmet);
        good = false;
    }
    return good;
}

static void learn_suites(struct choice *choice)
{
    size_t i, n_all;
    const struct test_one *all = rlk_test_all(&n_all);

    for (i = 0; i < n_all; i++) {
        choice_learn(choice, all[i].suite);
    }
}

int rlk_test_main(int argc, char **argv)
{
    struct choice choice;

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    choice_init(&choice, (const char *const *)argv + 1, argc > 0 ? (size_t)argc - 1 : 0);
    learn_suites(&choice);
    return run_chosen(argv[0], &choice) ? 0 : 1;
}
