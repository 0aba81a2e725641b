/* testing/memory.c - see memory.h. */
#include "testing/memory.h"

#include <stdlib.h>
#include <string.h>

/* Each set of masters has a thread of its own. */
static _Thread_local bool has_failed;

bool rlk_testing_memory_note(bool worked)
{
    has_failed = has_failed || !worked;
    return worked;
}

bool rlk_testing_memory_failed(void)
{
    bool failed = has_failed;

    has_failed = false;
    return failed;
}

void *rlk_testing_memory_new(size_t size)
{
    void *new = calloc(1, size);

    rlk_testing_memory_note(new != NULL);
    return new;
}

char *rlk_testing_memory_copy(const char *bytes, size_t len)
{
    char *new = rlk_testing_memory_new(len + 1);

    if (new) {
        memcpy(new, bytes, len);
    }
    return new;
}
