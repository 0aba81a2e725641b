/* takedown.h - removes what is left of a sandbox: every server in its folder, and the folder.
 *
 * A server is recognised by the socket that it listens on, and not by its program or parent: a
 * script or a person may have started it, with any program. */
#ifndef CLI_SANDBOX_TAKEDOWN_H
#define CLI_SANDBOX_TAKEDOWN_H

/* Kill the servers that listen in the folder, and remove the folder, which may be gone already.
 * With /proc, servers that do not listen yet, or whose socket file was replaced, are killed too.
 *
 * Returns 0 when nothing is left; -1 with errno set when the folder could not be removed. */
int cli_takedown(const char *folder);

#endif
