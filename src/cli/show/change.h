/* change.h - redlock masters replace, add, remove: changes which servers are masters. */
#ifndef CLI_SHOW_CHANGE_H
#define CLI_SHOW_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;

/* At least one of both servers is given. */
struct cli_change {
    const char *leaves;  /* a master of the list: its URI, or its number there, from 1 on; NULL: no
                            master leaves */
    const char *joins;   /* the URI of the server that joins; NULL: none does */
    bool no_wait;        /* end when it is on record */
    uint32_t timeout_ms; /* until it is on record; 0: the default */
};

/* Waits until the change is over, and says what it waits for. Returns the code to exit with. It may
 * be killed at any time, and run again. */
int cli_change_masters(struct cli_session *session, const struct cli_change *wanted);

#endif
