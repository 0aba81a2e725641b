/* hello.h - reads what a server answers to HELLO. What follows from it is core/server.h. */
#ifndef RLK_NODE_HELLO_H
#define RLK_NODE_HELLO_H

#include "core/server.h"

struct rlk_reply;

/* The value of a field of HELLO's flat list, NULL when it is not there; its text, "" then. */
const struct rlk_reply *rlk_hello_field(const struct rlk_reply *list, const char *name);
const char *rlk_hello_text(const struct rlk_reply *list, const char *name);

/* Why a server that answers that can have no vote at all. */
enum rlk_unfit rlk_hello_unfit(const struct rlk_reply *list);

#endif
