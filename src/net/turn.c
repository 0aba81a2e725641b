/* turn.c - the two queues of a turn: callbacks to run, and connections to flush. */
#include "net/turn.h"

#include "net/fork.h"

/* A user's callback may fork: what comes after it is the parent's alone. */
static void run_all(const struct rlk_turn *t, struct rlk_list *queue)
{
    struct rlk_list *link, now;

    rlk_list_take(&now, queue);
    while ((link = rlk_list_pop(&now)) != NULL) {
        struct rlk_call *c = RLK_CONTAINER(link, struct rlk_call, link);

        if (!rlk_fork_is_child(t->fork)) {
            c->run(c);
        }
    }
}

void rlk_turn_run(struct rlk_turn *t)
{
    run_all(t, &t->report);
    run_all(t, &t->flush);
    t->due = !rlk_list_empty(&t->report) || !rlk_list_empty(&t->flush);
    if (t->due) {
        rlk_turn_wake(t, true);
    }
}

void rlk_call_init(struct rlk_call *c, void (*run)(struct rlk_call *c))
{
    rlk_list_init(&c->link);
    c->run = run;
}

static void enqueue(struct rlk_turn *t, struct rlk_list *queue, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(queue, &c->link);
    }
    if (!t->due) {
        t->due = true;
        if (!t->inside) {
            rlk_turn_wake(t, false);
        }
    }
}

void rlk_turn_report(struct rlk_turn *t, struct rlk_call *c)
{
    enqueue(t, &t->report, c);
}

void rlk_turn_flush(struct rlk_turn *t, struct rlk_call *c)
{
    enqueue(t, &t->flush, c);
}
