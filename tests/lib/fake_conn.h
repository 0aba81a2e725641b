/* lib/fake_conn.h - one connection to a fake server: reads commands, writes them down, does
 * what the rules say, writes replies. Only for fake.c.
 *
 *     OPEN ------------------------------> ENDING -----------> ENDED
 *            a rule, or fake_hang_up()        all is written
 *
 * A connection that has ended stays, with its log, until the server is freed. */
#ifndef RLK_TESTS_LIB_FAKE_CONN_H
#define RLK_TESTS_LIB_FAKE_CONN_H

#include "lib/fake_log.h"
#include "lib/fake_rules.h"
#include "lib/model.h"

struct event;
struct event_base;
struct evbuffer;
struct fake_conn;

/* What all connections of one server share. */
struct fake_host {
    struct event_base *base;
    struct model model;
    struct fake_rules rules;
    bool paused;
    size_t n_bad;
    size_t n_received, n_sent; /* bytes */
    struct fake_conn **conns;
    size_t n_conns;
};

enum fake_end {
    FAKE_STAYS,
    FAKE_CLOSES,
    FAKE_RESETS
};

struct fake_conn {
    struct fake_host *host;
    int fd;
    struct event *readable;
    struct event *writable;
    struct event *next_byte;
    struct evbuffer *in;
    struct evbuffer *out;
    struct model_session session;
    struct fake_log log;
    size_t n_done;
    enum fake_end end;
    bool stalled;
    bool dripping;
};

/* Takes over fd. Adds the connection to the host. */
struct fake_conn *fake_conn_new(struct fake_host *host, int fd);
void fake_conn_free(struct fake_conn *c);

/* Write bytes after those that wait to be written. */
void fake_conn_say(struct fake_conn *c, const char *bytes, size_t len);

/* End the connection when everything is written. */
void fake_conn_end(struct fake_conn *c, enum fake_end how);

/* Carry out the commands that wait, also the one at which the connection stalled. */
void fake_conn_go_on(struct fake_conn *c);

#endif
