/* election.c - an election: made, kept up to date by the manager's callbacks, freed. */
#include "sync/election.h"

#include <stdio.h>

#include <redlock/redlock.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "election/kept.h"
#include "sync/eventfd.h"

/* ---- what other threads see ---- */

static void begin_leadership(struct redlock_sync_election *e, uint64_t term, uint64_t deadline_us)
{
    atomic_store(&e->term, term);
    atomic_store(&e->deadline_us, deadline_us);
    rlk_sync_eventfd_clear(e->fd);
}

static void end_leadership(struct redlock_sync_election *e)
{
    atomic_store(&e->deadline_us, 0);
    rlk_sync_eventfd_add(e->fd, RLK_SYNC_EVENTFD_MOST);
}

/* ---- the manager's callbacks ---- */

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    struct redlock_sync_election *e = arg;

    e->leads = true;
    begin_leadership(e, term, redlock_election_deadline_us(election));
    rlk_sync_waits_elected(e, term);
    if (e->user.elected_cb) {
        e->user.elected_cb(election, term, e->user.arg);
        rlk_sync_end_child(e->s);
    }
}

/* The library resigns only after the application has stopped. So a call that frees the election
 * says that it has stopped, as soon as this has returned. */
static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct redlock_sync_election *e = arg;

    e->last = *demotion;
    e->leads = false;
    end_leadership(e);
    rlk_sync_waits_demoted(e, demotion->term);
    if (e->freeing) {
        rlk_sync_inbox_push(&e->s->inbox, &e->stopped);
    }
    if (e->user.demoted_cb) {
        e->user.demoted_cb(election, demotion, e->user.arg);
        rlk_sync_end_child(e->s);
    }
}

static void on_moved(struct redlock_election *election, uint64_t deadline_us, void *arg)
{
    struct redlock_sync_election *e = arg;

    atomic_store(&e->deadline_us, deadline_us);
    if (e->user.moved_cb) {
        e->user.moved_cb(election, deadline_us, e->user.arg);
        rlk_sync_end_child(e->s);
    }
}

static void on_sync_leader(struct redlock_election *election, const struct redlock_leader *leader,
                           void *arg)
{
    struct redlock_sync_election *e = arg;

    if (e->user.leader_cb) {
        e->user.leader_cb(election, leader, e->user.arg);
        rlk_sync_end_child(e->s);
    }
}

static int on_healthy(struct redlock_election *election, void *arg)
{
    struct redlock_sync_election *e = arg;
    int healthy = e->user.healthy_cb(election, e->user.arg);

    rlk_sync_end_child(e->s);
    return healthy;
}

static struct redlock_election_options hooked(struct redlock_sync_election *e)
{
    struct redlock_election_options own = e->user;

    own.elected_cb = on_elected;
    own.demoted_cb = on_demoted;
    own.moved_cb = on_moved;
    own.leader_cb = on_sync_leader;
    own.healthy_cb = e->user.healthy_cb ? on_healthy : NULL;
    own.arg = e;
    return own;
}

/* ---- redlock_sync_election_new() ---- */

struct make {
    struct rlk_sync_call call;
    const struct redlock_election_options *options;
    struct redlock_sync_election *e;
};

static void begin_make(struct rlk_sync_call *call)
{
    struct make *m = RLK_CONTAINER(call, struct make, call);
    int status = redlock_election_new(call->s->rl, m->options, &m->e->election);

    rlk_sync_began(call, status);
    if (status == 0) {
        rlk_kept_election(m->e->election, true);
        rlk_list_push(&call->s->elections, &m->e->link);
        rlk_sync_finish(call, 0);
    }
}

static void run_stopped(struct rlk_sync_task *task)
{
    struct redlock_sync_election *e = RLK_CONTAINER(task, struct redlock_sync_election, stopped);

    if (e->election) {
        redlock_election_stopped(e->election);
    }
}

static void release(struct redlock_sync_election *e)
{
    rlk_sync_eventfd_close(e->fd);
    rlk_sync_unref(e->s);
    rlk_free(e);
}

static struct redlock_sync_election *allocate(struct redlock_sync *s)
{
    struct redlock_sync_election *e = rlk_alloc(sizeof(*e));

    if (e) {
        e->s = rlk_sync_ref(s);
        e->fd = rlk_sync_eventfd_make();
        e->stopped.run = run_stopped;
        rlk_list_init(&e->link);
        rlk_list_init(&e->waits);
    }
    return e;
}

/* Options that cannot be read go to the manager as they are, which refuses them and says why. */
static int read_options(struct make *m, struct redlock_election_options *own)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_election_options, arg);
    struct redlock_election_options *user = &m->e->user;

    redlock_election_options_init(user);
    if (m->options == NULL ||
        rlk_sized_read(m->options, least, user, sizeof(*user)) != RLK_SIZED_READ) {
        return 0;
    }
    if (user->id && user->demoted_cb == NULL && !user->stops_later) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "a candidate needs demoted_cb or stops_later");
    }
    *own = hooked(m->e);
    m->options = own;
    return 0;
}

static int make_election(struct make *m)
{
    struct redlock_election_options own;
    int status;

    if (m->e->fd < 0) {
        return rlk_sync_refuse(REDLOCK_ESYSTEM, "no file descriptor is left");
    }
    rlk_sync_eventfd_add(m->e->fd, RLK_SYNC_EVENTFD_MOST);
    status = read_options(m, &own);
    return status ? status : rlk_sync_call(m->e->s, &m->call);
}

REDLOCK_EXPORT int redlock_sync_election_new(struct redlock_sync *s,
                                             const struct redlock_election_options *options,
                                             struct redlock_sync_election **ret_election)
{
    struct make m = {.call = {.begin = begin_make, .when_closed = REDLOCK_ESTATE},
                     .options = options};
    int status = rlk_sync_admit(s);

    if (status) {
        return status;
    }
    if (ret_election == NULL) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_election is NULL");
    }
    m.e = allocate(s);
    if (m.e == NULL) {
        return rlk_sync_refuse(REDLOCK_ENOMEM, "");
    }
    status = make_election(&m);
    if (status) {
        release(m.e);
    } else {
        *ret_election = m.e;
    }
    return status;
}

/* ---- resign, stopped ---- */

struct about {
    struct rlk_sync_call call;
    struct redlock_sync_election *e;
    struct redlock_sync_leader leader;
    const char *to; /* of a hand-over */
    uint32_t within_ms;
};

static int call_about(struct redlock_sync_election *e, struct about *a)
{
    a->e = e;
    return rlk_sync_call(e ? e->s : NULL, &a->call);
}

static void end_resign(struct rlk_sync_call *call, int status)
{
    struct redlock_sync_election *e = RLK_CONTAINER(call, struct about, call)->e;

    if (status == 0) {
        end_leadership(e);
        rlk_sync_waits_cancel(e, false);
        rlk_sync_finish(call, 0);
    } else {
        rlk_sync_began(call, status);
    }
}

static void begin_resign(struct rlk_sync_call *call)
{
    struct about *a = RLK_CONTAINER(call, struct about, call);

    end_resign(call, redlock_election_resign(a->e->election));
}

REDLOCK_EXPORT int redlock_sync_election_resign(struct redlock_sync_election *election)
{
    struct about a = {.call = {.begin = begin_resign, .when_closed = REDLOCK_ESTATE}};

    return call_about(election, &a);
}

static void begin_hand_over(struct rlk_sync_call *call)
{
    struct about *a = RLK_CONTAINER(call, struct about, call);

    end_resign(call, redlock_election_hand_over(a->e->election, a->to, a->within_ms));
}

REDLOCK_EXPORT int redlock_sync_election_hand_over(struct redlock_sync_election *election,
                                                   const char *to, uint32_t within_ms)
{
    struct about a = {.call = {.begin = begin_hand_over, .when_closed = REDLOCK_ESTATE},
                      .to = to,
                      .within_ms = within_ms};

    return call_about(election, &a);
}

static void begin_stopped(struct rlk_sync_call *call)
{
    struct redlock_sync_election *e = RLK_CONTAINER(call, struct about, call)->e;

    rlk_sync_finish(call, redlock_election_stopped(e->election));
}

REDLOCK_EXPORT int redlock_sync_election_stopped(struct redlock_sync_election *election)
{
    struct about a = {.call = {.begin = begin_stopped, .when_closed = REDLOCK_ESTATE}};

    return call_about(election, &a);
}

/* ---- free, and the end of the manager ---- */

static void on_freed(void *arg)
{
    struct redlock_sync_election *e = arg;

    rlk_list_remove(&e->link);
    e->election = NULL;
    rlk_sync_finish(e->freeing, 0);
}

static void begin_free(struct rlk_sync_call *call)
{
    struct redlock_sync_election *e = RLK_CONTAINER(call, struct about, call)->e;

    e->freeing = call;
    rlk_sync_waits_cancel(e, true);
    redlock_election_stopped(e->election); /* ESTATE: not demoted yet */
    rlk_kept_election(e->election, false);
    redlock_election_free(e->election, on_freed, e);
}

REDLOCK_EXPORT int redlock_sync_election_free(struct redlock_sync_election *election)
{
    struct about a = {.call = {.begin = begin_free, .when_closed = REDLOCK_ECANCELED}};
    int status = call_about(election, &a);

    if (status == 0 || status == REDLOCK_ECANCELED) {
        release(election);
    }
    return status;
}

void rlk_sync_elections_close(struct redlock_sync *s)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &s->elections) {
        rlk_sync_waits_cancel(RLK_CONTAINER(link, struct redlock_sync_election, link), false);
    }
}

/* The manager is gone, and its elections with it. */
void rlk_sync_elections_end(struct redlock_sync *s)
{
    struct rlk_list *link;

    while ((link = rlk_list_pop(&s->elections)) != NULL) {
        struct redlock_sync_election *e = RLK_CONTAINER(link, struct redlock_sync_election, link);

        e->election = NULL;
        end_leadership(e);
        rlk_sync_waits_cancel(e, true);
        if (e->freeing) {
            rlk_sync_finish(e->freeing, REDLOCK_ECANCELED);
        }
    }
}

/* ---- asking ---- */

REDLOCK_EXPORT uint64_t
redlock_sync_election_deadline_us(const struct redlock_sync_election *election)
{
    return election && !rlk_sync_is_child(election->s) ? atomic_load(&election->deadline_us) : 0;
}

REDLOCK_EXPORT int redlock_sync_election_is_leader(const struct redlock_sync_election *election)
{
    return redlock_clock_us() < redlock_sync_election_deadline_us(election);
}

/* The term is read first: if another leadership begins just now, this is the smaller term. */
REDLOCK_EXPORT uint64_t redlock_sync_election_term(const struct redlock_sync_election *election)
{
    uint64_t term = election ? atomic_load(&election->term) : 0;

    return redlock_sync_election_is_leader(election) ? term : 0;
}

REDLOCK_EXPORT int redlock_sync_election_fd(const struct redlock_sync_election *election)
{
    if (election == NULL) {
        return REDLOCK_EINVAL;
    }
    return rlk_sync_is_child(election->s) ? REDLOCK_EFORK : election->fd;
}

/* Names every field of both. */
_Static_assert(RLK_SIZED_ENDS_WITH(struct redlock_leader, is_me), "copy a new field");
_Static_assert(RLK_SIZED_ENDS_WITH(struct redlock_sync_leader, value), "copy a new field");

static void copy_leader(struct redlock_sync_leader *to, const struct redlock_leader *leader)
{
    to->term = leader->term;
    to->known = leader->known;
    to->is_me = leader->is_me;
    snprintf(to->id, sizeof(to->id), "%s", leader->id);
    snprintf(to->value, sizeof(to->value), "%s", leader->value);
}

static void begin_leader(struct rlk_sync_call *call)
{
    struct about *a = RLK_CONTAINER(call, struct about, call);
    struct redlock_leader now = {.size = sizeof(now)};
    int status = redlock_election_leader(a->e->election, &now);

    if (status == 0) {
        copy_leader(&a->leader, &now);
    }
    rlk_sync_finish(call, status);
}

REDLOCK_EXPORT int redlock_sync_election_leader(struct redlock_sync_election *election,
                                                struct redlock_sync_leader *ret_leader)
{
    struct about a = {.call = {.begin = begin_leader, .when_closed = REDLOCK_ESTATE}};
    const size_t least = RLK_SIZED_UP_TO(struct redlock_sync_leader, value);
    int status;

    if (ret_leader == NULL || !rlk_sized_valid(ret_leader, least)) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_leader is NULL, or its size is not set");
    }
    status = call_about(election, &a);
    if (status == 0) {
        rlk_sized_write(ret_leader, &a.leader, sizeof(a.leader));
    }
    return status;
}
