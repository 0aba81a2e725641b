/* lib/test.h - how a file of tests says what its tests are.
 *
 *     SUITE("round");
 *
 *     TEST(quorum_is_more_than_half)
 *     {
 *         ck_assert_int_gt(...);
 *     }
 *
 * That is all: the tests of all files of a program are run in the order of the files' names and of
 * their lines, and main() comes from lib/main.c. What a line such as SUITE() says is true for the
 * tests below it, up to the next such line or the end of the file. */
#ifndef RLK_TESTS_LIB_TEST_H
#define RLK_TESTS_LIB_TEST_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* The name before each test in a report. Several files can belong to one suite. */
#define SUITE(suite) TEST_HEAD(suite, NULL, NULL, NULL, 0)

/* A part of the suite, which $CK_RUN_CASE chooses; without, it has one part with its own name. */
#define CASE(part) TEST_HEAD(NULL, part, NULL, NULL, 0)

/* What is called before and after each test, up to the next FIXTURE(): functions, or NULL. */
#define FIXTURE(before, after) TEST_HEAD(NULL, NULL, before, after, 0)

/* How long each test may take. */
#define TIME_LIMIT(seconds) TEST_HEAD(NULL, NULL, NULL, NULL, seconds)

/* A test. Its name is its claim. */
#define TEST(name) TEST_BODY(name, 0, 1, 0, NULL, 0, false)

/* The same, and no allocation may fail in it (torture.h): what it waits for would never happen
 * then, and nobody need report why. */
#define TEST_NEEDS_MEMORY(name) TEST_BODY(name, 0, 1, 0, NULL, 0, true)

/* A test for each number from `from` to before `to`. It finds its number in _i. */
#define TEST_LOOP(name, from, to) TEST_BODY(name, from, to, 0, NULL, 0, false)

/* A test for each row of a table. It finds the number of its row in _i, and is printed under the
 * `claim` of that row. */
#define TEST_ROWS(name, table)                                                                     \
    TEST_BODY(name, 0, N_ROWS(table), 0, &(table)[0].claim, sizeof((table)[0]), false)

/* A test that passes when this signal ends it. */
#define TEST_SIGNAL(name, signal) TEST_BODY(name, 0, 1, signal, NULL, 0, false)

/* ---- how it works: each line adds an entry to a list before main() begins ---- */

/* What changes for the tests below. */
struct test_head {
    const char *suite, *part;
    SFun before, after;
    int seconds;
};

struct test_body {
    TTest test;
    int from, to, signal;
    const char *const *claims; /* of the first row, or NULL */
    size_t row_size;
    bool needs_memory;
};

/* One of the two. */
struct test_entry {
    const char *file;
    int line;
    const struct test_head *head;
    const struct test_body *body;
    struct test_entry *next;
};

#ifdef __cplusplus
extern "C" {
#endif
void rlk_test_add(struct test_entry *entry);
#ifdef __cplusplus
}
#endif

#define TEST_JOIN(a, b) TEST_JOIN_(a, b)
#define TEST_JOIN_(a, b) a##b

/* What follows the function is there for the semicolon. */
#define TEST_HEAD(suite, part, before, after, seconds)                                             \
    __attribute__((constructor)) static void TEST_JOIN(test_head_, __COUNTER__)(void)              \
    {                                                                                              \
        static const struct test_head head = {suite, part, before, after, seconds};                \
        static struct test_entry entry = {__FILE__, __LINE__, &head, NULL, NULL};                  \
                                                                                                   \
        rlk_test_add(&entry);                                                                      \
    }                                                                                              \
    struct test_entry

#define TEST_BODY(name, from, to, signal, claims, row_size, needs_memory)                          \
    static void name(int _i);                                                                      \
    __attribute__((constructor)) static void name##_is_added(void)                                 \
    {                                                                                              \
        static const struct test_body body = {                                                     \
            {#name, name, __FILE__, __LINE__}, from, to, signal, claims, row_size, needs_memory};  \
        static struct test_entry entry = {__FILE__, __LINE__, NULL, &body, NULL};                  \
                                                                                                   \
        rlk_test_add(&entry);                                                                      \
    }                                                                                              \
    static void name(__attribute__((unused)) int _i)

/* ---- what a runner sees ---- */

/* One test, one row of a test, or one run of a loop. */
struct test_one {
    const char *suite, *part;
    TTest test;
    SFun before, after;
    int seconds; /* 0: no limit of its own */
    int signal;
    int i;
    bool loops; /* i counts */
    bool needs_memory;
};

/* All tests of the program, in their order; the same each time. */
const struct test_one *rlk_test_all(size_t *ret_n);

/* The name in a report: with the number of the run, if it has one. */
void rlk_test_name(const struct test_one *one, char *ret, size_t size);

#endif
