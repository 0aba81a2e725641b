/* lib/story.c - reads, sets and compares a field of a world, whatever its size. */
#include "lib/story.h"

#include <check.h>
#include <inttypes.h>
#include <string.h>

void story_set(void *world, const struct story_field *field, uint64_t value)
{
    char *at = (char *)world + field->offset;
    uint32_t half = (uint32_t)value;
    uint8_t byte = (uint8_t)value;

    switch (field->size) {
    case sizeof(value):
        memcpy(at, &value, sizeof(value));
        return;
    case sizeof(half):
        memcpy(at, &half, sizeof(half));
        return;
    default:
        memcpy(at, &byte, sizeof(byte));
        return;
    }
}

/* An int has a sign: a status is negative. */
static int64_t value_of(const void *world, const struct story_field *field)
{
    const char *at = (const char *)world + field->offset;
    int64_t whole;
    int32_t half;
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
    int64_t is = value_of(world, field), wanted = (int64_t)value;

    ck_assert_msg(is == wanted,
                  "step %u: %s is %" PRId64 " (0x%" PRIx64 "), not %" PRId64 " (0x%" PRIx64 ")",
                  step, field->name, is, (uint64_t)is, wanted, value);
}
