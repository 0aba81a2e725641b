/* script.c - chooses between SET, the text of a script and its SHA-1, for each node. */
#include "lock/script.h"

#include "base/mask.h"
#include "core/classify.h"
#include "node/claim.h"
#include "node/health.h"
#include "node/node.h"

void rlk_script_init(struct rlk_script_forms *f, const struct rlk_script *script,
                     struct rlk_claim *claim, uint32_t ttl_ms)
{
    f->script = script;
    f->claim = claim;
    f->ttl_ms = ttl_ms;
    rlk_command_init(&f->form[0]);
    rlk_command_init(&f->form[1]);
}

/* [S11] A vote with a fencing token also checks the mark in the incarnation key: each node has its
 * own. */
static void add_mark(struct rlk_command *vote, const struct rlk_node *n)
{
    char key[RLK_COMMAND_INCARNATION_SIZE], start[RLK_COMMAND_START_SIZE];

    rlk_health_expected_mark(n, key, start);
    rlk_command_mark(vote, key, start);
}

static void form(const struct rlk_script_forms *f, struct rlk_command *c, bool second)
{
    if (f->script == NULL) {
        rlk_command_set(c, f->claim, second);
    } else if (f->script == &rlk_script_take) {
        rlk_command_take(c, f->claim, f->ttl_ms, second);
    } else if (f->script == &rlk_script_keep) {
        rlk_command_keep(c, f->claim, f->ttl_ms, second);
    } else if (f->script == &rlk_script_vote) {
        rlk_command_vote(c, f->claim, second);
    } else if (f->script == &rlk_script_confirm) {
        rlk_command_confirm(c, f->claim, second);
    } else if (f->script == &rlk_script_wait) {
        rlk_command_wait(c, f->claim, f->claim->wait_channel, second);
    } else if (f->script == &rlk_script_leave) {
        rlk_command_leave(c, f->claim, f->claim->wait_channel, second);
    } else {
        rlk_command_release(c, f->claim, second);
    }
}

static bool send_form(struct rlk_script_forms *f, bool second, struct rlk_node *n,
                      const struct rlk_exchange_kind *kind, uint64_t now_us)
{
    struct rlk_command *c = &f->form[second];

    if (c->bytes == NULL) {
        form(f, c, second);
    }
    if (f->script == &rlk_script_vote) {
        add_mark(c, n);
    }
    return rlk_node_send(n, c, kind, f->claim, now_us);
}

static bool is_text_needed(const struct rlk_node *n, const struct rlk_script *script)
{
    return script != &rlk_script_release && (n->scripts & script->bit) == 0;
}

bool rlk_script_send(struct rlk_script_forms *f, struct rlk_node *n,
                     const struct rlk_exchange_kind *kind, uint64_t now_us)
{
    bool second = f->script ? is_text_needed(n, f->script) : n->returns_holder;

    return send_form(f, second, n, kind, now_us);
}

/* The nodes that were sent the text of this script, and have not replied to it. Of all others one
 * is wanted at a time. */
static uint64_t *resent(struct rlk_claim *claim, const struct rlk_script *script)
{
    return script == &rlk_script_leave ? &claim->leave_resent : &claim->resent;
}

void rlk_script_ran(struct rlk_node *n, const struct rlk_script *script, struct rlk_claim *claim)
{
    n->scripts |= script->bit;
    *resent(claim, script) &= ~rlk_mask_bit(n->index);
}

bool rlk_script_is_forgotten(struct rlk_node *n, const struct rlk_script *script,
                             struct rlk_claim *claim, const struct rlk_reply *error)
{
    uint64_t bit = rlk_mask_bit(n->index);
    bool was_text = (*resent(claim, script) & bit) != 0;

    *resent(claim, script) &= ~bit;
    if (!rlk_classify_no_script(error)) {
        return false;
    }
    n->scripts &= ~script->bit;
    return !was_text;
}

bool rlk_script_send_text(struct rlk_node *n, const struct rlk_script *script,
                          struct rlk_claim *claim, uint32_t ttl_ms,
                          const struct rlk_exchange_kind *kind, uint64_t now_us)
{
    struct rlk_script_forms f;

    rlk_script_init(&f, script, claim, ttl_ms);
    if (ttl_ms == 0 || !send_form(&f, true, n, kind, now_us)) {
        return false;
    }
    *resent(claim, script) |= rlk_mask_bit(n->index);
    return true;
}
