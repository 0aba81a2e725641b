/* lib/story.h - a test that is a list of steps: what happens to a machine, and what it must be like
 * then.
 *
 * Each test has a `struct world`, and a `struct step` whose function `take` changes the world or
 * checks it. With TEST_ROWS() (test.h) a story is one row of a table: its claim, and its steps. The
 * message of a step that fails has its number in the story; the first is 1. */
#ifndef RLK_TESTS_LIB_STORY_H
#define RLK_TESTS_LIB_STORY_H

#include <stddef.h>
#include <stdint.h>

/* A macro, so that clang-format does not give each step four lines. */
#define STEP(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Takes the steps of a list, up to the first that has no function. The world knows the number of
 * the present step. */
#define STORY_PLAY(world, list)                                                                    \
    do {                                                                                           \
        const struct step *first_ = (list), *at_;                                                  \
                                                                                                   \
        for (at_ = first_; at_->take; at_++) {                                                     \
            (world)->step = (unsigned)(at_ - first_) + 1;                                          \
            at_->take((world), at_);                                                               \
        }                                                                                          \
    } while (0)

/* A field of a world: a number, a bool or an enum. */
struct story_field {
    const char *name;
    size_t offset, size;
};

#define STORY_FIELD(type, member)                                                                  \
    {                                                                                              \
#member, offsetof(type, member), sizeof(((type *)0)->member)                               \
    }

void story_set(void *world, const struct story_field *field, uint64_t value);

/* The test fails unless the field has this value. */
void story_expect(const void *world, const struct story_field *field, uint64_t value,
                  unsigned step);

#endif
