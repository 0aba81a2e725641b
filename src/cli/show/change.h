/* replace.h - redlock masters replace: has another server take the place of a master. */
#ifndef CLI_SHOW_REPLACE_H
#define CLI_SHOW_REPLACE_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;

struct cli_replacement {
    const char *leaves;  /* a master of the list: its URI, or its number there, from 1 on */
    const char *joins;   /* the URI of the other server */
    bool no_wait;        /* end when it is on record */
    uint32_t timeout_ms; /* until it is on record; 0: the default */
};

/* Waits until the other server votes, and says what it waits for. Returns the code to exit with. It
 * may be killed at any time, and run again. */
int cli_replace_master(struct cli_session *session, const struct cli_replacement *replacement);

#endif
