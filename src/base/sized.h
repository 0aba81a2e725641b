/* sized.h - public structs that begin with their size.
 *
 * A program and the library may be built with different versions of a struct. New fields are only
 * appended, so the shorter of two versions is the beginning of the longer one. `size`, the first
 * field, says which version the program has:
 *
 *     smaller than ours   the program knows fewer fields: the others have their defaults
 *     larger than ours    the program knows more fields: that is fine as long as these are zero
 *
 * The library never reads or writes beyond that size. */
#ifndef RLK_BASE_SIZED_H
#define RLK_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

/* No version is larger: a struct with a larger size was never initialised. */
#define RLK_SIZED_MOST 4096

/* The size of a struct that ends with this field. */
#define RLK_SIZED_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Whether this is the last field, for an assertion beside code that names each field: a field that
 * is appended breaks it, unless it fits into padding, where no pointer does. */
#define RLK_SIZED_ENDS_WITH(type, field)                                                           \
    (sizeof(type) - RLK_SIZED_UP_TO(type, field) < _Alignof(type))

/* Whether the size of the program's struct is possible. least: the size of the first version. */
bool rlk_sized_valid(const void *theirs, size_t least);

/* Fill the program's struct of `size` bytes: with the defaults, which are `own_size` bytes of our
 * version, with zeros behind them, and with its size. */
void rlk_sized_init(void *theirs, size_t size, const void *defaults, size_t own_size);

enum rlk_sized {
    RLK_SIZED_READ = 0,
    RLK_SIZED_INVALID, /* its size is not possible: `own` is unchanged */
    RLK_SIZED_UNKNOWN  /* a field that we do not know is not zero: `own` has the fields we know */
};

/* Read the program's struct into `own`, which has the defaults. The size in `own` stays. */
enum rlk_sized rlk_sized_read(const void *theirs, size_t least, void *own, size_t own_size);

/* Write our struct into the program's, which must have a valid size: the fields that both have, and
 * zeros into the fields that we do not know. Its size stays. */
void rlk_sized_write(void *theirs, const void *own, size_t own_size);

#endif
