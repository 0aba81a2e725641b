/* exit.h - the exit codes of redlock(1). They are permanent: scripts depend on them.
 * Where sysexits.h has a code for it, it is that one.
 */
#ifndef CLI_SAY_EXIT_H
#define CLI_SAY_EXIT_H

enum cli_exit {
    /* Not an exit code: there is more to do. */
    CLI_GO_ON = -1,

    CLI_OK = 0,
    /* `redlock doctor`: it works, and something is to be fixed. */
    CLI_WARNED = 1,
    /* The command line or the configuration is wrong. */
    CLI_USAGE = 64,
    /* No majority of the masters can be reached. */
    CLI_UNREACHABLE = 69,
    /* Out of memory, or the system refused something, a write to stdout included. */
    CLI_INTERNAL = 70,
    /* Somebody else holds the lock; of an extension also: it is gone. */
    CLI_HELD = 75,
    /* The lock ended, or was lost, while the command ran. */
    CLI_LOST = 76,
    /* The command is there and cannot be run. */
    CLI_CANNOT_RUN = 126,
    /* The command is not there. */
    CLI_NOT_FOUND = 127,
    /* Plus the number of the signal that ended the command, or our waiting. */
    CLI_SIGNALED = 128
};

#endif
