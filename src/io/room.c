#include "io/room.h"

#include "base/mask.h"
#include "base/time.h"
#include "core/event.h"
#include "core/validity.h"
#include "io/clock.h"
#include "io/manager.h"

bool rlk_room_at(const struct rlk_node *n, enum rlk_rank rank)
{
    size_t times = rank == RLK_RANK_URGENT ? 2 : 1;

    return n->inflight.count < times * RLK_ROOM_REQUESTS &&
           n->inflight.bytes < times * RLK_ROOM_BYTES;
}

/* [S5] What it is owed is told before it is asked for anything new. */
static bool has_room(const struct rlk_node *n, enum rlk_rank rank)
{
    return rlk_room_at(n, rank) && (rank == RLK_RANK_URGENT || !rlk_node_pays(n));
}

static bool is_expected_enough(const struct rlk_node *n, enum rlk_rank rank)
{
    return rank == RLK_RANK_FRESH && n->expected >= RLK_ROOM_EXPECTED;
}

/* The nodes that can be asked and have no room; those being connected that are waited for by as
 * many as may. Neither hinders when no majority could be had with them. */
static bool is_full(const struct redlock *rl, enum rlk_rank rank, struct rlk_event *ev)
{
    unsigned i, quorum = rlk_validity_quorum(rl->options.n_nodes);
    uint64_t full = 0, crowded = 0;

    ev->ready = ev->coming = 0;
    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_node *n = &rl->nodes[i];
        uint64_t bit = rlk_mask_bit(i);

        if (rlk_node_ready(n, ev->now_us)) {
            ev->ready |= bit;
            full |= has_room(n, rank) ? 0 : bit;
        } else if (rlk_node_coming(n)) {
            ev->coming |= is_expected_enough(n, rank) ? 0 : bit;
            crowded |= is_expected_enough(n, rank) ? bit : 0;
        }
    }
    return full != 0 || (crowded != 0 && rlk_mask_count(ev->ready | ev->coming) < quorum &&
                         rlk_mask_count(ev->ready | ev->coming | crowded) >= quorum);
}

static bool is_anybody_before(const struct rlk_room *room, enum rlk_rank rank)
{
    return !rlk_list_empty(&room->line[RLK_RANK_URGENT]) ||
           (rank == RLK_RANK_FRESH && !rlk_list_empty(&room->line[RLK_RANK_FRESH]));
}

void rlk_room_look(const struct redlock *rl, enum rlk_rank rank, struct rlk_event *ev)
{
    ev->full = is_full(rl, rank, ev);
    ev->full = ev->kind != RLK_EVENT_ROOM && (ev->full || is_anybody_before(&rl->room, rank));
}

/* A node that answers no more is not waited for when it is stuck. Any other makes room by an
 * answer, or by its end. */
static void watch_for_stuck(struct redlock *rl, const struct rlk_event *ev)
{
    uint64_t left = ev->ready, due_us = RLK_NEVER;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        due_us = rlk_time_min(due_us, rlk_node_overdue_us(&rl->nodes[node]));
    }
    rlk_timer_set(&rl->loop.timers, &rl->room.timer, rlk_time_add(due_us, 1));
}

/* True when all of them had their turn. */
static bool serve(struct redlock *rl, enum rlk_rank rank)
{
    struct rlk_event ev = {.now_us = rlk_clock_us()};

    while (!rlk_list_empty(&rl->room.line[rank])) {
        struct rlk_list *head;

        if (is_full(rl, rank, &ev)) {
            watch_for_stuck(rl, &ev);
            return false;
        }
        head = rlk_list_pop(&rl->room.line[rank]);
        RLK_CONTAINER(head, struct rlk_call, link)->run(RLK_CONTAINER(head, struct rlk_call, link));
    }
    return true;
}

static void on_serve(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, room.serve);

    rlk_timer_cancel(&rl->loop.timers, &rl->room.timer);
    if (serve(rl, RLK_RANK_URGENT)) {
        serve(rl, RLK_RANK_FRESH);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    rlk_room_wake(RLK_CONTAINER(t, struct redlock, room.timer));
}

void rlk_room_init(struct redlock *rl)
{
    rlk_list_init(&rl->room.line[RLK_RANK_URGENT]);
    rlk_list_init(&rl->room.line[RLK_RANK_FRESH]);
    rlk_call_init(&rl->room.serve, on_serve);
    rlk_timer_init(&rl->room.timer, on_timer);
}

void rlk_room_wake(struct redlock *rl)
{
    if (is_anybody_before(&rl->room, RLK_RANK_FRESH)) {
        rlk_turn_tell(&rl->loop.turn, &rl->room.serve);
    }
}

void rlk_room_wait(struct redlock *rl, enum rlk_rank rank, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(&rl->room.line[rank], &c->link);
        rlk_room_wake(rl);
    }
}

void rlk_room_expect(struct redlock *rl, uint64_t coming)
{
    unsigned node;

    RLK_MASK_EACH (node, coming) {
        rl->nodes[node].expected++;
    }
}
