/* io/test_dial.c - a dial connects to whichever address answers first. The lookup is ours (--wrap):
 * it names sockets of the test, on 127.0.0.x and ::1. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/runner.h"
#include "net/dial.h"
#include "net/loop.h"

#define MOST 8

__typeof__(rlk_resolve_start) __wrap_rlk_resolve_start;

/* One address of the server. */
struct place {
    struct sockaddr_storage at;
    socklen_t len;
    int listener;  /* -1: refused */
    int queued[3]; /* connections that fill the queue of a listener that drops the next */
    int n_queued;
};

static struct rlk_loop loop;
static struct event_base *base;
static struct rlk_dial dial;
static struct place places[MOST];
static unsigned n_places;
static int done, fd_won;
static char reason[128];

void __wrap_rlk_resolve_start(struct rlk_resolve *r, struct rlk_loop *l, const struct rlk_uri *uri)
{
    unsigned i;

    (void)l;
    (void)uri;
    for (i = 0; i < n_places; i++) {
        rlk_addresses_add(r->addresses, &places[i].at, places[i].len);
    }
    r->done(r, NULL);
}

/* ---- places ---- */

/* 127.0.0.<last> with a port of its own; last 0: ::1. */
static struct place *add_place(unsigned char last)
{
    struct place *p = &places[n_places++];
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + last)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    *p = (struct place){.len = last ? sizeof(v4) : sizeof(v6)};
    memcpy(&p->at, last ? (void *)&v4 : (void *)&v6, p->len);
    p->listener = socket(p->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(p->listener, (struct sockaddr *)&p->at, p->len), 0);
    ck_assert_int_eq(getsockname(p->listener, (struct sockaddr *)&p->at, &p->len), 0);
    return p;
}

static void accepts(unsigned char last)
{
    ck_assert_int_eq(listen(add_place(last)->listener, 4), 0);
}

/* The port is bound, so that nobody else listens there. */
static void refuses(unsigned char last)
{
    add_place(last);
}

/* The queue of the listener is full: the kernel drops the packets of who comes next. */
static void drops(unsigned char last)
{
    struct place *p = add_place(last);
    int i;

    ck_assert_int_eq(listen(p->listener, 0), 0);
    for (i = 0; i < 3; i++) {
        p->queued[i] = socket(p->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(p->queued[i], (struct sockaddr *)&p->at, p->len);
    }
    p->n_queued = 3;
}

static bool is_at(int fd, unsigned place)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && len == places[place].len &&
           memcmp(&peer, &places[place].at, len) == 0;
}

/* ---- the dial ---- */

static void on_done(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    ck_assert_ptr_eq(d, &dial);
    ck_assert_int_eq(fd < 0, fault != NULL);
    snprintf(reason, sizeof(reason), "%s", fault ? fault->text : "");
    fd_won = fd;
    done++;
}

static void on_finish(struct rlk_loop *l)
{
    (void)l;
}

static void begin(void)
{
    base = event_base_new();
    ck_assert_int_eq(rlk_loop_init(&loop, base, on_finish), 0);
    rlk_dial_init(&dial, &loop, on_done);
}

static void end(void)
{
    unsigned i;
    int j;

    rlk_dial_cancel(&dial);
    rlk_loop_end(&loop);
    event_base_free(base);
    for (i = 0; i < n_places; i++) {
        close(places[i].listener);
        for (j = 0; j < places[i].n_queued; j++) {
            close(places[i].queued[j]);
        }
    }
}

static void start(void)
{
    done = 0;
    rlk_dial_start(&dial, NULL);
}

/* Returns the place that was connected. */
static unsigned connected(void)
{
    unsigned i;

    start();
    loop_must(base, &done);
    ck_assert_int_ge(fd_won, 0);
    ck_assert_uint_eq(dial.pending, 0);
    ck_assert(fcntl(fd_won, F_GETFL) & O_NONBLOCK);
    for (i = 0; i < n_places && !is_at(fd_won, i); i++) {
    }
    close(fd_won);
    loop_settle(base);
    ck_assert_int_eq(done, 1);
    return i;
}

START_TEST(the_first_address_that_connects_wins)
{
    begin();
    accepts(1);
    accepts(2);
    ck_assert_uint_eq(connected(), 0);
    ck_assert_uint_eq(dial.next, 1);
    end();
}
END_TEST

/* Without the time between attempts: its timer never fires here. */
START_TEST(after_a_refusal_the_next_attempt_begins_at_once)
{
    begin();
    refuses(1);
    accepts(2);
    start();
    rlk_timer_cancel(&loop.timers, &dial.timer);
    loop_must(base, &done);
    ck_assert(is_at(fd_won, 1));
    close(fd_won);
    end();
}
END_TEST

/* The attempt that got no answer was under way all the time, and ends with the other one. */
START_TEST(an_address_that_drops_packets_is_not_waited_for)
{
    int fd;

    begin();
    drops(1);
    accepts(2);
    start();
    loop_settle(base);
    fd = dial.attempts[0].fd;
    ck_assert_uint_eq(dial.next, 1);
    ck_assert_uint_eq(dial.pending, 1);
    loop_must(base, &done);
    ck_assert(is_at(fd_won, 1));
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    close(fd_won);
    end();
}
END_TEST

/* It may answer while the next one is tried. */
START_TEST(an_attempt_goes_on_beside_the_next_one)
{
    char byte;

    begin();
    drops(1);
    drops(2);
    start();
    while (dial.next < 2) {
        event_base_loop(base, EVLOOP_ONCE);
    }
    ck_assert_uint_eq(dial.pending, 2);
    close(accept(places[0].listener, NULL, NULL));
    loop_must(base, &done); /* the kernel sends the packet again after a second */
    ck_assert(is_at(fd_won, 0));
    ck_assert_int_lt(recv(fd_won, &byte, 1, MSG_DONTWAIT), 0);
    close(fd_won);
    end();
}
END_TEST

START_TEST(when_all_fail_the_dial_fails_once)
{
    begin();
    refuses(1);
    refuses(2);
    start();
    loop_must(base, &done);
    loop_settle(base);
    ck_assert_int_eq(done, 1);
    ck_assert_int_eq(fd_won, -1);
    ck_assert_str_eq(reason, strerror(ECONNREFUSED));
    ck_assert_int_eq(dial.step, RLK_DIAL_ATTEMPTS);
    end();
}
END_TEST

START_TEST(the_address_that_greeted_last_is_tried_first)
{
    begin();
    drops(1);
    accepts(2);
    ck_assert_uint_eq(connected(), 1);
    rlk_dial_note_worked(&dial);
    ck_assert_uint_eq(connected(), 1);
    ck_assert_uint_eq(dial.next, 1);
    end();
}
END_TEST

START_TEST(an_address_that_did_not_greet_is_tried_last)
{
    begin();
    accepts(1);
    accepts(2);
    ck_assert_uint_eq(connected(), 0);
    rlk_dial_note_failed(&dial);
    ck_assert_uint_eq(connected(), 1);
    end();
}
END_TEST

/* Otherwise, when little time is left for all addresses, the last ones would never be tried. */
START_TEST(an_address_that_was_waited_for_in_vain_is_tried_last)
{
    begin();
    drops(1);
    accepts(2);
    start();
    loop_settle(base);
    ck_assert_uint_eq(dial.next, 1);
    rlk_dial_cancel(&dial);
    ck_assert_uint_eq(connected(), 1);
    ck_assert_uint_eq(dial.next, 1);
    end();
}
END_TEST

START_TEST(a_cancelled_dial_says_nothing_and_closes_its_sockets)
{
    int fd;

    begin();
    accepts(1);
    start();
    fd = dial.attempts[0].fd;
    ck_assert_int_ge(fd, 0);
    rlk_dial_cancel(&dial);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    loop_settle(base);
    ck_assert_int_eq(done, 0);
    ck_assert_uint_eq(dial.pending, 0);
    end();
}
END_TEST

/* The second connection of a node belongs to the server that the first one is connected to. */
START_TEST(a_second_dial_goes_to_the_same_address)
{
    struct rlk_dial first;

    begin();
    refuses(1);
    accepts(2);
    accepts(3);
    ck_assert_uint_eq(connected(), 1);
    first = dial;
    rlk_dial_init(&dial, &loop, on_done);
    done = 0;
    rlk_dial_start_same(&dial, &first);
    loop_must(base, &done);
    ck_assert(is_at(fd_won, 1));
    ck_assert_uint_eq(dial.addresses.n, 1);
    close(fd_won);
    end();
}
END_TEST

/* Its events are the parent's. */
START_TEST(a_forked_child_leaves_the_dial_alone)
{
    int status;
    pid_t pid;

    begin();
    accepts(1);
    start();
    pid = fork();
    if (pid == 0) {
        event_reinit(base);
        loop_settle(base);
        _exit(done == 0 && fcntl(dial.attempts[0].fd, F_GETFD) >= 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    loop_must(base, &done);
    ck_assert(is_at(fd_won, 0));
    close(fd_won);
    end();
}
END_TEST

static bool has_ipv6(void)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&v6, sizeof(v6)) == 0;

    close(fd);
    return has;
}

/* _i: the one that does not work, 0 for IPv6. */
START_TEST(either_family_will_do)
{
    begin();
    (_i ? refuses : accepts)(1);
    (_i ? accepts : refuses)(0);
    ck_assert_uint_eq(connected(), (unsigned)_i);
    end();
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("dial");
    TCase *c = tcase_create("dial");

    tcase_add_test(c, the_first_address_that_connects_wins);
    tcase_add_test(c, after_a_refusal_the_next_attempt_begins_at_once);
    tcase_add_test(c, an_address_that_drops_packets_is_not_waited_for);
    tcase_add_test(c, an_attempt_goes_on_beside_the_next_one);
    tcase_add_test(c, when_all_fail_the_dial_fails_once);
    tcase_add_test(c, the_address_that_greeted_last_is_tried_first);
    tcase_add_test(c, an_address_that_did_not_greet_is_tried_last);
    tcase_add_test(c, an_address_that_was_waited_for_in_vain_is_tried_last);
    tcase_add_test(c, a_cancelled_dial_says_nothing_and_closes_its_sockets);
    tcase_add_test(c, a_second_dial_goes_to_the_same_address);
    tcase_add_test(c, a_forked_child_leaves_the_dial_alone);
    if (has_ipv6()) {
        tcase_add_loop_test(c, either_family_will_do, 0, 2);
    }
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
