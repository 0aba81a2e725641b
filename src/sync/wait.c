/* wait.c - threads that wait for the beginning or the end of leadership. */
#include <event2/event.h>

#include <redlock/redlock.h>

#include "base/sized.h"
#include "sync/election.h"
#include "sync/explain.h"

static void end_wait(struct rlk_sync_wait *w, int status)
{
    rlk_list_remove(&w->link);
    rlk_list_remove(&w->cancelable.link);
    if (w->timer) {
        event_free(w->timer);
    }
    w->demotion = w->e->last;
    rlk_sync_finish(&w->call, status);
}

/* Also say why it was not elected. */
static void end_in_vain(struct rlk_sync_wait *w, int status)
{
    struct redlock_election *election = w->e->election;

    if (w->for_leadership && election) {
        const struct redlock_lock *lock = redlock_election_lock(election);

        if (lock) {
            rlk_sync_explain(w->call.failure, w->call.s->rl, lock);
        }
        w->call.failure->reason = redlock_election_failure(election);
    }
    end_wait(w, status);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_in_vain(arg, REDLOCK_EDEADLINE);
}

static void cancel_wait(struct rlk_sync_cancelable *c)
{
    end_in_vain(RLK_CONTAINER(c, struct rlk_sync_wait, cancelable), REDLOCK_ECANCELED);
}

static bool set_timer(struct rlk_sync_wait *w)
{
    const struct timeval limit = {w->wait_ms / 1000, w->wait_ms % 1000 * 1000};

    w->timer = event_new(w->call.s->base, -1, 0, on_timeout, w);
    return w->timer && event_add(w->timer, &limit) == 0;
}

/* A leadership whose deadline has passed goes on until the manager reports its end. Only then may
 * the thread that waits for the end say that it has stopped. */
static bool is_wait_over(struct rlk_sync_wait *w)
{
    uint64_t term = atomic_load(&w->e->term);

    if (!w->for_leadership) {
        return !w->e->leads || term != w->term;
    }
    w->term = term;
    return redlock_sync_election_is_leader(w->e) == 1;
}

void rlk_sync_wait_begin(struct rlk_sync_wait *w)
{
    rlk_list_init(&w->link);
    rlk_list_init(&w->cancelable.link);
    w->timer = NULL;
    if (rlk_sync_canceler_is_set(w->canceler)) {
        end_wait(w, REDLOCK_ECANCELED);
    } else if (is_wait_over(w)) {
        end_wait(w, 0);
    } else if (w->wait_ms == 0) {
        end_in_vain(w, REDLOCK_EDEADLINE);
    } else if (w->wait_ms != REDLOCK_FOREVER && !set_timer(w)) {
        end_wait(w, REDLOCK_ENOMEM);
    } else {
        rlk_list_push(&w->e->waits, &w->link);
        rlk_sync_canceler_add(w->canceler, &w->cancelable, cancel_wait);
    }
}

void rlk_sync_waits_elected(struct redlock_sync_election *e, uint64_t term)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &e->waits) {
        struct rlk_sync_wait *w = RLK_CONTAINER(link, struct rlk_sync_wait, link);

        if (w->for_leadership) {
            w->term = term;
            end_wait(w, 0);
        }
    }
}

void rlk_sync_waits_demoted(struct redlock_sync_election *e, uint64_t term)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &e->waits) {
        struct rlk_sync_wait *w = RLK_CONTAINER(link, struct rlk_sync_wait, link);

        if (!w->for_leadership && w->term == term) {
            end_wait(w, 0);
        }
    }
}

void rlk_sync_waits_cancel(struct redlock_sync_election *e, bool all)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &e->waits) {
        struct rlk_sync_wait *w = RLK_CONTAINER(link, struct rlk_sync_wait, link);

        if (all || w->for_leadership) {
            end_in_vain(w, REDLOCK_ECANCELED);
        }
    }
}

/* ---- the calls ---- */

static int wait_with(struct redlock_sync_election *e, struct rlk_sync_wait *w)
{
    int status;

    if (e && w->canceler && w->canceler->s != e->s) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "the canceler was made for another redlock_sync");
    }
    w->e = e;
    w->call.when_closed = REDLOCK_ESTATE;
    rlk_sync_canceler_ref(w->canceler);
    status = rlk_sync_call(e ? e->s : NULL, &w->call);
    rlk_sync_canceler_unref(w->canceler);
    return status;
}

static void begin_campaign(struct rlk_sync_call *call)
{
    struct rlk_sync_wait *w = RLK_CONTAINER(call, struct rlk_sync_wait, call);
    int status = redlock_election_campaign(w->e->election);

    rlk_sync_began(call, status);
    if (status == 0) {
        rlk_sync_wait_begin(w);
    }
}

REDLOCK_EXPORT int redlock_sync_election_campaign(struct redlock_sync_election *election,
                                                  uint32_t wait_ms,
                                                  struct redlock_sync_canceler *canceler,
                                                  uint64_t *ret_term)
{
    struct rlk_sync_wait w = {.call.begin = begin_campaign,
                              .canceler = canceler,
                              .wait_ms = wait_ms,
                              .for_leadership = true};
    int status = wait_with(election, &w);

    if (status == 0 && ret_term) {
        *ret_term = w.term;
    }
    return status;
}

static void begin_wait_demoted(struct rlk_sync_call *call)
{
    rlk_sync_wait_begin(RLK_CONTAINER(call, struct rlk_sync_wait, call));
}

REDLOCK_EXPORT int redlock_sync_election_wait_demoted(struct redlock_sync_election *election,
                                                      uint64_t term, uint32_t wait_ms,
                                                      struct redlock_sync_canceler *canceler,
                                                      struct redlock_demotion *ret_demotion)
{
    struct rlk_sync_wait w = {
        .call.begin = begin_wait_demoted, .canceler = canceler, .wait_ms = wait_ms, .term = term};
    int status;

    if (ret_demotion &&
        !rlk_sized_valid(ret_demotion, RLK_SIZED_UP_TO(struct redlock_demotion, stop_by_us))) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_demotion->size is not set");
    }
    status = wait_with(election, &w);
    if (status == 0 && ret_demotion) {
        rlk_sized_write(ret_demotion, &w.demotion, sizeof(w.demotion));
    }
    return status;
}
