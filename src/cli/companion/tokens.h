/* tokens.h - the tokens that a dead program has left. */
#ifndef CLI_COMPANION_TOKENS_H
#define CLI_COMPANION_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/run/orphan.h"

struct cli_tokens {
    struct cli_orphan_lock *locks;
    size_t n;
};

/* Whether a file has tokens in the form that this version reads. */
bool cli_tokens_are_there(int fd);

/* Read them all. Those that find no memory are left out. The process ends soon: nothing is freed.
 */
void cli_tokens_read(int fd, struct cli_tokens *ret_tokens);

#endif
