/* io/candidate.c - see candidate.h. */
#include "io/candidate.h"

#include <stdio.h>
#include <string.h>

#include "io/scripts.h"
#include "io/suspend.h"

static void note(struct candidate *c, char what)
{
    size_t n = strlen(c->order);

    ck_assert_msg(!c->inside, "the callback '%c' ran inside a call", what);
    ck_assert_uint_lt(n + 1, sizeof(c->order));
    c->order[n] = what;
    c->order[n + 1] = '\0';
}

static void run(struct candidate *c, void (*then)(struct candidate *c))
{
    if (then) {
        then(c);
    }
}

static void on_elected(struct redlock_election *e, uint64_t term, void *arg)
{
    struct candidate *c = arg;

    note(c, 'E');
    c->elected++;
    ck_assert_ptr_eq(e, c->e);
    ck_assert_int_eq(c->elected, c->demoted + 1);
    ck_assert_uint_gt(term, c->term);
    ck_assert_int_eq(redlock_election_is_leader(e), 1);
    ck_assert_uint_eq(redlock_election_term(e), term);
    ck_assert_int_eq(redlock_election_state(e), REDLOCK_ELECTION_LEADER);
    ck_assert_uint_eq(redlock_lock_fencing_token(redlock_election_lock(e)), term);
    c->term = term;
    run(c, c->on_elected);
}

static void on_demoted(struct redlock_election *e, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct candidate *c = arg;

    note(c, 'D');
    c->demoted++;
    ck_assert_ptr_eq(e, c->e);
    ck_assert_int_eq(c->demoted, c->elected);
    ck_assert_uint_eq(demotion->size, sizeof(*demotion));
    ck_assert_uint_eq(demotion->term, c->term);
    ck_assert_int_eq(redlock_election_is_leader(e), 0);
    ck_assert_uint_eq(redlock_election_deadline_us(e), 0);
    ck_assert_uint_eq(redlock_election_term(e), 0);
    ck_assert_int_eq(redlock_election_state(e), REDLOCK_ELECTION_STOPPING);
    c->demotion = *demotion;
    run(c, c->on_demoted);
}

static void on_moved(struct redlock_election *e, uint64_t deadline_us, void *arg)
{
    struct candidate *c = arg;

    note(c, 'm');
    c->moved++;
    ck_assert_uint_eq(deadline_us, redlock_election_deadline_us(e));
    ck_assert_int_eq(redlock_election_is_leader(e), 1);
    run(c, c->on_moved);
}

int candidate_on_healthy(struct redlock_election *e, void *arg)
{
    struct candidate *c = arg;

    note(c, 'h');
    c->asked++;
    ck_assert_ptr_eq(e, c->e);
    run(c, c->on_healthy);
    return c->fit;
}

/* Nobody else leads before this candidate was demoted, and the accessor says the same. */
void candidate_on_leader(struct redlock_election *e, const struct redlock_leader *leader, void *arg)
{
    struct candidate *c = arg;
    struct redlock_leader again = {.size = sizeof(again)};

    note(c, 'l');
    c->told++;
    ck_assert_ptr_eq(e, c->e);
    ck_assert_uint_eq(leader->size, sizeof(*leader));
    ck_assert_int_eq(redlock_election_leader(e, &again), REDLOCK_OK);
    ck_assert_mem_eq(&again, leader, sizeof(again));
    ck_assert_int_eq(leader->is_me && !redlock_election_is_leader(e), 0);
    ck_assert_msg(leader->is_me || !leader->id[0] || c->elected == c->demoted,
                  "%s leads, and we do", leader->id);
    c->leader = *leader;
    snprintf(c->leader_id, sizeof(c->leader_id), "%s", leader->id);
    run(c, c->on_leader);
}

static void on_freed(void *arg)
{
    struct candidate *c = arg;

    note(c, 'f');
    c->freed++;
    c->e = NULL;
}

static void on_closed(void *arg)
{
    struct candidate *c = arg;

    note(c, 'c');
    c->closed++;
    c->e = NULL;
    c->rl = NULL;
}

/* ---- calls ---- */

void candidate_start(struct farm *f, size_t n)
{
    farm_start_frozen(f, n);
    farm_open(f);
}

struct redlock_election_options candidate_options(struct candidate *c, struct farm *f)
{
    struct redlock_election_options o;

    memset(c, 0, sizeof(*c));
    c->f = f;
    c->rl = f->rl;
    c->fit = 1;
    redlock_election_options_init(&o);
    o.name = "k";
    o.id = "one";
    o.ttl_ms = CANDIDATE_TTL_MS;
    o.elected_cb = on_elected;
    o.demoted_cb = on_demoted;
    o.moved_cb = on_moved;
    o.arg = c;
    return o;
}

static void must(struct candidate *c, int status)
{
    c->inside = false;
    ck_assert_int_eq(status, REDLOCK_OK);
}

/* A call from inside a callback: the others still must not come. */
#define CALL(c, call)                                                                              \
    do {                                                                                           \
        (c)->inside = true;                                                                        \
        must((c), (call));                                                                         \
    } while (0)

void candidate_new(struct candidate *c, const struct redlock_election_options *options)
{
    CALL(c, redlock_election_new(c->rl, options, &c->e));
}

void candidate_campaign(struct candidate *c)
{
    CALL(c, redlock_election_campaign(c->e));
}

void candidate_resign(struct candidate *c)
{
    CALL(c, redlock_election_resign(c->e));
    ck_assert_int_eq(redlock_election_is_leader(c->e), 0);
}

void candidate_stopped(struct candidate *c)
{
    CALL(c, redlock_election_stopped(c->e));
}

void candidate_free(struct candidate *c)
{
    CALL(c, redlock_election_free(c->e, on_freed, c));
}

void candidate_close(struct candidate *c)
{
    CALL(c, redlock_close(c->rl, on_closed, c));
    c->f->rl = c->f->rl == c->rl ? NULL : c->f->rl;
}

void candidate_lead(struct candidate *c, const struct redlock_election_options *options)
{
    candidate_new(c, options);
    candidate_campaign(c);
    candidate_wait(c, &c->elected, 1);
    loop_settle(c->f->base);
}

struct wanted {
    const int *what;
    int times;
};

static bool has_come(void *arg)
{
    const struct wanted *w = arg;

    return *w->what >= w->times;
}

void candidate_wait(struct candidate *c, const int *what, int times)
{
    struct wanted w = {what, times};

    loop_must_true(c->f->base, has_come, &w);
}

void candidate_finish(struct candidate *c)
{
    candidate_free(c);
    candidate_wait(c, &c->freed, 1);
}

#define STEP_MS 100u

void candidate_pass_ms(struct candidate *c, unsigned ms)
{
    size_t i;

    loop_settle(c->f->base);
    while (ms > 0) {
        unsigned step = ms < STEP_MS ? ms : STEP_MS;

        for (i = 0; i < c->f->n; i++) {
            fake_model(c->f->nodes[i])->clock_us += step * 1000u;
        }
        suspend_ms(step);
        loop_settle(c->f->base);
        ms -= step;
    }
}

size_t candidate_releases(const struct farm *f, size_t node)
{
    return scripts_count(f, node, &rlk_script_release);
}

size_t candidate_votes(const struct farm *f, size_t node)
{
    return scripts_count(f, node, &rlk_script_vote);
}

size_t candidate_renewals(const struct farm *f, size_t node)
{
    return scripts_count(f, node, &rlk_script_keep);
}
