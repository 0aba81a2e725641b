/* hello.h - reads the reply to HELLO. core/server.h judges what it says. */
#ifndef RLK_NODE_HELLO_H
#define RLK_NODE_HELLO_H

#include "core/server.h"

struct rlk_reply;

/* The value of a field of the reply; NULL: there is no such field. _text: its text, or "". */
const struct rlk_reply *rlk_hello_field(const struct rlk_reply *list, const char *name);
const char *rlk_hello_text(const struct rlk_reply *list, const char *name);

/* Why this server can never vote; RLK_UNFIT_NOT: it can. */
enum rlk_unfit rlk_hello_unfit(const struct rlk_reply *list);

#endif
