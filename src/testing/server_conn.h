/* testing/server_conn.h - one connection to a server: reads commands, records them, carries them
 * out, and writes replies. For server.c, and for code that decides how a command is carried out.
 *
 *     OPEN ----------------------> ENDING ------------------> ENDED
 *            asked to end                   all is written
 *          --------------------------------------------------->
 *            out of memory for a command or its reply
 *
 * An ended connection stays, with its log, until the server is freed; or, with server.forgets,
 * until the next connection comes. */
#ifndef RLK_TESTING_SERVER_CONN_H
#define RLK_TESTING_SERVER_CONN_H

#include "testing/model.h"
#include "testing/server_log.h"

struct event;
struct event_base;
struct evbuffer;
struct server_conn;

/* A server (server.h): what its connections share. */
struct server {
    struct event_base *base;
    struct model model;
    bool paused;
    /* Keep neither the commands that were carried out nor ended connections. */
    bool forgets;
    uint64_t n_commands;       /* that were carried out */
    size_t n_bad;              /* how often a client sent what is not the protocol */
    size_t n_received, n_sent; /* bytes */
    struct server_conn **conns;
    size_t n_conns;
    long long last_id; /* of a connection */
    int fd;            /* the socket that listens, or -1 */
    struct event *acceptable;
    /* Called for a new connection, and for a command. NULL: nothing is done, and the model carries
     * out the command. */
    void (*greet)(struct server_conn *c);
    void (*obey)(struct server_conn *c, const struct server_entry *entry);
};

enum server_end {
    SERVER_STAYS,
    SERVER_CLOSES,
    SERVER_RESETS
};

struct server_conn {
    struct server *server;
    int fd;
    struct event *readable;
    struct event *writable;
    struct event *next_byte;
    struct evbuffer *in;
    struct evbuffer *out;
    struct model_session session;
    struct server_log log;
    size_t n_done;
    enum server_end end;
    bool stalled;  /* no further command is carried out */
    bool dripping; /* one pending byte is sent in each turn of the loop */
};

/* Takes over fd, also on failure. NULL: out of memory. */
struct server_conn *rlk_testing_server_conn_new(struct server *server, int fd);
void rlk_testing_server_conn_free(struct server_conn *c);

/* Write bytes after those that wait to be written. */
void rlk_testing_server_conn_say(struct server_conn *c, const char *bytes, size_t len);

/* End the connection when everything is written. */
void rlk_testing_server_conn_end(struct server_conn *c, enum server_end how);

/* Carry out a command as the model does, and send the reply this many times. */
void rlk_testing_server_conn_obey(struct server_conn *c, const struct resp_request *request,
                                  int replies);

/* Carry out the commands that wait, also the one at which the connection stalled. */
void rlk_testing_server_conn_go_on(struct server_conn *c);

#endif
