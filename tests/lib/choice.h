/* lib/choice.h - which tests the words of a command line mean.
 *
 *     test_io                              all of them
 *     test_io wire                         one suite
 *     test_io the_holder_is_named          one test
 *     test_io wire the_holder_is_named     one test of one suite
 *     test_unit_round each_order[2]        one run of a test that runs in a loop
 *
 * A word that is the name of a suite means the suite; every other word means a test. */
#ifndef RLK_TESTS_LIB_CHOICE_H
#define RLK_TESTS_LIB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* More words are ignored. */
#define CHOICE_MOST 64

struct choice {
    const char *const *words;
    size_t n;
    bool is_suite[CHOICE_MOST];
    bool is_met[CHOICE_MOST]; /* some suite or test has this name */
};

/* The words are borrowed. */
void choice_init(struct choice *c, const char *const *words, size_t n);

/* Add the name of a suite. All must be added before the first choice_has(). */
void choice_learn(struct choice *c, const char *suite);

/* Whether the run `i` of a test is wanted. */
bool choice_has(struct choice *c, const char *suite, const char *test, int i);

/* The first word that is neither a suite nor a test, or NULL. */
const char *choice_unmet(const struct choice *c);

#endif
