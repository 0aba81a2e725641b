/* server.h - one private redis-server (or valkey-server) of a sandbox.
 *
 * In the sandbox's folder, master 1 has 1.conf, 1.sock, 1.pid and 1.log. It listens on its
 * unix socket only and keeps nothing on disk. 1.conf is complete: `redis-server 1.conf`
 * starts the master again.
 */
#ifndef CLI_SANDBOX_SERVER_H
#define CLI_SANDBOX_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Find the program: `option` if it is not NULL, else redis-server, else valkey-server, in PATH
 * unless it has a '/'. Writes the path to run.
 *
 * Returns CLI_OK; or says how to install it and returns CLI_UNREACHABLE. */
int cli_server_find(const char *option, char *path, size_t size);

/* Write the configuration of a master. Returns 0; -1 with errno set. */
int cli_server_configure(const char *folder, int number);

/* Start a master as a child in a process group of its own, that the kernel kills when we die.
 * Returns its process id, -1 with errno set. */
pid_t cli_server_start(const char *program, const char *folder, int number);

/* Whether a master answers PING. */
bool cli_server_answers(const char *folder, int number);

/* Read the end of a master's log into text, for an error message; "" when there is none. */
void cli_server_log_tail(const char *folder, int number, char *text, size_t size);

/* Write the URI of a master's socket. Returns 0; -1 when it does not fit. */
int cli_server_uri(const char *folder, int number, char *uri, size_t size);

#endif
