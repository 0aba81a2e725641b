/* net_loop.c - in place of src/net/loop.c and wake.c: the schedule of the world says when things
 * happen. What a turn and a timer do is the library's own code (src/net/turn.c, timers.c). */
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

void rlk_timers_arm(struct rlk_timers *ts, uint64_t due_us)
{
    struct world *w = process_world();
    struct client *c = client_of(RLK_CONTAINER(ts, struct rlk_loop, timers));

    ts->armed_us = due_us;
    schedule_push(&w->schedule, rlk_time_max(clock_when(&c->clock, due_us), w->now_us),
                  EVENT_TIMERS, c->index, 0, ++c->armed);
}

/* So many timers at once mean that one is set for a time that has passed, again and again. */
#define AT_ONCE 20000

static void fire_all(struct world *w, struct rlk_timers *ts, uint64_t now_us)
{
    struct rlk_timer *t;
    unsigned fired = 0;

    ts->armed_us = 0; /* one alarm, after all due timers have fired */
    while ((t = rlk_timers_take(ts, now_us)) != NULL && fired++ < AT_ONCE) {
        t->fire(t, now_us);
    }
    if (t) {
        check_violated(w, "work", "c%u: %u timers fired at one instant", w->running, fired);
    }
    ts->armed_us = RLK_NEVER;
    if (ts->heap.root) {
        rlk_timers_arm(ts, ts->heap.root->key);
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
        rlk_timers_arm(&c->rl->loop.timers, c->rl->loop.timers.armed_us);
        process_leave(w);
    }
}

/* ---- the turn ---- */

/* A win may grow too old while other callbacks run. But if every turn took that long, no lock
 * could ever be acquired; and where one takes longer than connect_timeout_ms, greetings fail. So
 * long ones end with the faults. */
void rlk_turn_wake(struct rlk_turn *t, bool another)
{
    struct world *w = process_world();
    const struct client *c = client_of(RLK_CONTAINER(t, struct rlk_loop, turn));
    bool long_one = !w->healed && !rlk_list_empty(&t->report) && draw_chance(&w->prng, 500000);
    uint64_t most_us = long_one ? w->o.turn_us : rlk_time_min(w->o.turn_us, w->o.timeout_us / 4);

    (void)another;
    schedule_push(&w->schedule, rlk_time_max(w->now_us, c->busy_us) + draw_upto(&w->prng, most_us),
                  EVENT_TURN, c->index, 0, c->life);
}

void net_on_turn(struct world *w, unsigned client, unsigned life)
{
    struct client *c = &w->clients[client];

    if (c->rl && c->life == life) {
        process_enter(w, client);
        rlk_turn_run(&c->rl->loop.turn);
        process_leave(w);
    }
}

/* ---- the loop ---- */

int rlk_loop_init(struct rlk_loop *l, struct event_base *base, void (*finish)(struct rlk_loop *l))
{
    l->base = base;
    l->finish = finish;
    l->timers.heap.root = NULL;
    l->timers.armed_us = RLK_NEVER;
    l->turn.due = false;
    rlk_list_init(&l->turn.report);
    rlk_list_init(&l->turn.flush);
    return 0;
}

void rlk_loop_end(struct rlk_loop *l)
{
    (void)l; /* what is still scheduled carries an older life */
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
