/* lib/test_torture.c - torture of a made-up library (torture_toy.h) that is good, or bad in one
 * way.
 *
 * The program runs itself with the name of a fault, and reads the TAP that comes out. */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/loop.h"
#include "lib/runner.h"
#include "lib/test.h"
#include "lib/torture_toy.h"

SUITE("toy");

/* ---- a scenario with it ---- */

static struct event_base *base;

static void count_acquire(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, 0);
    ++*(int *)arg;
}

static void count_close(void *arg)
{
    ++*(int *)arg;
}

static void set_up(void)
{
    base = event_base_new();
}

static void tear_down(void)
{
    event_base_free(base);
}

FIXTURE(set_up, tear_down);

TEST(a_lock_is_had)
{
    int acquired = 0, closed = 0;
    struct redlock *rl;

    ck_assert_int_eq(redlock_new(base, NULL, &rl), 0);
    ck_assert_int_eq(redlock_acquire(rl, NULL, count_acquire, &acquired, NULL), 0);
    loop_must(base, &acquired);
    ck_assert_int_eq(redlock_close(rl, count_close, &closed), 0);
    loop_must(base, &closed);
}

TEST(it_fails_by_itself)
{
    ck_assert_int_eq(1, 2);
}

/* ---- what torture says of it ---- */

static unsigned n_lines;

/* Run this program with a fault, and look for texts in its output. */
static void line(const char *self, const char *name, const char *text, const char *more, int good)
{
    char command[600], out[8192];
    FILE *pipe;
    size_t len;
    int status, right;

    snprintf(command, sizeof(command), "CK_DEFAULT_TIMEOUT=%d RLK_TORTURE=all '%s' %s %s 2>&1",
             strcmp(name, "hang") == 0 ? 3 : 60, self, name,
             strcmp(name, "itself") == 0 ? "" : "a_lock_is_had");
    pipe = popen(command, "r");
    len = pipe ? fread(out, 1, sizeof(out) - 1, pipe) : 0;
    out[len] = '\0';
    status = pipe ? pclose(pipe) : -1;
    right = (status == 0) == good && strstr(out, text) && strstr(out, more);
    printf("%sok %u - torture of a library: %s\n", right ? "" : "not ", ++n_lines, name);
    if (!right) {
        fprintf(stderr, "%s: '%s' and '%s' in:\n%s\n", name, text, more, out);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        torture_toy_fault = argv[1];
        return rlk_test_main(argc - 1, argv + 1);
    }
    printf("1..11\n");
    line(argv[0], "none", "ok 1 - toy: a_lock_is_had (3 of 3 allocations)", "\n# 1 scenarios, 7",
         1);
    line(argv[0], "text", "ok 1 - toy: a_lock_is_had (3 of 3 allocations)", "\n# 1 scenarios, 7",
         1);
    line(argv[0], "crash", "\nnot ok 1 ", "died of signal 6", 0);
    line(argv[0], "hang", "\nnot ok 1 ", "hangs", 0);
    line(argv[0], "lose", "\nnot ok 1 ", "redlock_acquire never got a result", 0);
    line(argv[0], "silent", "\nnot ok 1 ", "not reported", 0);
    line(argv[0], "twice", "\nnot ok 1 ", "redlock_acquire got 2 results", 0);
    line(argv[0], "inside", "\nnot ok 1 ", "redlock_acquire got its result inside a call", 0);
    line(argv[0], "leak", "\nnot ok 1 ", "not freed: 1 allocations", 0);
    line(argv[0], "written", "\nnot ok 1 ", "wrote a manager", 0);
    line(argv[0], "itself", "\nnot ok 2 ", "it fails by itself", 0);
    return 0;
}
