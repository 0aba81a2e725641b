/* wire.h - masters as raw sockets: what a client needs that is not to have anything else.
 *
 * A connection (struct wire_node) has bytes to be sent and a FIFO of requests whose answers are
 * awaited. Commands are built once as bytes, in which only the token changes. No hiredis, no
 * libevent, no timeouts, no reconnection: whatever goes wrong ends the program. Connecting
 * blocks; then the socket is non-blocking and in the program's epoll set. */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_TOKEN_HEX 40
#define WIRE_COMMAND_SIZE 256
#define WIRE_IN_SIZE 65536

/* A request whose answer is awaited: whose it is, and in which phase it was sent. */
struct wire_request {
    uint32_t slot;
    uint32_t phase;
};

struct wire_node {
    const char *uri;
    void *owner; /* the program's */
    int fd;
    int epoll;
    bool blocked; /* the socket was full: EPOLLOUT is armed */
    struct wire_request *ring;
    uint32_t head, tail; /* oldest, and where the next one goes; not wrapped */
    uint32_t mask;
    char *out;
    size_t out_len, out_cap;
    char in[WIRE_IN_SIZE];
    size_t in_len;
};

/* The bytes of a command, in which only the token changes. */
struct wire_command {
    char bytes[WIRE_COMMAND_SIZE];
    size_t len;
    size_t token;       /* offset */
    const char *answer; /* when it succeeds */
    size_t answer_len;
};

/* Connect. */
void wire_open(struct wire_node *n, const char *uri);
void wire_close(struct wire_node *n);

/* Send a command whose words end with NULL, and wait for the answer. Writes the line of a status,
 * of an error or of a number, or the bytes of a string, cut to the size of the buffer. Call it only
 * before wire_join(). */
void wire_ask(const struct wire_node *n, const char *const *words, char *ret_answer, size_t size);

/* From now on nothing blocks: join the epoll set, with the node as the data of its events. */
void wire_join(struct wire_node *n, int epoll);

/* Make a command of these bytes. In them WIRE_NO_TOKEN stands where the token goes. `answer` is
 * borrowed. */
#define WIRE_NO_TOKEN "tttttttttttttttttttttttttttttttttttttttt"
void wire_command_init(struct wire_command *c, const char *bytes, size_t len, const char *answer);

/* Put a fresh random token into both commands of a lock. */
void wire_fresh_token(struct wire_command *set, struct wire_command *release);

/* How many answers of this master are awaited. */
uint32_t wire_behind(const struct wire_node *n);

/* Append a command to what is to be sent, and its request to the FIFO. */
void wire_append(struct wire_node *n, const struct wire_command *c, struct wire_request r);

/* Send what the socket takes. */
void wire_flush(struct wire_node *n);

/* Read what is there into n->in. */
void wire_fill(struct wire_node *n);

/* The request that the next answer belongs to; it stays in the FIFO until wire_answered(). */
struct wire_request wire_oldest(const struct wire_node *n);
void wire_answered(struct wire_node *n);

/* Drop the first `used` bytes of n->in. */
void wire_drop(struct wire_node *n, size_t used);

#endif
