/* server.h - a private redis-server (or valkey-server) of a sandbox.
 *
 * In the sandbox's folder, master 1 has 1.conf, 1.sock, 1.pid and 1.log. The master listens only on
 * its unix socket, and writes no data to the disk. `redis-server 1.conf` starts the master again.
 */
#ifndef CLI_SANDBOX_SERVER_H
#define CLI_SANDBOX_SERVER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Find the server: `option` if it is not NULL, else redis-server, else valkey-server. A name
 * without a '/' is looked for in PATH. Writes the path to run.
 *
 * Returns CLI_OK; or says how to install a server and returns CLI_UNREACHABLE. */
int cli_server_find(const char *option, char *path, size_t size);

/* Write the configuration of a master. Returns 0; -1 with errno set. */
int cli_server_configure(const char *folder, int number);

/* Start a master as a child, in its own process group. The kernel kills it when the caller dies.
 * Returns the process id; -1 with errno set. */
pid_t cli_server_start(const char *program, const char *folder, int number);

/* Whether a master answers PING. */
bool cli_server_answers(const char *folder, int number);

/* Read the end of a master's log, for an error message; "" when there is no log. */
void cli_server_log_tail(const char *folder, int number, char *text, size_t size);

/* Write the URI of a master's socket. */
void cli_server_put_uri(FILE *out, const char *folder, int number);

#endif
