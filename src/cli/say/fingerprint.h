/* fingerprint.h - tells whether two texts say the same. */
#ifndef CLI_SAY_FINGERPRINT_H
#define CLI_SAY_FINGERPRINT_H

#include <stdint.h>

/* A number that texts with the same meaning share: those that differ at most in how many
 * milliseconds they speak of. */
uint64_t cli_fingerprint(const char *text);

#endif
