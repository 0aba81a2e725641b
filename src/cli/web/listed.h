/* listed.h - all locks under a prefix, for the page: listed again and again while somebody looks.
 */
#ifndef CLI_WEB_LISTED_H
#define CLI_WEB_LISTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct redlock;

/* The most locks that the page gets. */
#define CLI_LISTED_SHOWN 1000

struct cli_listed {
    struct redlock *rl;
    const char *prefix; /* NULL: nobody has asked for a list */
    bool asking;
    uint64_t ended_us; /* when the last list ended */
    uint64_t n_lists;  /* so many have ended */
    char *last;        /* the last one as JSON; NULL: none */
    FILE *out;         /* where the next one is written, into `next` */
    char *next;
    size_t next_length;
    size_t shown, more; /* locks in it, and those that it has no room for */
};

/* Begin the next list, unless one is under way or the last one is not old enough. */
void cli_listed_ask(struct cli_listed *listed);

/* Write what is known of the list itself; null: nobody has asked for one. */
void cli_listed_json(FILE *out, const struct cli_listed *listed, uint64_t now_us);

/* The last list as JSON; "null" before the first has ended. */
const char *cli_listed_last(const struct cli_listed *listed);

void cli_listed_free(struct cli_listed *listed);

#endif
