/* lib/fake.h - a scripted server that may be as hostile as a test likes.
 *
 * It lives on the test's own event loop, so everything happens in an order that the test
 * decides, and nothing needs to sleep. By default it is a well-behaved small Redis
 * (model.h); rules say what it does instead with certain commands. It writes down every
 * command of every connection in the order in which they arrived.
 *
 *     struct fake *f = fake_new(base, FAKE_UNIX);
 *     fake_on(f, "SET", FAKE_STALL, NULL);
 *     ... redlock_new() with fake_uri(f), run the loop ...
 *     ck_assert_int_eq(fake_count(f, "SET"), 1);
 *     fake_free(f);
 *
 * Commands are named as they begin, words with one space between them, in upper and lower
 * case alike: "SET", "CLIENT SETNAME", "SET mykey"; "" is every command. The two commands with
 * which a greeting tries whether it may run scripts are "TRY EVALSHA" and "TRY EVAL", so that no
 * test takes them for the scripts of a lock.
 */
#ifndef RLK_TESTS_LIB_FAKE_H
#define RLK_TESTS_LIB_FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "testing/model.h"

struct event_base;
struct fake;

enum fake_where {
    FAKE_UNIX, /* a socket in the folder of the run */
    FAKE_TCP   /* 127.0.0.1, the port chosen by the kernel */
};

enum fake_how {
    /* As Redis would reply. */
    FAKE_MODEL,
    /* The given bytes instead; the command is not carried out. */
    FAKE_REPLY,
    /* The given bytes, then an orderly end of the connection. */
    FAKE_REPLY_CLOSE,
    /* The given bytes, then a reset (on TCP; on a unix socket an end without reading). */
    FAKE_REPLY_RESET,
    /* The command is carried out, the reply is lost, the connection ends. */
    FAKE_DO_CLOSE,
    /* The command is carried out, and its reply is sent one byte in each turn of the loop. */
    FAKE_DRIP,
    /* The command is carried out, and its reply is sent twice. */
    FAKE_TWICE,
    /* This command and all later ones on the connection wait for fake_go_on(). */
    FAKE_STALL,
    /* Never carried out and never answered; later commands are. */
    FAKE_MUTE
};

/* Make a server that listens. Aborts the test when the system does not allow it. */
struct fake *fake_new(struct event_base *base, enum fake_where where);

/* End it. NULL is fine. */
void fake_free(struct fake *f);

/* Its address, as a URI for redlock_options.nodes; lives as long as f. */
const char *fake_uri(const struct fake *f);

/* The file of the socket, or NULL; the port, or 0. */
const char *fake_path(const struct fake *f);
int fake_port(const struct fake *f);

/* Its model: keys, password, role, run_id. */
struct model *fake_model(struct fake *f);

/* From now on commands that begin with this text are handled in this way; the newest rule counts.
 * `bytes` is NUL terminated (NULL for none) and copied. */
void fake_on(struct fake *f, const char *command, enum fake_how how, const char *bytes);

/* The same for the next `times` commands only, and for bytes with NULs in them. */
void fake_on_next(struct fake *f, unsigned times, const char *command, enum fake_how how,
                  const char *bytes, size_t len);

/* Bytes that each new connection gets before it has sent anything; with FAKE_REPLY,
 * FAKE_REPLY_CLOSE or FAKE_REPLY_RESET. FAKE_MODEL ends that. */
void fake_on_connect(struct fake *f, enum fake_how how, const char *bytes);

/* Back to the model: no rules. Connections that are stalled stay so. */
void fake_behave(struct fake *f);

/* As SIGSTOP: nothing is accepted, carried out or answered; commands that arrive are recorded. */
void fake_pause(struct fake *f);

/* Carry out and answer the commands that wait, in order, after fake_pause() or FAKE_STALL. */
void fake_go_on(struct fake *f);

/* Send bytes on every open connection that are no reply to anything. */
void fake_say(struct fake *f, const char *bytes, size_t len);

/* The same on one connection, if it is open. */
void fake_say_on(struct fake *f, size_t conn, const char *bytes, size_t len);

/* End every connection: by a close, or hard, by a reset. */
void fake_hang_up(struct fake *f);
void fake_reset(struct fake *f);

/* End one connection by a close. */
void fake_hang_up_on(struct fake *f, size_t conn);

/* End every connection and refuse new ones; listen again at the same address. */
void fake_down(struct fake *f);
void fake_up(struct fake *f);

/* Connections are counted from 0 in the order in which they were accepted. */
size_t fake_n_conns(const struct fake *f);
size_t fake_n_open(const struct fake *f);
bool fake_is_open(const struct fake *f, size_t conn);

/* How many commands a connection has sent, and each of them. */
size_t fake_n_commands(const struct fake *f, size_t conn);
const struct resp_request *fake_request(const struct fake *f, size_t conn, size_t at);
const char *fake_text(const struct fake *f, size_t conn, size_t at);

/* How many commands that begin with this text arrived, over all connections. */
size_t fake_count(const struct fake *f, const char *command);

/* The position of the first command that begins with this text, from `from` on; -1 when there is
 * none. */
long fake_find(const struct fake *f, size_t conn, size_t from, const char *command);

/* How many bytes it has received and sent, over all connections. */
size_t fake_n_received(const struct fake *f);
size_t fake_n_sent(const struct fake *f);

/* How often a client sent what is not the protocol. */
size_t fake_n_bad(const struct fake *f);

#endif
