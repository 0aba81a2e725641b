/* exit.h - the exit codes of redlock(1). They are permanent: scripts depend on them. Where
 * sysexits.h has a code, that code is used.
 */
#ifndef CLI_SAY_EXIT_H
#define CLI_SAY_EXIT_H

enum cli_exit {
    CLI_GO_ON = -1, /* not an exit code: go on */

    CLI_OK = 0,
    CLI_WARNED = 1,       /* `redlock doctor`: a majority is usable, and something must be fixed;
                             `redlock masters`: not every master has the record */
    CLI_USAGE = 64,       /* the command line or the configuration is wrong */
    CLI_UNREACHABLE = 69, /* no majority of the masters can be reached */
    CLI_INTERNAL =
        70,        /* out of memory, the system refused something, or stdout could not be written */
    CLI_HELD = 75, /* somebody else holds the lock; `redlock extend`: or it is gone */
    CLI_LOST = 76, /* the lock ended, or was lost, while the command ran */
    CLI_CONFIG = 78,      /* the masters are not those on record, or one is listed twice */
    CLI_CANNOT_RUN = 126, /* the command cannot be run */
    CLI_NOT_FOUND = 127,  /* the command was not found */
    CLI_SIGNALED = 128,   /* plus the number of the signal that ended the command or the wait */
    CLI_UNREAD = 141      /* stdout is a pipe that nobody reads any more: as if SIGPIPE had ended
                             redlock */
};

#endif
