/* unit/test_sized.c - structs of other versions than ours: shorter, longer, and not initialised. */
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "lib/test.h"

SUITE("sized");

struct ours {
    size_t size;
    size_t a, b, c;
};

#define LEAST RLK_SIZED_UP_TO(struct ours, a)

static const struct ours defaults = {sizeof(defaults), 1, 2, 3};

/* The program's struct, in memory of exactly its size, so that the sanitizer sees every access
 * beyond it. */
static size_t *theirs(size_t size)
{
    size_t *words = malloc(size);

    ck_assert_ptr_nonnull(words);
    memset(words, 0x5a, size);
    return words;
}

static void must_be(const struct ours *s, size_t a, size_t b, size_t c)
{
    ck_assert_uint_eq(s->size, sizeof(*s));
    ck_assert_uint_eq(s->a, a);
    ck_assert_uint_eq(s->b, b);
    ck_assert_uint_eq(s->c, c);
}

/* For every size from 0 to twice ours. */
TEST(init_writes_the_defaults_and_zeros_and_no_more)
{
    size_t most = 2 * sizeof(defaults), size, i;

    for (size = 0; size <= most; size++) {
        unsigned char *words = (unsigned char *)theirs(most + 1);

        rlk_sized_init(words, size, &defaults, sizeof(defaults));
        for (i = sizeof(size); i < size; i++) {
            ck_assert_uint_eq(words[i],
                              i < sizeof(defaults) ? ((const unsigned char *)&defaults)[i] : 0);
        }
        ck_assert_int_eq(memcmp(words, &size, size < sizeof(size) ? size : sizeof(size)), 0);
        for (i = size; i <= most; i++) {
            ck_assert_uint_eq(words[i], 0x5a);
        }
        free(words);
    }
}

TEST(a_shorter_struct_leaves_the_rest_to_the_defaults)
{
    size_t fields, most = sizeof(defaults) / sizeof(size_t);

    for (fields = 2; fields <= most; fields++) {
        size_t *words = theirs(fields * sizeof(*words));
        struct ours own = defaults;

        words[0] = fields * sizeof(*words);
        words[1] = 11;
        if (fields > 2) {
            words[2] = 12;
        }
        if (fields > 3) {
            words[3] = 13;
        }
        ck_assert_int_eq(rlk_sized_read(words, LEAST, &own, sizeof(own)), RLK_SIZED_READ);
        must_be(&own, 11, fields > 2 ? 12 : 2, fields > 3 ? 13 : 3);
        free(words);
    }
}

/* Each byte of the rest, one after the other. */
TEST(a_longer_struct_is_read_while_the_rest_is_zero)
{
    size_t size = sizeof(defaults) + 2 * sizeof(size_t), i;
    size_t *words = theirs(size);
    unsigned char *rest = (unsigned char *)words + sizeof(defaults);
    struct ours own = defaults;

    rlk_sized_init(words, size, &defaults, sizeof(defaults));
    words[3] = 13;
    ck_assert_int_eq(rlk_sized_read(words, LEAST, &own, sizeof(own)), RLK_SIZED_READ);
    must_be(&own, 1, 2, 13);
    for (i = 0; i < 2 * sizeof(size_t); i++) {
        own = defaults;
        rest[i] = 1;
        ck_assert_int_eq(rlk_sized_read(words, LEAST, &own, sizeof(own)), RLK_SIZED_UNKNOWN);
        must_be(&own, 1, 2, 13);
        rest[i] = 0;
    }
    free(words);
}

TEST(a_size_that_no_version_has_is_refused)
{
    static const size_t sizes[] = {0, 1, LEAST - 1, RLK_SIZED_MOST + 1, SIZE_MAX};
    struct ours own = defaults;
    size_t i, word;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        word = sizes[i]; /* no byte after it may be read */
        ck_assert(!rlk_sized_valid(&word, LEAST));
        ck_assert_int_eq(rlk_sized_read(&word, LEAST, &own, sizeof(own)), RLK_SIZED_INVALID);
        must_be(&own, 1, 2, 3);
    }
    word = LEAST;
    ck_assert(rlk_sized_valid(&word, LEAST));
    word = RLK_SIZED_MOST;
    ck_assert(rlk_sized_valid(&word, LEAST));
}

TEST(what_is_written_ends_where_the_struct_ends)
{
    size_t fields, most = 2 * sizeof(defaults) / sizeof(size_t), i;

    for (fields = 2; fields <= most; fields++) {
        size_t *words = theirs(fields * sizeof(*words));

        words[0] = fields * sizeof(*words);
        rlk_sized_write(words, &defaults, sizeof(defaults));
        ck_assert_uint_eq(words[0], fields * sizeof(*words));
        for (i = 1; i < fields; i++) {
            ck_assert_uint_eq(words[i], i <= 3 ? i : 0);
        }
        free(words);
    }
}
