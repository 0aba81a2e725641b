#include "net/turn.h"

#include <event2/event.h>

#include <redlock/error.h>

#include "net/fork.h"

static void run_all(struct rlk_list *line)
{
    struct rlk_list *link, now;

    rlk_list_take(&now, line);
    while ((link = rlk_list_pop(&now)) != NULL) {
        struct rlk_call *c = RLK_CONTAINER(link, struct rlk_call, link);

        c->run(c);
    }
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct rlk_turn *t = arg;

    (void)fd;
    (void)what;
    if (rlk_fork_is_child(t->fork)) {
        return;
    }
    run_all(&t->tell);
    run_all(&t->flush);
    t->due = false;
    if (!rlk_list_empty(&t->tell) || !rlk_list_empty(&t->flush)) {
        /* As a timer and not as an active event: sockets get their turn first. */
        t->due = true;
        if (event_add(t->event, &at_once)) {
            event_active(t->event, 0, 0); /* no memory for a timer */
        }
    }
}

int rlk_turn_init(struct rlk_turn *t, struct event_base *base, const struct rlk_fork *fork)
{
    t->fork = fork;
    t->due = false;
    rlk_list_init(&t->tell);
    rlk_list_init(&t->flush);
    t->event = event_new(base, -1, 0, on_turn, t);
    return t->event ? 0 : REDLOCK_ENOMEM;
}

void rlk_turn_end(struct rlk_turn *t)
{
    if (t->event) {
        event_free(t->event);
        t->event = NULL;
    }
}

void rlk_call_init(struct rlk_call *c, void (*run)(struct rlk_call *c))
{
    rlk_list_init(&c->link);
    c->run = run;
}

static void put(struct rlk_turn *t, struct rlk_list *line, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(line, &c->link);
    }
    if (!t->due) {
        t->due = true;
        event_active(t->event, 0, 0);
    }
}

void rlk_turn_tell(struct rlk_turn *t, struct rlk_call *c)
{
    put(t, &t->tell, c);
}

void rlk_turn_flush(struct rlk_turn *t, struct rlk_call *c)
{
    put(t, &t->flush, c);
}
