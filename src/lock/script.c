#include "lock/script.h"

#include "base/mask.h"
#include "core/classify.h"
#include "lock/manager.h"
#include "node/claim.h"
#include "node/command.h"
#include "scripts/scripts.h"

/* [S11] The vote looks whether the data are still those that we knew. */
static void form_vote(const struct rlk_node *n, struct rlk_command *c,
                      const struct rlk_claim *claim, bool text)
{
    char key[RLK_HEALTH_KEY_ROOM], start[RLK_HEALTH_START_ROOM];

    rlk_health_expect(n, key, start);
    rlk_command_vote(c, claim, key, start, text);
}

/* Formatted once in each of the two forms, when it is needed. */
static const struct rlk_command *form(const struct rlk_node *n, struct rlk_command forms[2],
                                      bool text, const struct rlk_script *script,
                                      const struct rlk_claim *claim, uint32_t ttl_ms)
{
    struct rlk_command *c = &forms[text];

    if (script == &rlk_script_vote) {
        form_vote(n, c, claim, text); /* anew for each: each has a mark of its own */
    } else if (c->bytes == NULL && script == &rlk_script_take) {
        rlk_command_take(c, claim, ttl_ms, text);
    } else if (c->bytes == NULL && script == &rlk_script_keep) {
        rlk_command_keep(c, claim, ttl_ms, text);
    } else if (c->bytes == NULL) {
        rlk_command_confirm(c, claim, text);
    }
    return c;
}

uint64_t rlk_script_send(struct redlock *rl, uint64_t nodes, const struct rlk_script *script,
                         struct rlk_claim *claim, uint32_t ttl_ms,
                         const struct rlk_request_kind *kind, uint64_t now_us)
{
    struct rlk_command forms[2];
    uint64_t left = nodes, unsent = 0;
    unsigned node;

    rlk_command_init(&forms[0]);
    rlk_command_init(&forms[1]);
    RLK_MASK_EACH (node, left) {
        struct rlk_node *n = &rl->nodes[node];
        bool text = (n->scripts & script->bit) == 0;

        if (rlk_node_ask(n, form(n, forms, text, script, claim, ttl_ms), kind, claim, now_us)) {
            rlk_claim_ref(claim);
        } else {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

/* Not after the release, which would be too late to undo it; and not to a server that says so of
 * the text as well. */
bool rlk_script_again_for(struct rlk_node *n, const struct rlk_script *script,
                          struct rlk_claim *claim, uint32_t ttl_ms,
                          const struct rlk_request_kind *kind, const struct rlk_reply *reply,
                          uint64_t now_us)
{
    struct rlk_command forms[2];
    uint64_t bit = rlk_mask_bit(n->index);
    bool again = ttl_ms > 0 && !claim->let_go && (claim->resent & bit) == 0;

    claim->resent &= ~bit;
    if (!rlk_classify_no_script(reply)) {
        n->scripts |= reply->type == RLK_REPLY_ERROR ? 0 : script->bit;
        return false;
    }
    n->scripts &= ~script->bit;
    rlk_command_init(&forms[0]);
    rlk_command_init(&forms[1]);
    again =
        again && rlk_node_ask(n, form(n, forms, true, script, claim, ttl_ms), kind, claim, now_us);
    claim->resent |= again ? bit : 0;
    return again;
}

bool rlk_script_again(struct rlk_node *n, const struct rlk_script *script, struct rlk_claim *claim,
                      const struct rlk_request_kind *kind, const struct rlk_reply *reply,
                      uint64_t now_us)
{
    return rlk_script_again_for(n, script, claim, claim->ttl_ms, kind, reply, now_us);
}
