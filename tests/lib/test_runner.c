/* lib/test_runner.c - what the runner says of tests that pass, fail, crash, exit and hang: those of
 * test_bad.c. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/place.h"
#include "lib/runner.h"
#include "lib/test.h"

SUITE("runner");

/* The program of test_bad.c. */
static char bad[300];

/* ---- what comes out ---- */

/* Run the bad tests that these words mean; its output is cut to the size. Returns whether it
 * failed. */
static bool run_bad(const char *words, char *ret_out, size_t size)
{
    char command[600];
    FILE *pipe;
    size_t len;

    snprintf(command, sizeof(command), "'%s' %s 2>&1", bad, words);
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

TEST(a_skip_has_a_reason_and_hides_no_failure)
{
    char out[8192];

    ck_assert(run_bad("skips", out, sizeof(out)));
    must_say(out, "ok 1 - skips: skips_by_itself # SKIP there is no sea\n");
    must_say(out, "\nnot ok 2 - skips: skips_and_fails\n");
    must_say(out, "\nok 3 - skips: skips_no_more\n");
}

TEST(every_way_to_end_is_a_line_of_tap)
{
    char out[8192];

    ck_assert(run_bad("bad", out, sizeof(out)));
    must_say(out, "\nok 1 - bad: bad_passes\n");
    must_say(out, "\nnot ok 2 - bad: bad_fails\n");
    must_say(out, "\nnot ok 3 - bad: bad_crashes\n");
    must_say(out, "\nnot ok 4 - bad: bad_exits\n");
    must_say(out, "\nnot ok 5 - bad: bad_hangs\n");
    must_say(out, "\n1..5\n");
}

TEST(the_folder_is_gone_after_the_run)
{
    char out[8192];
    char path[256];
    struct stat st;

    run_bad("bad", out, sizeof(out));
    ck_assert_int_eq(sscanf(out, "# folder %255s", path), 1);
    ck_assert_int_ne(stat(path, &st), 0);
}

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
        execl(bad, bad, "bad_hangs", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *ret_output = fdopen(ends[0], "r");
    return pid;
}

TEST_LOOP(a_run_that_is_ended_from_outside_leaves_nothing, 0, 3)
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

TEST(a_run_without_a_test_is_a_failure)
{
    char out[1024];

    setenv("CK_RUN_CASE", "none", 1);
    ck_assert(run_bad("", out, sizeof(out)));
    must_say(out, "1..0\n");
}

TEST(one_test_is_run_by_its_name)
{
    char out[1024];

    ck_assert(!run_bad("bad_passes", out, sizeof(out)));
    must_say(out, "ok 1 - bad: bad_passes\n1..1\n");
    ck_assert(!run_bad("bad bad_passes", out, sizeof(out)));
    must_say(out, "ok 1 - bad: bad_passes\n1..1\n");
    ck_assert(!run_bad("'other_runs_in_a_loop[1]'", out, sizeof(out)));
    must_say(out, "ok 1 - other: other_runs_in_a_loop[1]\n1..1\n");
}

TEST(a_name_that_nothing_has_is_a_failure)
{
    char out[1024];

    ck_assert(run_bad("bad_passes bad_passed", out, sizeof(out)));
    must_say(out, "no test and no suite is called 'bad_passed'");
    ck_assert(run_bad("other bad_passes", out, sizeof(out)));
    must_say(out, "1..0\n");
}

TEST(the_rest_is_left_out_after_so_many_failures)
{
    char out[8192];

    setenv("RLK_MOST_FAILURES", "2", 1);
    ck_assert(run_bad("bad", out, sizeof(out)));
    must_say(out, "\nnot ok 3 - bad: bad_crashes\n");
    must_say(out, "\n# 2 tests were left out after 2 failures");
    must_say(out, "\n1..3\n");
}

TEST(all_names_can_be_listed)
{
    char out[1024];

    ck_assert(!run_bad("--list", out, sizeof(out)));
    must_say(out, "bad bad_passes\nbad bad_fails\n");
    must_say(out, "other other_runs_in_a_loop[3]\n");
}

TEST(a_failure_tells_its_place_and_how_to_repeat_it)
{
    char out[8192];

    run_bad("bad", out, sizeof(out));
    must_say(out, "# tests/lib/test_bad.c:");
    must_say(out, ": after this line: Received signal 6");
    must_say(out, ": after this line: Test timeout expired");
    must_say(out, ": Assertion '1 == 2' failed: 1 == 1, 2 == 2\n");
    must_say(out, "tests/lib/test_lib_bad bad bad_fails\n");
    must_say(out, "tests/lib/test_lib_bad bad bad_crashes\n");
    must_say(out, "tests/lib/test_lib_bad bad bad_hangs\n");
    ck_assert_ptr_null(strstr(out, "repeat: /"));
    run_bad("'other_runs_in_a_loop[2]'", out, sizeof(out));
    must_say(out, "tests/lib/test_lib_bad other 'other_runs_in_a_loop[2]'\n");
}

TEST(a_failure_in_a_helper_is_one_of_the_test_s_file)
{
    char out[8192];

    ck_assert(run_bad("other_fails_in_a_helper", out, sizeof(out)));
    must_say(out, "# tests/lib/test_bad.c:");
    must_say(out, "(tests/lib/loop.c:");
    must_say(out, "  in other_fails_in_a_helper (tests/lib/test_bad.c:");
}

/* The folder it was compiled from is here, too. */
TEST(a_file_of_another_copy_is_named_from_the_top)
{
    char path[300];

    place_of_file("/other/tests/../tests/lib/loop.c", path, sizeof(path));
    ck_assert_str_eq(path, "tests/lib/loop.c");
    place_of_file("/other/loop.c", path, sizeof(path));
    ck_assert_str_eq(path, "/other/loop.c");
}

TEST(a_row_is_a_test_by_its_claim_and_its_story_says_the_step)
{
    char out[8192];

    ck_assert(run_bad("rows", out, sizeof(out)));
    must_say(out, "ok 1 - rows: row_mask\nok 2 - rows: row_status\nok 3 - rows: row_yes\n");
    must_say(out, "not ok 4 - rows: row_other_mask\n");
    must_say(out, ": step 7: mask is -1 (0xffffffffffffffff), not -2 (0xfffffffffffffffe)\n");
    must_say(out, "not ok 5 - rows: row_other_status\n");
    must_say(out, ": step 7: status is -5 (0xfffffffffffffffb), not 5 (0x5)\n");
    must_say(out, "not ok 6 - rows: row_no\n");
    must_say(out, ": step 7: yes is 1 (0x1), not 0 (0x0)\n");
    must_say(out, "tests/lib/test_lib_bad rows row_no\n");
    must_say(out, "\n1..6\n");
}

/* The other program is beside this one. */
int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');

    snprintf(bad, sizeof(bad), "%.*stest_lib_bad", slash ? (int)(slash + 1 - argv[0]) : 0, argv[0]);
    return rlk_test_main(argc, argv);
}
