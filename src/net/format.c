/* format.c - calls redisFormatCommandArgv(), and wipes and frees what that allocated. */
#include "net/format.h"

#include <hiredis/hiredis.h>
#include <stdint.h>
#include <string.h>

#include <redlock/error.h>

int rlk_format_words(const char *const *words, const char **ret_bytes, size_t *ret_len)
{
    const char *argv[RLK_FORMAT_WORDS];
    size_t lens[RLK_FORMAT_WORDS];
    char *bytes;
    long long len; /* an int before hiredis 1.0 */
    int argc = 0;

    while (argc < RLK_FORMAT_WORDS && words[argc]) {
        argv[argc] = words[argc];
        lens[argc] = strlen(words[argc]);
        argc++;
    }
    len = redisFormatCommandArgv(&bytes, argc, argv, lens);
    if (len < 0) {
        return REDLOCK_ENOMEM;
    }
    *ret_bytes = bytes;
    *ret_len = (size_t)len;
    return 0;
}

void rlk_format_free(const char *bytes, size_t len)
{
    char *own = (char *)(uintptr_t)bytes;

    explicit_bzero(own, len);
    redisFreeCommand(own);
}
