/* reply.h - what a master has answered, in the form in which src/net/reply.h passes it on. */
#ifndef RLK_TESTS_SIM_REPLY_H
#define RLK_TESTS_SIM_REPLY_H

#include "core/reply.h"
#include "sim/world.h"

struct reply {
    struct rlk_reply items[16];
    char text[512];
    char masters[4096]; /* the key of their record */
};

void reply_write(const struct world *w, unsigned wire, const struct message *m, struct reply *out);

/* The answer to a renewal of several locks: a digit for each of them, or an error. */
void reply_write_parts(const struct message *m, unsigned parts, struct reply *out);

/* A message or an invalidation, as it comes over a watch. */
void reply_write_push(const struct world *w, unsigned wire, enum push_kind kind, unsigned key,
                      struct reply *out);

#endif
