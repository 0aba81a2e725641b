/* lib/torture_election.c - the elections of a scenario: each lead that has begun must end, once,
 * and no callback may come inside a call. */
#include <redlock/error.h>
#include <stdlib.h>

#include "lib/torture.h"
#include "lib/torture_api.h"

struct torture_election {
    struct torture_election *next;
    struct redlock_election *e;
    struct torture_manager *manager;
    struct redlock_election_options own; /* the scenario's callbacks, and its arg */
    redlock_election_free_cb *free_cb;
    void *free_arg;
    unsigned elected, demoted;
    bool freeing, gone;
};

static struct torture_election *elections;

/* The linker's names. */
__typeof__(redlock_election_new) __real_redlock_election_new, __wrap_redlock_election_new;
__typeof__(redlock_election_free) __real_redlock_election_free, __wrap_redlock_election_free;

/* ---- the callbacks ---- */

/* A callback on its way to the scenario. */
struct passed {
    const struct torture_election *t;
    uint64_t number; /* the term, or the deadline */
    const struct redlock_demotion *demotion;
    const struct redlock_leader *leader;
    int fit;
};

static void check_place(const struct torture_election *t, const char *what)
{
    if (torture_api_is_inside()) {
        torture_found("%s came inside a call", what);
    }
    if (t->gone) {
        torture_found("%s came after the end of the election", what);
    }
}

static void check_callback(const struct torture_election *t, const char *what)
{
    check_place(t, what);
    torture_api_read_texts();
}

static void pass_elected(void *arg)
{
    const struct passed *p = arg;

    p->t->own.elected_cb(p->t->e, p->number, p->t->own.arg);
}

static void on_elected(struct redlock_election *e, uint64_t term, void *arg)
{
    struct torture_election *t = arg;
    struct passed p = {.t = t, .number = term};

    (void)e;
    check_callback(t, "elected_cb");
    t->elected++;
    if (t->elected != t->demoted + 1) {
        torture_found("elected %u times, and demoted %u times before", t->elected, t->demoted);
    }
    torture_api_call_back(t->manager->base, pass_elected, &p);
}

static void pass_demoted(void *arg)
{
    const struct passed *p = arg;

    p->t->own.demoted_cb(p->t->e, p->demotion, p->t->own.arg);
}

static void on_demoted(struct redlock_election *e, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct torture_election *t = arg;
    struct passed p = {.t = t, .demotion = demotion};

    (void)e;
    check_callback(t, "demoted_cb");
    t->demoted++;
    if (t->demoted != t->elected) {
        torture_found("demoted %u times, and elected %u times", t->demoted, t->elected);
    }
    torture_api_call_back(t->manager->base, pass_demoted, &p);
}

static void pass_leader(void *arg)
{
    const struct passed *p = arg;

    p->t->own.leader_cb(p->t->e, p->leader, p->t->own.arg);
}

static void on_leader(struct redlock_election *e, const struct redlock_leader *leader, void *arg)
{
    struct torture_election *t = arg;
    struct passed p = {.t = t, .leader = leader};

    (void)e;
    check_callback(t, "leader_cb");
    torture_api_call_back(t->manager->base, pass_leader, &p);
}

static void pass_healthy(void *arg)
{
    struct passed *p = arg;

    p->fit = p->t->own.healthy_cb(p->t->e, p->t->own.arg);
}

static int on_healthy(struct redlock_election *e, void *arg)
{
    struct torture_election *t = arg;
    struct passed p = {.t = t};

    (void)e;
    check_callback(t, "healthy_cb");
    torture_api_call_back(t->manager->base, pass_healthy, &p);
    return p.fit;
}

static void pass_moved(void *arg)
{
    const struct passed *p = arg;

    p->t->own.moved_cb(p->t->e, p->number, p->t->own.arg);
}

static void on_moved(struct redlock_election *e, uint64_t deadline_us, void *arg)
{
    struct torture_election *t = arg;
    struct passed p = {.t = t, .number = deadline_us};

    (void)e;
    check_callback(t, "moved_cb");
    torture_api_call_back(t->manager->base, pass_moved, &p);
}

static void pass_freed(void *arg)
{
    const struct passed *p = arg;

    p->t->free_cb(p->t->free_arg);
}

static void on_freed(void *arg)
{
    struct torture_election *t = arg;
    struct passed p = {.t = t};

    check_place(t, "the callback of redlock_election_free");
    t->gone = true; /* before the texts are read: the election is gone */
    torture_api_read_texts();
    if (t->free_cb) {
        torture_api_call_back(t->manager->base, pass_freed, &p);
    }
}

/* ---- the calls ---- */

static struct redlock_election_options with_our_callbacks(struct torture_election *t)
{
    struct redlock_election_options o = t->own;

    o.elected_cb = o.elected_cb ? on_elected : NULL;
    o.demoted_cb = o.demoted_cb ? on_demoted : NULL;
    o.leader_cb = o.leader_cb ? on_leader : NULL;
    o.healthy_cb = o.healthy_cb ? on_healthy : NULL;
    o.moved_cb = o.moved_cb ? on_moved : NULL;
    o.arg = t;
    return o;
}

/* Options of another version are not ours to read. */
int __wrap_redlock_election_new(struct redlock *rl, const struct redlock_election_options *options,
                                struct redlock_election **ret_election)
{
    struct torture_manager *m = torture_api_manager(rl);
    struct redlock_election_options own;
    struct torture_election *t = NULL;
    int status;

    if (m && ret_election && options && options->size == sizeof(*options)) {
        t = calloc(1, sizeof(*t));
        t->manager = m;
        t->own = *options;
        own = with_our_callbacks(t);
        options = &own;
    }
    torture_api_begin();
    status = torture_api_end(NULL, __real_redlock_election_new(rl, options, ret_election));
    if (t && status == 0) {
        t->e = *ret_election;
        t->next = elections;
        elections = t;
    } else {
        free(t);
    }
    return status;
}

static struct torture_election *find(const struct redlock_election *e)
{
    struct torture_election *t;

    for (t = elections; t && (t->gone || t->e != e); t = t->next) {
    }
    return t;
}

int __wrap_redlock_election_free(struct redlock_election *election, redlock_election_free_cb *cb,
                                 void *arg)
{
    struct torture_election *t = find(election);
    bool first = t && !t->freeing;
    int status;

    if (first) {
        t->free_cb = cb;
        t->free_arg = arg;
    }
    torture_api_begin();
    status = __real_redlock_election_free(election, first ? on_freed : cb, first ? t : arg);
    torture_api_end(NULL, status);
    if (first) {
        t->freeing = status == 0;
    }
    return status;
}

/* ---- what is found ---- */

static bool is_there(const struct torture_election *t)
{
    return !t->gone && t->manager->open;
}

void torture_election_read_failures(void)
{
    const struct torture_election *t;

    for (t = elections; t; t = t->next) {
        if (is_there(t) && redlock_election_failure(t->e) == REDLOCK_ENOMEM) {
            torture_reported("an election could not ask: REDLOCK_ENOMEM");
        }
    }
}

void torture_election_check(void)
{
    const struct torture_election *t;

    for (t = elections; t; t = t->next) {
        if (t->elected != t->demoted) {
            torture_found("elected %u times, and demoted %u times", t->elected, t->demoted);
        }
        if (t->freeing && !t->gone) {
            torture_found("redlock_election_free never called back");
        }
    }
}
