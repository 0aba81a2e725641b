/* hello.c - finds the fields in the reply to HELLO. */
#include "node/hello.h"

#include <string.h>

#include "core/reply.h"

const struct rlk_reply *rlk_hello_field(const struct rlk_reply *list, const char *name)
{
    int64_t i;

    /* Only the last value ("modules") can be an array, so before it every entry is an element. */
    for (i = 1; i + 1 <= list->integer && list[i].type != RLK_REPLY_ARRAY; i += 2) {
        if (strcmp(list[i].str, name) == 0) {
            return &list[i + 1];
        }
    }
    return NULL;
}

const char *rlk_hello_text(const struct rlk_reply *list, const char *name)
{
    const struct rlk_reply *value = rlk_hello_field(list, name);

    return value ? value->str : "";
}

enum rlk_unfit rlk_hello_unfit(const struct rlk_reply *list)
{
    return rlk_server_unfit(rlk_hello_text(list, "role"), rlk_hello_text(list, "mode"));
}
