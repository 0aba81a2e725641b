/* testing/sha1.h - the digest by which Redis identifies a script. For tests only. */
#ifndef RLK_TESTING_SHA1_H
#define RLK_TESTING_SHA1_H

#include <stddef.h>

/* Write the SHA-1 of the bytes as 40 lower-case hex digits and a NUL. */
void rlk_sha1_hex(const void *bytes, size_t len, char ret_hex[41]);

#endif
