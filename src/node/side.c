/* side.c - writes the login, and reads the reply to SUBSCRIBE. */
#include "node/side.h"

#include <string.h>

#include "core/reply.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/talk.h"

struct rlk_trouble rlk_side_trouble(const struct rlk_link *l, const struct rlk_fault *fault)
{
    if (fault == NULL) {
        return (struct rlk_trouble){.kind = RLK_TROUBLE_SUBSCRIBER_LATE,
                                    .number = l->options->connect_timeout_us / 1000};
    }
    return (struct rlk_trouble){
        .kind = RLK_TROUBLE_SUBSCRIBER_BROKEN, .fault = fault->kind, .words = fault->text};
}

bool rlk_side_needs_login(const struct rlk_say *say)
{
    return rlk_login_password(say->node->options->login, say->node->uri) != NULL;
}

bool rlk_side_format_login(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_node *n = say->node;
    const char *words[RLK_LOGIN_WORDS];

    rlk_login_words(n->options->login, n->uri, n->login_refused, words);
    return rlk_command_words(c, words) == 0;
}

bool rlk_side_is_subscribed(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 3 &&
           strcmp(reply[1].str, "subscribe") == 0;
}
