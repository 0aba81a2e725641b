/* manager.c - the list of operations, and the checks that every call begins with. */
#include "lock/manager.h"

#include <stdarg.h>
#include <stdio.h>

#include <redlock/error.h>

#include "base/mask.h"

bool rlk_manager_is_misconfigured(const struct redlock *rl)
{
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        if (rl->nodes[i].duplicate) {
            return true;
        }
    }
    return rlk_keeper_has_misfit(&rl->record);
}

void rlk_manager_add(struct redlock *rl, struct rlk_operation *op,
                     const struct rlk_operation_kind *kind, enum rlk_operation_class class)
{
    op->kind = kind;
    op->class = class;
    rlk_list_init(&op->link);
    rlk_list_push(&rl->operations, &op->link);
    rl->pending++;
    rl->counts[class] += class != RLK_OPERATION_NONE;
}

void rlk_manager_notify(struct redlock *rl, const struct rlk_event *ev)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &rl->operations) {
        struct rlk_operation *op = RLK_CONTAINER(link, struct rlk_operation, link);

        op->kind->event(op, ev);
    }
}

/* Operations may begin with fewer masters than before, so the queue is checked, too. */
void rlk_manager_set_voters(struct redlock *rl, const struct rlk_voters *voters, uint64_t now_us)
{
    const struct rlk_event ev = {.kind = RLK_EVENT_VOTERS, .now_us = now_us};

    if (voters->set == rl->voters.set && voters->size == rl->voters.size) {
        return;
    }
    rl->voters = *voters;
    rlk_manager_notify(rl, &ev);
    rlk_queue_wake(&rl->queue);
}

bool rlk_manager_fit(struct redlock *rl, unsigned nodes)
{
    struct rlk_list *link, *next;
    bool fits = true;

    RLK_LIST_EACH (link, next, &rl->operations) {
        struct rlk_operation *op = RLK_CONTAINER(link, struct rlk_operation, link);

        fits = fits && (op->kind->grow == NULL || op->kind->grow(op, nodes));
    }
    return fits;
}

void rlk_manager_check_close(struct redlock *rl)
{
    if (rl->closing) {
        rlk_turn_flush(&rl->loop.turn, &rl->close_check);
    }
}

void rlk_manager_reported(struct redlock *rl, struct rlk_operation *op)
{
    rl->pending--;
    rl->counts[op->class] -= op->class != RLK_OPERATION_NONE;
    op->class = RLK_OPERATION_NONE;
    rlk_manager_check_close(rl);
}

void rlk_manager_nodes(const struct redlock *rl, uint64_t now_us, uint64_t *ret_ready,
                       uint64_t *ret_connecting, uint64_t *ret_open)
{
    uint64_t ready = 0, connecting = 0, open = 0;
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_node *n = &rl->nodes[i];
        uint64_t bit = rlk_mask_bit(i);

        if (n->link.state == RLK_LINK_UP) {
            open |= bit;
            ready |= ret_ready && rlk_node_ready(n, now_us) ? bit : 0;
        } else {
            connecting |= rlk_node_connecting(n) ? bit : 0;
        }
    }
    if (ret_ready) {
        *ret_ready = ready;
    }
    if (ret_connecting) {
        *ret_connecting = connecting;
    }
    if (ret_open) {
        *ret_open = open;
    }
}

int rlk_manager_refuse(struct redlock *rl, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(rl->error_text, sizeof(rl->error_text), format, args);
    va_end(args);
    return status;
}

REDLOCK_EXPORT const char *redlock_error_text(const struct redlock *rl)
{
    return rl ? rl->error_text : "";
}

int rlk_manager_check(const struct redlock *rl)
{
    if (rl == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    return rl->tracer.in_callback ? REDLOCK_ESTATE : 0;
}

int rlk_manager_check_call(struct redlock *rl, enum rlk_operation_class class)
{
    int status = rlk_manager_check(rl);

    if (rl) {
        rl->error_text[0] = '\0';
    }
    if (status) {
        return status;
    }
    if (rl->closing) {
        return REDLOCK_ESTATE;
    }
    if (rl->counts[class] >= RLK_MANAGER_MAX_PENDING) {
        rl->stats.limited++;
        return REDLOCK_ELIMIT;
    }
    return 0;
}
