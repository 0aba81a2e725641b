/* story.c - comparing a field of a world, whatever its size, and naming the step. */
#include "lib/story.h"

#include <check.h>
#include <inttypes.h>
#include <string.h>

static uint64_t value_of(const void *world, const struct story_field *field)
{
    const char *at = (const char *)world + field->offset;
    uint64_t whole;
    uint32_t half;
    uint8_t byte;

    switch (field->size) {
    case sizeof(whole):
        memcpy(&whole, at, sizeof(whole));
        return whole;
    case sizeof(half):
        memcpy(&half, at, sizeof(half));
        return half;
    default:
        memcpy(&byte, at, sizeof(byte));
        return byte;
    }
}

void story_expect(const void *world, const struct story_field *field, uint64_t value, unsigned step)
{
    uint64_t is = value_of(world, field);

    ck_assert_msg(is == value,
                  "step %u: %s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 " (0x%" PRIx64 ")",
                  step, field->name, is, is, value, value);
}
