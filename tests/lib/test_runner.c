/* lib/test_runner.c - the runner on a suite that passes, fails, crashes, exits and hangs.
 *
 * The program runs itself with an argument and reads the TAP that comes out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/runner.h"

static const char *self;

START_TEST(bad_passes)
{
    printf("# folder %s\n", rlk_test_folder());
    fflush(stdout);
}
END_TEST

START_TEST(bad_fails)
{
    ck_assert_int_eq(1, 2);
}
END_TEST

START_TEST(bad_crashes)
{
    abort();
}
END_TEST

START_TEST(bad_exits)
{
    _exit(3);
}
END_TEST

START_TEST(bad_hangs)
{
    for (;;) {
        pause();
    }
}
END_TEST

static Suite *bad_suite(void)
{
    Suite *suite = suite_create("bad");
    TCase *tcase = tcase_create("bad");
    TCase *hangs = tcase_create("hangs");

    tcase_add_test(tcase, bad_passes);
    tcase_add_test(tcase, bad_fails);
    tcase_add_test(tcase, bad_crashes);
    tcase_add_test(tcase, bad_exits);
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(hangs, 1);
    tcase_add_test(hangs, bad_hangs);
    suite_add_tcase(suite, hangs);
    return suite;
}

static Suite *empty_suite(void)
{
    Suite *suite = suite_create("empty");

    suite_add_tcase(suite, tcase_create("empty"));
    return suite;
}

/* Run this program with an argument; its output is cut at the size. */
static int run_self(const char *what, char *ret_out, size_t size)
{
    char command[600];
    FILE *pipe;
    size_t len;

    snprintf(command, sizeof(command), "'%s' %s 2>/dev/null", self, what);
    pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    len = fread(ret_out, 1, size - 1, pipe);
    ret_out[len] = '\0';
    return pclose(pipe);
}

START_TEST(every_way_to_end_is_a_line_of_tap)
{
    char out[4096];

    ck_assert_int_ne(run_self("bad", out, sizeof(out)), 0);
    ck_assert_ptr_nonnull(strstr(out, "1..5\n"));
    ck_assert_ptr_nonnull(strstr(out, "\nok 1 "));
    ck_assert_ptr_nonnull(strstr(out, "not ok 2 "));
    ck_assert_ptr_nonnull(strstr(out, "not ok 3 "));
    ck_assert_ptr_nonnull(strstr(out, "not ok 4 "));
    ck_assert_ptr_nonnull(strstr(out, "not ok 5 "));
}
END_TEST

START_TEST(the_folder_is_gone_after_the_run)
{
    char out[4096];
    char path[256];
    struct stat st;

    run_self("bad", out, sizeof(out));
    ck_assert_int_eq(sscanf(out, "# folder %255s", path), 1);
    ck_assert_int_ne(stat(path, &st), 0);
}
END_TEST

START_TEST(a_run_without_a_test_is_a_failure)
{
    char out[4096];

    ck_assert_int_ne(run_self("empty", out, sizeof(out)), 0);
}
END_TEST

static Suite *good_suite(void)
{
    Suite *suite = suite_create("runner");
    TCase *tcase = tcase_create("runner");

    tcase_add_test(tcase, every_way_to_end_is_a_line_of_tap);
    tcase_add_test(tcase, the_folder_is_gone_after_the_run);
    tcase_add_test(tcase, a_run_without_a_test_is_a_failure);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(int argc, char **argv)
{
    Suite *(*const good[])(void) = {good_suite, NULL};
    Suite *(*const bad[])(void) = {bad_suite, NULL};
    Suite *(*const empty[])(void) = {empty_suite, NULL};

    self = argv[0];
    if (argc > 1) {
        return rlk_test_main("self", strcmp(argv[1], "bad") == 0 ? bad : empty);
    }
    return rlk_test_main("runner", good);
}
