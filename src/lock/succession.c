/* succession.c - see succession.h. */
#include "lock/succession.h"

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "lock/manager.h"
#include "lock/trace.h"
#include "node/capacity.h"
#include "node/claim.h"
#include "node/node.h"
#include "node/talk.h"
#include "scripts/scripts.h"

/* [W4] By then the waiter that was woken has asked, and the one that was told that it is next has
 * checked: 20 to 25 ms after it was told. */
#define MISSED_US 45000
#define MISSED_MORE_US 10000

/* Masters that do not reply are not waited for any longer. */
#define LONGEST_US 10000000

struct rlk_succession {
    unsigned refs; /* the first member, as conversations count them; one until it has ended */
    struct redlock *rl;
    struct rlk_operation operation;
    struct rlk_claim *claim;
    struct rlk_timer timer;
    uint64_t asked;    /* masters that have not replied yet */
    uint64_t woke;     /* masters that have woken somebody: ask them again */
    uint64_t until_us; /* the latest end */
};

static void unref(void *succession)
{
    struct rlk_succession *s = succession;

    if (--s->refs == 0) {
        rlk_claim_unref(s->claim);
        rlk_free(s);
    }
}

static void end_succession(struct rlk_succession *s)
{
    unsigned node;

    RLK_MASK_EACH (node, s->asked) {
        rlk_talk_abandon(&s->rl->nodes[node].link, s);
    }
    rlk_timer_cancel(&s->rl->loop.timers, &s->timer);
    rlk_list_remove(&s->operation.link);
    unref(s);
}

static void ask_later(struct rlk_succession *s, uint64_t now_us)
{
    uint64_t pause_us = MISSED_US + rlk_prng_upto(&s->rl->prng, MISSED_MORE_US);

    rlk_timer_set(&s->rl->loop.timers, &s->timer, rlk_time_add(now_us, pause_us));
}

/* ---- the question ---- */

/* Nobody is taken out of a queue: a request of this manager may wait for the key again. */
static bool format_pass_on(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_succession *s = say->context;

    rlk_command_leave(c, s->claim, "", say->form);
    return true;
}

static void take_passed_on(const struct rlk_heard *h)
{
    struct rlk_succession *s = h->context;
    uint64_t bit = rlk_mask_bit(h->node->index);

    s->asked &= ~bit;
    s->woke |= h->reply->type == RLK_REPLY_INTEGER && h->reply->integer == 1 ? bit : 0;
}

static void on_pass_broken(const struct rlk_heard *h)
{
    struct rlk_succession *s = h->context;

    s->asked &= ~rlk_mask_bit(h->node->index);
}

static bool send_text(const struct rlk_heard *h)
{
    return rlk_talk_text(&h->node->link, h->exchange, 0, h->now_us);
}

static const struct rlk_talk pass_on_talk = {
    RLK_LINES({.script = &rlk_script_leave, .format = format_pass_on, .take = take_passed_on}),
    .free = unref, .broken = on_pass_broken, .again = send_text};

static void ask_for_next(struct rlk_succession *s, uint64_t nodes, uint64_t now_us)
{
    uint64_t left = nodes;
    unsigned node;

    s->woke = 0;
    RLK_MASK_EACH (node, left) {
        struct rlk_node *n = &s->rl->nodes[node];

        if (rlk_capacity_is_free_to_wait(n) && rlk_talk_begin(&n->link, &pass_on_talk, s, now_us)) {
            s->asked |= rlk_mask_bit(node);
        }
    }
    if (s->asked & nodes) {
        RLK_TRACE(&s->rl->options, s->claim, .lock = -1, .node = -1, .kind = REDLOCK_TRACE_SENT,
                  .question = REDLOCK_QUESTION_LEAVE, .nodes = s->asked & nodes);
    }
}

/* ---- time ---- */

static void on_succession_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_succession *s = RLK_CONTAINER(t, struct rlk_succession, timer);

    if (s->rl->closing || (s->asked | s->woke) == 0 || now_us >= s->until_us) {
        end_succession(s);
        return;
    }
    ask_for_next(s, s->woke, now_us);
    ask_later(s, now_us);
}

/* ---- the operation ---- */

static void ignore_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    (void)op;
    (void)ev;
}

static void close_succession(struct rlk_operation *op)
{
    (void)op; /* its timer ends it, or the manager */
}

static void free_succession(struct rlk_operation *op)
{
    end_succession(RLK_CONTAINER(op, struct rlk_succession, operation));
}

void rlk_succession_begin(struct redlock *rl, struct rlk_claim *claim, uint64_t now_us)
{
    static const struct rlk_operation_kind kind = {
        .event = ignore_event, .close = close_succession, .free = free_succession};
    struct rlk_succession *s = rlk_alloc(sizeof(*s));

    if (s == NULL) {
        return;
    }
    s->refs = 1;
    s->rl = rl;
    s->claim = rlk_claim_ref(claim);
    s->until_us = rlk_time_add(now_us, LONGEST_US);
    rlk_manager_nodes(rl, now_us, NULL, NULL, &s->woke);
    rlk_timer_init(&s->timer, on_succession_timer);
    rlk_manager_add(rl, &s->operation, &kind, RLK_OPERATION_NONE);
    rlk_manager_reported(rl, &s->operation);
    ask_later(s, now_us);
}
