/* takedown.h - ending what is left of a sandbox: every server in its folder, and the folder.
 *
 * A server is known by the socket that it listens on, not by its program or its parent: it may have
 * been started by way of a script, or by hand, by whatever program. */
#ifndef CLI_SANDBOX_TAKEDOWN_H
#define CLI_SANDBOX_TAKEDOWN_H

/* Kill the servers that listen in the folder, and, where there is /proc, those that are about to or
 * whose place another has taken, and remove it. A folder that is gone is fine.
 *
 * Returns 0 when nothing is left; -1 with errno set when the folder could not be removed. */
int cli_takedown(const char *folder);

#endif
