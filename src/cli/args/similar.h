/* similar.h - which of some names somebody may have meant who misspelled one. */
#ifndef RLK_CLI_ARGS_SIMILAR_H
#define RLK_CLI_ARGS_SIMILAR_H

#include <stddef.h>

struct cli_similar {
    const char *name; /* as it was written; `len` bytes */
    size_t len;
    const char *best; /* the most similar one so far; NULL: none is similar */
    size_t distance;  /* fewer mistakes than so many are needed to be more similar */
};

void cli_similar_begin(struct cli_similar *s, const char *name, size_t len);

/* One of the names. It is similar if one letter of each three, or one of fewer, was left out, added
 * or replaced, or stands before the one that it should follow. */
void cli_similar_offer(struct cli_similar *s, const char *offer);

#endif
