/* io/test_size.c - how many bytes the library takes for a lock that is held. The bounds are exact:
 * nobody makes a lock larger without noticing. lock/lock.h says what they are made of. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sanitizer.h"
#include "io/farm.h"
#include "lib/test.h"

SUITE("size");

/* A held lock takes memory for itself, and now and then the table of keys grows: so of some locks
 * the smallest one counts. */
#define LOCKS 8

static size_t bytes;

static int count(size_t size)
{
    bytes += size;
    return 1;
}

struct size {
    size_t nodes, key_len, owner_len;
    size_t most; /* bytes of the three objects */
};

static const struct size sizes[] = {
    {1, 32, 0, 816},
    {5, 32, 0, 944},
    {5, 33, 0, 944},
    {5, REDLOCK_MAX_KEY, 0, 1936},
    {5, 32, REDLOCK_MAX_OWNER, 1152},
};

/* A key of this length, with its number at the end. */
static const char *key_of(const struct size *s, unsigned number)
{
    static char key[REDLOCK_MAX_KEY + 1];

    snprintf(key, sizeof(key), "%0*u", (int)s->key_len, number);
    return key;
}

static const char *owner_of(const struct size *s)
{
    static char owner[REDLOCK_MAX_OWNER + 1];

    memset(owner, 0, sizeof(owner));
    memset(owner, 'o', s->owner_len);
    return owner;
}

static void acquire(struct farm *f, const struct size *s, unsigned number)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = key_of(s, number);
    request.owner = owner_of(s);
    request.ttl_ms = OUTCOME_TTL_MS;
    ck_assert_int_eq(farm_acquire_as(f, &request).status, REDLOCK_OK);
}

TEST_LOOP(a_held_lock_takes_no_more_than_this, 0, N_ROWS(sizes))
{
    const struct size *s = &sizes[_i];
    size_t least = SIZE_MAX;
    struct farm f;
    unsigned i;

    farm_start_open(&f, s->nodes);
    for (i = 0; i < LOCKS; i++) {
        bytes = 0;
        rlk_alloc_hook(count);
        acquire(&f, s, i);
        rlk_alloc_hook(NULL);
        least = bytes < least ? bytes : least;
    }
    ck_assert_uint_le(least, s->most);
    farm_end(&f);
}

#if !RLK_ADDRESS_SANITIZER
/* The next lock gets the objects of a released one. With AddressSanitizer it does not, so that any
 * later use of them is reported. */
TEST(a_released_lock_gives_its_memory_to_the_next)
{
    const struct size *s = &sizes[1];
    struct outcome got;
    struct farm f;
    unsigned i;

    farm_start_open(&f, s->nodes);
    for (i = 0; i < LOCKS; i++) {
        bytes = 0;
        rlk_alloc_hook(i > 0 ? count : NULL);
        got = farm_acquire(&f, key_of(s, i));
        ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
        rlk_alloc_hook(NULL);
        ck_assert_uint_eq(bytes, 0);
    }
    farm_end(&f);
}
#endif
