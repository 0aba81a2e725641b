/* sized.h - public structs that begin with their size.
 *
 * A program and the library may be built with different versions of a struct. Fields are only ever
 * appended, so the shorter of two versions is the beginning of the longer one. `size`, the first
 * field, says which version the program has:
 *
 *     smaller than ours   the program knows fewer fields: the defaults hold for the rest
 *     larger than ours    the program knows more: fine while it leaves the rest at zero
 *
 * Neither is read nor written beyond that size. */
#ifndef RLK_BASE_SIZED_H
#define RLK_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

/* More than any version will ever have: a larger size was never initialised. */
#define RLK_SIZED_MOST 4096

/* The size of a struct that ends with this field. */
#define RLK_SIZED_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* The program's struct has at least the fields that every version has, and its size can be one. */
bool rlk_sized_valid(const void *theirs, size_t least);

/* Fill the program's struct of `size` bytes with the defaults, which are `own_size` bytes of ours,
 * and the rest with zeros. The size is set. */
void rlk_sized_init(void *theirs, size_t size, const void *defaults, size_t own_size);

enum rlk_sized {
    RLK_SIZED_READ = 0,
    RLK_SIZED_INVALID, /* its size is not valid: ours stays as it is */
    RLK_SIZED_UNKNOWN  /* a field that we do not know is not zero: ours has those that we know */
};

/* Read the program's struct into ours, which has the defaults. Our size stays. */
enum rlk_sized rlk_sized_read(const void *theirs, size_t least, void *own, size_t own_size);

/* Write ours into the program's, whose size is valid: as much of it as that has, and zeros into
 * what we do not know. Its size stays. */
void rlk_sized_write(void *theirs, const void *own, size_t own_size);

#endif
