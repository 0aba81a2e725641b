/* change.c - changes the masters: a manager of its own that puts the change on record [M7, M8]. */
#include <redlock/change.h>
#include <redlock/error.h>
#include <redlock/manager.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "base/time.h"
#include "lock/manager.h"
#include "net/clock.h"

#define MAX_TIMEOUT_MS 86400000
#define LOOK_AGAIN_US 1000000

struct redlock_change {
    struct redlock *rl;
    struct redlock_change_options options;
    struct rlk_timer timer;
    struct rlk_call report;
    uint64_t until_us; /* when to give up writing; put off while we wait for the previous change */
    struct redlock_change_progress said;
    char error[400], said_error[400];
    int status;
    bool over;
};

/* ---- how far it is ---- */

static enum redlock_change_stage stage_of(const struct redlock_change *c, uint64_t now_us,
                                          uint64_t *ret_wait_ms)
{
    static const enum redlock_change_stage stages[] = {[RLK_MOVE_UNKNOWN] = REDLOCK_CHANGE_READS,
                                                       [RLK_MOVE_WAITS] = REDLOCK_CHANGE_WAITS,
                                                       [RLK_MOVE_WRITES] = REDLOCK_CHANGE_WRITES,
                                                       [RLK_MOVE_SETTLES] = REDLOCK_CHANGE_SETTLES,
                                                       [RLK_MOVE_DONE] = REDLOCK_CHANGE_DONE};
    uint64_t until_us;
    enum rlk_move_stage stage =
        rlk_membership_move_stage(&c->rl->record.membership, now_us, &until_us);

    *ret_wait_ms = (rlk_time_sub(until_us, now_us) + 999) / 1000;
    return stages[stage];
}

/* What is wrong with the new one, or else with a master that cannot be asked. */
static void explain_nodes(struct redlock_change *c, uint64_t now_us)
{
    const struct redlock *rl = c->rl;
    unsigned i = rl->options.n_nodes;

    while (i-- > 0) {
        struct rlk_node *n = &rl->nodes[i];

        if (n->link.state != RLK_LINK_UP && n->connect_failed && i != c->options.leaves) {
            snprintf(c->error, sizeof(c->error), "%.120s %.260s", n->uri->name,
                     rlk_node_explain(n, now_us));
            return;
        }
    }
}

static bool has_no_record(const struct redlock *rl)
{
    return rl->record.verdict.task == RLK_RECORD_FIRST;
}

/* It does not show which one it is, so it may be any master or none. */
static bool is_unknown(const struct redlock *rl)
{
    const struct rlk_membership *m = &rl->record.membership;
    unsigned leaves = m->leaves >= 0 ? (unsigned)m->leaves : 0;

    return m->leaves >= 0 && m->in_use && m->shown[leaves].mark == 0 &&
           rlk_membership_find(m, m->in_use, leaves) < 0;
}

/* Why this can never be put on record; NULL: it can. */
static const char *explain_obstacle(const struct redlock *rl)
{
    static const char *const texts[] = {
        [RLK_OBSTACLE_COPY] = "it has a copy of another master's data: empty it (FLUSHALL)",
        [RLK_OBSTACLE_FORMER_DATA] = "it has the data of a former master: empty it (FLUSHALL)",
        [RLK_OBSTACLE_BOTH] = "it is a master already, and so is the one that it is to replace: "
                              "give a server that is not on record",
        [RLK_OBSTACLE_NO_MASTER] =
            "the one that it is to replace is not a master any more: name one that is on record",
        [RLK_OBSTACLE_ONLY_MASTER] = "it is the only master"};

    return texts[rlk_membership_obstacle(&rl->record.membership)];
}

/* Before that, the new one may be taken for a master whose data it has a copy of. */
static bool are_all_tried(const struct redlock *rl)
{
    unsigned i;

    for (i = 0; i < rl->options.n_nodes && rl->record.membership.shown[i].tried; i++) {
    }
    return i == rl->options.n_nodes;
}

/* Why nothing can come of it; NULL: something can. */
static const char *refuse_change(struct redlock *rl, int *ret_status)
{
    const char *obstacle = explain_obstacle(rl);

    *ret_status = REDLOCK_ECONFIG;
    if (obstacle) {
        return obstacle;
    }
    if (rlk_keeper_has_misfit(&rl->record)) {
        return rlk_keeper_explain(&rl->record);
    }
    if (rlk_manager_is_misconfigured(rl)) {
        return redlock_strerror(REDLOCK_ECONFIG);
    }
    *ret_status = REDLOCK_ENOQUORUM;
    return has_no_record(rl)
               ? "there is no record of the masters yet: give the new list to all clients"
               : NULL;
}

static void judge_error(struct redlock_change *c, enum redlock_change_stage stage, uint64_t now_us)
{
    struct redlock *rl = c->rl;
    int status = 0;
    const char *refusal = are_all_tried(rl) ? refuse_change(rl, &status) : NULL;

    c->error[0] = '\0';
    c->status = refusal ? status : 0;
    if (refusal) {
        snprintf(c->error, sizeof(c->error), "%s", refusal);
    } else if (stage == REDLOCK_CHANGE_READS && is_unknown(rl)) {
        snprintf(c->error, sizeof(c->error),
                 "the master that is to leave is down, and not on record under this name: give the "
                 "name that is on record");
    } else if (stage == REDLOCK_CHANGE_READS || stage == REDLOCK_CHANGE_WRITES) {
        explain_nodes(c, now_us);
    }
}

/* ---- telling the user ---- */

static void on_change_closed(void *arg)
{
    rlk_free(arg);
}

/* The manager ends later, and does not use the handle until then. */
static void end(struct redlock_change *c)
{
    struct redlock *rl = c->rl;

    rlk_timer_cancel(&rl->loop.timers, &c->timer);
    rlk_list_remove(&c->report.link);
    rl->record.judged = NULL;
    rl->record.judged_arg = NULL;
    redlock_close(rl, on_change_closed, c);
}

/* [M5] A master that does not know that it left may agree with others on what is no more. */
static void warn_of_former(struct redlock_change *c)
{
    const struct rlk_membership *m = &c->rl->record.membership;
    const struct rlk_shown *s = m->leaves >= 0 ? &m->shown[m->leaves] : NULL;
    bool knows = s && s->readable && s->record && !rlk_record_find_master(s->record, s->mark);

    if (c->status == 0 && s && !knows) {
        snprintf(c->error, sizeof(c->error),
                 "the master that left was not reached, and does not know that it left: keep it "
                 "off, also empty, until no client has it in its list");
    }
}

static void report_end(struct redlock_change *c)
{
    redlock_change_cb *cb = c->options.change_cb;
    void *arg = c->options.arg;
    char error[sizeof(c->error)];
    int status = c->status;

    warn_of_former(c);
    memcpy(error, c->error, sizeof(error));
    c->over = true;
    end(c);
    if (cb) {
        cb(status, error, arg);
    }
}

static bool is_progress(const struct redlock_change *c, const struct redlock_change_progress *p)
{
    return p->stage != c->said.stage || p->wait_ms / 1000 != c->said.wait_ms / 1000 ||
           strcmp(p->error, c->said_error) != 0 || c->said.size == 0;
}

static void report_progress(struct redlock_change *c, const struct redlock_change_progress *p)
{
    if (is_progress(c, p)) {
        c->said = *p;
        snprintf(c->said_error, sizeof(c->said_error), "%s", p->error);
        if (c->options.progress_cb) {
            c->options.progress_cb(c, p, c->options.arg);
        }
    }
}

static void on_report(struct rlk_call *call)
{
    struct redlock_change *c = RLK_CONTAINER(call, struct redlock_change, report);
    uint64_t now_us = rlk_clock_us();
    struct redlock_change_progress p = {.size = sizeof(p), .error = c->error};

    rlk_list_remove(&call->link);
    p.stage = stage_of(c, now_us, &p.wait_ms);
    judge_error(c, p.stage, now_us);
    if (p.stage == REDLOCK_CHANGE_WAITS) {
        c->until_us = rlk_time_add(now_us, rlk_time_from_ms(c->options.timeout_ms));
    }
    if (c->status == 0 && p.stage < REDLOCK_CHANGE_SETTLES && now_us >= c->until_us) {
        c->status = REDLOCK_ENOQUORUM;
    }
    if (c->status || p.stage == REDLOCK_CHANGE_DONE) {
        report_end(c);
        return;
    }
    rlk_timer_set(&c->rl->loop.timers, &c->timer, rlk_time_add(now_us, LOOK_AGAIN_US));
    report_progress(c, &p);
}

static void look_soon(struct redlock_change *c)
{
    if (!c->over) {
        rlk_turn_report(&c->rl->loop.turn, &c->report);
    }
}

static void on_judged(struct rlk_record_keeper *k, uint64_t now_us)
{
    (void)now_us;
    if (k->judged_arg) {
        look_soon(k->judged_arg);
    }
}

/* No master tells us that a wait is over: only the clock does. */
static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct redlock_change *c = RLK_CONTAINER(t, struct redlock_change, timer);

    rlk_keeper_check(&c->rl->record, now_us);
    look_soon(c);
}

/* ---- beginning ---- */

static const struct redlock_change_options defaults = {
    .size = sizeof(defaults), .leaves = REDLOCK_NO_MASTER, .timeout_ms = 60000};

REDLOCK_EXPORT void redlock_change_options_init_sized(struct redlock_change_options *options,
                                                      size_t size)
{
    rlk_sized_init(options, size, &defaults, sizeof(defaults));
}

/* A manager with one more node, if a server joins. */
static int open_manager(struct event_base *base, struct redlock_options *masters,
                        struct redlock_change *c)
{
    const struct redlock_change_options *o = &c->options;
    struct rlk_manager_move move = {o->joins ? (int)masters->n_nodes : -1,
                                    o->leaves != REDLOCK_NO_MASTER ? (int)o->leaves : -1,
                                    on_judged};
    const char **nodes = rlk_alloc((masters->n_nodes + 1) * sizeof(*nodes));
    int status;

    if (nodes == NULL) {
        return REDLOCK_ENOMEM;
    }
    memcpy(nodes, masters->nodes, masters->n_nodes * sizeof(*nodes));
    nodes[masters->n_nodes] = o->joins;
    masters->nodes = nodes;
    masters->n_nodes += o->joins != NULL;
    status = rlk_manager_open(base, masters, &move, &c->rl);
    rlk_free(nodes);
    return status;
}

/* Of so many masters one leaves, or one joins, or both. */
static bool is_possible(size_t masters, const struct redlock_change_options *o)
{
    if (o->leaves == REDLOCK_NO_MASTER) {
        return o->joins && masters < REDLOCK_MAX_NODES;
    }
    return o->leaves < masters && (o->joins || masters > 1);
}

static int check_change(const struct redlock_options *masters,
                        const struct redlock_change_options *o)
{
    bool fits = masters->nodes && masters->record && is_possible(masters->n_nodes, o) &&
                o->timeout_ms >= 1 && o->timeout_ms <= MAX_TIMEOUT_MS;

    return fits ? 0 : REDLOCK_EINVAL;
}

REDLOCK_EXPORT int redlock_change_masters(struct event_base *base,
                                          const struct redlock_options *masters,
                                          const struct redlock_change_options *options,
                                          struct redlock_change **ret_change)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_change_options, arg);
    struct redlock_options copy;
    struct redlock_change *c;
    int status;

    if (base == NULL || masters == NULL || options == NULL || ret_change == NULL) {
        return REDLOCK_EINVAL;
    }
    status = rlk_options_read(masters, &copy);
    if (status) {
        return status;
    }
    c = rlk_alloc(sizeof(*c));
    if (c == NULL) {
        return REDLOCK_ENOMEM;
    }
    c->options = defaults;
    status = rlk_sized_read(options, least, &c->options, sizeof(c->options)) == RLK_SIZED_READ
                 ? check_change(&copy, &c->options)
                 : REDLOCK_EINVAL;
    if (status == 0) {
        status = open_manager(base, &copy, c);
    }
    if (status) {
        rlk_free(c);
        return status;
    }
    c->options.joins = NULL;
    rlk_timer_init(&c->timer, on_timer);
    rlk_call_init(&c->report, on_report);
    c->until_us = rlk_time_add(rlk_clock_us(), rlk_time_from_ms(c->options.timeout_ms));
    c->rl->record.judged_arg = c;
    look_soon(c);
    *ret_change = c;
    return 0;
}

REDLOCK_EXPORT void redlock_change_cancel(struct redlock_change *change)
{
    if (change && !change->over) {
        change->over = true;
        end(change);
    }
}
