/* native.c - releases by the server's own command instead of the script [S5].
 *
 *     DELEX key IFEQ token   1: deleted -------------------------------> our key was there
 *                            0: not ours ---> EXISTS key  0 or 1 ------> gone, or somebody else's
 *                            an error ------> the script, from now on
 *     EXISTS wait-queue      1: somebody waits ---> the script, which wakes the first
 *
 * The two commands of the first column are sent together, in this order: a client that enters the
 * queue after it was checked finds the key free. A lost round wakes nobody, so the second command
 * is left out. If its reply is lost, nobody is woken either: the waiters poll the key [W4, W5].
 *
 * The script is used for several keys, when we know that there are waiters (it deletes and wakes in
 * one round trip), and with an audit stream, to which only scripts add entries. If a server refuses
 * one of the two ways, the other is used at once, and from then on. The command alone wakes nobody.
 *
 * These are functions for rows of question.c: RELEASE (the script), DELETE, REMAINS and LISTED. */
#include "lock/question.h"

#include "base/mask.h"
#include "base/rare.h"
#include "base/time.h"
#include "core/classify.h"
#include "lock/ask.h"
#include "lock/contention.h"
#include "lock/lock.h"
#include "node/options.h"

/* ---- sending ---- */

static bool fits(const struct rlk_node *n, const struct rlk_claim *claim)
{
    if (n->native == RLK_NATIVE_NONE || claim->n_keys > 1) {
        return false;
    }
    return n->way == RLK_RELEASE_BY_NATIVE || (n->way == RLK_RELEASE_ANYHOW && !claim->contended &&
                                               rlk_options_audit(n->options) == NULL);
}

/* The check of the wait queue is a hint: if it cannot be sent, nobody is woken. */
bool rlk_native_send(struct rlk_draft *d, struct rlk_node *n, uint64_t now_us)
{
    const struct rlk_claim *claim = d->context;

    if (!fits(n, claim)) {
        return rlk_talk_share(d, &n->link, &rlk_questions[RLK_ASK_RELEASE].talk, now_us);
    }
    if (!rlk_talk_share(d, &n->link, &rlk_questions[RLK_ASK_DELETE].talk, now_us)) {
        return false;
    }
    if (claim->channel && n->way != RLK_RELEASE_BY_NATIVE) {
        rlk_talk_share(d, &n->link, &rlk_questions[RLK_ASK_LISTED].talk, now_us);
    }
    return true;
}

unsigned rlk_native_form(const struct rlk_node *n)
{
    return n->native;
}

bool rlk_native_format_delete(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_delete(c, say->context, (enum rlk_native)say->form);
    return true;
}

bool rlk_native_format_remains(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_exist(c, say->context);
    return true;
}

bool rlk_native_format_listed(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_ask(c, "EXISTS", say->context, RLK_COMMAND_WAITING);
    return true;
}

/* ---- the other way ---- */

/* Send a release to a node again, in the way that fits now. */
static void release_again(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    rlk_ask_claim_and_settle(n->owner, claim, RLK_ASK_RELEASE, rlk_mask_bit(n->index), 0, now_us);
}

/* A node that refuses both ways is not asked again and again: the claim notes which were refused.
 */
static bool may_go_otherwise(struct rlk_node *n, struct rlk_claim *claim, bool by_native,
                             const struct rlk_reply *error)
{
    uint64_t bit = rlk_mask_bit(n->index);
    bool other = ((by_native ? claim->script_refused : claim->native_refused) & bit) != 0;

    if (by_native && rlk_classify_unknown_command(error)) {
        rlk_node_drop_native(n);
    }
    if (other || (!by_native && (n->native == RLK_NATIVE_NONE || claim->n_keys > 1))) {
        claim->native_refused &= ~bit;
        claim->script_refused &= ~bit;
        return false;
    }
    *(by_native ? &claim->native_refused : &claim->script_refused) |= bit;
    rlk_node_release_by(n, by_native ? RLK_RELEASE_BY_SCRIPT : RLK_RELEASE_BY_NATIVE);
    return true;
}

static bool go_otherwise(struct rlk_node *n, struct rlk_claim *claim, bool by_native,
                         const struct rlk_reply *error, uint64_t now_us)
{
    if (!rlk_classify_refused(error) || !may_go_otherwise(n, claim, by_native, error)) {
        return false;
    }
    release_again(n, claim, now_us);
    return true;
}

RLK_COLD bool rlk_native_instead_of_script(struct rlk_node *n, struct rlk_claim *claim,
                                           const struct rlk_reply *error, uint64_t now_us)
{
    return go_otherwise(n, claim, false, error, now_us);
}

RLK_COLD bool rlk_native_instead_of_command(struct rlk_node *n, struct rlk_claim *claim,
                                            const struct rlk_reply *error, uint64_t now_us)
{
    return go_otherwise(n, claim, true, error, now_us);
}

RLK_COLD bool rlk_native_needs_script(struct rlk_node *n, struct rlk_claim *claim,
                                      const struct rlk_reply *error, uint64_t now_us)
{
    if (!rlk_classify_refused(error) || (claim->script_refused & rlk_mask_bit(n->index))) {
        return false;
    }
    rlk_node_release_by(n, RLK_RELEASE_BY_SCRIPT);
    release_again(n, claim, now_us);
    return true;
}

/* ---- replies ---- */

/* [W7] Our next request must not overtake the woken waiter, whose round reaches the masters one
 * round trip after the command that woke it. */
static void note_woken(struct redlock_lock *lock, uint64_t sent_us, unsigned trips, uint64_t now_us)
{
    uint64_t took_us = rlk_time_sub(now_us, sent_us);

    lock->woke = true;
    rlk_contention_note_woken(&lock->rl->contention, &lock->contender,
                              rlk_time_add(now_us, trips * took_us));
}

void rlk_native_take_released(const struct rlk_heard *h)
{
    const struct rlk_claim *claim = h->context;

    if (claim->lock && rlk_classify_woke(rlk_node_answer(h->node, h->reply))) {
        note_woken(claim->lock, h->exchange->sent_us, 1, h->now_us);
    }
    rlk_ask_take(h);
}

/* The key was not ours. Whether it was somebody else's matters only to a release that reports it.
 */
static bool ask_what_remains(struct rlk_node *n, struct rlk_claim *claim,
                             const struct rlk_reply *reply, uint64_t now_us)
{
    return claim->lock && claim->lock->phase == RLK_LOCK_RELEASING &&
           rlk_classify_delete(reply) == RLK_ANSWER_GONE &&
           rlk_talk_begin(&n->link, &rlk_questions[RLK_ASK_REMAINS].talk, claim, now_us);
}

void rlk_native_take_deleted(const struct rlk_heard *h)
{
    if (!ask_what_remains(h->node, h->context, h->reply, h->now_us)) {
        rlk_ask_take(h);
    }
}

/* There are waiters for the key that we have released: the script wakes the first, unless it was
 * sent already, or is refused. */
void rlk_native_take_listed(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;
    struct rlk_claim *claim = h->context;
    bool was_sent = (claim->native_refused & rlk_mask_bit(n->index)) != 0;

    if (was_sent || n->way == RLK_RELEASE_BY_NATIVE ||
        rlk_native_needs_script(n, claim, h->reply, h->now_us) ||
        !rlk_classify_is_listed(h->reply)) {
        return;
    }
    if (claim->lock) {
        note_woken(claim->lock, h->exchange->sent_us, 2, h->now_us);
    }
    claim->contended = true;
    release_again(n, claim, h->now_us);
}
