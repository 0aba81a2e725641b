/* lib/story.h - a test that is a list of steps: what happens to a machine, and what is to be seen
 * of it then.
 *
 * Each test has a `struct world`, and a `struct step` whose functions take it there. Together with
 * rows.h a story is one row of a table: its claim, and its steps. A step that fails says its number
 * in the story, the first is 1. */
#ifndef RLK_TESTS_LIB_STORY_H
#define RLK_TESTS_LIB_STORY_H

#include <stddef.h>
#include <stdint.h>

/* Without a name, clang-format would give it four lines. */
#define STEP(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

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
