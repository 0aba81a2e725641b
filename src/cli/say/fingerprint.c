/* fingerprint.c - a hash (FNV-1a) of a text without its milliseconds. */
#include "cli/say/fingerprint.h"

#include <string.h>

/* The length of a number with " ms" behind it; 0: this is not such a number. */
static size_t milliseconds(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits && strncmp(text + digits, " ms", 3) == 0 ? digits : 0;
}

uint64_t cli_fingerprint(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (; *text; text++) {
        text += milliseconds(text);
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    }
    return hash;
}
