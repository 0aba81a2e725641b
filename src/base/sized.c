/* sized.c - copies between the program's version of a struct and ours. */
#include "base/sized.h"

#include <string.h>

static size_t size_of_struct(const void *sized)
{
    size_t size;

    memcpy(&size, sized, sizeof(size));
    return size;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_zero(const unsigned char *bytes, size_t from, size_t to)
{
    while (from < to && bytes[from] == 0) {
        from++;
    }
    return from >= to;
}

/* `size` may be too small even for the field `size`. */
static void copy(void *theirs, size_t size, const void *own, size_t own_size)
{
    size_t common = smaller(size, own_size);

    memcpy(theirs, own, common);
    memset((char *)theirs + common, 0, size - common);
    memcpy(theirs, &size, smaller(size, sizeof(size)));
}

bool rlk_sized_valid(const void *theirs, size_t least)
{
    size_t size = size_of_struct(theirs);

    return size >= least && size <= RLK_SIZED_MOST;
}

void rlk_sized_init(void *theirs, size_t size, const void *defaults, size_t own_size)
{
    copy(theirs, size, defaults, own_size);
}

enum rlk_sized rlk_sized_read(const void *theirs, size_t least, void *own, size_t own_size)
{
    size_t size = size_of_struct(theirs);

    if (!rlk_sized_valid(theirs, least)) {
        return RLK_SIZED_INVALID;
    }
    memcpy(own, theirs, smaller(size, own_size));
    memcpy(own, &own_size, sizeof(own_size));
    return is_zero(theirs, own_size, size) ? RLK_SIZED_READ : RLK_SIZED_UNKNOWN;
}

void rlk_sized_write(void *theirs, const void *own, size_t own_size)
{
    copy(theirs, size_of_struct(theirs), own, own_size);
}
