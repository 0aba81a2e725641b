/* change.h - redlock masters replace, add, remove: changes which servers are masters. */
#ifndef CLI_SHOW_CHANGE_H
#define CLI_SHOW_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_session;

/* At least one of both servers is given. */
struct cli_change {
    const char *leaves;  /* a master of the list: its URI, or its number there, from 1 on; NULL: no
                            master leaves */
    const char *joins;   /* the URI of the server that joins; NULL: none does */
    bool no_wait;        /* end when it is on record */
    uint32_t timeout_ms; /* until it is on record; 0: the default */
    size_t index;        /* in the list, of the master that leaves */
    char left[300], joined[300]; /* the names of both, without passwords */
};

/* Finds the master that leaves, and the names. For this the manager must have the masters of the
 * list: it must not have followed the record yet. Returns CLI_GO_ON, or says what is wrong and
 * returns CLI_USAGE. */
int cli_change_find(const struct cli_session *session, struct cli_change *change);

/* After that. Waits until the change is over, and says what it waits for. Returns the code to exit
 * with. It may be killed at any time, and run again. */
int cli_change_masters(struct cli_session *session, const struct cli_change *wanted);

#endif
