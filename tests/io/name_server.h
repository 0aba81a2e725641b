/* io/name_server.h - a DNS server of the test's own, over UDP on 127.0.0.1, on the test's loop.
 *
 *     struct name_server *s = name_server_new(base);
 *
 *     name_server_add(s, "m.test", "127.0.0.2");
 *     name_server_add(s, "m.test", "::1");
 *
 * A name that was not added does not exist. */
#ifndef RLK_TESTS_IO_NAME_SERVER_H
#define RLK_TESTS_IO_NAME_SERVER_H

#include <stdbool.h>

struct event_base;
struct name_server;

enum name_server_how {
    NAME_SERVER_ANSWERS,
    NAME_SERVER_FAILS, /* with SERVFAIL */
    NAME_SERVER_IS_MUTE
};

struct name_server *name_server_new(struct event_base *base);
void name_server_free(struct name_server *s);
int name_server_port(const struct name_server *s);

/* One more address of a name; NULL: the name exists. _forget: no name exists. */
void name_server_add(struct name_server *s, const char *name, const char *address);
void name_server_forget(struct name_server *s);

/* What it does with questions about names that begin with `name`; "": all. The newest rule counts.
 * A question about IPv6 (true) or IPv4 addresses only. */
void name_server_be(struct name_server *s, const char *name, enum name_server_how how);
void name_server_be_for(struct name_server *s, bool v6, enum name_server_how how);

/* How many questions it got about a name ("": all). */
unsigned name_server_asked(const struct name_server *s, const char *name);

/* Answer all questions that a mute server got, as it would answer now. */
void name_server_go_on(struct name_server *s);

#endif
