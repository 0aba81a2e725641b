/* similar.h - finds the name that was probably meant when one is misspelled. */
#ifndef RLK_CLI_ARGS_SIMILAR_H
#define RLK_CLI_ARGS_SIMILAR_H

#include <stddef.h>

struct cli_similar {
    const char *name; /* as it was written; `len` bytes */
    size_t len;
    const char *best; /* the most similar one so far; NULL: none is similar */
    size_t distance;  /* a better match has fewer mistakes */
};

void cli_similar_begin(struct cli_similar *s, const char *name, size_t len);

/* Compare one more name. It is similar if there is at most one mistake for every three letters, and
 * one in a shorter name: a letter that is missing, added or wrong, or two that changed places. */
void cli_similar_offer(struct cli_similar *s, const char *offer);

#endif
