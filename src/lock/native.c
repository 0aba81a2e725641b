/* native.c - chooses the server's own command for a release where it is known, and sends it. */
#include "lock/native.h"

#include "base/mask.h"
#include "core/classify.h"
#include "node/claim.h"
#include "node/node.h"

void rlk_native_init(struct rlk_native_forms *f)
{
    f->formatted = RLK_NATIVE_NONE;
    f->listed_formatted = false;
}

bool rlk_native_fits(const struct rlk_node *n, const struct rlk_claim *claim)
{
    if (n->native == RLK_NATIVE_NONE || claim->n_keys > 1) {
        return false;
    }
    return n->way == RLK_RELEASE_BY_NATIVE || (n->way == RLK_RELEASE_ANYHOW && !claim->contended);
}

/* A hint: when it cannot be sent, nobody is woken. */
static void send_listed(struct rlk_native_forms *f, struct rlk_node *n, struct rlk_claim *claim,
                        const struct rlk_exchange_kind *kind, uint64_t now_us)
{
    if (!f->listed_formatted) {
        rlk_command_ask(&f->listed, "EXISTS", claim, RLK_COMMAND_WAITING);
        f->listed_formatted = true;
    }
    rlk_node_send(n, &f->listed, kind, claim, now_us);
}

bool rlk_native_send(struct rlk_native_forms *f, struct rlk_node *n, struct rlk_claim *claim,
                     const struct rlk_exchange_kind *release,
                     const struct rlk_exchange_kind *listed, uint64_t now_us)
{
    if (f->formatted != n->native) {
        rlk_command_delete(&f->release, claim, n->native);
        f->formatted = n->native;
    }
    if (!rlk_node_send(n, &f->release, release, claim, now_us)) {
        return false;
    }
    if (claim->channel && n->way != RLK_RELEASE_BY_NATIVE) {
        send_listed(f, n, claim, listed, now_us);
    }
    return true;
}

bool rlk_native_send_remains(struct rlk_node *n, struct rlk_claim *claim,
                             const struct rlk_exchange_kind *kind, uint64_t now_us)
{
    struct rlk_command c;

    rlk_command_exist(&c, claim);
    return rlk_node_send(n, &c, kind, claim, now_us);
}

/* Note it for this claim, too: a node that refuses both ways is not asked without end. */
bool rlk_native_refused(struct rlk_node *n, struct rlk_claim *claim, bool by_native,
                        const struct rlk_reply *reply)
{
    uint64_t bit = rlk_mask_bit(n->index);
    bool other = ((by_native ? claim->script_refused : claim->native_refused) & bit) != 0;

    if (by_native && rlk_classify_unknown_command(reply)) {
        n->native = RLK_NATIVE_NONE;
    }
    if (other || (!by_native && (n->native == RLK_NATIVE_NONE || claim->n_keys > 1))) {
        claim->native_refused &= ~bit;
        claim->script_refused &= ~bit;
        return false;
    }
    *(by_native ? &claim->native_refused : &claim->script_refused) |= bit;
    n->way = by_native ? RLK_RELEASE_BY_SCRIPT : RLK_RELEASE_BY_NATIVE;
    return true;
}
