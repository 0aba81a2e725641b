/* side.c - formats, and appends to the bytes of a connection. */
#include "node/side.h"

#include <string.h>

#include "base/wipe.h"
#include "core/reply.h"
#include "net/conn.h"
#include "net/format.h"
#include "net/uri.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"

bool rlk_side_send(struct rlk_conn *c, const char *const *words)
{
    const char *bytes;
    size_t len;
    bool fits;

    if (rlk_format_words(words, &bytes, &len)) {
        return false;
    }
    fits = rlk_conn_reserve(c, len);
    if (fits) {
        rlk_conn_append(c, bytes, len);
    }
    rlk_format_free(bytes, len);
    return fits;
}

bool rlk_side_send_login(struct rlk_conn *c, const struct rlk_node *n)
{
    const char *words[RLK_LOGIN_WORDS];
    bool sent = !rlk_login_words(n->options->login, n->uri, n->login_refused, words) ||
                rlk_side_send(c, words);

    rlk_wipe_stack();
    return sent;
}

bool rlk_side_is_subscribed(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 3 &&
           strcmp(reply[1].str, "subscribe") == 0;
}
