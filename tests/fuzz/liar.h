/* liar.h - the server of the target `talk`: a good master (testing/model.h), of whose replies the
 * script changes some.
 *
 * So it gets as far into each conversation as a good master does, and says there whatever the
 * script has. It accepts any number of connections, a few at a time. */
#ifndef RLK_TESTS_FUZZ_LIAR_H
#define RLK_TESTS_FUZZ_LIAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testing/model.h"

#define LIAR_LINES 4
#define LIAR_EDITS 16
#define LIAR_TEXT 200

/* What becomes of one reply. */
struct liar_edit {
    unsigned at; /* its number */
    char kind; /* r replaced by the text; w a byte at `a` written over by `b`; u cut to `a` bytes; d
                  sent twice; n not sent */
    uint64_t a, b;
    char text[LIAR_TEXT];
    size_t len;
};

/* One connection. */
struct liar_line {
    int fd; /* -1: free */
    struct evbuffer *in, *out;
    struct model_session session;
};

struct liar {
    struct model model;
    struct liar_line lines[LIAR_LINES];
    struct liar_edit edits[LIAR_EDITS];
    unsigned n_edits, replies, connections;
    bool still;       /* reads nothing and says nothing */
    size_t piece;     /* sends so many bytes at once; 0: all */
    uint64_t sent_us; /* when it last said something */
};

void liar_begin(struct liar *l);
void liar_end(struct liar *l);

/* Accept a new connection, read what has come, and answer it. */
void liar_read(struct liar *l);

/* Send the next piece on each connection. False when nothing was left. */
bool liar_send(struct liar *l);

/* Change the reply with number at->at, counted from the next one. */
void liar_edit(struct liar *l, const struct liar_edit *edit);

/* Say this on each connection without having been asked. */
void liar_say(struct liar *l, const void *bytes, size_t len);

/* End all connections. */
void liar_hang_up(struct liar *l);

#endif
