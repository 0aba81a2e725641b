/* lib/test_runner.c - the runner on suites whose tests pass, fail, crash, exit and hang.
 *
 * The program runs itself with "self" and words of a command line, and reads the TAP that comes
 * out. */
#include <dirent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/place.h"
#include "lib/rows.h"
#include "lib/runner.h"
#include "lib/story.h"

static const char *self;

/* ---- what is run ---- */

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
    printf("# hangs\n");
    fflush(stdout);
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

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static bool at_once(unsigned waited_ms)
{
    (void)waited_ms;
    return true;
}

static void wait_in_vain(struct event_base *base)
{
    loop_must_true(base, never, NULL);
}

/* Its last call fails. */
START_TEST(other_fails_in_a_helper)
{
    loop_be_impatient(at_once);
    wait_in_vain(event_base_new());
}
END_TEST

START_TEST(other_runs_in_a_loop)
{
    ck_assert_int_ne(_i, 2);
}
END_TEST

static Suite *other_suite(void)
{
    Suite *suite = suite_create("other");
    TCase *tcase = tcase_create("other");

    tcase_add_test(tcase, other_fails_in_a_helper);
    tcase_add_loop_test(tcase, other_runs_in_a_loop, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}

struct thing {
    uint64_t mask;
    int status;
    bool yes;
};

/* All fields of the thing are ~0, -5 and true; the last three rows claim otherwise. */
static const struct {
    const char *claim;
    struct story_field field;
    uint64_t value;
} rows[] = {
    {"row_mask", STORY_FIELD(struct thing, mask), UINT64_MAX},
    {"row_status", STORY_FIELD(struct thing, status), (uint64_t)-5},
    {"row_yes", STORY_FIELD(struct thing, yes), true},
    {"row_other_mask", STORY_FIELD(struct thing, mask), UINT64_MAX - 1},
    {"row_other_status", STORY_FIELD(struct thing, status), 5},
    {"row_no", STORY_FIELD(struct thing, yes), false},
};

START_TEST(row)
{
    struct thing thing = {.mask = 0};
    size_t i;

    for (i = 0; i < 3; i++) {
        story_set(&thing, &rows[i].field, rows[i].value);
    }
    story_expect(&thing, &rows[_i].field, rows[_i].value, 7);
}
END_TEST

static Suite *rows_suite(void)
{
    Suite *suite = suite_create("rows");
    TCase *tcase = tcase_create("rows");

    tcase_add_rows(tcase, row, rows);
    suite_add_tcase(suite, tcase);
    return suite;
}

START_TEST(skips_by_itself)
{
    rlk_test_skip("there is no sea");
}
END_TEST

START_TEST(skips_and_fails)
{
    rlk_test_skip("there is no sea");
    ck_assert_int_eq(1, 2);
}
END_TEST

START_TEST(skips_no_more)
{
}
END_TEST

static Suite *skips_suite(void)
{
    Suite *suite = suite_create("skips");
    TCase *tcase = tcase_create("skips");

    tcase_add_test(tcase, skips_by_itself);
    tcase_add_test(tcase, skips_and_fails);
    tcase_add_test(tcase, skips_no_more);
    suite_add_tcase(suite, tcase);
    return suite;
}

static Suite *empty_suite(void)
{
    Suite *suite = suite_create("empty");

    suite_add_tcase(suite, tcase_create("empty"));
    return suite;
}

/* ---- what comes out ---- */

/* Run this program with these words; its output is cut to the size. Returns whether it failed. */
static bool run_self(const char *words, char *ret_out, size_t size)
{
    char command[600];
    FILE *pipe;
    size_t len;

    snprintf(command, sizeof(command), "'%s' self %s 2>&1", self, words);
    pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    len = fread(ret_out, 1, size - 1, pipe);
    ret_out[len] = '\0';
    return pclose(pipe) != 0;
}

static void must_say(const char *out, const char *text)
{
    ck_assert_msg(strstr(out, text) != NULL, "'%s' is not in: %s", text, out);
}

START_TEST(a_skip_has_a_reason_and_hides_no_failure)
{
    char out[8192];

    ck_assert(run_self("skips", out, sizeof(out)));
    must_say(out, "ok 1 - skips: skips_by_itself # SKIP there is no sea\n");
    must_say(out, "\nnot ok 2 - skips: skips_and_fails\n");
    must_say(out, "\nok 3 - skips: skips_no_more\n");
}
END_TEST

START_TEST(every_way_to_end_is_a_line_of_tap)
{
    char out[8192];

    ck_assert(run_self("bad", out, sizeof(out)));
    must_say(out, "\nok 1 - bad: bad_passes\n");
    must_say(out, "\nnot ok 2 - bad: bad_fails\n");
    must_say(out, "\nnot ok 3 - bad: bad_crashes\n");
    must_say(out, "\nnot ok 4 - bad: bad_exits\n");
    must_say(out, "\nnot ok 5 - bad: bad_hangs\n");
    must_say(out, "\n1..5\n");
}
END_TEST

START_TEST(the_folder_is_gone_after_the_run)
{
    char out[8192];
    char path[256];
    struct stat st;

    run_self("bad", out, sizeof(out));
    ck_assert_int_eq(sscanf(out, "# folder %255s", path), 1);
    ck_assert_int_ne(stat(path, &st), 0);
}
END_TEST

static bool is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    bool empty = true;

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL) {
        empty = empty && entry->d_name[0] == '.';
    }
    closedir(dir);
    return empty;
}

/* Start the test that hangs, with that folder for temporary files. Its output comes through the
 * pipe, which all of its processes hold, apart from the one that removes its folder. */
static pid_t start_hanging(const char *tmp, FILE **ret_output)
{
    int ends[2];
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0); /* Check ends its whole process group */
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        unsetenv("TEMP");
        setenv("TMPDIR", tmp, 1);
        execl(self, self, "self", "bad_hangs", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *ret_output = fdopen(ends[0], "r");
    return pid;
}

START_TEST(a_run_that_is_ended_from_outside_leaves_nothing)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    char tmp[300], line[300];
    FILE *output;
    pid_t pid;
    int tries;

    snprintf(tmp, sizeof(tmp), "%s/%d", rlk_test_folder(), _i);
    ck_assert_int_eq(mkdir(tmp, 0700), 0);
    pid = start_hanging(tmp, &output);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), output));
    ck_assert_str_eq(line, "# hangs\n");
    ck_assert(!is_empty(tmp));
    kill(pid, signals[_i]);
    while (fgets(line, sizeof(line), output)) {
    }
    waitpid(pid, NULL, 0);
    for (tries = 1000; tries > 0 && !is_empty(tmp); tries--) {
        usleep(10000);
    }
    ck_assert(is_empty(tmp));
    fclose(output);
}
END_TEST

START_TEST(a_run_without_a_test_is_a_failure)
{
    char out[1024];

    ck_assert(run_self("empty", out, sizeof(out)));
    must_say(out, "1..0\n");
}
END_TEST

START_TEST(one_test_is_run_by_its_name)
{
    char out[1024];

    ck_assert(!run_self("bad_passes", out, sizeof(out)));
    must_say(out, "ok 1 - bad: bad_passes\n1..1\n");
    ck_assert(!run_self("bad bad_passes", out, sizeof(out)));
    must_say(out, "ok 1 - bad: bad_passes\n1..1\n");
    ck_assert(!run_self("'other_runs_in_a_loop[1]'", out, sizeof(out)));
    must_say(out, "ok 1 - other: other_runs_in_a_loop[1]\n1..1\n");
}
END_TEST

START_TEST(a_name_that_nothing_has_is_a_failure)
{
    char out[1024];

    ck_assert(run_self("bad_passes bad_passed", out, sizeof(out)));
    must_say(out, "no test and no suite is called 'bad_passed'");
    ck_assert(run_self("other bad_passes", out, sizeof(out)));
    must_say(out, "1..0\n");
}
END_TEST

START_TEST(the_rest_is_left_out_after_so_many_failures)
{
    char out[8192];

    setenv("RLK_MOST_FAILURES", "2", 1);
    ck_assert(run_self("bad", out, sizeof(out)));
    must_say(out, "\nnot ok 3 - bad: bad_crashes\n");
    must_say(out, "\n# 2 tests were left out after 2 failures");
    must_say(out, "\n1..3\n");
}
END_TEST

START_TEST(all_names_can_be_listed)
{
    char out[1024];

    ck_assert(!run_self("--list", out, sizeof(out)));
    must_say(out, "bad bad_passes\nbad bad_fails\n");
    must_say(out, "other other_runs_in_a_loop[3]\n");
}
END_TEST

START_TEST(a_failure_tells_its_place_and_how_to_repeat_it)
{
    char out[8192];

    run_self("bad", out, sizeof(out));
    must_say(out, "# tests/lib/test_runner.c:");
    must_say(out, ": after this line: Received signal 6");
    must_say(out, ": after this line: Test timeout expired");
    must_say(out, ": Assertion '1 == 2' failed: 1 == 1, 2 == 2\n");
    must_say(out, "tests/lib/test_lib_runner bad bad_fails\n");
    must_say(out, "tests/lib/test_lib_runner bad bad_crashes\n");
    must_say(out, "tests/lib/test_lib_runner bad bad_hangs\n");
    ck_assert_ptr_null(strstr(out, "repeat: /"));
    run_self("'other_runs_in_a_loop[2]'", out, sizeof(out));
    must_say(out, "tests/lib/test_lib_runner other 'other_runs_in_a_loop[2]'\n");
}
END_TEST

START_TEST(a_failure_in_a_helper_is_one_of_the_test_s_file)
{
    char out[8192];

    ck_assert(run_self("other_fails_in_a_helper", out, sizeof(out)));
    must_say(out, "# tests/lib/test_runner.c:");
    must_say(out, "(tests/lib/loop.c:");
    must_say(out, "  in other_fails_in_a_helper (tests/lib/test_runner.c:");
}
END_TEST

/* The folder it was compiled from is here, too. */
START_TEST(a_file_of_another_copy_is_named_from_the_top)
{
    char path[300];

    place_of_file("/other/tests/../tests/lib/loop.c", path, sizeof(path));
    ck_assert_str_eq(path, "tests/lib/loop.c");
    place_of_file("/other/loop.c", path, sizeof(path));
    ck_assert_str_eq(path, "/other/loop.c");
}
END_TEST

START_TEST(a_row_is_a_test_by_its_claim_and_its_story_says_the_step)
{
    char out[8192];

    ck_assert(run_self("rows", out, sizeof(out)));
    must_say(out, "ok 1 - rows: row_mask\nok 2 - rows: row_status\nok 3 - rows: row_yes\n");
    must_say(out, "not ok 4 - rows: row_other_mask\n");
    must_say(out, ": step 7: mask is -1 (0xffffffffffffffff), not -2 (0xfffffffffffffffe)\n");
    must_say(out, "not ok 5 - rows: row_other_status\n");
    must_say(out, ": step 7: status is -5 (0xfffffffffffffffb), not 5 (0x5)\n");
    must_say(out, "not ok 6 - rows: row_no\n");
    must_say(out, ": step 7: yes is 1 (0x1), not 0 (0x0)\n");
    must_say(out, "tests/lib/test_lib_runner rows row_no\n");
    must_say(out, "\n1..6\n");
}
END_TEST

static Suite *good_suite(void)
{
    Suite *suite = suite_create("runner");
    TCase *tcase = tcase_create("runner");

    tcase_add_test(tcase, a_skip_has_a_reason_and_hides_no_failure);
    tcase_add_test(tcase, every_way_to_end_is_a_line_of_tap);
    tcase_add_test(tcase, the_folder_is_gone_after_the_run);
    tcase_add_loop_test(tcase, a_run_that_is_ended_from_outside_leaves_nothing, 0, 3);
    tcase_add_test(tcase, a_run_without_a_test_is_a_failure);
    tcase_add_test(tcase, one_test_is_run_by_its_name);
    tcase_add_test(tcase, a_name_that_nothing_has_is_a_failure);
    tcase_add_test(tcase, the_rest_is_left_out_after_so_many_failures);
    tcase_add_test(tcase, all_names_can_be_listed);
    tcase_add_test(tcase, a_failure_tells_its_place_and_how_to_repeat_it);
    tcase_add_test(tcase, a_failure_in_a_helper_is_one_of_the_test_s_file);
    tcase_add_test(tcase, a_file_of_another_copy_is_named_from_the_top);
    tcase_add_test(tcase, a_row_is_a_test_by_its_claim_and_its_story_says_the_step);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(int argc, char **argv)
{
    Suite *(*const good[])(void) = {good_suite, NULL};
    Suite *(*const bad[])(void) = {bad_suite,   other_suite, rows_suite,
                                   skips_suite, empty_suite, NULL};

    self = argv[0];
    if (argc > 1 && strcmp(argv[1], "self") == 0) {
        return rlk_test_main(argc - 1, argv + 1, bad);
    }
    return rlk_test_main(argc, argv, good);
}
