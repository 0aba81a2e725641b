/* eva.c - calls what src/base does with bytes, for all arguments of bounded size. Frama-C's Eva,
 * which scripts/prove runs, must find nothing undefined in it. */
#include <__fc_builtin.h>

#include "base/alloc.c"
#include "base/digits.h"
#include "base/hash.c"
#include "base/ring.c"

/* scripts/prove --controls has one byte too few. */
#ifndef TEXT_SIZE
#define TEXT_SIZE RLK_DIGITS_MAX
#endif
#define BYTES 40
#define VALUES 80

static uint64_t upto(uint64_t most)
{
    return Frama_C_unsigned_long_interval(0, most);
}

static void write_digits(void)
{
    char text[TEXT_SIZE];
    uint64_t n = upto(UINT64_MAX);

    rlk_digits(n, text + sizeof(text));
    rlk_digits_count(n);
}

static void hash_bytes(void)
{
    struct rlk_hash_seed seed = {{upto(UINT64_MAX), upto(UINT64_MAX)}};
    unsigned char bytes[BYTES];

    Frama_C_make_unknown((char *)bytes, sizeof(bytes));
    rlk_hash(&seed, bytes, upto(BYTES));
}

/* More values than the first capacity, so that it grows once. */
static void fill_ring(void)
{
    struct rlk_ring ring = {0};
    uint64_t i;

    for (i = 0; i < VALUES; i++) {
        if (!rlk_ring_reserve(&ring, sizeof(i), VALUES * 2)) {
            break;
        }
        *(uint64_t *)rlk_ring_push(&ring, sizeof(i)) = i;
        if (i % 3 == 0) {
            rlk_ring_drop(&ring);
        }
    }
    rlk_ring_end(&ring);
}

int main(void)
{
    write_digits();
    hash_bytes();
    fill_ring();
    return 0;
}
