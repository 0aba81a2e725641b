/* sync/test_election.c - elections with threads that wait for a lead, or for its end. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("election");

#define TTL_MS 1500

static struct rig r;
static struct redlock_sync *other;

static struct redlock_election_options candidate(const char *id)
{
    struct redlock_election_options options;

    redlock_election_options_init(&options);
    options.name = "boss";
    options.id = id;
    options.value = "10.0.0.1:80";
    options.ttl_ms = 60000;
    options.stops_later = 1;
    return options;
}

static struct redlock_sync_election *make(struct redlock_sync *s, const char *id)
{
    struct redlock_election_options options = candidate(id);
    struct redlock_sync_election *e;
    int status = redlock_sync_election_new(s, &options, &e);

    ck_assert_msg(status == REDLOCK_OK, "%d: %s", status, redlock_sync_error_text());
    return e;
}

static void start(void)
{
    rig_start(&r);
    ck_assert_int_eq(redlock_sync_new(&r.options, &other), REDLOCK_OK);
}

static void end(void)
{
    ck_assert_int_eq(redlock_sync_close(other), REDLOCK_OK);
    rig_end(&r);
}

static uint64_t elect(struct redlock_sync_election *e)
{
    uint64_t term = 0;

    ck_assert_int_eq(redlock_sync_election_campaign(e, 20000, NULL, &term), REDLOCK_OK);
    ck_assert_uint_gt(term, 0);
    return term;
}

static void free_one(struct redlock_sync_election *e)
{
    ck_assert_int_eq(redlock_sync_election_free(e), REDLOCK_OK);
}

static short polled(const struct redlock_sync_election *e)
{
    struct pollfd poller = {.fd = redlock_sync_election_fd(e), .events = POLLIN | POLLOUT};

    ck_assert_int_eq(poll(&poller, 1, 0), 1);
    return poller.revents;
}

TEST(a_lead_begins_and_ends)
{
    struct redlock_demotion demotion = {.size = sizeof(demotion)};
    struct redlock_sync_election *e;
    uint64_t term;

    start();
    e = make(r.s, "ann");
    ck_assert_int_eq(redlock_sync_election_is_leader(e), 0);
    ck_assert_int_eq(polled(e), POLLIN);
    term = elect(e);
    ck_assert_int_eq(redlock_sync_election_is_leader(e), 1);
    ck_assert_uint_eq(redlock_sync_election_term(e), term);
    ck_assert_uint_gt(redlock_sync_election_deadline_us(e), redlock_clock_us());
    ck_assert_int_eq(polled(e), POLLOUT);
    ck_assert_uint_eq(elect(e), term);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(e, term, 20, NULL, NULL),
                     REDLOCK_EDEADLINE);
    ck_assert_int_eq(redlock_sync_election_stopped(e), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_election_resign(e), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_election_is_leader(e), 0);
    ck_assert_uint_eq(redlock_sync_election_term(e), 0);
    ck_assert_int_eq(polled(e), POLLIN);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(e, term, REDLOCK_FOREVER, NULL, &demotion),
                     REDLOCK_OK);
    ck_assert_int_eq(demotion.reason, 0);
    ck_assert_uint_eq(demotion.term, term);
    ck_assert_int_eq(redlock_sync_election_stopped(e), REDLOCK_OK);
    ck_assert_uint_gt(elect(e), term);
    free_one(e);
    end();
}

static bool is_led_by(void *arg, const char *id)
{
    struct redlock_sync_leader leader = {.size = sizeof(leader)};

    ck_assert_int_eq(redlock_sync_election_leader(arg, &leader), REDLOCK_OK);
    return leader.known && strcmp(leader.id, id) == 0;
}

static bool is_led_by_ann(void *arg)
{
    return is_led_by(arg, "ann");
}

TEST(everybody_sees_the_leader)
{
    struct redlock_sync_leader leader = {.size = sizeof(leader)};
    struct redlock_sync_election *ann, *observer;
    uint64_t term;

    start();
    ann = make(r.s, "ann");
    observer = make(other, NULL);
    term = elect(ann);
    rig_wait(is_led_by_ann, observer);
    ck_assert_int_eq(redlock_sync_election_leader(observer, &leader), REDLOCK_OK);
    ck_assert_str_eq(leader.value, "10.0.0.1:80");
    ck_assert_int_eq(leader.is_me, 0);
    rig_wait(is_led_by_ann, ann);
    ck_assert_int_eq(redlock_sync_election_leader(ann, &leader), REDLOCK_OK);
    ck_assert_int_eq(leader.is_me, 1);
    ck_assert_uint_eq(leader.term, term);
    ck_assert_int_eq(redlock_sync_election_campaign(observer, 0, NULL, NULL), REDLOCK_EINVAL);
    free_one(ann);
    free_one(observer);
    end();
}

TEST(a_query_keeps_the_leader_and_its_value)
{
    struct redlock_query_result *led, *free_key;
    struct redlock_sync_election *ann;

    start();
    ann = make(r.s, "ann");
    elect(ann);
    ck_assert_int_eq(redlock_sync_query(r.s, "boss", 0, &led), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_query(r.s, "free", 0, &free_key), REDLOCK_OK);
    ck_assert_str_eq(led->leader, "ann");
    ck_assert_str_eq(led->value, "10.0.0.1:80");
    ck_assert_str_eq(free_key->leader, "");
    redlock_sync_query_free(led);
    redlock_sync_query_free(free_key);
    free_one(ann);
    end();
}

/* It does not wait for redlock_sync_election_stopped(), although the ttl is long. */
TEST(a_leader_that_is_freed_has_stopped)
{
    struct redlock_sync_election *ann, *bob;
    uint64_t began_us, term;

    start();
    ann = make(r.s, "ann");
    bob = make(other, "bob");
    term = elect(ann);
    began_us = redlock_clock_us();
    free_one(ann);
    ck_assert_uint_gt(elect(bob), term);
    ck_assert_uint_lt(redlock_clock_us() - began_us, 20000000);
    free_one(bob);
    end();
}

struct campaign {
    struct redlock_sync_election *e;
    struct redlock_sync_canceler *canceler;
    atomic_int begun;
    int status;
    uint64_t term;
};

static void *campaign(void *arg)
{
    struct campaign *c = arg;

    atomic_store(&c->begun, 1);
    c->status = redlock_sync_election_campaign(c->e, REDLOCK_FOREVER, c->canceler, &c->term);
    return NULL;
}

TEST(the_next_candidate_leads_when_the_leader_has_stopped)
{
    struct campaign next = {.status = -1};
    struct redlock_sync_election *ann;
    pthread_t thread;
    uint64_t term;

    start();
    ann = make(r.s, "ann");
    next.e = make(other, "bob");
    term = elect(ann);
    ck_assert_int_eq(redlock_sync_election_campaign(next.e, 0, NULL, NULL), REDLOCK_EDEADLINE);
    ck_assert_int_eq(redlock_sync_election_campaign(next.e, 100, NULL, NULL), REDLOCK_EDEADLINE);
    thread = rig_thread(campaign, &next);
    rig_wait_for(&next.begun);
    ck_assert_int_eq(redlock_sync_election_resign(ann), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(ann, term, REDLOCK_FOREVER, NULL, NULL),
                     REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_election_is_leader(next.e), 0);
    ck_assert_int_eq(redlock_sync_election_stopped(ann), REDLOCK_OK);
    rig_join(thread);
    ck_assert_int_eq(next.status, REDLOCK_OK);
    ck_assert_uint_gt(next.term, term);
    free_one(ann);
    free_one(next.e);
    end();
}

/* Bob is elected while the lock is reserved for him. */
TEST(a_leader_hands_over_to_a_candidate)
{
    struct redlock_sync_election *ann, *bob;
    uint64_t term;

    start();
    ann = make(r.s, "ann");
    bob = make(other, "bob");
    term = elect(ann);
    ck_assert_int_eq(redlock_sync_election_hand_over(ann, "ann", 0), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "that of this candidate"));
    ck_assert_int_eq(redlock_sync_election_is_leader(ann), 1);
    ck_assert_int_eq(redlock_sync_election_hand_over(ann, "bob", RIG_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_election_is_leader(ann), 0);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(ann, term, REDLOCK_FOREVER, NULL, NULL),
                     REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_election_campaign(bob, 0, NULL, NULL), REDLOCK_EDEADLINE);
    ck_assert_int_eq(redlock_sync_election_stopped(ann), REDLOCK_OK);
    ck_assert_uint_gt(elect(bob), term);
    free_one(ann);
    free_one(bob);
    end();
}

/* Somebody campaigns, and not only a thread is about to. */
static void must_be_waited_for(void)
{
    struct redlock_query_result *result;
    uint64_t waiters = 0;

    while (waiters == 0) {
        ck_assert_int_eq(redlock_sync_query(r.s, "boss", 0, &result), REDLOCK_OK);
        waiters = result->waiters;
        redlock_sync_query_free(result);
    }
}

/* By a canceler, by resigning, by closing. */
TEST_LOOP(a_campaign_is_cancelled, 0, 3)
{
    struct campaign next = {.status = -1};
    struct redlock_sync_election *ann;
    pthread_t thread;

    start();
    ann = make(r.s, "ann");
    elect(ann);
    next.e = make(other, "bob");
    if (_i == 0) {
        ck_assert_int_eq(redlock_sync_canceler_new(other, &next.canceler), REDLOCK_OK);
    }
    thread = rig_thread(campaign, &next);
    must_be_waited_for();
    if (_i == 0) {
        ck_assert_int_eq(redlock_sync_cancel(next.canceler), REDLOCK_OK);
        rig_join(thread);
        free_one(next.e);
    } else if (_i == 1) {
        ck_assert_int_eq(redlock_sync_election_resign(next.e), REDLOCK_OK);
        rig_join(thread);
        free_one(next.e);
    } else {
        ck_assert_int_eq(redlock_sync_close(other), REDLOCK_OK);
        rig_join(thread);
        ck_assert_int_eq(redlock_sync_election_fd(next.e) >= 0, 1);
        ck_assert_int_eq(redlock_sync_election_resign(next.e), REDLOCK_ESTATE);
        ck_assert_int_eq(redlock_sync_election_free(next.e), REDLOCK_ECANCELED);
        ck_assert_int_eq(redlock_sync_new(&r.options, &other), REDLOCK_OK);
    }
    ck_assert_int_eq(next.status, REDLOCK_ECANCELED);
    redlock_sync_canceler_free(next.canceler);
    free_one(ann);
    end();
}

TEST(a_close_ends_a_lead)
{
    struct redlock_sync_election *e;

    start();
    e = make(r.s, "ann");
    elect(e);
    ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
    r.s = NULL;
    ck_assert_int_eq(redlock_sync_election_is_leader(e), 0);
    ck_assert_int_eq(polled(e), POLLIN);
    ck_assert_int_eq(redlock_sync_election_free(e), REDLOCK_ECANCELED);
    end();
}

static struct {
    atomic_int elected, demoted, moved, led, asked;
    atomic_int waiting_call;
    _Atomic(struct redlock_sync_election *) e;
} seen;

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    (void)arg;
    ck_assert_uint_eq(redlock_election_term(election), term);
    atomic_fetch_add(&seen.elected, 1);
}

static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    (void)election;
    (void)demotion;
    (void)arg;
    atomic_store(&seen.waiting_call, redlock_sync_election_resign(atomic_load(&seen.e)));
    atomic_fetch_add(&seen.demoted, 1);
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader,
                      void *arg)
{
    (void)election;
    (void)arg;
    atomic_fetch_add(&seen.led, leader->is_me);
}

static void on_moved(struct redlock_election *election, uint64_t deadline_us, void *arg)
{
    (void)election;
    (void)deadline_us;
    (void)arg;
    atomic_fetch_add(&seen.moved, 1);
}

static int on_health(struct redlock_election *election, void *arg)
{
    (void)election;
    (void)arg;
    return atomic_fetch_add(&seen.asked, 1) < 1000;
}

TEST(callbacks_run_on_the_io_thread)
{
    struct redlock_election_options options = candidate("ann");
    struct redlock_sync_election *e;

    start();
    memset(&seen, 0, sizeof(seen));
    options.ttl_ms = 8000;
    options.stops_later = 0;
    options.elected_cb = on_elected;
    options.demoted_cb = on_demoted;
    options.leader_cb = on_leader;
    options.moved_cb = on_moved;
    options.healthy_cb = on_health;
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &e), REDLOCK_OK);
    atomic_store(&seen.e, e);
    elect(e);
    rig_wait_for(&seen.elected);
    rig_wait_for(&seen.moved);
    rig_wait_for(&seen.led);
    rig_wait_for(&seen.asked);
    ck_assert_int_eq(redlock_sync_election_resign(e), REDLOCK_OK);
    rig_wait_for(&seen.demoted);
    ck_assert_int_eq(atomic_load(&seen.waiting_call), REDLOCK_ESTATE);
    free_one(e);
    end();
}

/* The masters do not answer: the lead ends, and when they are back there is another one. Not
 * running when it ends is another reason: then there are a few tries. */
TEST(a_lead_without_masters_ends)
{
    struct redlock_election_options options = candidate("ann");
    struct redlock_demotion demotion = {.size = sizeof(demotion)};
    struct redlock_sync_election *e;
    uint64_t term;
    int tries = 4;

    rig_prepare(&r);
    r.options.node_timeout_ms = 200;
    rig_open(&r);
    options.ttl_ms = 8000;
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &e), REDLOCK_OK);
    do {
        rig_continue_masters(&r);
        term = elect(e);
        rig_stop_masters(&r);
        ck_assert_int_eq(redlock_sync_election_wait_demoted(e, term, 60000, NULL, &demotion),
                         REDLOCK_OK);
        ck_assert_uint_gt(demotion.stop_by_us, 0);
        ck_assert_int_eq(redlock_sync_election_is_leader(e), 0);
        ck_assert_int_eq(redlock_sync_election_stopped(e), REDLOCK_OK);
    } while (demotion.reason == REDLOCK_ESUSPENDED && --tries > 0);
    ck_assert_int_eq(demotion.reason, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(redlock_sync_election_campaign(e, 500, NULL, NULL), REDLOCK_EDEADLINE);
    rig_continue_masters(&r);
    ck_assert_uint_gt(elect(e), term);
    free_one(e);
    rig_end(&r);
}

/* The I/O thread is kept busy: until another thread has asked it two things, one after the other;
 * then by the first of them, until the deadline has passed. */
static struct {
    struct redlock_sync_election *e;
    atomic_int began, asked;
    uint64_t term;
    struct redlock_demotion demotion;
} busy;

static void pause_ms(unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

static void wait_for_both(struct redlock *rl, void *arg)
{
    (void)rl;
    (void)arg;
    atomic_store(&busy.began, 1);
    while (atomic_load(&busy.asked) < 2) {
        pause_ms(1);
    }
    pause_ms(100); /* they have said so before they asked */
}

static void wait_for_deadline(struct redlock *rl, void *arg)
{
    (void)rl;
    (void)arg;
    while (redlock_sync_election_is_leader(busy.e)) {
        pause_ms(1);
    }
}

static void *keep_busy(void *arg)
{
    redlock_sync_run(r.s, wait_for_both, NULL);
    return arg;
}

static void *ask_for_the_end(void *arg)
{
    while (atomic_load(&busy.asked) < 1) {
        pause_ms(1);
    }
    pause_ms(50);
    atomic_fetch_add(&busy.asked, 1);
    redlock_sync_election_wait_demoted(busy.e, busy.term, REDLOCK_FOREVER, NULL, &busy.demotion);
    return arg;
}

/* Although the deadline has passed when the wait begins. */
TEST(who_waits_for_the_end_hears_why)
{
    struct redlock_election_options options = candidate("ann");
    pthread_t threads[2];

    start();
    options.ttl_ms = TTL_MS;
    memset(&busy, 0, sizeof(busy));
    busy.demotion.size = sizeof(busy.demotion);
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &busy.e), REDLOCK_OK);
    busy.term = elect(busy.e);
    threads[0] = rig_thread(keep_busy, NULL);
    rig_wait_for(&busy.began);
    threads[1] = rig_thread(ask_for_the_end, NULL);
    atomic_fetch_add(&busy.asked, 1);
    ck_assert_int_eq(redlock_sync_run(r.s, wait_for_deadline, NULL), REDLOCK_OK);
    rig_join(threads[0]);
    rig_join(threads[1]);
    ck_assert_uint_eq(busy.demotion.term, busy.term);
    ck_assert_int_ne(busy.demotion.reason, 0);
    free_one(busy.e);
    end();
}

TEST(what_is_wrong_is_refused)
{
    struct redlock_election_options options = candidate("ann");
    struct redlock_sync_leader leader = {.size = 0};
    struct redlock_demotion demotion = {.size = 0};
    struct redlock_sync_canceler *canceler;
    struct redlock_sync_election *e;

    start();
    options.stops_later = 0;
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &e), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "stops_later"));
    options = candidate("a n n");
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &e), REDLOCK_EINVAL);
    ck_assert_str_ne(redlock_sync_error_text(), "");
    options.size = 1;
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &e), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_new(r.s, NULL, &e), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_new(NULL, &options, &e), REDLOCK_EINVAL);
    options = candidate("ann");
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_campaign(NULL, 0, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(NULL, 1, 0, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_resign(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_hand_over(NULL, "bob", 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_stopped(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_free(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_fd(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_is_leader(NULL), 0);
    ck_assert_uint_eq(redlock_sync_election_deadline_us(NULL), 0);
    ck_assert_uint_eq(redlock_sync_election_term(NULL), 0);
    ck_assert_int_eq(redlock_sync_canceler_new(other, &canceler), REDLOCK_OK);
    e = make(r.s, "ann");
    ck_assert_int_eq(redlock_sync_election_campaign(e, 0, canceler, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_leader(e, &leader), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(e, 1, 0, NULL, &demotion), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_election_wait_demoted(e, 1, 0, NULL, NULL), REDLOCK_OK);
    free_one(e);
    redlock_sync_canceler_free(canceler);
    end();
}

/* The number of the first call that is wrong; 0: none. */
static int call_everything(struct redlock_sync_election *e)
{
    struct redlock_sync_leader leader = {.size = sizeof(leader)};
    struct redlock_election_options options = candidate("child");
    struct redlock_sync_election *another;
    const int statuses[] = {
        redlock_sync_election_new(r.s, &options, &another),
        redlock_sync_election_campaign(e, REDLOCK_FOREVER, NULL, NULL),
        redlock_sync_election_wait_demoted(e, 1, REDLOCK_FOREVER, NULL, NULL),
        redlock_sync_election_resign(e),
        redlock_sync_election_hand_over(e, "bob", 0),
        redlock_sync_election_stopped(e),
        redlock_sync_election_fd(e),
        redlock_sync_election_leader(e, &leader),
        redlock_sync_election_free(e),
    };
    size_t i;

    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i] != REDLOCK_EFORK) {
            return (int)i + 1;
        }
    }
    return redlock_sync_election_is_leader(e) || redlock_sync_election_term(e) ? 100 : 0;
}

TEST(a_child_does_not_lead)
{
    struct redlock_sync_election *e;
    int status;
    pid_t child;

    start();
    e = make(r.s, "ann");
    elect(e);
    child = fork();
    if (child == 0) {
        alarm(20);
        _exit(call_everything(e));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(redlock_sync_election_is_leader(e), 1);
    free_one(e);
    end();
}

/* Two façades with two threads each; at most one of them works under a term. */
static struct {
    atomic_int leaders;
    atomic_int leads;
    atomic_int wrong;
    _Atomic uint64_t greatest;
} races;

static void lead_once(struct redlock_sync_election *e, uint64_t term)
{
    uint64_t before = atomic_exchange(&races.greatest, term);

    atomic_fetch_add(&races.wrong, before >= term);
    atomic_fetch_add(&races.wrong, atomic_fetch_add(&races.leaders, 1) != 0);
    atomic_fetch_add(&races.wrong, redlock_sync_election_is_leader(e) != 1);
    atomic_fetch_sub(&races.leaders, 1);
    atomic_fetch_add(&races.leads, 1);
}

static void *lead_in_turns(void *arg)
{
    struct redlock_sync_election *e = arg;
    uint64_t term;

    while (atomic_load(&races.leads) < 20 && atomic_load(&races.wrong) == 0) {
        if (redlock_sync_election_campaign(e, 100, NULL, &term)) {
            continue;
        }
        lead_once(e, term);
        atomic_fetch_add(&races.wrong, redlock_sync_election_resign(e) != REDLOCK_OK);
        redlock_sync_election_wait_demoted(e, term, REDLOCK_FOREVER, NULL, NULL);
        atomic_fetch_add(&races.wrong, redlock_sync_election_stopped(e) != REDLOCK_OK);
    }
    ck_assert_int_eq(redlock_sync_election_free(e), REDLOCK_OK);
    return NULL;
}

TEST(leads_pass_from_thread_to_thread)
{
    static const char *const ids[] = {"ann", "bob", "cid"};
    pthread_t threads[3];
    int i;

    start();
    memset(&races, 0, sizeof(races));
    for (i = 0; i < 3; i++) {
        threads[i] = rig_thread(lead_in_turns, make(i % 2 ? other : r.s, ids[i]));
    }
    for (i = 0; i < 3; i++) {
        rig_join(threads[i]);
    }
    ck_assert_int_eq(atomic_load(&races.wrong), 0);
    end();
}
