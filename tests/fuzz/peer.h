/* peer.h - the server of the node target: it says what the script wants, and checks what it
 * reads.
 *
 * Each command of the library is checked: that it is one; that nothing but the greeting comes
 * before the first answer; that no token is set twice [S4]; that nothing is released that was never
 * set; and that pending releases are sent before anything new is asked [S5]. */
#ifndef RLK_TESTS_FUZZ_PEER_H
#define RLK_TESTS_FUZZ_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testing/model.h"

#define PEER_TOKENS 32
#define PEER_TOKEN 128

/* A token that was sent as SET. */
struct peer_token {
    char text[PEER_TOKEN];
    unsigned connection; /* the connection on which it arrived */
    uint64_t read_us;    /* when it was read */
    bool answered;       /* something was sent on that connection since */
    bool held;           /* the library reported that it holds it, and must not forget it */
    bool released;       /* its release was read */
};

struct peer {
    int fd;               /* -1: not connected */
    unsigned connections; /* so far; the number of the present one */
    bool spoke;           /* on the present connection */
    bool obliging;        /* answers every command like a good master: with the model */
    bool still;           /* reads nothing and says nothing */
    unsigned
        requests; /* how many commands were read on this connection, with those of the greeting */
    unsigned answers; /* how many answers were sent on it, at most */
    bool ahead;       /* it may have answered before it was asked */
    bool raw;         /* it may have sent something that is no answer */
    bool cut_short;   /* one side ended a connection, perhaps before a SET was sent */
    size_t piece;     /* sends so many bytes at once; 0: all */
    bool scripted;    /* something was said on this connection that the script chose */
    uint64_t sent;    /* bytes, over all connections */
    uint64_t sent_us; /* when the last of these were */
    struct evbuffer *in, *out;
    struct model model; /* of the version that greeted last; at first Redis 5 */
    struct model_session session;
    unsigned n_tokens;
    struct peer_token tokens[PEER_TOKENS];
};

/* The value of the key that no other client sets. */
extern const char peer_foreign_token[];

void peer_begin(struct peer *p);
void peer_end(struct peer *p);

/* Accept a new connection, read what has come, and answer it if obliging. */
void peer_read(struct peer *p);

/* Send the next piece of what waits to be sent. False when nothing was left. */
bool peer_send(struct peer *p);

/* Queue these bytes, which hold at most so many answers; or the answers to a whole greeting, of a
 * server with or without HELLO, with so many answers before it and right after it. */
void peer_say(struct peer *p, const void *bytes, size_t len, unsigned answers);
void peer_greet(struct peer *p, bool hello, unsigned before, unsigned behind);

/* Queue the token that was set last, as a string. */
void peer_say_own_token(struct peer *p);

void peer_close(struct peer *p);

/* The entry of a token; NULL when it was never set. */
struct peer_token *peer_find(struct peer *p, const char *token);

/* Whether everything that had to be released was, on the present connection. */
void peer_check_released(const struct peer *p);

#endif
