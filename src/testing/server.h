/* testing/server.h - a server on an event loop: a model (model.h) with a socket that listens.
 *
 * It accepts connections (server_conn.h), and carries out their commands in the order in which they
 * arrive. It can be paused, stop listening, and end its connections. */
#ifndef RLK_TESTING_SERVER_H
#define RLK_TESTING_SERVER_H

#include "testing/server_conn.h"

struct event_base;

void rlk_testing_server_init(struct server *s, struct event_base *base);

/* End its connections, stop listening, and free everything. */
void rlk_testing_server_free(struct server *s);

/* Listen on a bound socket, which is taken over on success. Returns 0, or -1 with errno. */
int rlk_testing_server_listen(struct server *s, int fd);

/* The same on a new unix socket at this path. */
int rlk_testing_server_listen_unix(struct server *s, const char *path);

/* Stop listening, and close the socket. Connections stay. */
void rlk_testing_server_deafen(struct server *s);

/* Accept, carry out and answer nothing, as after SIGSTOP. Commands that arrive are recorded. */
void rlk_testing_server_pause(struct server *s);

/* Carry out and answer the commands that wait, in order. */
void rlk_testing_server_go_on(struct server *s);

/* End every connection. */
void rlk_testing_server_end_all(struct server *s, enum server_end how);

#endif
