/* src/net/loop.h, turn.h and timers.h: when things happen is up to the schedule of the world. What
 * a turn and a timer promise is as it ships: callbacks first, then bytes; whoever is put in line
 * meanwhile waits for the next turn; a timer that was cancelled may wake for nothing. */
#include "net/loop.h"

#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/net.h"
#include "sim/process.h"

static struct client *client_of(const struct rlk_loop *l)
{
    return (struct client *)l->base;
}

/* ---- timers ---- */

static void arm(struct rlk_timers *ts, uint64_t due_us)
{
    struct world *w = process_world();
    struct client *c = client_of(RLK_CONTAINER(ts, struct rlk_loop, timers));

    ts->armed_us = due_us;
    schedule_push(&w->schedule, rlk_time_max(clock_when(&c->clock, due_us), w->now_us),
                  EVENT_TIMERS, c->index, 0, ++c->armed);
}

void rlk_timer_init(struct rlk_timer *t, void (*fire)(struct rlk_timer *t, uint64_t now_us))
{
    t->set = false;
    t->fire = fire;
}

void rlk_timer_cancel(struct rlk_timers *ts, struct rlk_timer *t)
{
    if (t->set) {
        t->set = false;
        rlk_heap_remove(&ts->heap, &t->node);
    }
}

void rlk_timer_set(struct rlk_timers *ts, struct rlk_timer *t, uint64_t due_us)
{
    if (t->set && t->node.key == due_us) {
        return;
    }
    rlk_timer_cancel(ts, t);
    if (due_us == RLK_NEVER) {
        return;
    }
    t->node.key = due_us;
    t->set = true;
    rlk_heap_insert(&ts->heap, &t->node);
    if (due_us < ts->armed_us) {
        arm(ts, due_us);
    }
}

static struct rlk_timer *first_due(struct rlk_timers *ts, uint64_t now_us)
{
    struct rlk_heap_node *root = ts->heap.root;

    return root && root->key <= now_us ? RLK_CONTAINER(root, struct rlk_timer, node) : NULL;
}

/* So many at once are one that is set for a time that has passed, again and again. */
#define AT_ONCE 20000

static void fire_all(struct world *w, struct rlk_timers *ts, uint64_t now_us)
{
    struct rlk_timer *t;
    unsigned fired = 0;

    ts->armed_us = 0; /* once, when all have fired */
    while ((t = first_due(ts, now_us)) != NULL && fired++ < AT_ONCE) {
        rlk_timer_cancel(ts, t);
        t->fire(t, now_us);
    }
    if (t) {
        check_violated(w, "work", "c%u: %u timers, and time stands still", w->running, fired);
    }
    ts->armed_us = RLK_NEVER;
    if (ts->heap.root) {
        arm(ts, ts->heap.root->key);
    }
}

void net_on_timers(struct world *w, unsigned client, unsigned armed)
{
    struct client *c = &w->clients[client];

    if (c->rl && c->armed == armed) {
        process_enter(w, client);
        fire_all(w, &c->rl->loop.timers, world_client_us(w, client));
        process_leave(w);
    }
}

void net_rate_changed(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];

    if (c->rl && c->rl->loop.timers.armed_us != RLK_NEVER) {
        process_enter(w, client);
        arm(&c->rl->loop.timers, c->rl->loop.timers.armed_us);
        process_leave(w);
    }
}

/* ---- the turn ---- */

/* A win may grow too old while other callbacks run; but if every question were late for that, no
 * lock would ever be had. */
static void end_later(struct rlk_turn *t, bool tells)
{
    struct world *w = process_world();
    const struct client *c = client_of(RLK_CONTAINER(t, struct rlk_loop, turn));
    bool long_one = tells && draw_chance(&w->prng, 500000);
    uint64_t most_us = long_one ? w->o.turn_us : rlk_time_min(w->o.turn_us, w->o.timeout_us / 4);

    t->due = true;
    schedule_push(&w->schedule, rlk_time_max(w->now_us, c->busy_us) + draw_upto(&w->prng, most_us),
                  EVENT_TURN, c->index, 0, c->life);
}

static void run_all(struct rlk_list *line)
{
    struct rlk_list *link, now;

    rlk_list_take(&now, line);
    while ((link = rlk_list_pop(&now)) != NULL) {
        struct rlk_call *c = RLK_CONTAINER(link, struct rlk_call, link);

        c->run(c);
    }
}

static void end(struct rlk_turn *t)
{
    run_all(&t->tell);
    run_all(&t->flush);
    t->due = false;
    if (!rlk_list_empty(&t->tell) || !rlk_list_empty(&t->flush)) {
        end_later(t, !rlk_list_empty(&t->tell));
    }
}

void net_on_turn(struct world *w, unsigned client, unsigned life)
{
    struct client *c = &w->clients[client];

    if (c->rl && c->life == life) {
        process_enter(w, client);
        end(&c->rl->loop.turn);
        process_leave(w);
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
        end_later(t, line == &t->tell);
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

/* ---- the loop ---- */

int rlk_loop_init(struct rlk_loop *l, struct event_base *base, void (*finish)(struct rlk_loop *l))
{
    l->base = base;
    l->finish = finish;
    l->timers.heap.root = NULL;
    l->timers.armed_us = RLK_NEVER;
    l->turn.due = false;
    rlk_list_init(&l->turn.tell);
    rlk_list_init(&l->turn.flush);
    return 0;
}

void rlk_loop_end(struct rlk_loop *l)
{
    (void)l; /* what is still scheduled is for a life that is over */
}

void rlk_loop_finish(struct rlk_loop *l)
{
    struct world *w = process_world();
    const struct client *c = client_of(l);

    schedule_push(&w->schedule, rlk_time_max(w->now_us, c->busy_us), EVENT_FINISH, c->index, 0,
                  c->life);
}

void rlk_loop_finish_later(struct rlk_loop *l)
{
    rlk_loop_finish(l);
}

void net_on_finish(struct world *w, unsigned client, unsigned life)
{
    struct client *c = &w->clients[client];

    if (c->rl && c->life == life) {
        process_enter(w, client);
        c->rl->loop.finish(&c->rl->loop);
        process_leave(w);
    }
}
